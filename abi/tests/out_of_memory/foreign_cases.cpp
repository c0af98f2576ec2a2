// Handles of another copy of the library, taken over while memory runs out on this side: see out_of_memory_test.cpp. The other
// copy is the shared library; its own allocations are not those that fail.
#include <dlfcn.h>

#include "abi/tests/out_of_memory/fixtures.hpp"

namespace {

using namespace hurray_test;

/// A function of the other copy.
template <class Function>
Function theirs(Function, const char* name) {
    static void* const library = dlopen("abi/libhurray.so", RTLD_NOW | RTLD_LOCAL);
    void* found = library == nullptr ? nullptr : dlsym(library, name);
    if (found == nullptr) ADD_FAILURE() << name << ": not in the other copy";
    return reinterpret_cast<Function>(found);
}
#define THEIRS(function) theirs(&function, #function)

std::uint64_t their_live_handles() {
    std::uint64_t handles = 0;
    std::uint64_t bytes = 0;
    EXPECT_EQ(THEIRS(hurray_live_handles)(HURRAY_HANDLE_ANY, &handles, &bytes, nullptr), HURRAY_OK);
    return handles;
}

/// What the other copy made: a buffer, a pair over it, or a tensor of the pair. All of it must be gone at the end.
struct Foreign {
    AlignedBytes<64> memory;
    ReleaseCounter releases;
    ReleaseCounter owner_releases;
    std::uint64_t before = their_live_handles();

    ~Foreign() { EXPECT_EQ(their_live_handles(), before) << "handles of the other copy leaked"; }

