// Tensors of all layouts through the C ABI: made, exchanged and streamed; what has no view, and whose memory is not touched.
#include <algorithm>

#include "abi/tests/support.hpp"

namespace {

using hurray_test::AlignedBytes;
using hurray_test::row_major_descriptor;
using Bytes = std::vector<std::uint8_t>;

template <class Struct>
Struct sized() {
    Struct value{};
    value.struct_size = sizeof value;
    return value;
}

Bytes number(std::uint64_t value, int width) {
    Bytes bytes;
    for (int i = 0; i < width; ++i) bytes.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
    return bytes;
}

/// Encoded by hand from the format's text.
struct Wire {
    std::uint32_t flags = 0;
    std::uint8_t type = HURRAY_TYPE_FLOAT32;
    std::uint8_t layout = HURRAY_LAYOUT_ROW_MAJOR;
    std::vector<std::uint64_t> shape;
    std::uint64_t byte_offset = 0;
    Bytes fields;
    std::vector<std::uint64_t> buffer_sizes;
    std::uint8_t memory_class = 0;
    Bytes sections;

    Bytes bytes() const {
        Bytes body;
        const auto put = [&body](const Bytes& more) { body.insert(body.end(), more.begin(), more.end()); };
        for (const std::uint64_t size : shape) put(number(size, 8));
        put(number(byte_offset, 8));
        put(fields);
        put(number(buffer_sizes.size(), 1));
        for (const std::uint64_t size : buffer_sizes) {
            put(number(size, 8));
            put(number(64, 4));
            put({0, 0, memory_class, 0});
        }
        put(sections);
        Bytes all = {'H', 'R', 'R', 'Y', 1, 0};
        const auto head = [&all](const Bytes& more) { all.insert(all.end(), more.begin(), more.end()); };
        head(number(20 + body.size(), 4));
        head(number(flags, 4));
        head({type, layout});
        head(number(shape.size(), 4));
        head(body);
        return all;
    }
};

/// [5, 7] with two elements: (1, 2) and (4, 0).
Wire coo() {
    Wire wire;
    wire.layout = HURRAY_LAYOUT_COO;
    wire.shape = {5, 7};
    wire.fields = number(2, 8);
    const Bytes sorted = number(1, 8);
    wire.fields.insert(wire.fields.end(), sorted.begin(), sorted.end());
    wire.buffer_sizes = {8, 32};
    return wire;
}

/// uint8 [4, 4] in tiles of [2, 2], from byte 16 of its buffer on.
Wire tiled(std::uint64_t byte_offset) {
    Wire wire;
    wire.type = HURRAY_TYPE_UINT8;
    wire.layout = HURRAY_LAYOUT_TILED;
    wire.shape = {4, 4};
    wire.byte_offset = byte_offset;
    wire.fields = {2, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, HURRAY_LAYOUT_ROW_MAJOR, HURRAY_LAYOUT_ROW_MAJOR, 0, 0};
    wire.buffer_sizes = {byte_offset + 16};
    return wire;
}

class Layouts : public hurray_test::BaseLineTest {
protected:
    void SetUp() override {
        BaseLineTest::SetUp();
        for (int i = 0; i < 256; ++i) memory_.bytes[i] = static_cast<unsigned char>(i);
    }

    HurrayDescriptor* decoded(const Bytes& bytes, std::uint32_t flags = 0) {
        auto options = sized<HurrayDecodeOptions>();
        options.flags = flags;
        HurrayDescriptor* descriptor = nullptr;
        HurrayError error{};
        EXPECT_EQ(hurray_descriptor_decode_options(bytes.data(), bytes.size(), &options, &descriptor, &error), HURRAY_OK)
            << error.message;
        return descriptor;
    }

