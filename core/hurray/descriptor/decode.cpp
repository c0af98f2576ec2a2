#include <cstring>

#include "core/hurray/base/checked.hpp"
#include "core/hurray/descriptor/assembler.hpp"
#include "core/hurray/descriptor/codec.hpp"
#include "core/hurray/descriptor/extension_type_section.hpp"
#include "core/hurray/descriptor/handle_check.hpp"
#include "core/hurray/descriptor/section.hpp"
#include "core/hurray/descriptor/statistics_section.hpp"
#include "core/hurray/descriptor/wire_reader.hpp"
#include "core/hurray/layout/contiguous.hpp"
#include "core/hurray/layout/layout.hpp"
#include "core/hurray/layout/private_layout.hpp"
#include "core/hurray/types/element_type.hpp"

namespace hurray {
namespace {

using ull = unsigned long long;

// What is known of a layout that is not known.
constexpr Layout unknown_layout = {0, "unknown", 0, max_rank, nullptr};

// Whether a tag that is not known is accepted.
bool may_be_unknown(unsigned tag, const DecodeOptions& options) noexcept {
    return options.mode == Mode::permissive && tag != 0x00 && tag != 0xFF;
}

// Offsets of the fields of the fixed header.
constexpr std::uint32_t version_major_at = 4;
constexpr std::uint32_t version_minor_at = 5;
constexpr std::uint32_t length_at = 6;
constexpr std::uint32_t flags_at = 10;
constexpr std::uint32_t type_tag_at = 14;
constexpr std::uint32_t layout_tag_at = 15;
constexpr std::uint32_t rank_at = 16;

constexpr char magic[] = {'H', 'R', 'R', 'Y'};

bool has_magic(const std::byte* bytes) noexcept {
    return std::memcmp(bytes, magic, sizeof magic) == 0;
}

[[gnu::cold, gnu::noinline]] std::unexpected<Error> magic_fault(const std::byte* bytes) {
    const auto at = [&](std::size_t i) { return static_cast<unsigned>(bytes[i]); };
    return fail(Status::invalid_magic, 0, "magic: expected 48 52 52 59 (HRRY), got %02X %02X %02X %02X", at(0), at(1),
                at(2), at(3));
}

[[gnu::cold, gnu::noinline]] std::unexpected<Error> version_fault(unsigned version) {
    return fail(Status::version_mismatch, version_major_at, "version_major: expected 1, got %u", version);
}

[[gnu::cold, gnu::noinline]] std::unexpected<Error> length_fault(std::uint32_t length, const DecodeOptions& options) {
    if (length < fixed_header_size) {
        return fail(Status::invalid_layout, length_at, "descriptor_length: expected at least %u, got %u",
                    fixed_header_size, length);
    }
    return fail(Status::limit_exceeded, length_at,
                "descriptor_length: expected at most %u bytes (the reader's limit), got %u", options.max_length,
                length);
}

// Whether there is a fixed header with the right magic and version and a length within its limits.
bool starts_well(std::span<const std::byte> bytes, const DecodeOptions& options) noexcept {
    if (bytes.size() < fixed_header_size || !has_magic(bytes.data()) || bytes[version_major_at] != std::byte{1})
        return false;
    const std::uint32_t length = load_le<std::uint32_t>(&bytes[length_at]);
    return length >= fixed_header_size && length <= options.max_length;
}

// The first fault of an input that does not start well, or that is shorter than it says: a wrong field, or a field that
// is cut off.
[[gnu::cold, gnu::noinline]] std::unexpected<Error> header_start_fault(std::span<const std::byte> bytes,
                                                                       const DecodeOptions& options) {
    const std::size_t size = bytes.size();
    const auto truncated = [&](const char* field, std::uint32_t offset) {
        return fail(Status::invalid_layout, offset,
                    "%s: truncated, expected a fixed header of %u bytes, the input has %zu", field, fixed_header_size,
                    size);
    };
    if (size < sizeof magic) return truncated("magic", 0);
    if (!has_magic(bytes.data())) return magic_fault(bytes.data());
    if (size <= version_major_at) return truncated("version_major", version_major_at);
    if (bytes[version_major_at] != std::byte{1}) return version_fault(static_cast<unsigned>(bytes[version_major_at]));
    if (size <= version_minor_at) return truncated("version_minor", version_minor_at);
    if (size < flags_at) return truncated("descriptor_length", length_at);
    const std::uint32_t length = load_le<std::uint32_t>(&bytes[length_at]);
    if (length < fixed_header_size || length > options.max_length) return length_fault(length, options);
    return fail(Status::invalid_layout, length_at, "descriptor_length: the input ends after %zu of %u bytes", size,
                length);
}

// These are Results so that decode_into hands them on as they are: an error is large, and room for one in its frame
// costs every descriptor.
[[gnu::cold, gnu::noinline]] Result<void> decode_start_fault(std::span<const std::byte> bytes,
                                                             const DecodeOptions& options) {
    return header_start_fault(bytes, options);
}

[[gnu::cold, gnu::noinline]] Result<void> flags_fault(std::uint32_t flags) {
    return fail(Status::invalid_layout, flags_at, "flags: expected bits 5 to 31 to be 0, got %08X", flags);
}

// A type and an extension section that do not go together, or a tag of no type.
[[gnu::cold, gnu::noinline]] Result<void> type_fault(unsigned tag) {
    if (find_element_type(static_cast<std::uint8_t>(tag)) != nullptr) {
        return fail(Status::invalid_type, type_tag_at,
                    "type_tag: expected a private type since flags tell of an extension_type section, got %02X", tag);
    }
    if (is_private_element_type(static_cast<std::uint8_t>(tag))) {
        return fail(Status::invalid_type, type_tag_at,
                    "type_tag: private type %02X, expected an extension_type section that describes it", tag);
    }
    return fail(Status::invalid_type, type_tag_at, "type_tag: expected the tag of a known type, got %02X", tag);
}

[[gnu::cold, gnu::noinline]] Result<void> layout_fault(unsigned tag, const Layout* layout) {
    if (layout == nullptr) {
        return fail(Status::invalid_layout, layout_tag_at, "layout_tag: expected the tag of a known layout, got %02X",
                    tag);
    }
    if (is_private_layout(static_cast<std::uint8_t>(tag))) {
        return fail(Status::invalid_layout, layout_tag_at,
                    "layout_tag: expected the tag of a known layout, got the private %02X", tag);
    }
    return fail(Status::unsupported, layout_tag_at, "layout_tag: layout %s (%02X) is not supported by this version",
                layout->name, tag);
}

[[gnu::cold, gnu::noinline]] Result<void> rank_fault(std::uint32_t rank, const Layout& layout) {
    if (rank > max_rank) {
        return fail(Status::invalid_layout, rank_at, "rank: expected at most %u, got %u", max_rank, rank);
    }
    return fail(Status::invalid_layout, rank_at, "rank: expected %u to %u for layout %s, got %u", layout.min_rank,
                layout.max_rank, layout.name, rank);
}

[[gnu::cold, gnu::noinline]] std::unexpected<Error> dynamic_shard_fault(std::uint32_t k) {
    return fail(Status::invalid_layout, fixed_header_size + 8 * k,
                "shape[%u]: expected a known size since there is a shard section, got a dynamic one", k);
}

// A shape that ends early: a dynamic dimension of a shard is at fault before the end is.
[[gnu::cold, gnu::noinline]] std::unexpected<Error> short_shape_fault(const WireReader& in, std::uint32_t rank,
                                                                      bool shard) {
    const std::uint32_t present = in.has(8 * rank) ? rank : in.remaining() / 8;
    for (std::uint32_t k = 0; shard && k < present; ++k) {
        if (load_le<std::uint64_t>(in.here() + 8 * k) == dynamic_dimension) return dynamic_shard_fault(k);
    }
    if (present < rank) return truncated_array("shape", 8, rank, in);
    return truncated_field("byte_offset", in.offset() + 8 * rank, 8, in.remaining() - 8 * rank);
}

// A shape that cannot be counted: a dimension is dynamic, or the product wraps.
[[gnu::cold, gnu::noinline]] Result<void> settle_unusual_shape(DescriptorAssembler& out, bool shard) {
    const auto shape = out.descriptor().shape();
    bool dynamic = false;
    bool empty = false;
    for (std::uint32_t k = 0; k < shape.size(); ++k) {
        if (shape[k] == dynamic_dimension) {
            if (shard) return dynamic_shard_fault(k);
            dynamic = true;
        }
        empty = empty || shape[k] == 0;
    }
    if (dynamic || empty) {
        out.set_element_count(0, dynamic);
        return {};
    }
    std::uint64_t count = 1;
    for (std::uint32_t k = 0; k < shape.size(); ++k) {
        const auto product = checked_mul(count, shape[k]);
        if (!product) {
            return fail(Status::invalid_layout, fixed_header_size + 8 * k,
                        "shape[%u]: expected fewer than 2^64 elements in all, got %llu times %llu", k,
                        static_cast<ull>(count), static_cast<ull>(shape[k]));
        }
        count = *product;
    }
    out.set_element_count(count, false);
    return {};
}

// Reads the sizes; false when they cannot be counted.
bool read_sizes(const std::byte* from, std::uint32_t rank, std::uint64_t* shape, std::uint64_t& count) noexcept {
    count = 1;
    bool unusual = false;
    for (std::uint32_t k = 0; k < rank; ++k) {
        const std::uint64_t size = load_le<std::uint64_t>(from + std::size_t{8} * k);
        unusual |= size == dynamic_dimension;
        unusual |= __builtin_mul_overflow(count, size, &count);
        shape[k] = size;
    }
    return !unusual;
}

bool is_shard(const DescriptorAssembler& out) noexcept {
    return (out.descriptor().flags() & descriptor_flag::shard) != 0;
}

[[gnu::always_inline]] inline Result<void> read_shape(WireReader& in, DescriptorAssembler& out, std::uint32_t rank) {
    if (!in.has(8 * rank + 8)) [[unlikely]]
        return short_shape_fault(in, rank, is_shard(out));
    std::uint64_t* shape = out.claim_words(rank);
    const std::byte* from = in.here();
    std::uint64_t count = 1;
    const bool counted = read_sizes(from, rank, shape, count);
    out.set_byte_offset(load_le<std::uint64_t>(from + 8 * rank));
    in.skip(8 * rank + 8);
    if (!counted) [[unlikely]]
        return settle_unusual_shape(out, is_shard(out));
    out.set_element_count(count, false);
    return {};
}

// What the fixed header says, checked.
struct Header {
    std::uint32_t length;
    std::uint32_t flags;
    /// Null for a private type, which its section describes, and for one that is not known.
    const ElementTypeInfo* type;
    const Layout* layout;
    std::uint32_t rank;
    std::uint8_t type_tag;
    std::uint8_t layout_tag;
    std::uint8_t version_minor;
};

// The fixed header of an input that starts well.
Header load_header(const std::byte* bytes) noexcept {
    const auto type_tag = static_cast<std::uint8_t>(bytes[type_tag_at]);
    const auto layout_tag = static_cast<std::uint8_t>(bytes[layout_tag_at]);
    return {.length = load_le<std::uint32_t>(bytes + length_at),
            .flags = load_le<std::uint32_t>(bytes + flags_at),
            .type = find_element_type(type_tag),
            .layout = find_layout(layout_tag),
            .rank = load_le<std::uint32_t>(bytes + rank_at),
            .type_tag = type_tag,
            .layout_tag = layout_tag,
            .version_minor = static_cast<std::uint8_t>(bytes[version_minor_at])};
}

// Whether the type of a header goes together with its flags although it is none of the format's, or is described.
bool may_lack_type(const Header& header, const DecodeOptions& options) noexcept {
    const bool described = (header.flags & descriptor_flag::extension_type) != 0;
    if (header.type != nullptr) return !described;
    if (is_private_element_type(header.type_tag)) return described;
    return may_be_unknown(header.type_tag, options);
}

// What the parts of a descriptor behind the fixed header are read with.
struct Reading {
    WireReader& in;
    DescriptorAssembler& out;
    const Header& header;

