// Handles that this copy of the library did not make: strangers are refused before anything else of them is read, and
// those of another copy are asked for their version first and then served through that copy's table.
#include "tests/conformance/device/stranger.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "hurray.h"

namespace {

std::uint64_t live_handles() {
    std::uint64_t handles = 0;
    std::uint64_t bytes = 0;
    EXPECT_EQ(hurray_live_handles(HURRAY_HANDLE_ANY, &handles, &bytes, nullptr), HURRAY_OK);
    return handles;
}

std::string log_of(Spy* spy) {
    std::string text(spy_log_copy(spy, nullptr, 0) + 1, '?');
    spy_log_copy(spy, text.data(), text.size());
    text.pop_back();
    return text;
}

std::string first_line(Spy* spy) {
    char line[64];
    spy_log_line_copy(spy, 0, line, sizeof line);
    return line;
}

std::size_t lines_of(const std::string& text) { return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')); }

struct Count {
    int calls = 0;
    void* data = nullptr;
    static void release(void* data, void* count) {
        ++static_cast<Count*>(count)->calls;
        static_cast<Count*>(count)->data = data;
    }
    static void release_owner(void* count) { ++static_cast<Count*>(count)->calls; }
};

// Handles of our own, for the other arguments of a call.
struct Ours {
    // On the heap: AddressSanitizer's frames do not keep to an alignment of 64.
    std::unique_ptr<float, void (*)(void*)> memory{static_cast<float*>(std::aligned_alloc(64, 64)), &std::free};
    Count releases;
    HurrayBuffer* buffer = nullptr;
    HurrayBufferList* list = nullptr;
    HurrayTensor* tensor = nullptr;
    HurrayTensorContext* context = nullptr;
    const HurrayDescriptor* descriptor = nullptr;
    HurrayReleaseQueue* queue = nullptr;
    HurrayWriter* writer = nullptr;

    Ours() {
        const std::uint64_t shape[2] = {3, 4};
        HurrayDenseSpec spec{};
        spec.struct_size = sizeof spec;
        spec.element_type = HURRAY_TYPE_FLOAT32;
        spec.layout = HURRAY_LAYOUT_ROW_MAJOR;
        spec.rank = 2;
        spec.shape = shape;
        EXPECT_EQ(hurray_buffer_allocate(48, 64, &buffer, nullptr), HURRAY_OK);
        EXPECT_EQ(hurray_tensor_from_host(&spec, memory.get(), 48, &Count::release, &releases, nullptr, &tensor, nullptr), HURRAY_OK);
        EXPECT_EQ(hurray_tensor_export(tensor, &list, &context, nullptr), HURRAY_OK);
        EXPECT_EQ(hurray_tensor_descriptor(tensor, &descriptor, nullptr), HURRAY_OK);
        EXPECT_EQ(hurray_release_queue_new(&queue, nullptr), HURRAY_OK);
        EXPECT_EQ(hurray_writer_to_memory(&writer, nullptr), HURRAY_OK);
    }
    ~Ours() {
        EXPECT_EQ(hurray_writer_destroy(&writer), HURRAY_OK);
        if (buffer != nullptr) {
            EXPECT_EQ(hurray_buffer_destroy(buffer), HURRAY_OK);
        }
        EXPECT_EQ(hurray_buffer_list_destroy(&list), HURRAY_OK);
        EXPECT_EQ(hurray_tensor_context_destroy(&context), HURRAY_OK);
        EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
        EXPECT_EQ(hurray_release_queue_destroy(&queue), HURRAY_OK);
    }
    Ours(const Ours&) = delete;
    Ours& operator=(const Ours&) = delete;
};

// What a call answered, beside its status: outputs that must be zero after a failure, and the handle in the caller's
// variable, which a failure leaves alone.
struct Outcome {
    HurrayStatus status = HURRAY_OK;
    bool has_error = false;
    HurrayError error{};
    bool outputs_zero = true;
    void* variable = nullptr;
};

// A parameter of a function that takes an exchange handle, and a call that is right but for this handle.
struct Parameter {
    const char* function;
    const char* name;
    std::uint32_t kind;
    /// Whether another copy's table has the function.
    bool dispatched;
    std::function<Outcome(Ours&, void*)> call;
};

struct Complex {
    double real;
    double imaginary;
};

constexpr std::uint64_t first[2] = {0, 0};

constexpr HurrayTranscodeSpec column_major = [] {
    HurrayTranscodeSpec spec{};
    spec.struct_size = sizeof spec;
    spec.layout = HURRAY_LAYOUT_COL_MAJOR;
    return spec;
}();

constexpr HurrayQuantizeSpec per_tensor = [] {
    HurrayQuantizeSpec spec{};
    spec.struct_size = sizeof spec;
    spec.scheme = HURRAY_SCHEME_PER_TENSOR_AFFINE;
    spec.storage_type = HURRAY_TYPE_INT8;
    return spec;
}();

/// A builder of a group with one member.
struct HeadOfAGroup {
    HeadOfAGroup() {
        const std::uint64_t shape = 1;
        HurrayLayoutFields fields{};
        fields.struct_size = sizeof fields;
        fields.layout = HURRAY_LAYOUT_COMPOSITE;
        fields.composition_rule = HURRAY_COMPOSITION_GROUP;
        fields.member_count = 1;
        HurrayDescriptorBuilder* head = nullptr;
        HurrayDescriptor* descriptor = nullptr;
        EXPECT_EQ(hurray_descriptor_builder_new(HURRAY_TYPE_FLOAT32, HURRAY_LAYOUT_COMPOSITE, &shape, 1, &head, nullptr), HURRAY_OK);
        EXPECT_EQ(hurray_descriptor_builder_set_layout_fields(head, &fields, nullptr), HURRAY_OK);
        EXPECT_EQ(hurray_descriptor_builder_build(head, &descriptor, nullptr), HURRAY_OK);
        EXPECT_EQ(hurray_composite_builder_new(descriptor, &builder, nullptr), HURRAY_OK);
        EXPECT_EQ(hurray_descriptor_destroy(&descriptor), HURRAY_OK);
        EXPECT_EQ(hurray_descriptor_builder_destroy(&head), HURRAY_OK);
    }
    ~HeadOfAGroup() { EXPECT_EQ(hurray_composite_builder_destroy(&builder), HURRAY_OK); }
    HeadOfAGroup(const HeadOfAGroup&) = delete;
    HeadOfAGroup& operator=(const HeadOfAGroup&) = delete;

    HurrayCompositeBuilder* builder = nullptr;
};

const std::vector<Parameter>& parameters() {
    // A call that may fill `out`; with `error`.
#define WITH_OUT(type, ...)                                       \
    [](Ours& ours, void* handle) {                                \
        (void)ours;                                               \
        Outcome result;                                           \
        result.has_error = true;                                  \
        result.variable = handle;                                 \
        HurrayError* error = &result.error;                       \
        type out{};                                               \
        result.status = __VA_ARGS__;                              \
        type zero{};                                              \
        result.outputs_zero = std::memcmp(&out, &zero, sizeof out) == 0; \
        return result;                                            \
    }
    // The same without a report: the functions of the contract's own text have none.
#define PLAIN(type, ...)                                          \
    [](Ours& ours, void* handle) {                                \
        (void)ours;                                               \
        Outcome result;                                           \
        result.variable = handle;                                 \
        type out{};                                               \
        result.status = __VA_ARGS__;                              \
        type zero{};                                              \
        result.outputs_zero = std::memcmp(&out, &zero, sizeof out) == 0; \
        return result;                                            \
    }
    // As WITH_OUT, for a struct that starts with its size.
#define WITH_STRUCT(type, ...)                                    \
    [](Ours& ours, void* handle) {                                \
        (void)ours;                                               \
        Outcome result;                                           \
        result.has_error = true;                                  \
        result.variable = handle;                                 \
        HurrayError* error = &result.error;                       \
        type out{};                                               \
        out.struct_size = sizeof out;                             \
        const type zero = out;                                    \
        result.status = __VA_ARGS__;                              \
        result.outputs_zero = std::memcmp(&out, &zero, sizeof out) == 0; \
        return result;                                            \
    }
    // As WITH_OUT, for a new tensor.
#define WITH_TENSOR(...)                                          \
    [](Ours&, void* handle) {                                     \
        Outcome result;                                           \
        result.has_error = true;                                  \
        result.variable = handle;                                 \
        HurrayError* error = &result.error;                       \
        HurrayTensor* out = nullptr;                              \
        result.status = __VA_ARGS__;                              \
        result.outputs_zero = out == nullptr;                     \
        EXPECT_EQ(hurray_tensor_destroy(&out), HURRAY_OK);        \
        return result;                                            \
    }
#define END(type, function, error_given)                          \
    [](Ours&, void* handle) {                                     \
        Outcome result;                                           \
        auto* variable = static_cast<type*>(handle);              \
        HurrayError* error = &result.error;                       \
        result.has_error = error_given;                           \
        (void)error;                                              \
        result.status = function;                                 \
        result.variable = variable;                               \
        return result;                                            \
    }
#define BUFFER static_cast<HurrayBuffer*>(handle)
#define LIST static_cast<HurrayBufferList*>(handle)
#define CONTEXT static_cast<HurrayTensorContext*>(handle)
#define TENSOR static_cast<HurrayTensor*>(handle)
    struct Bytes {
        const std::uint8_t* bytes;
        std::uint64_t length;
    };
    struct Tagged {
        void* handle;
        std::uint64_t tag;
    };
    static const std::vector<Parameter> all = {
        {"buffer_share", "buffer", STRANGER_BUFFER, true,
         WITH_OUT(HurrayBuffer*, hurray_buffer_share(BUFFER, &out, error))},
        {"buffer_slice", "buffer", STRANGER_BUFFER, true,
         WITH_OUT(HurrayBuffer*, hurray_buffer_slice(BUFFER, 0, 16, &out, error))},
        {"buffer_info", "buffer", STRANGER_BUFFER, true,
         [](Ours&, void* handle) {
             Outcome result;
             result.has_error = true;
             result.variable = handle;
             HurrayBufferInfo info{};
             info.struct_size = sizeof info;
             result.status = hurray_buffer_info(BUFFER, &info, &result.error);
             result.outputs_zero = info.data == nullptr && info.byte_size == 0 && info.flags == 0;
             return result;
         }},
        {"buffer_handle_bytes", "buffer", STRANGER_BUFFER, true,
         WITH_OUT(HurrayBufferHandleBytes, hurray_buffer_handle_bytes(BUFFER, &out, error))},
        {"buffer_prefix", "buffer", STRANGER_BUFFER, true, WITH_OUT(std::uint64_t, hurray_buffer_prefix(BUFFER, &out, error))},
        {"buffer_set_read_only", "buffer", STRANGER_BUFFER, true, WITH_OUT(int, hurray_buffer_set_read_only(BUFFER, error))},
        {"buffer_set_release_queue", "buffer", STRANGER_BUFFER, true,
         WITH_OUT(int, hurray_buffer_set_release_queue(BUFFER, nullptr, error))},
        {"buffer_set_release_any_thread", "buffer", STRANGER_BUFFER, true,
         WITH_OUT(int, hurray_buffer_set_release_any_thread(BUFFER, error))},
        {"buffer_event", "buffer", STRANGER_BUFFER, true,
         [](Ours&, void* handle) {
             Outcome result;
             result.has_error = true;
             result.variable = handle;
             void* event = handle;
             std::uint8_t tag = 7;
             result.status = hurray_buffer_event(BUFFER, &event, &tag, &result.error);
             result.outputs_zero = event == nullptr && tag == 0;
             return result;
         }},
        {"buffer_event_release", "buffer", STRANGER_BUFFER, true, WITH_OUT(int, hurray_buffer_event_release(BUFFER, error))},
        {"buffer_stream", "buffer", STRANGER_BUFFER, true,
         [](Ours&, void* handle) {
             Outcome result;
             result.has_error = true;
             result.variable = handle;
             void* stream = handle;
             std::uint8_t tag = 7;
             result.status = hurray_buffer_stream(BUFFER, &stream, &tag, &result.error);
             result.outputs_zero = stream == nullptr && tag == 0;
             return result;
         }},
        {"buffer_destroy", "buffer", STRANGER_BUFFER, true, PLAIN(int, hurray_buffer_destroy(BUFFER))},
        {"buffer_destroy_deferred", "buffer", STRANGER_BUFFER, true, WITH_OUT(int, hurray_buffer_destroy_deferred(BUFFER, error))},
        {"buffer_list_push", "list", STRANGER_LIST, true,
         [](Ours& ours, void* handle) {
             Outcome result;
             result.variable = handle;
             result.status = hurray_buffer_list_push(LIST, ours.buffer);
             if (result.status == HURRAY_OK) ours.buffer = nullptr;
             return result;
         }},
        {"buffer_list_push", "buffer", STRANGER_BUFFER, false, PLAIN(int, hurray_buffer_list_push(ours.list, BUFFER))},
        {"buffer_list_len", "list", STRANGER_LIST, true, PLAIN(std::uint64_t, hurray_buffer_list_len(LIST, &out))},
        {"buffer_list_get", "list", STRANGER_LIST, true, PLAIN(HurrayBuffer*, hurray_buffer_list_get(LIST, 0, &out))},
        {"buffer_list_destroy", "list", STRANGER_LIST, true,
         END(HurrayBufferList, hurray_buffer_list_destroy(&variable), false)},
        {"buffer_list_destroy_deferred", "list", STRANGER_LIST, true,
         END(HurrayBufferList, hurray_buffer_list_destroy_deferred(&variable, error), true)},
        {"tensor_context_abi_version", "ctx", STRANGER_CONTEXT, true,
         PLAIN(std::uint32_t, hurray_tensor_context_abi_version(CONTEXT, &out))},
        {"tensor_context_supports", "ctx", STRANGER_CONTEXT, false,
         WITH_OUT(std::uint8_t, hurray_tensor_context_supports(CONTEXT, 4, &out, error))},
        {"tensor_context_descriptor", "ctx", STRANGER_CONTEXT, true,
         PLAIN(Bytes, hurray_tensor_context_descriptor(CONTEXT, &out.bytes, &out.length))},
        {"tensor_context_destroy", "ctx", STRANGER_CONTEXT, true,
         END(HurrayTensorContext, hurray_tensor_context_destroy(&variable), false)},
        {"tensor_context_destroy_deferred", "ctx", STRANGER_CONTEXT, true,
         END(HurrayTensorContext, hurray_tensor_context_destroy_deferred(&variable, error), true)},
        {"tensor_context_set_release_queue", "ctx", STRANGER_CONTEXT, true,
         WITH_OUT(int, hurray_tensor_context_set_release_queue(CONTEXT, nullptr, error))},
        {"tensor_new", "list", STRANGER_LIST, false,
         [](Ours& ours, void* handle) {
             Outcome result;
             result.has_error = true;
             auto* list = LIST;
             HurrayTensor* tensor = nullptr;
             result.status = hurray_tensor_new(ours.descriptor, &list, &tensor, &result.error);
             result.outputs_zero = tensor == nullptr;
             result.variable = list;
             EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
             return result;
         }},
        {"tensor_import", "list", STRANGER_LIST, false,
         [](Ours& ours, void* handle) {
             Outcome result;
             result.has_error = true;
             auto* list = LIST;
             auto* const context = ours.context;
             HurrayTensor* tensor = nullptr;
             result.status = hurray_tensor_import(&list, &ours.context, &tensor, &result.error);
             EXPECT_EQ(ours.context, result.status == HURRAY_OK ? nullptr : context);
             result.outputs_zero = tensor == nullptr;
             result.variable = list;
             EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
             return result;
         }},
        {"tensor_import", "context", STRANGER_CONTEXT, false,
         [](Ours& ours, void* handle) {
             Outcome result;
             result.has_error = true;
             auto* context = CONTEXT;
             auto* const list = ours.list;
             HurrayTensor* tensor = nullptr;
             result.status = hurray_tensor_import(&ours.list, &context, &tensor, &result.error);
             EXPECT_EQ(ours.list, result.status == HURRAY_OK ? nullptr : list);
             result.outputs_zero = tensor == nullptr;
             result.variable = context;
             EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
             return result;
         }},
        {"tensor_export", "tensor", STRANGER_TENSOR, true,
         [](Ours&, void* handle) {
             Outcome result;
             result.has_error = true;
             result.variable = handle;
             HurrayBufferList* list = nullptr;
             HurrayTensorContext* context = nullptr;
             result.status = hurray_tensor_export(TENSOR, &list, &context, &result.error);
             result.outputs_zero = list == nullptr && context == nullptr;
             EXPECT_EQ(hurray_buffer_list_destroy(&list), HURRAY_OK);
             EXPECT_EQ(hurray_tensor_context_destroy(&context), HURRAY_OK);
             return result;
         }},
        {"tensor_share", "tensor", STRANGER_TENSOR, true, WITH_OUT(HurrayTensor*, hurray_tensor_share(TENSOR, &out, error))},
        {"tensor_view", "tensor", STRANGER_TENSOR, true,
         [](Ours&, void* handle) {
             Outcome result;
             result.has_error = true;
             result.variable = handle;
             HurrayView view{};
             view.struct_size = sizeof view;
             result.status = hurray_tensor_view(TENSOR, &view, &result.error);
             result.outputs_zero = view.data == nullptr && view.shape == nullptr && view.byte_size == 0;
             return result;
         }},
        {"tensor_descriptor", "tensor", STRANGER_TENSOR, false,
         WITH_OUT(const HurrayDescriptor*, hurray_tensor_descriptor(TENSOR, &out, error))},
        {"tensor_buffer", "tensor", STRANGER_TENSOR, true, WITH_OUT(HurrayBuffer*, hurray_tensor_buffer(TENSOR, 0, &out, error))},
        {"tensor_to_dlpack", "tensor", STRANGER_TENSOR, false,
         WITH_OUT(HurrayDlpackVersioned*, hurray_tensor_to_dlpack(TENSOR, 1, &out, error))},
        {"tensor_to_dlpack_unversioned", "tensor", STRANGER_TENSOR, false,
         WITH_OUT(HurrayDlpackUnversioned*, hurray_tensor_to_dlpack_unversioned(TENSOR, &out, error))},
        {"tensor_destroy", "tensor", STRANGER_TENSOR, true, END(HurrayTensor, hurray_tensor_destroy(&variable), false)},
        {"tensor_destroy_deferred", "tensor", STRANGER_TENSOR, true,
         END(HurrayTensor, hurray_tensor_destroy_deferred(&variable, error), true)},
        {"tensor_copy", "tensor", STRANGER_TENSOR, true,
         [](Ours&, void* handle) {
             Outcome result;
             result.has_error = true;
             result.variable = handle;
             HurrayTensor* copy = nullptr;
             std::uint64_t bytes = 0;
             result.status = hurray_tensor_copy(TENSOR, 0, &copy, &bytes, &result.error);
             result.outputs_zero = copy == nullptr && bytes == 0;
             EXPECT_EQ(hurray_tensor_destroy(&copy), HURRAY_OK);
             return result;
         }},
        {"tensor_import_options", "list", STRANGER_LIST, false,
         [](Ours& ours, void* handle) {
             Outcome result;
             result.has_error = true;
             auto* list = LIST;
             HurrayTensor* tensor = nullptr;
             result.status = hurray_tensor_import_options(&list, &ours.context, nullptr, &tensor, &result.error);
             result.outputs_zero = tensor == nullptr;
             result.variable = list;
             EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
             return result;
         }},
        {"tensor_import_options", "context", STRANGER_CONTEXT, false,
         [](Ours& ours, void* handle) {
             Outcome result;
             result.has_error = true;
             auto* context = CONTEXT;
             HurrayTensor* tensor = nullptr;
             result.status = hurray_tensor_import_options(&ours.list, &context, nullptr, &tensor, &result.error);
             result.outputs_zero = tensor == nullptr;
             result.variable = context;
             EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
             return result;
         }},
        {"tensor_element_address", "tensor", STRANGER_TENSOR, false,
         WITH_STRUCT(HurrayElementAddress, hurray_tensor_element_address(TENSOR, first, 2, &out, error))},
        {"tensor_element_float64", "tensor", STRANGER_TENSOR, false,
         WITH_OUT(double, hurray_tensor_element_float64(TENSOR, first, 2, &out, error))},
        {"tensor_element_complex128", "tensor", STRANGER_TENSOR, false,
         WITH_OUT(Complex, hurray_tensor_element_complex128(TENSOR, first, 2, &out.real, &out.imaginary, error))},
        {"tensor_element_bits", "tensor", STRANGER_TENSOR, false,
         WITH_STRUCT(HurrayElementBits, hurray_tensor_element_bits(TENSOR, first, 2, &out, error))},
        {"tensor_element_dequantized", "tensor", STRANGER_TENSOR, false,
         WITH_OUT(double, hurray_tensor_element_dequantized(TENSOR, first, 2, &out, error))},
        {"tensor_transcode", "tensor", STRANGER_TENSOR, false,
         WITH_TENSOR(hurray_tensor_transcode(TENSOR, &column_major, nullptr, nullptr, &out, error))},
        {"tensor_dequantize", "tensor", STRANGER_TENSOR, false,
         WITH_TENSOR(hurray_tensor_dequantize(TENSOR, HURRAY_TYPE_FLOAT32, nullptr, &out, error))},
        {"tensor_quantize", "tensor", STRANGER_TENSOR, false,
         WITH_TENSOR(hurray_tensor_quantize(TENSOR, &per_tensor, nullptr, &out, error))},
        {"tensor_validate", "tensor", STRANGER_TENSOR, false,
         WITH_OUT(int, hurray_tensor_validate(TENSOR, HURRAY_VALIDATE_DATA, nullptr, error))},
        {"tensor_statistics", "tensor", STRANGER_TENSOR, false,
         WITH_STRUCT(HurrayStatistics, hurray_tensor_statistics(TENSOR, HURRAY_STATISTICS_NNZ, nullptr, &out, error))},
        {"composite_builder_add_tensor", "tensor", STRANGER_TENSOR, false,
         [](Ours&, void* handle) {
             Outcome result;
             result.has_error = true;
             result.variable = handle;
             const HeadOfAGroup head;
             result.status = hurray_composite_builder_add_tensor(head.builder, TENSOR, &result.error);
             return result;
         }},
        {"channel_send", "tensor", STRANGER_TENSOR, false,
         [](Ours&, void* handle) {
             Outcome result;
             result.has_error = true;
             result.variable = handle;
             int ends[2];
             EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
             HurrayChannel* channel = nullptr;
             EXPECT_EQ(hurray_channel_from_fd(ends[0], nullptr, &channel, nullptr), HURRAY_OK);
             result.status = hurray_channel_send(channel, TENSOR, &result.error);
             EXPECT_EQ(hurray_channel_destroy(&channel), HURRAY_OK);
             for (const int end : ends) close(end);
             return result;
         }},
        {"writer_write", "tensor", STRANGER_TENSOR, false, WITH_OUT(int, hurray_writer_write(ours.writer, TENSOR, error))},
        {"file_open_buffer", "buffer", STRANGER_BUFFER, false,
         WITH_OUT(HurrayFile*, hurray_file_open_buffer(BUFFER, nullptr, &out, error))},
        {"file_writer_add", "tensor", STRANGER_TENSOR, false,
         [](Ours&, void* handle) {
             Outcome result;
             result.has_error = true;
             result.variable = handle;
             HurrayFileWriter* writer = nullptr;
             const std::string path = ::testing::TempDir() + "/stranger.safetensors";
             EXPECT_EQ(hurray_file_writer_create(path.c_str(), HURRAY_FORMAT_SAFETENSORS, &writer, nullptr), HURRAY_OK);
             result.status = hurray_file_writer_add(writer, "a", 1, TENSOR, &result.error);
             EXPECT_EQ(hurray_file_writer_destroy(&writer), HURRAY_OK);
             return result;
         }},
    };
    return all;
}

// --- The list above is complete ---

/// What follows `start` in the line, up to the next quotation mark; empty when `start` is not there.
std::string text_after(const std::string& line, const std::string& start) {
    const std::size_t at = line.find(start);
    if (at == std::string::npos) return {};
    return line.substr(at + start.size(), line.find('"', at + start.size()) - at - start.size());
}

TEST(Parameters, AreThoseOfTheLibrary) {
    // abi.json is written by our generator, one field a line.
    std::ifstream file("abi/abi.json");
    ASSERT_TRUE(file);
    std::set<std::string> expected;
    std::string function;
    std::string parameter;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("   \"name\": \"hurray_")) function = text_after(line, "\"name\": \"hurray_");
        const std::string declaration = text_after(line, "\"c\": \"");
        for (const char* type : {"HurrayBuffer *", "HurrayBufferList *", "HurrayTensorContext *", "HurrayTensor *"}) {
            if (declaration.starts_with(type) || declaration.starts_with(std::string("const ") + type)) {
                parameter = declaration.substr(declaration.rfind('*') + 1);
            }
        }
        const std::string direction = text_after(line, "\"direction\": \"");
        if (parameter.empty() || direction.empty()) continue;
        if (direction != "out") expected.insert(function + " " + parameter);
        parameter.clear();
    }
    EXPECT_GE(expected.size(), 38U);
    std::set<std::string> have;
    for (const Parameter& each : parameters()) have.insert(std::string(each.function) + " " + each.name);
    EXPECT_EQ(have, expected);
}