    /// Buffers over the test's memory, 64 bytes apart; `shift` bytes behind an aligned address.
    HurrayBufferList* list_of(const std::vector<std::uint64_t>& sizes, std::uint64_t shift = 0, std::uint8_t memory_class = 0) {
        HurrayBufferList* list = nullptr;
        EXPECT_EQ(hurray_buffer_list_new(sizes.size(), &list), HURRAY_OK);
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            HurrayBuffer* buffer = nullptr;
            std::uint64_t offset = 0;
            void* data = memory_.bytes + 64 * i + shift;
            if (memory_class == 0) {
                EXPECT_EQ(hurray_buffer_from_host(data, sizes[i], 0, nullptr, nullptr, &buffer, &offset, nullptr), HURRAY_OK);
            } else {
                HurrayBufferHandleBytes handle{};
                const Bytes size = number(sizes[i], 8);
                std::copy(size.begin(), size.end(), handle.bytes);
                handle.bytes[8] = 64;
                handle.bytes[14] = memory_class;
                EXPECT_EQ(hurray_buffer_handoff(&handle, data, nullptr, nullptr, nullptr, nullptr, &buffer, nullptr), HURRAY_OK);
            }
            EXPECT_EQ(hurray_buffer_list_push(list, buffer), HURRAY_OK);
        }
        return list;
    }

    HurrayStatus make(const Bytes& bytes, HurrayBufferList*& list, HurrayTensor** out, std::uint32_t flags = 0) {
        HurrayDescriptor* descriptor = decoded(bytes, flags);
        const HurrayStatus status = hurray_tensor_new(descriptor, &list, out, nullptr);
        EXPECT_EQ(hurray_descriptor_destroy(&descriptor), HURRAY_OK);
        return status;
    }

    HurrayTensor* tensor_of(const Wire& wire, std::uint64_t shift = 0, std::uint32_t flags = 0) {
        HurrayTensor* tensor = nullptr;
        std::vector<std::uint64_t> sizes = wire.buffer_sizes;
        if (!sizes.empty()) sizes[0] -= shift;
        HurrayBufferList* list = list_of(sizes, shift, wire.memory_class);
        EXPECT_EQ(make(wire.bytes(), list, &tensor, flags), HURRAY_OK);
        return tensor;
    }

    static Bytes descriptor_of(const HurrayTensor* tensor) {
        const HurrayDescriptor* descriptor = nullptr;
        EXPECT_EQ(hurray_tensor_descriptor(tensor, &descriptor, nullptr), HURRAY_OK);
        auto info = sized<HurrayDescriptorInfo>();
        EXPECT_EQ(hurray_descriptor_info(descriptor, &info, nullptr), HURRAY_OK);
        Bytes bytes(info.descriptor_length);
        std::uint64_t length = 0;
        EXPECT_EQ(hurray_descriptor_encode(descriptor, bytes.data(), bytes.size(), &length, nullptr), HURRAY_OK);
        return bytes;
    }

    static Bytes written(const HurrayTensor* tensor) {
        HurrayWriter* writer = nullptr;
        HurrayError error{};
        EXPECT_EQ(hurray_writer_to_memory(&writer, nullptr), HURRAY_OK);
        EXPECT_EQ(hurray_writer_write(writer, tensor, &error), HURRAY_OK) << error.message;
        HurrayBuffer* buffer = nullptr;
        EXPECT_EQ(hurray_writer_take(writer, &buffer, nullptr), HURRAY_OK);
        auto info = sized<HurrayBufferInfo>();
        EXPECT_EQ(hurray_buffer_info(buffer, &info, nullptr), HURRAY_OK);
        const auto* data = static_cast<const std::uint8_t*>(info.data);
        Bytes bytes(data, data + info.byte_size);
        EXPECT_EQ(hurray_buffer_destroy(buffer), HURRAY_OK);
        EXPECT_EQ(hurray_writer_destroy(&writer), HURRAY_OK);
        return bytes;
    }

