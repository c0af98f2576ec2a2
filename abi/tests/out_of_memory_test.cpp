// The barrier: std::bad_alloc at the n-th allocation, for every n, of every producing function. The call fails with
// OUT_OF_MEMORY, nothing half-made is visible, nothing leaks, ownership has not moved and no release has run; after the
// failure the same call succeeds. (seed: Panic Safety)
//
// Linked to the shim itself, not to the shared library, so that operator new below serves both.
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <new>

#include "abi/tests/support.hpp"

namespace {

// Counts down over the allocations of the current thread; the one that reaches zero fails. Negative: off.
thread_local long allocations_until_failure = -1;

bool allocation_fails() {
    if (allocations_until_failure < 0) return false;
    return allocations_until_failure-- == 0;
}

}  // namespace

// Not inlined: GCC would see std::free on what operator new returned, and take the two for a mismatch.
[[gnu::noinline]] void* operator new(std::size_t size) {
    if (allocation_fails()) throw std::bad_alloc();
    if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
    throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    return allocation_fails() ? nullptr : std::malloc(size == 0 ? 1 : size);
}
[[gnu::noinline]] void* operator new[](std::size_t size) { return operator new(size); }
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

using hurray_test::AlignedBytes;
using hurray_test::live_handles;
using hurray_test::Pair;
using hurray_test::ReleaseCounter;
using hurray_test::row_major_descriptor;

class OutOfMemory : public hurray_test::BaseLineTest {
protected:
    // Runs `call` with the n-th allocation failing, n = 0, 1, ... until it needs no further one. `check` looks at the
    // world after each failure.
    static void fail_each_allocation(const std::function<HurrayStatus()>& call, const std::function<void()>& check) {
        const std::uint64_t before = live_handles();
        for (long n = 0; n < 1000; ++n) {
            allocations_until_failure = n;
            const HurrayStatus status = call();
            const bool injected = allocations_until_failure < 0;
            allocations_until_failure = -1;
            if (status == HURRAY_OK) {
                EXPECT_FALSE(injected) << "allocation " << n << " failed, but the call succeeded";
                EXPECT_GT(n, 0) << "the call allocates nothing: the test proves nothing";
                return;
            }
            ASSERT_EQ(status, HURRAY_ERR_OUT_OF_MEMORY) << "allocation " << n;
            ASSERT_EQ(live_handles(), before) << "allocation " << n << ": half-made handles";
            check();
        }
        FAIL() << "the call never succeeded";
    }
};

TEST_F(OutOfMemory, BufferFromPtr) {
    AlignedBytes<64> memory;
    ReleaseCounter counter;
    HurrayBuffer* buffer = nullptr;
    fail_each_allocation(
        [&] { return hurray_buffer_from_ptr(memory.bytes, 64, 64, 0, &ReleaseCounter::release, &counter, &buffer); },
        [&] {
            EXPECT_EQ(buffer, nullptr);
            EXPECT_EQ(counter.calls, 0);
        });
    EXPECT_EQ(hurray_buffer_destroy(buffer), HURRAY_OK);
    EXPECT_EQ(counter.calls, 1);
}

TEST_F(OutOfMemory, BufferFromHostAllocateShareSlice) {
    AlignedBytes<64> memory;
    ReleaseCounter counter;
    HurrayBuffer* buffer = nullptr;
    std::uint64_t offset = 0;
    fail_each_allocation(
        [&] {
            return hurray_buffer_from_host(memory.bytes, 64, 0, &ReleaseCounter::release, &counter, &buffer, &offset, nullptr);
        },
        [&] { EXPECT_EQ(counter.calls, 0); });
    HurrayBuffer* share = nullptr;
    fail_each_allocation([&] { return hurray_buffer_share(buffer, &share, nullptr); }, [&] { EXPECT_EQ(share, nullptr); });
    HurrayBuffer* slice = nullptr;
    fail_each_allocation([&] { return hurray_buffer_slice(buffer, 0, 10, &slice, nullptr); },
                         [&] { EXPECT_EQ(slice, nullptr); });
    HurrayBuffer* allocated = nullptr;
    fail_each_allocation([&] { return hurray_buffer_allocate(100, 64, &allocated, nullptr); },
                         [&] { EXPECT_EQ(allocated, nullptr); });
    for (HurrayBuffer* handle : {buffer, share, slice, allocated}) EXPECT_EQ(hurray_buffer_destroy(handle), HURRAY_OK);
    EXPECT_EQ(counter.calls, 1);
}