// --- Strangers ---

struct StrangerKind {
    const char* name;
    std::function<void*(std::uint32_t kind)> make;
};

std::vector<StrangerKind> strangers() {
    std::vector<StrangerKind> all = {
        {"another implementation's magic", [](std::uint32_t) { return stranger_foreign_new(); }},
        {"magic 0", [](std::uint32_t) { return stranger_new(0, 1, 4, 8); }},
        {"a destroyed handle's magic", [](std::uint32_t) { return stranger_new(0xDEADDEADDEADDEADU, 1, 4, 8); }},
        {"the magic of another kind",
         [](std::uint32_t kind) { return stranger_new(stranger_right_magic(kind == STRANGER_BUFFER ? STRANGER_LIST : STRANGER_BUFFER), 1, 4, 8); }},
        {"the magic with one bit changed",
         [](std::uint32_t kind) { return stranger_new(stranger_right_magic(kind) ^ (std::uint64_t{1} << 63), 1, 4, 8); }},
        {"generation 0", [](std::uint32_t kind) { return stranger_new(stranger_right_magic(kind), 0, 4, 16); }},
        {"generation 2", [](std::uint32_t kind) { return stranger_new(stranger_right_magic(kind), 2, 4, 16); }},
        {"no table", [](std::uint32_t kind) { return stranger_new(stranger_right_magic(kind), 1, 4, 24); }},
    };
#if !defined(HURRAY_UBSAN)
    // Not aligned as any handle is, so that it can end right behind the generation.
    all.push_back({"an unknown generation and nothing behind it", [](std::uint32_t kind) { return stranger_generation_new(kind); }});
#endif
    return all;
}