    static HurrayStatus read(const Bytes& stream, std::uint32_t flags, HurrayTensor** out) {
        auto options = sized<HurrayStreamOptions>();
        options.flags = flags;
        HurrayReader* reader = nullptr;
        EXPECT_EQ(hurray_reader_from_memory(stream.data(), stream.size(), &options, &reader, nullptr), HURRAY_OK);
        const HurrayStatus status = hurray_reader_next(reader, out, nullptr);
        EXPECT_EQ(hurray_reader_destroy(&reader), HURRAY_OK);
        return status;
    }

    static HurrayStatus view_of(const HurrayTensor* tensor) {
        auto view = sized<HurrayView>();
        return hurray_tensor_view(tensor, &view, nullptr);
    }

    static HurrayStatus copy_of(const HurrayTensor* tensor) {
        HurrayTensor* copy = nullptr;
        std::uint64_t bytes = 0;
        const HurrayStatus status = hurray_tensor_copy(tensor, 0, &copy, &bytes, nullptr);
        EXPECT_EQ(hurray_tensor_destroy(&copy), HURRAY_OK);
        return status;
    }

    AlignedBytes<256> memory_;
};

// The stream of a tensor: its descriptor and, buffer for buffer, the bytes of the test's memory.
Bytes stream_of(Bytes descriptor, const unsigned char* memory, const std::vector<std::uint64_t>& sizes) {
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        descriptor.insert(descriptor.end(), memory + 64 * i, memory + 64 * i + sizes[i]);
    }
    return descriptor;
}

TEST_F(Layouts, SparseTensorsAreExchangedAndStreamed) {
    HurrayTensor* tensor = tensor_of(coo());
    ASSERT_NE(tensor, nullptr);
    EXPECT_EQ(view_of(tensor), HURRAY_ERR_UNSUPPORTED);
    EXPECT_EQ(copy_of(tensor), HURRAY_ERR_UNSUPPORTED);
    HurrayBufferList* list = nullptr;
    HurrayTensorContext* context = nullptr;
    ASSERT_EQ(hurray_tensor_export(tensor, &list, &context, nullptr), HURRAY_OK);
    HurrayTensor* imported = nullptr;
    ASSERT_EQ(hurray_tensor_import(&list, &context, &imported, nullptr), HURRAY_OK);
    EXPECT_EQ(descriptor_of(imported), coo().bytes());
    HurrayTensor* share = nullptr;
    ASSERT_EQ(hurray_tensor_share(imported, &share, nullptr), HURRAY_OK);
    EXPECT_EQ(hurray_tensor_destroy(&imported), HURRAY_OK);
    const Bytes stream = written(share);
    EXPECT_EQ(stream, stream_of(coo().bytes(), memory_.bytes, {8, 32}));
    HurrayTensor* back = nullptr;
    ASSERT_EQ(read(stream, 0, &back), HURRAY_OK);
    EXPECT_EQ(descriptor_of(back), coo().bytes());
    HurrayBuffer* indices = nullptr;
    ASSERT_EQ(hurray_tensor_buffer(back, 1, &indices, nullptr), HURRAY_OK);
    auto info = sized<HurrayBufferInfo>();
    ASSERT_EQ(hurray_buffer_info(indices, &info, nullptr), HURRAY_OK);
    EXPECT_EQ(std::memcmp(info.data, memory_.bytes + 64, 32), 0);
    for (HurrayTensor* each : {tensor, share, back}) EXPECT_EQ(hurray_tensor_destroy(&each), HURRAY_OK);
}

// What the memory was here means nothing to a receiver; the place of the buffer table depends on the layout's fields.
TEST_F(Layouts, PinnedMemoryIsPlainMemoryInAStream) {
    Wire pinned = coo();
    pinned.memory_class = HURRAY_MEMORY_HOST_PINNED;
    HurrayTensor* tensor = tensor_of(pinned);
    ASSERT_NE(tensor, nullptr);
    EXPECT_EQ(written(tensor), stream_of(coo().bytes(), memory_.bytes, {8, 32}));
    EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
    HurrayTensor* back = nullptr;
    EXPECT_EQ(read(stream_of(pinned.bytes(), memory_.bytes, {8, 32}), 0, &back), HURRAY_OK);
    EXPECT_EQ(descriptor_of(back), coo().bytes());
    EXPECT_EQ(hurray_tensor_destroy(&back), HURRAY_OK);
}