    // For the checks of the layout, once the buffer count is read.
    [[nodiscard]] LayoutContext layout_context(const ElementTypeInfo& type, std::uint32_t buffer_count_at,
                                               std::uint8_t buffer_count, std::uint32_t rank) const noexcept {
        const std::uint32_t shape_end = fixed_header_size + 8 * rank;
        return {.descriptor = out.descriptor(),
                .type = type,
                .byte_offset_at = shape_end,
                .fields_at = shape_end + 8,
                .buffer_count_at = buffer_count_at,
                .buffer_count = buffer_count,
                .element_count = out.element_count()};
    }
};

[[gnu::cold, gnu::noinline]] std::unexpected<Error> byte_offset_fault(const Reading& reading, std::uint64_t byte_size) {
    return fail(Status::invalid_layout, fixed_header_size + 8 * reading.header.rank,
                "byte_offset: expected at most the %llu bytes of buffer 0, got %llu", static_cast<ull>(byte_size),
                static_cast<ull>(reading.out.descriptor().byte_offset()));
}

// A permissive reader takes a private device as it takes other private tags: whose data it is nobody knows.
PrivateTags device_tags(const DescriptorAssembler& out) noexcept {
    return out.mode() == Mode::permissive ? PrivateTags::allow : out.private_tags();
}

// What find_handle_fault is told of a handle of the table.
HandleFaultQuery query(const Reading& reading, const LayoutContext& context, std::uint32_t index,
                       const BufferHandle* handles) noexcept {
    return {context.handle_at(index), static_cast<int>(index), device_tags(reading.out),
            index == 0 ? nullptr : handles};
}

// A handle that ends early: what is there of it may be at fault before that.
[[gnu::cold, gnu::noinline]] Result<void> short_handle_fault(const Reading& reading, const LayoutContext& context,
                                                             const HandleFaultQuery& query) {
    const WireReader& in = reading.in;
    if (in.has(8)) {
        const std::uint64_t byte_size = load_le<std::uint64_t>(in.here());
        const auto index = static_cast<std::uint32_t>(query.index);
        if (auto checked = reading.header.layout->codec->check_buffer_size(context, index, byte_size); !checked)
            return checked;
    }
    return find_handle_fault(in.here(), in.remaining(), query);
}

// The type of the elements once the buffer count is read. That of a private one is told by a section behind the table,
// which may not be there; of one that is not known nothing is.
[[gnu::cold, gnu::noinline]] ElementTypeInfo private_type_info(const Reading& reading, std::uint8_t buffer_count) {
    const WireReader& in = reading.in;
    const Header& header = reading.header;
    if ((header.flags & descriptor_flag::extension_type) == 0) return peek_element_type_info(header.type_tag, nullptr);
    // From here on; sums of 32-bit numbers.
    std::uint64_t skipped = std::uint64_t{buffer_count} * BufferHandle::encoded_size;
    if ((header.flags & descriptor_flag::quantization) != 0) {
        if (!in.has(skipped + 4)) return peek_element_type_info(header.type_tag, nullptr);
        skipped += 4 + std::uint64_t{load_le<std::uint32_t>(in.here() + skipped)};
    }
    if ((header.flags & descriptor_flag::shard) != 0) skipped += 16 * std::uint64_t{header.rank};
    if ((header.flags & descriptor_flag::statistics) != 0) skipped += statistics_size;
    const bool there = in.has(skipped + extension_type_size);
    return peek_element_type_info(header.type_tag, there ? in.here() + skipped : nullptr);
}

// A handle that is not a usual one, of a table in which all before it have been accepted.
[[gnu::noinline]] Result<void> check_unusual_handle(const HandleWords& words, const std::byte* bytes,
                                                    const HandleFaultQuery& query) {
    if (is_plain_handle(words.handle(), words.reserved(), query.first)) return {};
    return find_handle_fault(bytes, BufferHandle::encoded_size, query);
}

[[gnu::always_inline]] inline Result<void> read_any_buffer_table(const Reading& reading) {
    WireReader& in = reading.in;
    const Header& header = reading.header;
    const LayoutCodec& codec = *header.layout->codec;

    const std::uint32_t count_at = in.offset();
    if (!in.has(1)) [[unlikely]]
        return truncated_field("buffer_count", count_at, 1, 0);
    const std::uint8_t count = in.u8();
    if (count != 0 && in.has(8)) {
        const std::uint64_t byte_size = load_le<std::uint64_t>(in.here());
        if (reading.out.descriptor().byte_offset() > byte_size) [[unlikely]]
            return byte_offset_fault(reading, byte_size);
    }
    ElementTypeInfo described;
    const ElementTypeInfo* type = header.type;
    if (type == nullptr) [[unlikely]] {
        described = private_type_info(reading, count);
        type = &described;
    }
    const LayoutContext context = reading.layout_context(*type, count_at, count, header.rank);
    if (auto checked = codec.check_fields(context); !checked) [[unlikely]]
        return checked;
    // The handles that are there as a whole.
    const std::uint32_t present =
        in.has(count * BufferHandle::encoded_size) ? count : in.remaining() / BufferHandle::encoded_size;
    const std::byte* bytes = in.here();
    BufferHandle* const handles = reading.out.claim_buffers(0, present);
    bool usual = true;
    for (std::uint32_t i = 0; i < present; ++i) {
        const HandleWords words(bytes);
        if (auto checked = codec.check_buffer_size(context, i, words.byte_size); !checked) [[unlikely]]
            return checked;
        // As soon as one is not usual, the others have to agree with it.
        usual &= words.is_usual();
        if (!usual) [[unlikely]] {
            if (auto checked = check_unusual_handle(words, bytes, query(reading, context, i, handles)); !checked)
                return checked;
            if (reading.out.private_tags() == PrivateTags::refuse && is_private_device(words.handle().device_tag))
                reading.out.mark_opaque();
        }
        handles[i] = words.handle();
        bytes += BufferHandle::encoded_size;
    }
    in.skip(present * BufferHandle::encoded_size);
    if (present != count) [[unlikely]]
        return short_handle_fault(reading, context, query(reading, context, present, handles));
    return {};
}

[[gnu::always_inline]] inline Result<void> read_sections(WireReader& in, DescriptorAssembler& out) {
    std::uint32_t to_come = out.descriptor().flags();
    for (std::size_t row = 0; to_come != 0; ++row) {
        const Section& section = section_table[row];
        if ((to_come & section.flag) == 0) continue;
        to_come &= ~section.flag;
        const std::size_t used = out.used();
        if (auto decoded = section.codec->decode(in, out); !decoded) [[unlikely]]
            return decoded;
        out.end_section(row, used);
    }
    return {};
}

[[gnu::cold, gnu::noinline]] Result<void> read_trailing(WireReader& in, DescriptorAssembler& out) {
    if (out.descriptor().version_minor() == 0) {
        return fail(Status::invalid_layout, in.offset(),
                    "descriptor_length: expected the descriptor to end here, %u bytes are left over", in.remaining());
    }
    out.ensure(in.remaining());
    out.add_trailing({in.here(), in.remaining()});
    in.skip(in.remaining());
    return {};
}

// The words of most fields are as wide as the fields, so that this is all the memory needed: byte_offset, which a
// descriptor has before anything is claimed, does not lie in it.
std::uint32_t words_of(std::uint32_t length) noexcept {
    constexpr std::uint32_t least_length = fixed_header_size + 8;
    return length < least_length ? 0 : length - least_length;
}

void set_header(const Header& header, DescriptorAssembler& out) noexcept {
    out.set_header(header.version_minor, header.length, header.flags, header.type_tag, header.layout_tag, header.rank);
}

// All that follows the buffer table.
[[gnu::always_inline]] inline Result<void> read_end(WireReader& in, DescriptorAssembler& out) {
    if (out.descriptor().flags() != 0) {
        if (auto read = read_sections(in, out); !read) [[unlikely]]
            return read;
    }
    if (in.remaining() != 0) [[unlikely]] {
        if (auto read = read_trailing(in, out); !read) return read;
    }
    out.finish();
    return {};
}

// All that follows the fixed header, which is right. A copy of that: a reference would keep it in memory from the
// start, and most descriptors do not come here. It is read from the bytes once only, whoever may write to them
// meanwhile.
[[gnu::noinline]] Result<void> read_body(const std::byte* bytes, Header header, const DecodeOptions& options,
                                         Descriptor& descriptor) {
    const LayoutCodec& codec = *header.layout->codec;
    DescriptorAssembler out(descriptor, words_of(header.length), options.private_tags, options.mode);
    set_header(header, out);
    WireReader in(bytes, header.length, fixed_header_size);
    if (auto read = read_shape(in, out, header.rank); !read) [[unlikely]]
        return read;
    if (header.type == nullptr && !is_private_element_type(header.type_tag)) [[unlikely]]
        out.mark_opaque();
    if (codec.decode != nullptr) {
        if (auto read = codec.decode(in, out); !read) [[unlikely]]
            return read;
        out.end_layout();
    }
    if (auto read = read_any_buffer_table({in, out, header}); !read) [[unlikely]]
        return read;
    return read_end(in, out);
}

// Continues where read_plain_table ended: with the further buffers of a quantized tensor, and the sections.
[[gnu::noinline]] Result<void> read_plain_end(const std::byte* bytes, Header header, std::uint32_t at,
                                              std::uint8_t count, std::size_t used, const DecodeOptions& options,
                                              Descriptor& descriptor) {
    DescriptorAssembler out(descriptor, DescriptorAssembler::Used{used}, options.private_tags, options.mode);
    constexpr std::uint32_t handle_size = BufferHandle::encoded_size;
    const std::uint32_t end = at + (count - 1U) * handle_size;
    if (count != 1) {
        const BufferHandle first = descriptor.buffers()[0];
        if (end > header.length || (first.device_tag | first.memory_class) != 0) [[unlikely]]
            return read_body(bytes, header, options, descriptor);
        BufferHandle* handle = out.claim_buffers(1, count);
        for (; at != end; at += handle_size) {
            const HandleWords words(bytes + at);
            if (!words.is_usual()) [[unlikely]]
                return read_body(bytes, header, options, descriptor);
            *handle++ = words.handle();
        }
    }
    WireReader in(bytes, header.length, end);
    return read_end(in, out);
}

// As read_body, of a layout that is not known and may be so: nobody knows what there is behind byte_offset.
[[gnu::cold, gnu::noinline]] Result<void> read_unknown(const std::byte* bytes, Header header,
                                                       const DecodeOptions& options, Descriptor& descriptor) {
    const Layout& layout = header.layout == nullptr ? unknown_layout : *header.layout;
    if (header.rank < layout.min_rank || header.rank > layout.max_rank) return rank_fault(header.rank, layout);
    DescriptorAssembler out(descriptor, words_of(header.length), options.private_tags, options.mode);
    set_header(header, out);
    WireReader in(bytes, header.length, fixed_header_size);
    if (auto read = read_shape(in, out, header.rank); !read) return read;
    out.mark_unread();
    out.add_trailing({in.here(), in.remaining()});
    in.skip(in.remaining());
    out.finish();
    return {};
}

// Reads a row-major or column-major tensor up to the end of buffer 0's handle when nothing at all is wrong or unusual
// about it, as with most: without the state that layouts and sections share, so that all of it is in registers. Returns
// where it ended, and the buffer count, which is 1 or more; or 0: then read_body decides, and reads everything once
// more.
std::uint32_t read_plain_table(const std::byte* bytes, const Header& header, DescriptorAssembler& out,
                               std::uint8_t& count) {
    const std::uint32_t shape_end = fixed_header_size + 8 * header.rank;
    const std::uint32_t table_at = shape_end + 8;
    const std::uint32_t handle_at = table_at + 1;
    const std::uint32_t end = handle_at + BufferHandle::encoded_size;
    if (end > header.length) return 0;
    // The parameters of quantization are in further buffers; the section says later whether they are the right ones.
    count = static_cast<std::uint8_t>(bytes[table_at]);
    if (count != 1 && (count == 0 || (header.flags & descriptor_flag::quantization) == 0)) return 0;
    const HandleWords handle(bytes + handle_at);
    const std::uint64_t byte_offset = load_le<std::uint64_t>(bytes + shape_end);
    std::uint64_t elements = 1;
    if (!read_sizes(bytes + fixed_header_size, header.rank, out.claim_words(header.rank), elements)) return 0;
    if (byte_offset > handle.byte_size ||
        !contiguous_elements_fit(*header.type, elements, byte_offset, handle.byte_size)) {
        return 0;
    }
    if (!handle.is_usual() && !is_plain_handle(handle.handle(), handle.reserved(), nullptr)) return 0;
    set_header(header, out);
    out.set_byte_offset(byte_offset);
    out.set_element_count(elements, false);
    *out.claim_buffers(0, 1) = handle.handle();
    return end;
}

}  // namespace

Result<std::uint32_t> peek_length(std::span<const std::byte> bytes, const DecodeOptions& options) {
    if (!starts_well(bytes, options)) [[unlikely]]
        return header_start_fault(bytes, options);
    return load_le<std::uint32_t>(&bytes[length_at]);
}

Result<void> decode_into(std::span<const std::byte> bytes, Descriptor& out, const DecodeOptions& options) {
    if (!starts_well(bytes, options)) [[unlikely]]
        return decode_start_fault(bytes, options);
    const Header header = load_header(bytes.data());
    if (header.length > bytes.size()) [[unlikely]]
        return decode_start_fault(bytes, options);
    if ((header.flags & ~all_section_flags) != 0) [[unlikely]]
        return flags_fault(header.flags);
    const bool described = (header.flags & descriptor_flag::extension_type) != 0;
    if (header.type == nullptr || described) [[unlikely]] {
        if (!may_lack_type(header, options)) return type_fault(header.type_tag);
    }
    const bool contiguous = header.layout != nullptr && header.layout->codec == &contiguous_codec;
    if (!contiguous) {
        if (is_private_layout(header.layout_tag)) {
            if (options.private_tags == PrivateTags::refuse && options.mode == Mode::strict)
                return layout_fault(header.layout_tag, header.layout);
        } else if (header.layout == nullptr || header.layout->codec == nullptr) {
            if (!may_be_unknown(header.layout_tag, options)) return layout_fault(header.layout_tag, header.layout);
            return read_unknown(bytes.data(), header, options, out);
        }
    }
    if (header.rank < header.layout->min_rank || header.rank > header.layout->max_rank) [[unlikely]]
        return rank_fault(header.rank, *header.layout);
    if (contiguous && header.type != nullptr) {
        DescriptorAssembler assembler(out, words_of(header.length), options.private_tags, options.mode);
        std::uint8_t count = 0;
        if (const std::uint32_t end = read_plain_table(bytes.data(), header, assembler, count)) [[likely]] {
            if (header.flags != 0 || end != header.length)
                return read_plain_end(bytes.data(), header, end, count, assembler.used(), options, out);
            assembler.finish();
            return {};
        }
    }
    return read_body(bytes.data(), header, options, out);
}

Result<Descriptor> decode(std::span<const std::byte> bytes, const DecodeOptions& options) {
    Result<Descriptor> result = DescriptorAssembler::empty();
    if (auto decoded = decode_into(bytes, *result, options); !decoded) [[unlikely]]
        result = std::unexpected(decoded.error());
    return result;
}

}  // namespace hurray