TEST(Strangers, AreRefusedByEveryFunctionBeforeAnythingElseIsRead) {
    const std::uint64_t base = live_handles();
    {
        Ours ours;
        for (const StrangerKind& stranger : strangers()) {
            for (const Parameter& parameter : parameters()) {
                SCOPED_TRACE(std::string("hurray_") + parameter.function + ", " + parameter.name + ": " + stranger.name);
                void* handle = stranger.make(parameter.kind);
                ASSERT_NE(handle, nullptr);
                const Outcome outcome = parameter.call(ours, handle);
                EXPECT_EQ(outcome.status, HURRAY_ERR_INVALID_HANDLE);
                EXPECT_TRUE(outcome.outputs_zero);
                EXPECT_EQ(outcome.variable, handle);
                if (outcome.has_error) {
                    EXPECT_EQ(outcome.error.code, HURRAY_ERR_INVALID_HANDLE);
                    EXPECT_NE(std::string(outcome.error.message).find(parameter.name), std::string::npos) << outcome.error.message;
                }
                stranger_free(handle);
            }
        }
        EXPECT_EQ(ours.releases.calls, 0);
    }
    EXPECT_EQ(live_handles(), base);
}

TEST(Strangers, EndBeforeWhatMayNotBeRead) {
    // The test above shows something only when reading on is deadly.
    for (const std::uint32_t readable : {8U, 12U, 16U, 24U}) {
        auto* const bytes = static_cast<volatile unsigned char*>(stranger_new(1, 2, 3, readable));
        ASSERT_NE(bytes, nullptr);
        EXPECT_EQ(bytes[0], 1);
#if !defined(HURRAY_ASAN) && !defined(HURRAY_TSAN) && !defined(HURRAY_UBSAN)
        EXPECT_DEATH((void)bytes[readable], "") << readable;
#endif
        stranger_free(const_cast<unsigned char*>(bytes));
    }
    EXPECT_EQ(stranger_new(1, 2, 3, 9), nullptr);
    stranger_free(nullptr);
}