TEST_F(Layouts, TilesBehindAPrefixAreStreamedWithoutIt) {
    HurrayTensor* tensor = tensor_of(tiled(16), 16);
    ASSERT_NE(tensor, nullptr);
    EXPECT_EQ(view_of(tensor), HURRAY_ERR_UNSUPPORTED);
    Bytes expected = tiled(0).bytes();
    expected.insert(expected.end(), memory_.bytes + 16, memory_.bytes + 32);
    EXPECT_EQ(written(tensor), expected);
    EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
}

TEST_F(Layouts, NoElementLiesInMemoryOfSomebodyElse) {
    HurrayTensor* tensor = nullptr;
    HurrayBufferList* list = list_of({16}, 16);
    EXPECT_EQ(make(tiled(0).bytes(), list, &tensor), HURRAY_ERR_INVALID_LAYOUT) << "the first tile lies in the prefix";
    ASSERT_NE(list, nullptr) << "ownership stays";
    EXPECT_EQ(hurray_buffer_list_destroy(&list), HURRAY_OK);
    // Tiles that go backwards: element (0, ...) lies behind the prefix, the last tile in it.
    Wire backwards = tiled(32);
    backwards.fields[16] = HURRAY_LAYOUT_STRIDED;
    const std::uint64_t back = ~std::uint64_t{0};
    for (const std::uint64_t stride : {back - 1, back}) {
        const Bytes more = number(stride, 8);
        backwards.fields.insert(backwards.fields.end(), more.begin(), more.end());
    }
    backwards.buffer_sizes = {48};
    list = list_of({32}, 32);
    EXPECT_EQ(make(backwards.bytes(), list, &tensor), HURRAY_ERR_INVALID_LAYOUT);
    EXPECT_EQ(hurray_buffer_list_destroy(&list), HURRAY_OK);
    EXPECT_EQ(tensor, nullptr);
}

TEST_F(Layouts, BuffersWithoutAByteOffsetMustBeAligned) {
    HurrayTensor* tensor = nullptr;
    HurrayBufferList* list = list_of({8, 32}, 8);
    HurrayDescriptor* descriptor = decoded(coo().bytes());
    HurrayError error{};
    EXPECT_EQ(hurray_tensor_new(descriptor, &list, &tensor, &error), HURRAY_ERR_MISALIGNED);
    EXPECT_NE(std::string(error.message).find("buffer 0"), std::string::npos) << error.message;
    ASSERT_NE(list, nullptr);
    EXPECT_EQ(hurray_buffer_list_destroy(&list), HURRAY_OK);
    EXPECT_EQ(hurray_descriptor_destroy(&descriptor), HURRAY_OK);
}

TEST_F(Layouts, ViewsOfQuantizedTensorsSaySo) {
    Wire wire;
    wire.flags = HURRAY_SECTION_QUANTIZATION;
    wire.type = HURRAY_TYPE_INT8;
    wire.shape = {4};
    wire.buffer_sizes = {4};
    wire.sections = {16, 0, 0, 0, HURRAY_SCHEME_PER_TENSOR_AFFINE, 1, 0, 0, 0, 0, 0, 0x3F, 0, 0, 0, 0, 0, 0, 0, 0};
    HurrayTensor* tensor = tensor_of(wire);
    ASSERT_NE(tensor, nullptr);
    auto view = sized<HurrayView>();
    ASSERT_EQ(hurray_tensor_view(tensor, &view, nullptr), HURRAY_OK);
    EXPECT_EQ(view.flags, std::uint32_t{HURRAY_VIEW_CONTIGUOUS | HURRAY_VIEW_QUANTIZED});
    EXPECT_EQ(view.data, memory_.bytes);
    EXPECT_EQ(copy_of(tensor), HURRAY_ERR_UNSUPPORTED) << "the scheme is not dropped in silence";
    EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
}