TEST_F(OutOfMemory, ListNewAndPush) {
    AlignedBytes<64> memory;
    ReleaseCounter counter;
    HurrayBufferList* list = nullptr;
    fail_each_allocation([&] { return hurray_buffer_list_new(3, &list); }, [&] { EXPECT_EQ(list, nullptr); });
    HurrayBufferList* empty = nullptr;
    ASSERT_EQ(hurray_buffer_list_new(0, &empty), HURRAY_OK);
    HurrayBuffer* buffer = hurray_test::buffer_over(memory.bytes, 64, counter);
    fail_each_allocation([&] { return hurray_buffer_list_push(empty, buffer); },
                         [&] {
                             HurrayBufferInfo info{};
                             info.struct_size = sizeof info;
                             ASSERT_EQ(hurray_buffer_info(buffer, &info, nullptr), HURRAY_OK);
                             EXPECT_EQ(info.flags & HURRAY_BUFFER_BORROWED, 0u) << "ownership moves only on success";
                         });
    EXPECT_EQ(hurray_buffer_list_destroy(&list), HURRAY_OK);
    EXPECT_EQ(hurray_buffer_list_destroy(&empty), HURRAY_OK);
    EXPECT_EQ(counter.calls, 1);
}

TEST_F(OutOfMemory, ContextNew) {
    ReleaseCounter owner;
    const auto bytes = row_major_descriptor(HURRAY_TYPE_FLOAT32, {3, 4}, 48);
    HurrayTensorContext* context = nullptr;
    fail_each_allocation(
        [&] {
            return hurray_tensor_context_new(4, bytes.data(), bytes.size(), &owner, &ReleaseCounter::release_owner, &context);
        },
        [&] {
            EXPECT_EQ(context, nullptr);
            EXPECT_EQ(owner.calls, 0);
        });
    EXPECT_EQ(hurray_tensor_context_destroy(&context), HURRAY_OK);
    EXPECT_EQ(owner.calls, 1);
}

TEST_F(OutOfMemory, DescriptorDecodeAndBuild) {
    // A rank at which the descriptor needs memory of its own.
    const auto bytes = row_major_descriptor(HURRAY_TYPE_FLOAT32, std::vector<std::uint64_t>(40, 1), 64);
    HurrayDescriptor* descriptor = nullptr;
    fail_each_allocation([&] { return hurray_descriptor_decode(bytes.data(), bytes.size(), &descriptor, nullptr); },
                         [&] { EXPECT_EQ(descriptor, nullptr); });
    EXPECT_EQ(hurray_descriptor_destroy(&descriptor), HURRAY_OK);

    const std::vector<std::uint64_t> shape(40, 1);
    HurrayDescriptorBuilder* builder = nullptr;
    fail_each_allocation(
        [&] {
            return hurray_descriptor_builder_new(HURRAY_TYPE_FLOAT32, HURRAY_LAYOUT_ROW_MAJOR, shape.data(), 40, &builder, nullptr);
        },
        [&] { EXPECT_EQ(builder, nullptr); });
    HurrayBufferHandleBytes handle{};
    handle.bytes[0] = 64;
    handle.bytes[8] = 64;
    ASSERT_EQ(hurray_descriptor_builder_add_buffer(builder, &handle, nullptr), HURRAY_OK);
    fail_each_allocation([&] { return hurray_descriptor_builder_build(builder, &descriptor, nullptr); },
                         [&] { EXPECT_EQ(descriptor, nullptr); });
    EXPECT_EQ(hurray_descriptor_destroy(&descriptor), HURRAY_OK);
    EXPECT_EQ(hurray_descriptor_builder_destroy(&builder), HURRAY_OK);
}

TEST_F(OutOfMemory, TensorFromHost) {
    AlignedBytes<64> memory;
    ReleaseCounter counter;
    const std::uint64_t shape[] = {2, 3};
    HurrayDenseSpec spec{};
    spec.struct_size = sizeof spec;
    spec.element_type = HURRAY_TYPE_FLOAT32;
    spec.layout = HURRAY_LAYOUT_COL_MAJOR;
    spec.rank = 2;
    spec.shape = shape;
    HurrayTensor* tensor = nullptr;
    fail_each_allocation(
        [&] {
            return hurray_tensor_from_host(&spec, memory.bytes, 24, &ReleaseCounter::release, &counter, nullptr, &tensor, nullptr);
        },
        [&] {
            EXPECT_EQ(tensor, nullptr);
            EXPECT_EQ(counter.calls, 0);
        });
    EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
    EXPECT_EQ(counter.calls, 1);
}

TEST_F(OutOfMemory, ImportExportShare) {
    Pair pair;
    HurrayTensor* tensor = nullptr;
    fail_each_allocation([&] { return hurray_tensor_import(&pair.list, &pair.context, &tensor, nullptr); },
                         [&] {
                             EXPECT_EQ(tensor, nullptr);
                             ASSERT_NE(pair.list, nullptr) << "ownership moves only on success";
                             ASSERT_NE(pair.context, nullptr);
                             EXPECT_EQ(pair.releases.calls + pair.owner_releases.calls, 0);
                         });
    HurrayTensor* share = nullptr;
    fail_each_allocation([&] { return hurray_tensor_share(tensor, &share, nullptr); }, [&] { EXPECT_EQ(share, nullptr); });
    HurrayBufferList* list = nullptr;
    HurrayTensorContext* context = nullptr;
    fail_each_allocation([&] { return hurray_tensor_export(tensor, &list, &context, nullptr); },
                         [&] {
                             EXPECT_EQ(list, nullptr);
                             EXPECT_EQ(context, nullptr);
                         });
    // A second owner on top of the first: the joint owner needs memory, too.
    EXPECT_EQ(hurray_tensor_context_destroy(&context), HURRAY_OK);
    const auto bytes = row_major_descriptor(HURRAY_TYPE_FLOAT32, {3, 4}, 48);
    ReleaseCounter second;
    ASSERT_EQ(hurray_tensor_context_new(4, bytes.data(), bytes.size(), &second, &ReleaseCounter::release_owner, &context),
              HURRAY_OK);
    HurrayTensor* again = nullptr;
    fail_each_allocation([&] { return hurray_tensor_import(&list, &context, &again, nullptr); },
                         [&] { EXPECT_EQ(second.calls, 0); });
    for (HurrayTensor* handle : {tensor, share, again}) EXPECT_EQ(hurray_tensor_destroy(&handle), HURRAY_OK);
    EXPECT_EQ(pair.releases.calls, 1);
    EXPECT_EQ(pair.owner_releases.calls, 1);
    EXPECT_EQ(second.calls, 1);
}