// --- Versions ---

class SpyTest : public ::testing::Test {
protected:
    std::uint64_t base = live_handles();
    Spy* spy = nullptr;
    void* list = nullptr;
    void* context = nullptr;
    HurrayTensor* tensor = nullptr;
    HurrayError error{};

    void make(std::uint32_t version, std::uint32_t lowest = 1, std::uint32_t highest = 0) {
        make_spy(spy_new(version), lowest, highest);
        spy_pair_new(spy, &list, &context);
    }

    void make_spy(Spy* made, std::uint32_t lowest = 1, std::uint32_t highest = 0) {
        if (spy != nullptr) end_spy();
        spy = made;
        ASSERT_NE(spy, nullptr);
        spy_vouch(spy, lowest, highest);
    }

    HurrayStatus import() {
        auto* own_list = static_cast<HurrayBufferList*>(list);
        auto* own_context = static_cast<HurrayTensorContext*>(context);
        const HurrayStatus status = hurray_tensor_import(&own_list, &own_context, &tensor, &error);
        EXPECT_EQ(own_list, status == HURRAY_OK ? nullptr : list);
        EXPECT_EQ(own_context, status == HURRAY_OK ? nullptr : context);
        EXPECT_EQ(tensor != nullptr, status == HURRAY_OK);
        list = own_list;
        context = own_context;
        return status;
    }