// A tensor of an element type that nobody knows: handed on byte for byte, and never looked into.
TEST_F(Layouts, OpaqueTensorsAreHandedOn) {
    Wire wire;
    wire.type = 0x47;
    wire.shape = {4};
    wire.buffer_sizes = {9};
    HurrayTensor* tensor = tensor_of(wire, 0, HURRAY_DECODE_PERMISSIVE);
    ASSERT_NE(tensor, nullptr);
    EXPECT_EQ(view_of(tensor), HURRAY_ERR_UNSUPPORTED);
    EXPECT_EQ(copy_of(tensor), HURRAY_ERR_UNSUPPORTED);
    HurrayBufferList* list = nullptr;
    HurrayTensorContext* context = nullptr;
    ASSERT_EQ(hurray_tensor_export(tensor, &list, &context, nullptr), HURRAY_OK);
    HurrayTensor* imported = nullptr;
    EXPECT_EQ(hurray_tensor_import(&list, &context, &imported, nullptr), HURRAY_ERR_INVALID_TYPE) << "a strict reader";
    ASSERT_NE(list, nullptr);
    ASSERT_NE(context, nullptr);
    auto options = sized<HurrayDecodeOptions>();
    options.flags = 8;
    EXPECT_EQ(hurray_tensor_import_options(&list, &context, &options, &imported, nullptr), HURRAY_ERR_INVALID_ARGUMENT);
    options.flags = HURRAY_DECODE_PERMISSIVE;
    ASSERT_EQ(hurray_tensor_import_options(&list, &context, &options, &imported, nullptr), HURRAY_OK);
    EXPECT_EQ(list, nullptr);
    EXPECT_EQ(context, nullptr);
    EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
    const Bytes stream = written(imported);
    EXPECT_EQ(stream, stream_of(wire.bytes(), memory_.bytes, {9}));
    EXPECT_EQ(hurray_tensor_destroy(&imported), HURRAY_OK);
    HurrayTensor* back = nullptr;
    EXPECT_EQ(read(stream, 0, &back), HURRAY_ERR_INVALID_TYPE);
    EXPECT_EQ(back, nullptr);
    EXPECT_EQ(read(stream, HURRAY_STREAM_PRIVATE_TAGS, &back), HURRAY_ERR_INVALID_TYPE);
    ASSERT_EQ(read(stream, HURRAY_STREAM_PERMISSIVE, &back), HURRAY_OK);
    EXPECT_EQ(descriptor_of(back), wire.bytes());
    EXPECT_EQ(hurray_tensor_destroy(&back), HURRAY_OK);
}

TEST_F(Layouts, UnknownLayoutsEndAStream) {
    Bytes bytes = row_major_descriptor(HURRAY_TYPE_INT8, {4}, 4);
    bytes[15] = 0x33;
    bytes.insert(bytes.end(), {1, 2, 3, 4});
    HurrayTensor* tensor = nullptr;
    EXPECT_EQ(read(bytes, HURRAY_STREAM_PERMISSIVE, &tensor), HURRAY_ERR_UNSUPPORTED);
    EXPECT_EQ(tensor, nullptr);
}

TEST_F(Layouts, WritersKnowNoFlagsOfReaders) {
    auto options = sized<HurrayStreamOptions>();
    for (const int flags : {HURRAY_STREAM_PERMISSIVE, HURRAY_STREAM_PRIVATE_TAGS, 8}) {
        options.flags = static_cast<std::uint32_t>(flags);
        HurrayWriter* writer = nullptr;
        EXPECT_EQ(hurray_writer_to_fd(1, &options, &writer, nullptr), HURRAY_ERR_INVALID_ARGUMENT);
        EXPECT_EQ(writer, nullptr);
    }
}

}  // namespace