    HurrayBuffer* buffer() {
        HurrayBuffer* made = nullptr;
        EXPECT_EQ(THEIRS(hurray_buffer_from_ptr)(memory.bytes, 48, 64, HURRAY_DEVICE_CPU, &ReleaseCounter::release, &releases, &made),
                  HURRAY_OK);
        return made;
    }
    HurrayBufferList* list() {
        HurrayBufferList* made = nullptr;
        EXPECT_EQ(THEIRS(hurray_buffer_list_new)(1, &made), HURRAY_OK);
        EXPECT_EQ(THEIRS(hurray_buffer_list_push)(made, buffer()), HURRAY_OK);
        return made;
    }
    HurrayTensorContext* context() {
        HurrayTensorContext* made = nullptr;
        const auto bytes = row_major_descriptor(HURRAY_TYPE_FLOAT32, {3, 4}, 48);
        EXPECT_EQ(THEIRS(hurray_tensor_context_new)(HURRAY_C_ABI_VERSION, bytes.data(), bytes.size(), &owner_releases,
                                                    &ReleaseCounter::release_owner, &made),
                  HURRAY_OK);
        return made;
    }
    HurrayTensor* tensor() {
        HurrayBufferList* buffers = list();
        HurrayTensorContext* described = context();
        HurrayTensor* made = nullptr;
        EXPECT_EQ(THEIRS(hurray_tensor_import)(&buffers, &described, &made, nullptr), HURRAY_OK);
        return made;
    }
    int released() const { return releases.calls + owner_releases.calls; }
};

NEEDS_MEMORY_TOO(hurray_buffer_list_push, _of_a_buffer_of_another_copy) {
    Foreign foreign;
    List list;
    ASSERT_EQ(hurray_buffer_list_new(0, list.out()), HURRAY_OK);
    HurrayBuffer* buffer = foreign.buffer();
    const std::uint64_t live = their_live_handles();
    each_allocation_fails([&] { return subject(list.handle, buffer); },
                          [&] {
                              EXPECT_FALSE(borrowed(buffer)) << "ownership moves only on success";
                              EXPECT_EQ(their_live_handles(), live);
                              EXPECT_EQ(foreign.released(), 0);
                          });
    list.end();
    EXPECT_EQ(foreign.releases.calls, 1);
}

NEEDS_MEMORY_TOO(hurray_tensor_new, _over_a_list_of_another_copy) {
    Foreign foreign;
    Descriptor descriptor;
    const auto bytes = row_major_descriptor(HURRAY_TYPE_FLOAT32, {3, 4}, 48);
    ASSERT_EQ(hurray_descriptor_decode(bytes.data(), bytes.size(), descriptor.out(), nullptr), HURRAY_OK);
    HurrayBufferList* list = foreign.list();
    const std::uint64_t live = their_live_handles();
    Tensor tensor;
    each_allocation_fails([&] { return subject(descriptor.handle, &list, tensor.out(), &report); },
                          [&] {
                              EXPECT_EQ(tensor.handle, nullptr);
                              EXPECT_NE(list, nullptr) << "ownership moves only on success";
                              EXPECT_EQ(their_live_handles(), live);
                              EXPECT_EQ(foreign.released(), 0);
                          });
    EXPECT_EQ(list, nullptr);
    tensor.end();
    EXPECT_EQ(foreign.releases.calls, 1);
}

/// Which half of a pair comes from the other copy.
void import_of(decltype(&hurray_tensor_import) subject, bool foreign_list, bool foreign_context) {
    Foreign foreign;
    Pair own;
    HurrayBufferList* list = foreign_list ? foreign.list() : std::exchange(own.list, nullptr);
    HurrayTensorContext* context = foreign_context ? foreign.context() : std::exchange(own.context, nullptr);
    const std::uint64_t live = their_live_handles();
    const auto released = [&] { return foreign.released() + own.releases.calls + own.owner_releases.calls; };
    Tensor tensor;
    each_allocation_fails([&] { return subject(&list, &context, tensor.out(), &report); },
                          [&] {
                              EXPECT_EQ(tensor.handle, nullptr);
                              ASSERT_NE(list, nullptr) << "ownership moves only on success";
                              ASSERT_NE(context, nullptr);
                              EXPECT_EQ(their_live_handles(), live);
                              EXPECT_EQ(released(), 0);
                          });
    EXPECT_EQ(list, nullptr);
    EXPECT_EQ(context, nullptr);
    EXPECT_EQ(released(), 0);
    tensor.end();
    EXPECT_EQ((foreign_list ? foreign.releases : own.releases).calls, 1);
    EXPECT_EQ((foreign_context ? foreign.owner_releases : own.owner_releases).calls, 1);
}
NEEDS_MEMORY_TOO(hurray_tensor_import, _of_a_pair_of_another_copy) { import_of(subject, true, true); }
NEEDS_MEMORY_TOO(hurray_tensor_import, _of_a_list_of_another_copy) { import_of(subject, true, false); }
NEEDS_MEMORY_TOO(hurray_tensor_import, _of_a_context_of_another_copy) { import_of(subject, false, true); }

NEEDS_MEMORY_TOO(hurray_writer_write, _of_a_tensor_of_another_copy) {
    Foreign foreign;
    HurrayTensor* tensor = foreign.tensor();
    const std::uint64_t live = their_live_handles();
    Writer writer;
    ASSERT_EQ(hurray_writer_to_memory(writer.out(), nullptr), HURRAY_OK);
    each_allocation_fails([&] { return subject(writer.handle, tensor, &report); },
                          [&] { EXPECT_EQ(their_live_handles(), live) << "a share was left behind"; });
    EXPECT_EQ(their_live_handles(), live);
    EXPECT_EQ(foreign.released(), 0);
    EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
    EXPECT_EQ(foreign.released(), 2);
}

NEEDS_MEMORY_TOO(hurray_tensor_transcode, _of_a_tensor_of_another_copy) {
    Foreign foreign;
    HurrayTensor* tensor = foreign.tensor();
    const std::uint64_t live = their_live_handles();
    HurrayTranscodeSpec spec{};
    spec.struct_size = sizeof spec;
    spec.layout = HURRAY_LAYOUT_COL_MAJOR;
    Tensor transcoded;
    each_allocation_fails([&] { return subject(tensor, &spec, nullptr, nullptr, transcoded.out(), &report); },
                          [&] { EXPECT_EQ(their_live_handles(), live) << "a share was left behind"; });
    EXPECT_EQ(their_live_handles(), live);
    EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
    EXPECT_EQ(foreign.released(), 2);
}

}  // namespace