    void end_pair() {
        auto* own_list = static_cast<HurrayBufferList*>(list);
        auto* own_context = static_cast<HurrayTensorContext*>(context);
        EXPECT_EQ(hurray_buffer_list_destroy(&own_list), HURRAY_OK);
        EXPECT_EQ(hurray_tensor_context_destroy(&own_context), HURRAY_OK);
        list = own_list;
        context = own_context;
        EXPECT_EQ(list, nullptr);
        EXPECT_EQ(context, nullptr);
    }

    void end_spy() {
        EXPECT_EQ(spy_live_handles(spy), 0U);
        EXPECT_EQ(spy_misuses(spy), 0U) << log_of(spy);
        spy_destroy(spy);
        spy = nullptr;
    }

    void TearDown() override {
        EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
        if (spy != nullptr) end_spy();
        EXPECT_EQ(live_handles(), base);
    }

    void expect_mismatch(std::uint32_t version) {
        SCOPED_TRACE(version);
        EXPECT_EQ(import(), HURRAY_ERR_VERSION_MISMATCH);
        EXPECT_NE(std::string(error.message).find("version " + std::to_string(version)), std::string::npos) << error.message;
        EXPECT_NE(std::string(error.message).find("version " + std::to_string(HURRAY_C_ABI_VERSION)), std::string::npos)
            << error.message;
        EXPECT_EQ(first_line(spy), "tensor_context_abi_version");
        EXPECT_EQ(spy_calls_of(spy, "tensor_context_abi_version"), 1U);
        EXPECT_EQ(spy_accessor_calls(spy), 0U) << log_of(spy);
        EXPECT_EQ(spy_live_handles(spy), 3U);
        end_pair();
    }

    void expect_values(HurrayTensor* of) {
        HurrayView view{};
        view.struct_size = sizeof view;
        ASSERT_EQ(hurray_tensor_view(of, &view, nullptr), HURRAY_OK);
        ASSERT_EQ(view.element_count, 12U);
        ASSERT_EQ(view.element_type, HURRAY_TYPE_FLOAT32);
        ASSERT_EQ(view.rank, 2);
        EXPECT_EQ(view.shape[0], 3);
        EXPECT_EQ(view.shape[1], 4);
        for (int i = 0; i < 12; ++i) EXPECT_EQ(static_cast<const float*>(view.data)[i], static_cast<float>(i));
    }
};

TEST_F(SpyTest, VersionsBelowTheFirstAreRefusedAndNothingElseIsRead) {
    for (const std::uint32_t version : {0U, 1U, 2U, 3U}) {
        make(version, 0, UINT32_MAX);
        expect_mismatch(version);
    }
}

TEST_F(SpyTest, HigherVersionsThatNobodyVouchesForAreRefusedAndNothingElseIsRead) {
    for (const std::uint32_t version : {5U, 6U, 1000U, UINT32_MAX}) {
        make(version);
        expect_mismatch(version);
    }
}

TEST_F(SpyTest, VouchingForOneOfTheTwoVersionsIsNotEnough) {
    make(5, 5, 5);
    expect_mismatch(5);
    make(5, 4, 4);
    expect_mismatch(5);
    make(6, 4, 5);
    expect_mismatch(6);
}

TEST_F(SpyTest, OwnVersionIsTakenWithoutAVoucher) {
    make(HURRAY_C_ABI_VERSION);
    ASSERT_EQ(import(), HURRAY_OK) << error.message;
    EXPECT_EQ(first_line(spy), "tensor_context_abi_version");
    expect_values(tensor);
    EXPECT_EQ(spy_live_handles(spy), 3U);
    EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
    EXPECT_EQ(spy_live_handles(spy), 0U);
    EXPECT_EQ(spy_calls_of(spy, "buffer_list_destroy"), 1U);
    EXPECT_EQ(spy_calls_of(spy, "tensor_context_destroy"), 1U);
}

TEST_F(SpyTest, HigherVersionsThatTheirMakerVouchesForAreTaken) {
    for (const std::uint32_t version : {5U, 6U, UINT32_MAX}) {
        SCOPED_TRACE(version);
        make(version, 4, version);
        ASSERT_EQ(import(), HURRAY_OK) << error.message;
        EXPECT_EQ(first_line(spy), "tensor_context_abi_version");
        EXPECT_EQ(spy_calls_of(spy, ("supports " + std::to_string(version)).c_str()), 1U);
        EXPECT_EQ(spy_calls_of(spy, "supports 4"), 1U);
        expect_values(tensor);
        EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
    }
}

TEST_F(SpyTest, TheContextsAnswerCountsNotThatOfThePrefix) {
    make_spy(spy_new(4));
    spy_set_context_version(spy, 3);
    spy_pair_new(spy, &list, &context);
    expect_mismatch(3);
    make_spy(spy_new(3));
    spy_set_context_version(spy, 4);
    spy_pair_new(spy, &list, &context);
    EXPECT_EQ(import(), HURRAY_OK) << error.message;
    EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
}

TEST_F(SpyTest, SupportsAsksTheCopyThatMadeTheContext) {
    make(6, 4, 6);
    auto* const asked = static_cast<HurrayTensorContext*>(context);
    const auto supports = [&](std::uint32_t version) {
        std::uint8_t answer = 7;
        EXPECT_EQ(hurray_tensor_context_supports(asked, version, &answer, &error), HURRAY_OK) << error.message;
        return answer;
    };
    EXPECT_EQ(supports(3), 0);
    EXPECT_EQ(supports(4), 1);
    EXPECT_EQ(supports(5), 1);
    EXPECT_EQ(supports(6), 1);
    EXPECT_EQ(supports(7), 0);
    spy_vouch(spy, 4, 5);
    EXPECT_EQ(supports(4), 0) << "it does not vouch for the version of its own context";
    EXPECT_EQ(spy_accessor_calls(spy), 0U) << log_of(spy);
    end_pair();
}

TEST_F(SpyTest, AVersionThatCannotBeReadIsAnErrorAndNothingElseIsRead) {
    make(4);
    ASSERT_EQ(spy_answer(spy, "tensor_context_abi_version", HURRAY_ERR_INVALID_HANDLE), 1);
    EXPECT_EQ(import(), HURRAY_ERR_INVALID_HANDLE);
    EXPECT_EQ(log_of(spy), "tensor_context_abi_version\n");
    end_pair();
}

