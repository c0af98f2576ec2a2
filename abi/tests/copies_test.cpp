// Two copies of the library in one process, with two build ids, the second of a raised version: buffers, lists, contexts and
// tensors pass both ways through the frozen prefix and its table. (seed: Opaque Handles, Tensor Context)
#include <dlfcn.h>

#include <string>
#include <vector>

#include "abi/tests/support.hpp"

namespace {

using hurray_test::AlignedBytes;
using hurray_test::ReleaseCounter;

// The functions of one copy that the tests use.
#define COPY_FUNCTIONS(FUNCTION)                                                                                            \
    FUNCTION(c_abi_version) FUNCTION(c_abi_supports) FUNCTION(build_id) FUNCTION(live_handles) FUNCTION(buffer_from_ptr)    \
    FUNCTION(buffer_share) FUNCTION(buffer_slice) FUNCTION(buffer_info) FUNCTION(buffer_handle_bytes)                       \
    FUNCTION(buffer_prefix) FUNCTION(buffer_set_read_only) FUNCTION(buffer_set_release_queue)                               \
    FUNCTION(buffer_set_release_any_thread) FUNCTION(buffer_destroy) FUNCTION(buffer_destroy_deferred)                      \
    FUNCTION(buffer_handoff) FUNCTION(buffer_event) FUNCTION(buffer_event_release) FUNCTION(buffer_stream)                  \
    FUNCTION(release_queue_new) FUNCTION(release_queue_drain) FUNCTION(release_queue_destroy) FUNCTION(buffer_list_new)     \
    FUNCTION(buffer_list_push) FUNCTION(buffer_list_len) FUNCTION(buffer_list_get) FUNCTION(buffer_list_destroy)            \
    FUNCTION(buffer_list_destroy_deferred) FUNCTION(tensor_context_new) FUNCTION(tensor_context_abi_version)                \
    FUNCTION(tensor_context_supports) FUNCTION(tensor_context_descriptor) FUNCTION(tensor_context_destroy)                  \
    FUNCTION(tensor_context_destroy_deferred) FUNCTION(tensor_context_set_release_queue) FUNCTION(descriptor_decode)        \
    FUNCTION(descriptor_info) FUNCTION(descriptor_destroy) FUNCTION(tensor_new) FUNCTION(tensor_import)                     \
    FUNCTION(tensor_export) FUNCTION(tensor_share) FUNCTION(tensor_view) FUNCTION(tensor_buffer) FUNCTION(tensor_copy)      \
    FUNCTION(tensor_descriptor) FUNCTION(tensor_destroy) FUNCTION(tensor_destroy_deferred) FUNCTION(producer_request)       \
    FUNCTION(writer_to_memory) FUNCTION(writer_write) FUNCTION(writer_destroy) FUNCTION(file_writer_create)                 \
    FUNCTION(file_writer_add) FUNCTION(file_writer_finish) FUNCTION(file_writer_destroy) FUNCTION(file_open)                \
    FUNCTION(file_destroy) FUNCTION(tensor_validate) FUNCTION(tensor_quantize) FUNCTION(tensor_dequantize)                  \
    FUNCTION(tensor_transcode)

struct Copy {
    explicit Copy(const char* path) {
        // Local: its names meet nobody's.
        handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (handle == nullptr) {
            ADD_FAILURE() << dlerror();
            std::abort();
        }
#define RESOLVE(name)                                                                        \
    name = reinterpret_cast<decltype(name)>(dlsym(handle, "hurray_" #name));                 \
    if (name == nullptr) {                                                                   \
        ADD_FAILURE() << path << " lacks hurray_" #name;                                     \
        std::abort();                                                                        \
    }
        COPY_FUNCTIONS(RESOLVE)
#undef RESOLVE
    }
    std::uint64_t live() const {
        std::uint64_t handles = 0;
        std::uint64_t bytes = 0;
        EXPECT_EQ(live_handles(HURRAY_HANDLE_ANY, &handles, &bytes, nullptr), HURRAY_OK);
        return handles + bytes;
    }

    void* handle;
#define MEMBER(name) decltype(&hurray_##name) name;
    COPY_FUNCTIONS(MEMBER)
#undef MEMBER
};

const Copy& first_copy() {
    static const Copy copy("abi/libhurray.so");
    return copy;
}
const Copy& raised_copy() {
    static const Copy copy("abi/tests/libhurray_raised.so");
    return copy;
}

// Each test runs both ways: `ours` is handed what `theirs` made.
class Copies : public ::testing::TestWithParam<bool> {
public:
    const Copy& ours = GetParam() ? first_copy() : raised_copy();
    const Copy& theirs = GetParam() ? raised_copy() : first_copy();
    std::uint64_t our_base = ours.live();
    std::uint64_t their_base = theirs.live();
    AlignedBytes<128> memory;
    ReleaseCounter releases;
    ReleaseCounter owner_releases;
    HurrayError error{};

protected:
    void TearDown() override {
        EXPECT_EQ(ours.live(), our_base) << "handles or bytes of our copy leaked";
        EXPECT_EQ(theirs.live(), their_base) << "handles or bytes of the other copy leaked";
    }

    HurrayBuffer* their_buffer(std::uint64_t size = 64) {
        HurrayBuffer* buffer = nullptr;
        EXPECT_EQ(theirs.buffer_from_ptr(memory.bytes, size, 64, HURRAY_DEVICE_CPU, &ReleaseCounter::release, &releases, &buffer),
                  HURRAY_OK);
        return buffer;
    }
    HurrayBufferList* their_list() {
        HurrayBufferList* list = nullptr;
        EXPECT_EQ(theirs.buffer_list_new(1, &list), HURRAY_OK);
        EXPECT_EQ(theirs.buffer_list_push(list, their_buffer()), HURRAY_OK);
        return list;
    }
    static HurrayTensorContext* context_of(const Copy& copy, std::uint32_t version, ReleaseCounter* owner) {
        HurrayTensorContext* context = nullptr;
        const auto bytes = hurray_test::row_major_descriptor(HURRAY_TYPE_FLOAT32, {16}, 64);
        EXPECT_EQ(copy.tensor_context_new(version, bytes.data(), bytes.size(), owner,
                                          owner == nullptr ? nullptr : &ReleaseCounter::release_owner, &context),
                  HURRAY_OK);
        return context;
    }
    HurrayTensorContext* their_context() { return context_of(theirs, theirs.c_abi_version(), &owner_releases); }
    HurrayTensor* their_tensor() {
        HurrayBufferList* list = their_list();
        HurrayTensorContext* context = their_context();
        HurrayTensor* tensor = nullptr;
        EXPECT_EQ(theirs.tensor_import(&list, &context, &tensor, nullptr), HURRAY_OK);
        return tensor;
    }
    HurrayView view_of(const Copy& copy, const HurrayTensor* tensor) {
        HurrayView view{};
        view.struct_size = sizeof view;
        EXPECT_EQ(copy.tensor_view(tensor, &view, &error), HURRAY_OK) << error.message;
        return view;
    }
};

INSTANTIATE_TEST_SUITE_P(BothWays, Copies, ::testing::Bool(),
                         [](const auto& way) { return way.param ? "FromTheRaisedCopy" : "ToTheRaisedCopy"; });

TEST_P(Copies, AreTwo) {
    EXPECT_NE(ours.handle, theirs.handle);
    EXPECT_NE(std::string(ours.build_id()), theirs.build_id());
    EXPECT_EQ(first_copy().c_abi_version(), 4u);
    EXPECT_EQ(raised_copy().c_abi_version(), 5u);
    EXPECT_EQ(raised_copy().c_abi_supports(4), 1);
    EXPECT_EQ(first_copy().c_abi_supports(5), 0);
}

TEST_P(Copies, EveryFunctionOfABufferTakesTheOtherCopys) {
    HurrayBuffer* buffer = their_buffer(128);
    HurrayBufferInfo info{};
    info.struct_size = sizeof info;
    ASSERT_EQ(ours.buffer_info(buffer, &info, &error), HURRAY_OK) << error.message;
    EXPECT_EQ(info.data, memory.bytes);
    EXPECT_EQ(info.byte_size, 128u);
    HurrayBufferHandleBytes bytes{};
    EXPECT_EQ(ours.buffer_handle_bytes(buffer, &bytes, nullptr), HURRAY_OK);
    EXPECT_EQ(bytes.bytes[0], 128);
    std::uint64_t prefix = 99;
    EXPECT_EQ(ours.buffer_prefix(buffer, &prefix, nullptr), HURRAY_OK);
    EXPECT_EQ(prefix, 0u);
    EXPECT_EQ(ours.buffer_set_read_only(buffer, nullptr), HURRAY_OK);
    EXPECT_EQ(ours.buffer_set_release_any_thread(buffer, nullptr), HURRAY_OK);
    void* payload = nullptr;
    std::uint8_t device = 0;
    EXPECT_EQ(ours.buffer_event(buffer, &payload, &device, nullptr), HURRAY_ERR_SYNC_MODE_MISMATCH);
    EXPECT_EQ(ours.buffer_event_release(buffer, nullptr), HURRAY_ERR_SYNC_MODE_MISMATCH);
    EXPECT_EQ(ours.buffer_stream(buffer, &payload, &device, nullptr), HURRAY_ERR_SYNC_MODE_MISMATCH);
    HurrayBuffer* share = nullptr;
    HurrayBuffer* slice = nullptr;
    ASSERT_EQ(ours.buffer_share(buffer, &share, nullptr), HURRAY_OK);
    ASSERT_EQ(ours.buffer_slice(buffer, 64, 64, &slice, nullptr), HURRAY_OK);
    ASSERT_EQ(ours.buffer_info(slice, &info, nullptr), HURRAY_OK);
    EXPECT_EQ(info.data, memory.bytes + 64);
    EXPECT_NE(info.flags & HURRAY_BUFFER_READ_ONLY, 0u);
    EXPECT_EQ(ours.live(), our_base) << "all of it stays the other copy's";
    EXPECT_EQ(ours.buffer_destroy(buffer), HURRAY_OK);
    EXPECT_EQ(ours.buffer_destroy_deferred(share, nullptr), HURRAY_OK);
    EXPECT_EQ(releases.calls, 0);
    EXPECT_EQ(ours.buffer_destroy(slice), HURRAY_OK);
    EXPECT_EQ(releases.calls, 1);
    EXPECT_EQ(releases.last_data, memory.bytes);
}

TEST_P(Copies, ListOfTheOtherCopyWithBuffersOfBoth) {
    HurrayBufferList* list = their_list();
    HurrayBuffer* ours_in_theirs = nullptr;
    ASSERT_EQ(ours.buffer_from_ptr(memory.bytes, 64, 64, HURRAY_DEVICE_CPU, &ReleaseCounter::release, &releases, &ours_in_theirs),
              HURRAY_OK);
    ASSERT_EQ(ours.buffer_list_push(list, ours_in_theirs), HURRAY_OK);
    // What was pushed is borrowed from now on, in whichever copy.
    EXPECT_EQ(ours.buffer_destroy(ours_in_theirs), HURRAY_ERR_INVALID_HANDLE);
    EXPECT_EQ(theirs.buffer_destroy(ours_in_theirs), HURRAY_ERR_INVALID_HANDLE);
    EXPECT_EQ(ours.buffer_list_push(list, ours_in_theirs), HURRAY_ERR_INVALID_HANDLE);
    std::uint64_t length = 0;
    EXPECT_EQ(ours.buffer_list_len(list, &length), HURRAY_OK);
    EXPECT_EQ(length, 2u);
    for (std::uint64_t i = 0; i < 2; ++i) {
        HurrayBuffer* borrowed = nullptr;
        ASSERT_EQ(ours.buffer_list_get(list, i, &borrowed), HURRAY_OK);
        EXPECT_EQ(ours.buffer_destroy(borrowed), HURRAY_ERR_INVALID_HANDLE);
        EXPECT_EQ(theirs.buffer_destroy(borrowed), HURRAY_ERR_INVALID_HANDLE);
        HurrayBufferInfo info{};
        info.struct_size = sizeof info;
        ASSERT_EQ(theirs.buffer_info(borrowed, &info, nullptr), HURRAY_OK);
        EXPECT_EQ(info.data, memory.bytes);
    }
    HurrayBuffer* none = nullptr;
    EXPECT_EQ(ours.buffer_list_get(list, 2, &none), HURRAY_ERR_INDEX_OUT_OF_BOUNDS);
    EXPECT_EQ(ours.buffer_list_destroy(&list), HURRAY_OK);
    EXPECT_EQ(list, nullptr);
    EXPECT_EQ(releases.calls, 2);
}

TEST_P(Copies, BorrowedBufferOfTheOtherCopyCannotBePushed) {
    HurrayBufferList* list = their_list();
    HurrayBufferList* own = nullptr;
    ASSERT_EQ(ours.buffer_list_new(1, &own), HURRAY_OK);
    HurrayBuffer* borrowed = nullptr;
    ASSERT_EQ(ours.buffer_list_get(list, 0, &borrowed), HURRAY_OK);
    EXPECT_EQ(ours.buffer_list_push(own, borrowed), HURRAY_ERR_INVALID_HANDLE);
    std::uint64_t length = 99;
    EXPECT_EQ(ours.buffer_list_len(own, &length), HURRAY_OK);
    EXPECT_EQ(length, 0u);
    EXPECT_EQ(releases.calls, 0);
    EXPECT_EQ(ours.buffer_list_destroy(&own), HURRAY_OK);
    EXPECT_EQ(ours.buffer_list_destroy(&list), HURRAY_OK);
    EXPECT_EQ(releases.calls, 1);
}

TEST_P(Copies, ContextOfTheOtherCopyIsRead) {
    HurrayTensorContext* context = their_context();
    std::uint32_t version = 0;
    EXPECT_EQ(ours.tensor_context_abi_version(context, &version), HURRAY_OK);
    EXPECT_EQ(version, theirs.c_abi_version());
    std::uint8_t supported = 9;
    EXPECT_EQ(ours.tensor_context_supports(context, 4, &supported, nullptr), HURRAY_OK);
    EXPECT_EQ(supported, 1);
    EXPECT_EQ(ours.tensor_context_supports(context, 6, &supported, nullptr), HURRAY_OK);
    EXPECT_EQ(supported, 0);
    const std::uint8_t* bytes = nullptr;
    std::uint64_t length = 0;
    EXPECT_EQ(ours.tensor_context_descriptor(context, &bytes, &length), HURRAY_OK);
    EXPECT_EQ(std::memcmp(bytes, "HRRY", 4), 0);
    EXPECT_EQ(ours.tensor_context_set_release_queue(context, nullptr, nullptr), HURRAY_OK);
    EXPECT_EQ(ours.tensor_context_destroy_deferred(&context, nullptr), HURRAY_OK);
    EXPECT_EQ(context, nullptr);
    EXPECT_EQ(owner_releases.calls, 0);
    std::uint64_t drained = 0;
    EXPECT_EQ(theirs.release_queue_drain(nullptr, UINT64_MAX, &drained, nullptr), HURRAY_OK);
    EXPECT_EQ(owner_releases.calls, 1);
}

TEST_P(Copies, PairOfTheOtherCopyIsImportedAndReleasedOnce) {
    HurrayBufferList* list = their_list();
    HurrayTensorContext* context = their_context();
    HurrayTensor* tensor = nullptr;
    ASSERT_EQ(ours.tensor_import(&list, &context, &tensor, &error), HURRAY_OK) << error.message;
    EXPECT_EQ(list, nullptr);
    EXPECT_EQ(context, nullptr);
    EXPECT_EQ(view_of(ours, tensor).data, memory.bytes) << "no byte is copied";
    // It is a tensor of ours in full: its descriptor can be read.
    const HurrayDescriptor* descriptor = nullptr;
    ASSERT_EQ(ours.tensor_descriptor(tensor, &descriptor, nullptr), HURRAY_OK);
    HurrayDescriptorInfo info{};
    info.struct_size = sizeof info;
    EXPECT_EQ(ours.descriptor_info(descriptor, &info, nullptr), HURRAY_OK);
    HurrayTensor* share = nullptr;
    ASSERT_EQ(ours.tensor_share(tensor, &share, nullptr), HURRAY_OK);
    EXPECT_EQ(ours.tensor_destroy(&tensor), HURRAY_OK);
    EXPECT_EQ(releases.calls, 0);
    EXPECT_EQ(owner_releases.calls, 0);
    EXPECT_EQ(ours.tensor_destroy(&share), HURRAY_OK);
    EXPECT_EQ(releases.calls, 1);
    EXPECT_EQ(owner_releases.calls, 1);
}

TEST_P(Copies, ListOfOneCopyAndContextOfTheOther) {
    for (const bool list_is_theirs : {false, true}) {
        HurrayBufferList* list = nullptr;
        if (list_is_theirs) {
            list = their_list();
        } else {
            ASSERT_EQ(ours.buffer_list_new(1, &list), HURRAY_OK);
            ASSERT_EQ(ours.buffer_list_push(list, their_buffer()), HURRAY_OK) << "a buffer of the other copy in a list of ours";
        }
        HurrayTensorContext* context =
            list_is_theirs ? context_of(ours, ours.c_abi_version(), &owner_releases) : their_context();
        HurrayTensor* tensor = nullptr;
        ASSERT_EQ(ours.tensor_import(&list, &context, &tensor, &error), HURRAY_OK) << error.message;
        EXPECT_EQ(view_of(ours, tensor).data, memory.bytes);
        EXPECT_EQ(ours.tensor_destroy(&tensor), HURRAY_OK);
    }
    EXPECT_EQ(releases.calls, 2);
    EXPECT_EQ(owner_releases.calls, 2);
}

TEST_P(Copies, ImportThatIsRefusedMovesNothing) {
    HurrayBufferList* list = their_list();
    const auto wrong = hurray_test::row_major_descriptor(HURRAY_TYPE_FLOAT32, {32}, 128);
    HurrayTensorContext* context = nullptr;
    ASSERT_EQ(theirs.tensor_context_new(theirs.c_abi_version(), wrong.data(), wrong.size(), &owner_releases,
                                        &ReleaseCounter::release_owner, &context),
              HURRAY_OK);
    HurrayTensor* tensor = nullptr;
    EXPECT_EQ(ours.tensor_import(&list, &context, &tensor, nullptr), HURRAY_ERR_BUFFER_TOO_SMALL);
    EXPECT_NE(list, nullptr);
    EXPECT_NE(context, nullptr);
    EXPECT_EQ(ours.live(), our_base);
    EXPECT_EQ(releases.calls + owner_releases.calls, 0);
    EXPECT_EQ(theirs.buffer_list_destroy(&list), HURRAY_OK);
    EXPECT_EQ(theirs.tensor_context_destroy(&context), HURRAY_OK);
    EXPECT_EQ(releases.calls + owner_releases.calls, 2);
}

// Version 3 had no contexts; a version that nobody vouches for is a stranger's.
TEST_P(Copies, VersionsThatTheMakerDoesNotVouchForAreRefused) {
    for (const std::uint32_t version : {1u, 3u, 6u}) {
        HurrayBufferList* list = their_list();
        HurrayTensorContext* context = context_of(theirs, version, nullptr);
        HurrayTensor* tensor = nullptr;
        EXPECT_EQ(ours.tensor_import(&list, &context, &tensor, &error), HURRAY_ERR_VERSION_MISMATCH) << version;
        EXPECT_NE(std::string(error.message).find(std::to_string(version)), std::string::npos) << error.message;
        EXPECT_NE(std::string(error.message).find(std::to_string(ours.c_abi_version())), std::string::npos) << error.message;
        EXPECT_EQ(theirs.buffer_list_destroy(&list), HURRAY_OK);
        EXPECT_EQ(theirs.tensor_context_destroy(&context), HURRAY_OK);
    }
}

TEST_P(Copies, TensorOfTheOtherCopyIsUsedThroughItsTable) {
    HurrayTensor* tensor = their_tensor();
    EXPECT_EQ(view_of(ours, tensor).data, memory.bytes);
    HurrayBuffer* borrowed = nullptr;
    ASSERT_EQ(ours.tensor_buffer(tensor, 0, &borrowed, nullptr), HURRAY_OK);
    EXPECT_EQ(ours.buffer_destroy(borrowed), HURRAY_ERR_INVALID_HANDLE);
    HurrayTensor* share = nullptr;
    ASSERT_EQ(ours.tensor_share(tensor, &share, nullptr), HURRAY_OK);
    HurrayTensor* copy = nullptr;
    std::uint64_t copied = 0;
    ASSERT_EQ(ours.tensor_copy(tensor, 64, &copy, &copied, nullptr), HURRAY_OK);
    EXPECT_EQ(copied, 64u);
    HurrayBufferList* list = nullptr;
    HurrayTensorContext* context = nullptr;
    ASSERT_EQ(ours.tensor_export(tensor, &list, &context, nullptr), HURRAY_OK);
    EXPECT_EQ(ours.buffer_list_destroy_deferred(&list, nullptr), HURRAY_OK);
    EXPECT_EQ(ours.tensor_context_destroy(&context), HURRAY_OK);
    EXPECT_EQ(ours.live(), our_base);
    EXPECT_EQ(ours.tensor_destroy_deferred(&share, nullptr), HURRAY_OK);
    EXPECT_EQ(ours.tensor_destroy(&copy), HURRAY_OK);
    EXPECT_EQ(ours.tensor_destroy(&tensor), HURRAY_OK);
    EXPECT_EQ(releases.calls, 1);
    EXPECT_EQ(owner_releases.calls, 1);
}

TEST_P(Copies, WorkOnTensorsOfTheOtherCopy) {
    HurrayTensor* tensor = their_tensor();
    const std::uint64_t their_live = theirs.live();
    EXPECT_EQ(ours.tensor_validate(tensor, HURRAY_VALIDATE_DATA, nullptr, &error), HURRAY_OK) << error.message;
    HurrayQuantizeSpec quantize{};
    quantize.struct_size = sizeof quantize;
    quantize.scheme = HURRAY_SCHEME_PER_TENSOR_AFFINE;
    quantize.storage_type = HURRAY_TYPE_INT8;
    HurrayTensor* quantized = nullptr;
    ASSERT_EQ(ours.tensor_quantize(tensor, &quantize, nullptr, &quantized, &error), HURRAY_OK) << error.message;
    HurrayTensor* numbers = nullptr;
    ASSERT_EQ(theirs.tensor_dequantize(quantized, HURRAY_TYPE_FLOAT32, nullptr, &numbers, &error), HURRAY_OK) << error.message;
    EXPECT_EQ(theirs.tensor_destroy(&numbers), HURRAY_OK);
    HurrayTranscodeSpec transcode{};
    transcode.struct_size = sizeof transcode;
    transcode.layout = HURRAY_LAYOUT_COL_MAJOR;
    HurrayTensor* transcoded = nullptr;
    ASSERT_EQ(ours.tensor_transcode(tensor, &transcode, nullptr, nullptr, &transcoded, &error), HURRAY_OK) << error.message;
    EXPECT_EQ(theirs.live(), their_live) << "nothing of the work is left over there";
    EXPECT_EQ(ours.tensor_destroy(&transcoded), HURRAY_OK);
    EXPECT_EQ(ours.tensor_destroy(&quantized), HURRAY_OK);
    EXPECT_EQ(ours.tensor_destroy(&tensor), HURRAY_OK);
    EXPECT_EQ(releases.calls, 1);
}

TEST_P(Copies, WritersOfOursTakeTensorsOfTheOtherCopy) {
    HurrayTensor* tensor = their_tensor();
    HurrayWriter* writer = nullptr;
    ASSERT_EQ(ours.writer_to_memory(&writer, nullptr), HURRAY_OK);
    EXPECT_EQ(ours.writer_write(writer, tensor, &error), HURRAY_OK) << error.message;
    EXPECT_EQ(ours.writer_destroy(&writer), HURRAY_OK);

    const std::string path = ::testing::TempDir() + "/hurray_copies.safetensors";
    HurrayFileWriter* file_writer = nullptr;
    ASSERT_EQ(ours.file_writer_create(path.c_str(), HURRAY_FORMAT_SAFETENSORS, &file_writer, nullptr), HURRAY_OK);
    ASSERT_EQ(ours.file_writer_add(file_writer, "t", 1, tensor, &error), HURRAY_OK) << error.message;
    EXPECT_EQ(ours.tensor_destroy(&tensor), HURRAY_OK);
    EXPECT_EQ(releases.calls, 0) << "the writer shares the memory";
    EXPECT_EQ(ours.file_writer_finish(file_writer, &error), HURRAY_OK) << error.message;
    EXPECT_EQ(ours.file_writer_destroy(&file_writer), HURRAY_OK);
    EXPECT_EQ(releases.calls, 1);
    EXPECT_EQ(owner_releases.calls, 1);
}

TEST_P(Copies, TensorOfOursOverAListOfTheOtherCopy) {
    const auto bytes = hurray_test::row_major_descriptor(HURRAY_TYPE_FLOAT32, {16}, 64);
    HurrayDescriptor* descriptor = nullptr;
    ASSERT_EQ(ours.descriptor_decode(bytes.data(), bytes.size(), &descriptor, nullptr), HURRAY_OK);
    HurrayBufferList* list = their_list();
    HurrayTensor* tensor = nullptr;
    ASSERT_EQ(ours.tensor_new(descriptor, &list, &tensor, &error), HURRAY_OK) << error.message;
    EXPECT_EQ(list, nullptr);
    EXPECT_EQ(view_of(ours, tensor).data, memory.bytes);
    EXPECT_EQ(ours.tensor_destroy(&tensor), HURRAY_OK);
    EXPECT_EQ(releases.calls, 1);
    EXPECT_EQ(ours.descriptor_destroy(&descriptor), HURRAY_OK);
}

// A collector's thread ends what came from the other copy: nothing runs before that copy's queue is drained.
TEST_P(Copies, DeferredDestroyWaitsOnTheQueueOfTheCopyThatLentTheMemory) {
    HurrayBufferList* list = their_list();
    HurrayTensorContext* context = their_context();
    HurrayTensor* tensor = nullptr;
    ASSERT_EQ(ours.tensor_import(&list, &context, &tensor, nullptr), HURRAY_OK);
    EXPECT_EQ(ours.tensor_destroy_deferred(&tensor, nullptr), HURRAY_OK);
    EXPECT_EQ(releases.calls + owner_releases.calls, 0);
    std::uint64_t drained = 0;
    EXPECT_EQ(ours.release_queue_drain(nullptr, UINT64_MAX, &drained, nullptr), HURRAY_OK);
    EXPECT_EQ(releases.calls + owner_releases.calls, 0);
    EXPECT_EQ(theirs.release_queue_drain(nullptr, UINT64_MAX, &drained, nullptr), HURRAY_OK);
    EXPECT_EQ(drained, 2u);
    EXPECT_EQ(releases.calls, 1);
    EXPECT_EQ(owner_releases.calls, 1);
}

// Handles that are no exchange handles.
TEST_P(Copies, OtherHandlesAreRefusedOutsideTheirCopy) {
    HurrayReleaseQueue* queue = nullptr;
    ASSERT_EQ(theirs.release_queue_new(&queue, nullptr), HURRAY_OK);
    std::uint64_t drained = 0;
    EXPECT_EQ(ours.release_queue_drain(queue, 1, &drained, nullptr), HURRAY_ERR_INVALID_HANDLE);
    HurrayReleaseQueue* same = queue;
    EXPECT_EQ(ours.release_queue_destroy(&same), HURRAY_ERR_INVALID_HANDLE);
    EXPECT_EQ(same, queue) << "the variable stays as it was";
    // Neither copy takes the queue of the other for its buffers.
    HurrayBuffer* buffer = nullptr;
    ASSERT_EQ(ours.buffer_from_ptr(memory.bytes, 64, 64, HURRAY_DEVICE_CPU, nullptr, nullptr, &buffer), HURRAY_OK);
    EXPECT_EQ(ours.buffer_set_release_queue(buffer, queue, nullptr), HURRAY_ERR_INVALID_HANDLE);
    EXPECT_EQ(theirs.buffer_set_release_queue(buffer, queue, nullptr), HURRAY_ERR_INVALID_HANDLE);
    EXPECT_EQ(ours.buffer_destroy(buffer), HURRAY_OK);
    EXPECT_EQ(theirs.release_queue_destroy(&queue), HURRAY_OK);

    const auto bytes = hurray_test::row_major_descriptor(HURRAY_TYPE_FLOAT32, {16}, 64);
    HurrayDescriptor* descriptor = nullptr;
    ASSERT_EQ(theirs.descriptor_decode(bytes.data(), bytes.size(), &descriptor, nullptr), HURRAY_OK);
    HurrayDescriptorInfo info{};
    info.struct_size = sizeof info;
    EXPECT_EQ(ours.descriptor_info(descriptor, &info, nullptr), HURRAY_ERR_INVALID_HANDLE);
    EXPECT_EQ(ours.descriptor_destroy(&descriptor), HURRAY_ERR_INVALID_HANDLE);
    EXPECT_EQ(theirs.descriptor_destroy(&descriptor), HURRAY_OK);

    // So the descriptor of another copy's tensor is not handed out: nobody could use it.
    HurrayTensor* tensor = their_tensor();
    const HurrayDescriptor* borrowed = nullptr;
    EXPECT_EQ(ours.tensor_descriptor(tensor, &borrowed, &error), HURRAY_ERR_UNSUPPORTED);
    EXPECT_EQ(borrowed, nullptr);
    EXPECT_EQ(theirs.tensor_destroy(&tensor), HURRAY_OK);
}

TEST_P(Copies, EventOfTheOtherCopyIsReleasedExactlyOnce) {
    static std::atomic<int> events{0};
    const HurrayBufferHandleBytes handle{{64, 0, 0, 0, 0, 0, 0, 0, 64, 0, 0, 0, HURRAY_DEVICE_CUDA, HURRAY_SYNC_EVENT, 0, 0}};
    auto descriptor = hurray_test::row_major_descriptor(HURRAY_TYPE_FLOAT32, {16}, 64);
    descriptor[descriptor.size() - 4] = HURRAY_DEVICE_CUDA;
    descriptor[descriptor.size() - 3] = HURRAY_SYNC_EVENT;
    for (const bool explicitly : {true, false}) {
        for (const bool refused : {false, true}) {
            events = 0;
            releases.calls = 0;
            const HurrayEventPayload payload{&events, HURRAY_DEVICE_CUDA, [](void*, void*) { ++events; }, nullptr};
            HurrayBuffer* buffer = nullptr;
            ASSERT_EQ(theirs.buffer_handoff(&handle, memory.bytes, &ReleaseCounter::release, &releases, &payload, nullptr, &buffer,
                                            nullptr),
                      HURRAY_OK);
            HurrayBufferList* list = nullptr;
            ASSERT_EQ(theirs.buffer_list_new(1, &list), HURRAY_OK);
            ASSERT_EQ(theirs.buffer_list_push(list, buffer), HURRAY_OK);
            if (refused) descriptor[descriptor.size() - 3] = HURRAY_SYNC_PRODUCER_SYNCED;
            HurrayTensorContext* context = nullptr;
            ASSERT_EQ(theirs.tensor_context_new(4, descriptor.data(), descriptor.size(), nullptr, nullptr, &context), HURRAY_OK);
            descriptor[descriptor.size() - 3] = HURRAY_SYNC_EVENT;
            HurrayTensor* tensor = nullptr;
            const HurrayStatus imported = ours.tensor_import(&list, &context, &tensor, &error);
            if (refused) {
                EXPECT_EQ(imported, HURRAY_ERR_SYNC_MODE_MISMATCH);
                EXPECT_EQ(events, 0) << "still the caller's list and event";
                EXPECT_EQ(theirs.buffer_list_destroy(&list), HURRAY_OK);
                EXPECT_EQ(theirs.tensor_context_destroy(&context), HURRAY_OK);
            } else {
                ASSERT_EQ(imported, HURRAY_OK) << error.message;
                HurrayBuffer* borrowed = nullptr;
                ASSERT_EQ(ours.tensor_buffer(tensor, 0, &borrowed, nullptr), HURRAY_OK);
                void* sync_handle = nullptr;
                std::uint8_t device = 0;
                ASSERT_EQ(ours.buffer_event(borrowed, &sync_handle, &device, nullptr), HURRAY_OK);
                EXPECT_EQ(sync_handle, &events);
                if (explicitly) {
                    EXPECT_EQ(ours.buffer_event_release(borrowed, nullptr), HURRAY_OK);
                    EXPECT_EQ(events, 1);
                    EXPECT_EQ(ours.buffer_event_release(borrowed, nullptr), HURRAY_ERR_INVALID_HANDLE);
                }
                EXPECT_EQ(ours.tensor_destroy(&tensor), HURRAY_OK);
            }
            EXPECT_EQ(events, 1);
            EXPECT_EQ(releases.calls, 1);
        }
    }
}

TEST_P(Copies, ProducerMayUseTheOtherCopy) {
    struct Exporting {
        Copies* test;
        static HurrayStatus export_tensor(void* context, void* stream, std::uint8_t device, HurrayBufferList** out_list,
                                          HurrayTensorContext** out_context, HurrayError*) {
            auto* self = static_cast<Exporting*>(context)->test;
            const HurrayBufferHandleBytes handle{{64, 0, 0, 0, 0, 0, 0, 0, 64, 0, 0, 0, device, HURRAY_SYNC_CONSUMER_STREAM, 0, 0}};
            const HurrayStreamPayload payload{stream, device};
            HurrayBuffer* buffer = nullptr;
            EXPECT_EQ(self->theirs.buffer_handoff(&handle, self->memory.bytes, &ReleaseCounter::release, &self->releases, nullptr,
                                                  &payload, &buffer, nullptr),
                      HURRAY_OK);
            EXPECT_EQ(self->theirs.buffer_list_new(1, out_list), HURRAY_OK);
            EXPECT_EQ(self->theirs.buffer_list_push(*out_list, buffer), HURRAY_OK);
            auto bytes = hurray_test::row_major_descriptor(HURRAY_TYPE_FLOAT32, {16}, 64);
            bytes[bytes.size() - 4] = device;
            bytes[bytes.size() - 3] = HURRAY_SYNC_CONSUMER_STREAM;
            return self->theirs.tensor_context_new(self->theirs.c_abi_version(), bytes.data(), bytes.size(), nullptr, nullptr,
                                                   out_context);
        }
    };
    Exporting exporting{this};
    int stream = 0;
    const HurrayProducer producer{sizeof producer, theirs.c_abi_version(), &exporting, &Exporting::export_tensor, nullptr};
    HurrayTensor* tensor = nullptr;
    ASSERT_EQ(ours.producer_request(&producer, &stream, HURRAY_DEVICE_CUDA, &tensor, &error), HURRAY_OK) << error.message;
    HurrayBuffer* buffer = nullptr;
    ASSERT_EQ(ours.tensor_buffer(tensor, 0, &buffer, nullptr), HURRAY_OK);
    void* ordered = nullptr;
    std::uint8_t device = 0;
    EXPECT_EQ(ours.buffer_stream(buffer, &ordered, &device, nullptr), HURRAY_OK);
    EXPECT_EQ(ordered, &stream);
    EXPECT_EQ(ours.tensor_destroy(&tensor), HURRAY_OK);
    EXPECT_EQ(releases.calls, 1);
}

}  // namespace