TEST_F(OutOfMemory, StreamWriterAndReader) {
    Pair pair;
    HurrayTensor* tensor = nullptr;
    ASSERT_EQ(hurray_tensor_import(&pair.list, &pair.context, &tensor, nullptr), HURRAY_OK);
    HurrayWriter* writer = nullptr;
    fail_each_allocation([&] { return hurray_writer_to_memory(&writer, nullptr); }, [&] { EXPECT_EQ(writer, nullptr); });
    ASSERT_EQ(hurray_writer_write(writer, tensor, nullptr), HURRAY_OK);
    HurrayBuffer* written = nullptr;
    fail_each_allocation([&] { return hurray_writer_take(writer, &written, nullptr); }, [&] { EXPECT_EQ(written, nullptr); });
    HurrayBufferInfo info{};
    info.struct_size = sizeof info;
    ASSERT_EQ(hurray_buffer_info(written, &info, nullptr), HURRAY_OK);
    EXPECT_EQ(info.byte_size, 61u + 48u) << "a failed take loses nothing";
    HurrayReader* reader = nullptr;
    fail_each_allocation([&] { return hurray_reader_from_memory(info.data, info.byte_size, nullptr, &reader, nullptr); },
                         [&] { EXPECT_EQ(reader, nullptr); });
    EXPECT_EQ(hurray_reader_destroy(&reader), HURRAY_OK);
    // A reader that failed cannot go on: each attempt gets a new one.
    HurrayTensor* read = nullptr;
    for (long n = 0;; ++n) {
        ASSERT_LT(n, 100);
        ASSERT_EQ(hurray_reader_from_memory(info.data, info.byte_size, nullptr, &reader, nullptr), HURRAY_OK);
        allocations_until_failure = n;
        const HurrayStatus status = hurray_reader_next(reader, &read, nullptr);
        allocations_until_failure = -1;
        EXPECT_EQ(hurray_reader_destroy(&reader), HURRAY_OK);
        if (status == HURRAY_OK) break;
        ASSERT_EQ(status, HURRAY_ERR_OUT_OF_MEMORY);
        ASSERT_EQ(read, nullptr);
    }
    EXPECT_EQ(hurray_tensor_destroy(&read), HURRAY_OK);
    EXPECT_EQ(hurray_buffer_destroy(written), HURRAY_OK);
    EXPECT_EQ(hurray_writer_destroy(&writer), HURRAY_OK);
    EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
}

TEST_F(OutOfMemory, SafetensorsWriteOpenAndGet) {
    const std::string path = ::testing::TempDir() + "/out_of_memory.safetensors";
    Pair pair;
    HurrayTensor* tensor = nullptr;
    ASSERT_EQ(hurray_tensor_import(&pair.list, &pair.context, &tensor, nullptr), HURRAY_OK);
    HurrayFileWriter* writer = nullptr;
    fail_each_allocation(
        [&] { return hurray_file_writer_create(path.c_str(), HURRAY_FORMAT_SAFETENSORS, &writer, nullptr); },
        [&] { EXPECT_EQ(writer, nullptr); });
    fail_each_allocation([&] { return hurray_file_writer_add(writer, "x", 1, tensor, nullptr); }, [] {});
    ASSERT_EQ(hurray_file_writer_finish(writer, nullptr), HURRAY_OK);
    EXPECT_EQ(hurray_file_writer_destroy(&writer), HURRAY_OK);
    HurrayFile* file = nullptr;
    fail_each_allocation([&] { return hurray_file_open(path.c_str(), nullptr, &file, nullptr); },
                         [&] { EXPECT_EQ(file, nullptr); });
    HurrayTensor* read = nullptr;
    fail_each_allocation([&] { return hurray_file_tensor(file, 0, &read, nullptr); }, [&] { EXPECT_EQ(read, nullptr); });
    EXPECT_EQ(hurray_tensor_destroy(&read), HURRAY_OK);
    EXPECT_EQ(hurray_file_destroy(&file), HURRAY_OK);
    EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
    std::filesystem::remove(path);
}

}  // namespace