TEST_F(SpyTest, ListAndContextOfDifferentCopies) {
    make(4);
    Ours ours;
    auto* own_list = static_cast<HurrayBufferList*>(list);
    auto* own_context = static_cast<HurrayTensorContext*>(context);
    ASSERT_EQ(hurray_tensor_import(&own_list, &ours.context, &tensor, &error), HURRAY_OK) << error.message;
    expect_values(tensor);
    EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
    EXPECT_EQ(spy_live_handles(spy), 1U);
    ASSERT_EQ(hurray_tensor_import(&ours.list, &own_context, &tensor, &error), HURRAY_OK) << error.message;
    EXPECT_EQ(spy_live_handles(spy), 1U);
    EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
    EXPECT_EQ(spy_live_handles(spy), 0U);
}

TEST_F(SpyTest, EndsWithTheLastHandleThatNeedsIt) {
    make(4);
    ASSERT_EQ(import(), HURRAY_OK) << error.message;
    HurrayTensor* share = nullptr;
    ASSERT_EQ(hurray_tensor_share(tensor, &share, &error), HURRAY_OK) << error.message;
    HurrayBufferList* exported = nullptr;
    HurrayTensorContext* exported_context = nullptr;
    ASSERT_EQ(hurray_tensor_export(tensor, &exported, &exported_context, &error), HURRAY_OK) << error.message;
    HurrayBuffer* buffer = nullptr;
    HurrayBuffer* slice = nullptr;
    ASSERT_EQ(hurray_tensor_buffer(tensor, 0, &buffer, &error), HURRAY_OK) << error.message;
    ASSERT_EQ(hurray_buffer_slice(buffer, 0, 16, &slice, &error), HURRAY_OK) << error.message;
    EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
    EXPECT_EQ(hurray_buffer_list_destroy(&exported), HURRAY_OK);
    EXPECT_EQ(hurray_tensor_context_destroy(&exported_context), HURRAY_OK);
    EXPECT_EQ(spy_live_handles(spy), 3U);
    expect_values(share);
    EXPECT_EQ(hurray_tensor_destroy(&share), HURRAY_OK);
    EXPECT_EQ(spy_live_handles(spy), 3U);
    HurrayBufferInfo info{};
    info.struct_size = sizeof info;
    ASSERT_EQ(hurray_buffer_info(slice, &info, &error), HURRAY_OK) << error.message;
    EXPECT_EQ(info.byte_size, 16U);
    EXPECT_EQ(static_cast<const float*>(info.data)[3], 3.0F);
    EXPECT_EQ(hurray_buffer_destroy(slice), HURRAY_OK);
    EXPECT_EQ(spy_live_handles(spy), 0U);
}

TEST_F(SpyTest, WhateverStepOfTheImportFailsNothingHasMoved) {
    // Answers in turn: each with a status that must come through.
    for (const char* function : {"tensor_context_descriptor", "buffer_list_len", "buffer_list_get", "buffer_info", "buffer_handle_bytes"}) {
        SCOPED_TRACE(function);
        make(4);
        ASSERT_EQ(spy_answer(spy, function, HURRAY_ERR_OUT_OF_MEMORY), 1);
        EXPECT_EQ(import(), HURRAY_ERR_OUT_OF_MEMORY);
        EXPECT_NE(std::string(error.message).find(function), std::string::npos) << error.message;
        EXPECT_EQ(spy_calls_of(spy, function), 1U);
        EXPECT_EQ(spy_live_handles(spy), 3U);
        EXPECT_EQ(spy_calls_of(spy, "buffer_list_destroy") + spy_calls_of(spy, "tensor_context_destroy"), 0U);
        ASSERT_EQ(spy_answer(spy, function, HURRAY_OK), 1);
        ASSERT_EQ(import(), HURRAY_OK) << error.message;
        expect_values(tensor);
        EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
    }
    EXPECT_EQ(spy_answer(spy, "no_such_function", HURRAY_ERR_INTERNAL), 0);
}

TEST_F(SpyTest, TablesOfOlderCopiesEndEarlierAndNothingBehindTheirEndIsRead) {
    bool worked = false;
    for (std::uint32_t size = 8; size <= spy_table_size(); size += 8) {
        SCOPED_TRACE(size);
        Spy* older = spy_new_with_table(4, size);
        ASSERT_NE(older, nullptr);
        spy_pair_new(older, &list, &context);
        const HurrayStatus status = import();
        if (status == HURRAY_OK) {
            worked = true;
            expect_values(tensor);
            (void)hurray_tensor_destroy(&tensor);
        } else {
            EXPECT_EQ(status, HURRAY_ERR_UNSUPPORTED) << error.message;
            EXPECT_FALSE(worked) << "a larger table does less";
        }
        // Every function over every kind, at every size: a typed error or an answer.
        for (const Parameter& parameter : parameters()) {
            if (!parameter.dispatched) continue;
            SCOPED_TRACE(parameter.function);
            Ours ours;
            const bool missing = [&] {
                for (std::uint32_t i = 0; i < spy_table_entries(); ++i) {
                    if (std::string(spy_table_entry_name(i)) == parameter.function) return spy_table_entry_offset(i) + 8 > size;
                }
                return true;
            }();
            if (!missing) continue;
            void* handle = spy_handle_new(older, parameter.kind);
            const Outcome outcome = parameter.call(ours, handle);
            EXPECT_EQ(outcome.status, HURRAY_ERR_UNSUPPORTED);
            EXPECT_TRUE(outcome.outputs_zero);
            EXPECT_EQ(outcome.variable, handle);
        }
        spy_destroy(older);
        list = nullptr;
        context = nullptr;
    }
    EXPECT_TRUE(worked);
    EXPECT_EQ(spy_new_with_table(4, 4), nullptr);
    EXPECT_EQ(spy_new_with_table(4, spy_table_size() + 8), nullptr);
}

// --- Every function ---

TEST_F(SpyTest, EveryFunctionOfTheTableIsServedByTheCopyThatMadeTheHandle) {
    for (const Parameter& parameter : parameters()) {
        if (!parameter.dispatched) continue;
        SCOPED_TRACE(parameter.function);
        make_spy(spy_new(4));
        Ours ours;
        void* handle = spy_handle_new(spy, parameter.kind);
        // A status that nothing else gives here: it can only be the spy's.
        ASSERT_EQ(spy_answer(spy, parameter.function, HURRAY_ERR_CANCELLED), 1);
        Outcome outcome = parameter.call(ours, handle);
        EXPECT_EQ(outcome.status, HURRAY_ERR_CANCELLED);
        EXPECT_EQ(outcome.variable, handle);
        EXPECT_EQ(log_of(spy), std::string(parameter.function) + "\n");
        if (outcome.has_error) {
            EXPECT_EQ(std::string(outcome.error.message), std::string("spy: hurray_") + parameter.function);
        }
        spy_log_clear(spy);
        ASSERT_EQ(spy_answer(spy, parameter.function, HURRAY_OK), 1);
        outcome = parameter.call(ours, handle);
        EXPECT_EQ(first_line(spy), parameter.function);
        spy_destroy(spy);
        spy = nullptr;
    }
}

