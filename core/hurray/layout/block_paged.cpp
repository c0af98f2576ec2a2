#include "core/hurray/layout/block_paged.hpp"

#include <algorithm>
#include <optional>

#include "core/hurray/base/checked.hpp"

namespace hurray {
namespace {

using ull = unsigned long long;

// The fields on the wire.
struct WireField {
    const char* name;
    std::uint32_t offset;
    std::uint32_t size;
};
constexpr WireField page_size_field = {"page_size", 0, 4};
constexpr WireField num_pages_field = {"num_pages", 4, 8};
constexpr WireField paged_axis_field = {"paged_axis", 12, 4};
constexpr WireField num_seqs_field = {"num_seqs", 16, 4};
constexpr WireField kv_role_field = {"kv_role", 20, 1};
constexpr WireField layer_index_field = {"layer_index", 21, 4};
constexpr WireField index_type_field = {"block_table_index_type", 25, 1};
constexpr WireField reserved_field = {"block_paged reserved", 26, 6};
constexpr WireField wire_fields[] = {page_size_field, num_pages_field,   paged_axis_field, num_seqs_field,
                                     kv_role_field,   layer_index_field, index_type_field, reserved_field};
constexpr std::uint32_t wire_size = 32;

std::uint32_t encoded_size(std::uint32_t, std::span<const std::uint64_t>) {
    return wire_size;
}

BlockPagedFields fields_of(std::span<const std::uint64_t> words) noexcept {
    return {.page_size = static_cast<std::uint32_t>(words[0]),
            .num_pages = words[1],
            .paged_axis = static_cast<std::uint32_t>(words[0] >> 32),
            .num_seqs = static_cast<std::uint32_t>(words[2]),
            .kv_role = static_cast<std::uint8_t>(words[3]),
            .layer_index = static_cast<std::uint32_t>(words[2] >> 32),
            .index_type = static_cast<std::uint8_t>(words[3] >> 8)};
}

void encode_fields(std::uint32_t, std::span<const std::uint64_t> words, WireWriter& out) {
    const BlockPagedFields fields = fields_of(words);
    out.u32(fields.page_size);
    out.u64(fields.num_pages);
    out.u32(fields.paged_axis);
    out.u32(fields.num_seqs);
    out.u8(fields.kv_role);
    out.u32(fields.layer_index);
    out.u8(fields.index_type);
    out.zeros(reserved_field.size);
}

// Checks a field of which all bytes are there.
Result<void> check_field(const WireField& field, const std::byte* bytes, std::uint64_t at) {
    const std::byte* from = bytes + field.offset;
    const auto refuse = [&](const char* expected, std::uint64_t got) {
        return fail(Status::invalid_layout, at + field.offset, "%s: expected %s, got %llu", field.name, expected,
                    static_cast<ull>(got));
    };
    if (field.offset == page_size_field.offset) {
        if (load_le<std::uint32_t>(from) == 0) return refuse("at least 1", 0);
    } else if (field.offset == paged_axis_field.offset) {
        if (const std::uint32_t axis = load_le<std::uint32_t>(from); axis != 0) return refuse("0", axis);
    } else if (field.offset == kv_role_field.offset) {
        const auto role = std::to_integer<std::uint8_t>(*from);
        if (role > static_cast<std::uint8_t>(KvRole::other)) return refuse("0 (key), 1 (value) or 2 (other)", role);
    } else if (field.offset == index_type_field.offset) {
        const auto type = std::to_integer<std::uint8_t>(*from);
        if (type > 1) return refuse("0 (uint32) or 1 (uint64)", type);
    }
    return {};
}

// Checks the fields in wire order, as far as `in` has them; that they end early is the last fault.
Result<void> check_wire(const WireReader& in) {
    for (const WireField& field : wire_fields) {
        const std::uint32_t left = in.remaining() > field.offset ? in.remaining() - field.offset : 0;
        if (field.offset == reserved_field.offset) {
            for (std::uint32_t i = 0; i < std::min(left, field.size); ++i) {
                const std::byte byte = in.here()[field.offset + i];
                if (byte == std::byte{0}) continue;
                return fail(Status::invalid_layout, in.offset() + field.offset + i, "%s: expected 0, got %02X",
                            field.name, static_cast<unsigned>(byte));
            }
        }
        if (left < field.size) return truncated_field(field.name, in.offset() + field.offset, field.size, left);
        if (auto checked = check_field(field, in.here(), in.offset()); !checked) return checked;
    }
    return {};
}

// byte_offset comes before the fields and is always 0, so that nothing behind them matters for it.
Result<void> decode_fields(WireReader& in, DescriptorAssembler& out) {
    const std::uint64_t byte_offset = out.descriptor().byte_offset();
    if (byte_offset != 0) [[unlikely]] {
        return fail(Status::invalid_layout, in.offset() - 8, "byte_offset: expected 0 for layout block_paged, got %llu",
                    static_cast<ull>(byte_offset));
    }
    if (auto checked = check_wire(in); !checked) [[unlikely]]
        return checked;
    BlockPagedFields fields;
    fields.page_size = in.u32();
    fields.num_pages = in.u64();
    fields.paged_axis = in.u32();
    fields.num_seqs = in.u32();
    fields.kv_role = in.u8();
    fields.layer_index = in.u32();
    fields.index_type = in.u8();
    in.skip(reserved_field.size);
    std::ranges::copy(block_paged_words(fields), out.claim_words(4));
    return {};
}

Result<void> check_fields(const LayoutContext& context) {
    return check_own_buffer_count(context, block_paged_buffer::count, "layout block_paged");
}

// Bytes of the pool; nothing when those are more than 2^64-1, 0 while a dimension that counts is dynamic.
std::optional<std::uint64_t> pool_bytes(const LayoutContext& context, const BlockPagedFields& fields) noexcept {
    const auto shape = context.descriptor.shape();
    const std::uint64_t sizes[] = {fields.num_pages, fields.page_size, shape[1], shape[2]};
    if (shape[1] == dynamic_dimension || shape[2] == dynamic_dimension) return 0;
    if (std::ranges::find(sizes, std::uint64_t{0}) != std::end(sizes)) return 0;
    std::uint64_t count = 1;
    for (const std::uint64_t size : sizes) {
        const auto product = checked_mul(count, size);
        if (!product) return std::nullopt;
        count = *product;
    }
    return packed_size(context.type, count);
}

Result<void> check_pool_size(const LayoutContext& context, const BlockPagedFields& fields, std::uint64_t byte_size) {
    const auto expected = pool_bytes(context, fields);
    if (expected && byte_size >= *expected) return {};
    const auto shape = context.descriptor.shape();
    return fail(Status::invalid_layout, context.handle_at(block_paged_buffer::page_pool),
                "buffer 0 (page_pool): byte_size: expected room for %llu pages of %u x %llu x %llu elements of %s, got "
                "%llu",
                static_cast<ull>(fields.num_pages), fields.page_size, static_cast<ull>(shape[1]),
                static_cast<ull>(shape[2]), context.type.name, static_cast<ull>(byte_size));
}

// Every token lies in a page of its own sequence, so that there are as many entries as full pages would be at least.
Result<void> check_table_size(const LayoutContext& context, const BlockPagedFields& fields, std::uint64_t byte_size) {
    if (context.element_count == 0) return {};
    const std::uint64_t tokens = context.descriptor.shape()[0];
    const std::uint64_t pages = tokens / fields.page_size + (tokens % fields.page_size != 0 ? 1 : 0);
    if (byte_size / fields.index_width() >= pages) return {};
    return fail(Status::invalid_layout, context.handle_at(block_paged_buffer::block_table),
                "buffer 1 (block_table): byte_size: expected room for at least %llu entries of %u bytes, which %llu "
                "tokens in pages of %u take, got %llu",
                static_cast<ull>(pages), fields.index_width(), static_cast<ull>(tokens), fields.page_size,
                static_cast<ull>(byte_size));
}

Result<void> check_seq_ptr_size(const LayoutContext& context, const BlockPagedFields& fields, std::uint64_t byte_size) {
    const std::uint64_t entries = std::uint64_t{fields.num_seqs} + 1;
    if (byte_size >= entries * fields.index_width()) return {};
    return fail(Status::invalid_layout, context.handle_at(block_paged_buffer::seq_ptr),
                "buffer 2 (seq_ptr): byte_size: expected room for num_seqs + 1 = %llu entries of %u bytes, got %llu",
                static_cast<ull>(entries), fields.index_width(), static_cast<ull>(byte_size));
}

Result<void> check_buffer_size(const LayoutContext& context, std::uint32_t index, std::uint64_t byte_size) {
    const BlockPagedFields fields = fields_of(context.descriptor.layout_words());
    switch (index) {
        case block_paged_buffer::page_pool:
            return check_pool_size(context, fields, byte_size);
        case block_paged_buffer::block_table:
            return check_table_size(context, fields, byte_size);
        case block_paged_buffer::seq_ptr:
            return check_seq_ptr_size(context, fields, byte_size);
        default:
            return {};
    }
}

}  // namespace

BlockPagedFields block_paged_fields(const Descriptor& descriptor) noexcept {
    if (descriptor.layout() != layout_tag::block_paged || descriptor.layout_words().size() != 4) return {};
    return fields_of(descriptor.layout_words());
}

std::array<std::uint64_t, 4> block_paged_words(const BlockPagedFields& fields) noexcept {
    return {fields.page_size | std::uint64_t{fields.paged_axis} << 32, fields.num_pages,
            fields.num_seqs | std::uint64_t{fields.layer_index} << 32,
            fields.kv_role | std::uint64_t{fields.index_type} << 8};
}

const LayoutCodec block_paged_codec = {encoded_size, decode_fields, encode_fields, check_fields, check_buffer_size};

}  // namespace hurray