TEST_F(SpyTest, TheTableHasEveryFunctionThatTakesAHandleButThoseThatNeedNone) {
    std::set<std::string> entries;
    for (std::uint32_t i = 0; i < spy_table_entries(); ++i) entries.insert(spy_table_entry_name(i));
    EXPECT_STREQ(spy_table_entry_name(spy_table_entries()), "");
    for (const Parameter& parameter : parameters()) {
        if (parameter.dispatched) {
            EXPECT_EQ(entries.count(parameter.function), 1U) << parameter.function;
        }
    }
}

TEST_F(SpyTest, AForeignTensorIsWrittenThroughAShare) {
    make_spy(spy_new(4));
    auto* foreign = static_cast<HurrayTensor*>(spy_handle_new(spy, STRANGER_TENSOR));
    Ours ours;
    ASSERT_EQ(hurray_writer_write(ours.writer, foreign, &error), HURRAY_OK) << error.message;
    EXPECT_EQ(spy_calls_of(spy, "tensor_export"), 1U);
    EXPECT_EQ(spy_live_handles(spy), 2U) << "the tensor and its buffer: what was exported has ended";
    HurrayBuffer* written = nullptr;
    ASSERT_EQ(hurray_writer_take(ours.writer, &written, &error), HURRAY_OK) << error.message;
    EXPECT_EQ(hurray_buffer_destroy(written), HURRAY_OK);
    expect_values(foreign);
    const HurrayDescriptor* descriptor = nullptr;
    EXPECT_EQ(hurray_tensor_descriptor(foreign, &descriptor, &error), HURRAY_ERR_UNSUPPORTED);
    EXPECT_EQ(hurray_tensor_destroy(&foreign), HURRAY_OK);
    EXPECT_EQ(foreign, nullptr);
}

TEST_F(SpyTest, ANewTensorOverAForeignList) {
    make_spy(spy_new(4));
    auto* foreign = static_cast<HurrayBufferList*>(spy_handle_new(spy, STRANGER_LIST));
    Ours ours;
    ASSERT_EQ(hurray_tensor_new(ours.descriptor, &foreign, &tensor, &error), HURRAY_OK) << error.message;
    EXPECT_EQ(foreign, nullptr);
    expect_values(tensor);
    EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
    EXPECT_EQ(spy_live_handles(spy), 0U);
}

TEST_F(SpyTest, AForeignBufferInAListOfOurs) {
    make_spy(spy_new(4));
    auto* foreign = static_cast<HurrayBuffer*>(spy_handle_new(spy, STRANGER_BUFFER));
    HurrayBufferList* own = nullptr;
    ASSERT_EQ(hurray_buffer_list_new(1, &own), HURRAY_OK);
    for (const char* function : {"buffer_info", "buffer_handle_bytes", "buffer_list_new", "buffer_list_push"}) {
        SCOPED_TRACE(function);
        ASSERT_EQ(spy_answer(spy, function, HURRAY_ERR_OUT_OF_MEMORY), 1);
        EXPECT_EQ(hurray_buffer_list_push(own, foreign), HURRAY_ERR_OUT_OF_MEMORY);
        EXPECT_EQ(spy_live_handles(spy), 1U) << "the buffer stays the caller's";
        std::uint64_t length = 7;
        EXPECT_EQ(hurray_buffer_list_len(own, &length), HURRAY_OK);
        EXPECT_EQ(length, 0U);
        ASSERT_EQ(spy_answer(spy, function, HURRAY_OK), 1);
    }
    ASSERT_EQ(hurray_buffer_list_push(own, foreign), HURRAY_OK);
    HurrayBuffer* got = nullptr;
    ASSERT_EQ(hurray_buffer_list_get(own, 0, &got), HURRAY_OK);
    HurrayBufferInfo info{};
    info.struct_size = sizeof info;
    ASSERT_EQ(hurray_buffer_info(got, &info, &error), HURRAY_OK) << error.message;
    EXPECT_EQ(static_cast<const float*>(info.data)[11], 11.0F);
    EXPECT_NE(info.flags & HURRAY_BUFFER_BORROWED, 0U);
    EXPECT_EQ(hurray_buffer_list_destroy(&own), HURRAY_OK);
    EXPECT_EQ(spy_live_handles(spy), 0U);
}

TEST_F(SpyTest, ABufferOfOursIsRefusedByAListOfAnotherCopyAndStaysOurs) {
    make_spy(spy_new(4));
    auto* foreign = static_cast<HurrayBufferList*>(spy_handle_new(spy, STRANGER_LIST));
    {
        Ours ours;
        ASSERT_EQ(spy_answer(spy, "buffer_list_push", HURRAY_ERR_UNSUPPORTED), 1);
        EXPECT_EQ(hurray_buffer_list_push(foreign, ours.buffer), HURRAY_ERR_UNSUPPORTED);
        HurrayBufferInfo info{};
        info.struct_size = sizeof info;
        EXPECT_EQ(hurray_buffer_info(ours.buffer, &info, nullptr), HURRAY_OK);
        EXPECT_EQ(info.flags & HURRAY_BUFFER_BORROWED, 0U);
    }
    EXPECT_EQ(hurray_buffer_list_destroy(&foreign), HURRAY_OK);
}

TEST_F(SpyTest, BorrowedAndDestroyedForeignHandlesAreRefused) {
    make(4);
    HurrayBuffer* borrowed = nullptr;
    ASSERT_EQ(hurray_buffer_list_get(static_cast<HurrayBufferList*>(list), 0, &borrowed), HURRAY_OK);
    EXPECT_EQ(hurray_buffer_destroy(borrowed), HURRAY_ERR_INVALID_HANDLE);
    EXPECT_EQ(spy_misuses(spy), 1U);
    HurrayBufferList* own = nullptr;
    ASSERT_EQ(hurray_buffer_list_new(1, &own), HURRAY_OK);
    EXPECT_EQ(hurray_buffer_list_push(own, borrowed), HURRAY_ERR_INVALID_HANDLE);
    EXPECT_EQ(hurray_buffer_list_destroy(&own), HURRAY_OK);
    auto* twice = static_cast<HurrayBufferList*>(list);
    end_pair();
    const std::uint64_t calls = spy_log_length(spy);
    EXPECT_EQ(hurray_buffer_list_destroy(&twice), HURRAY_ERR_INVALID_HANDLE);
    EXPECT_EQ(hurray_buffer_destroy(borrowed), HURRAY_ERR_INVALID_HANDLE);
    EXPECT_EQ(spy_log_length(spy), calls) << "the magic of an ended handle is looked at first";
    EXPECT_EQ(spy_live_handles(spy), 0U);
    spy_destroy(spy);
    spy = nullptr;
}

// --- Handoff across copies ---

TEST_F(SpyTest, TheEventOfAForeignBufferIsReleasedExactlyOnceByTheConsumer) {
    make_spy(spy_new(4));
    Count releases;
    int event = 0;
    spy_event_pair_new(spy, &event, reinterpret_cast<void*>(&Count::release), &releases, &list, &context);
    ASSERT_EQ(import(), HURRAY_OK) << error.message;
    EXPECT_EQ(releases.calls, 0);
    HurrayBuffer* buffer = nullptr;
    ASSERT_EQ(hurray_tensor_buffer(tensor, 0, &buffer, &error), HURRAY_OK) << error.message;
    void* sync_handle = nullptr;
    std::uint8_t tag = 0;
    ASSERT_EQ(hurray_buffer_event(buffer, &sync_handle, &tag, &error), HURRAY_OK) << error.message;
    EXPECT_EQ(sync_handle, &event);
    EXPECT_EQ(tag, HURRAY_DEVICE_CUDA);
    EXPECT_EQ(hurray_buffer_event_release(buffer, &error), HURRAY_OK) << error.message;
    EXPECT_EQ(releases.calls, 1);
    EXPECT_EQ(releases.data, &event);
    EXPECT_EQ(hurray_buffer_event_release(buffer, &error), HURRAY_ERR_INVALID_HANDLE);
    EXPECT_EQ(hurray_buffer_event(buffer, &sync_handle, &tag, &error), HURRAY_ERR_INVALID_HANDLE);
    EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
    EXPECT_EQ(releases.calls, 1);
}

TEST_F(SpyTest, TheEventOfAForeignBufferIsReleasedWithItsTensor) {
    make_spy(spy_new(4));
    Count releases;
    int event = 0;
    spy_event_pair_new(spy, &event, reinterpret_cast<void*>(&Count::release), &releases, &list, &context);
    ASSERT_EQ(import(), HURRAY_OK) << error.message;
    EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
    EXPECT_EQ(releases.calls, 1);
}

TEST_F(SpyTest, TheEventOfAForeignBufferStaysWhereAnImportFails) {
    make_spy(spy_new(4));
    Count releases;
    int event = 0;
    spy_event_pair_new(spy, &event, reinterpret_cast<void*>(&Count::release), &releases, &list, &context);
    ASSERT_EQ(spy_answer(spy, "buffer_handle_bytes", HURRAY_ERR_INTERNAL), 1);
    EXPECT_EQ(import(), HURRAY_ERR_INTERNAL);
    EXPECT_EQ(releases.calls, 0);
    end_pair();
    EXPECT_EQ(releases.calls, 1);
}

TEST_F(SpyTest, TheStreamOfAForeignBuffer) {
    make_spy(spy_new(4));
    int stream = 0;
    spy_stream_pair_new(spy, &stream, &list, &context);
    ASSERT_EQ(import(), HURRAY_OK) << error.message;
    HurrayBuffer* buffer = nullptr;
    ASSERT_EQ(hurray_tensor_buffer(tensor, 0, &buffer, &error), HURRAY_OK) << error.message;
    void* got = nullptr;
    std::uint8_t tag = 0;
    ASSERT_EQ(hurray_buffer_stream(buffer, &got, &tag, &error), HURRAY_OK) << error.message;
    EXPECT_EQ(got, &stream);
    EXPECT_EQ(tag, HURRAY_DEVICE_CUDA);
    void* event = nullptr;
    EXPECT_EQ(hurray_buffer_event(buffer, &event, &tag, &error), HURRAY_ERR_SYNC_MODE_MISMATCH);
}

// --- Producers of another copy ---

struct SpyProducer {
    Spy* spy;
    void* stream;
    static HurrayStatus export_tensor(void* context, void* consumer_stream, std::uint8_t, HurrayBufferList** out_list,
                                      HurrayTensorContext** out_context, HurrayError*) {
        auto* self = static_cast<SpyProducer*>(context);
        self->stream = consumer_stream;
        void* list = nullptr;
        void* tensor_context = nullptr;
        spy_stream_pair_new(self->spy, consumer_stream, &list, &tensor_context);
        *out_list = static_cast<HurrayBufferList*>(list);
        *out_context = static_cast<HurrayTensorContext*>(tensor_context);
        return HURRAY_OK;
    }
};

TEST_F(SpyTest, ARequestLooksAtTheVersionFirst) {
    for (const std::uint32_t version : {3U, 5U}) {
        SCOPED_TRACE(version);
        make_spy(spy_new(version));
        SpyProducer producer{spy, nullptr};
        int stream = 0;
        const HurrayProducer request{sizeof request, HURRAY_C_ABI_VERSION, &producer, &SpyProducer::export_tensor, nullptr};
        EXPECT_EQ(hurray_producer_request(&request, &stream, HURRAY_DEVICE_CUDA, &tensor, &error), HURRAY_ERR_VERSION_MISMATCH);
        EXPECT_EQ(tensor, nullptr);
        EXPECT_EQ(first_line(spy), "tensor_context_abi_version");
        // What came is ended, through the table, and nothing else of it is touched.
        EXPECT_EQ(spy_accessor_calls(spy), 2U) << log_of(spy);
        EXPECT_EQ(spy_calls_of(spy, "buffer_list_destroy"), 1U);
        EXPECT_EQ(spy_calls_of(spy, "tensor_context_destroy"), 1U);
        EXPECT_EQ(spy_live_handles(spy), 0U);
    }
}

TEST_F(SpyTest, ARequestToAnotherCopyThatVouches) {
    make_spy(spy_new(5), 4, 5);
    SpyProducer producer{spy, nullptr};
    int stream = 0;
    const HurrayProducer request{sizeof request, 5, &producer, &SpyProducer::export_tensor, nullptr};
    ASSERT_EQ(hurray_producer_request(&request, &stream, HURRAY_DEVICE_CUDA, &tensor, &error), HURRAY_OK) << error.message;
    EXPECT_EQ(producer.stream, &stream);
    HurrayBuffer* buffer = nullptr;
    ASSERT_EQ(hurray_tensor_buffer(tensor, 0, &buffer, &error), HURRAY_OK);
    void* got = nullptr;
    std::uint8_t tag = 0;
    ASSERT_EQ(hurray_buffer_stream(buffer, &got, &tag, &error), HURRAY_OK) << error.message;
    EXPECT_EQ(got, &stream);
}

// --- The spies themselves ---

TEST(Spies, SixteenAtATime) {
    std::vector<Spy*> all;
    for (int i = 0; i < 16; ++i) all.push_back(spy_new(4));
    EXPECT_EQ(std::set<Spy*>(all.begin(), all.end()).size(), 16U);
    EXPECT_EQ(spy_new(4), nullptr);
    // Each answers for itself.
    spy_vouch(all[7], 4, 5);
    spy_set_context_version(all[7], 5);
    void* list = nullptr;
    void* context = nullptr;
    spy_pair_new(all[7], &list, &context);
    std::uint8_t supported = 0;
    EXPECT_EQ(hurray_tensor_context_supports(static_cast<HurrayTensorContext*>(context), 4, &supported, nullptr), HURRAY_OK);
    EXPECT_EQ(supported, 1);
    EXPECT_EQ(lines_of(log_of(all[7])), 3U) << log_of(all[7]);
    EXPECT_EQ(spy_log_length(all[6]), 0U);
    for (Spy* spy : all) spy_destroy(spy);
    spy_destroy(nullptr);
    Spy* again = spy_new(4);
    EXPECT_NE(again, nullptr);
    spy_destroy(again);
}

TEST(Spies, TheirHandlesEndWithThePrefix) {
    Spy* spy = spy_new(4);
    for (const std::uint32_t kind : {STRANGER_BUFFER, STRANGER_LIST, STRANGER_CONTEXT, STRANGER_TENSOR}) {
        const auto* const bytes = static_cast<volatile unsigned char*>(spy_handle_new(spy, kind));
        ASSERT_NE(bytes, nullptr);
        EXPECT_EQ(bytes[0], kind);
#if !defined(HURRAY_ASAN) && !defined(HURRAY_TSAN) && !defined(HURRAY_UBSAN)
        EXPECT_DEATH((void)bytes[24], "") << kind;
#endif
    }
    EXPECT_EQ(spy_handle_new(spy, 1), nullptr);
    spy_destroy(spy);
}

}  // namespace
