#include "core/hurray/quantization/scheme_check.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/hurray/base/checked.hpp"
#include "core/hurray/base/endian.hpp"
#include "core/hurray/layout/block_paged.hpp"
#include "core/hurray/quantization/parameters.hpp"
#include "core/hurray/types/element_type.hpp"

namespace hurray {
namespace {

using ull = unsigned long long;

// What an axis cannot be.
constexpr std::uint32_t no_axis = 0xFFFFFFFF;

// The offset of a field of the payload.
std::uint64_t at(const SchemeCheck& check, std::uint32_t offset) {
    return std::uint64_t{check.payload_at} + offset;
}

bool is_shared(const SchemeCheck& check) {
    return check.scheme.has(SchemeField::zero_point_buffer) && !check.fields.symmetric() &&
           check.fields.scale_buffer == check.fields.zero_point_buffer;
}

// Too few entries for the parameters, or some that nothing refers to. Of private layouts nobody knows what their own
// buffers are.
Result<void> check_buffer_count(const SchemeCheck& check) {
    const auto own = layout_buffer_count(check.descriptor.layout(), check.descriptor.rank());
    const auto parameters = parameter_buffer_count(check.fields);
    if (!own || !parameters) return {};
    const std::size_t count = check.descriptor.buffers().size();
    if (count == std::size_t{*own} + *parameters) return {};
    return fail(Status::invalid_layout, check.buffer_count_at,
                "buffer_count: expected %u: %u of the layout and %u with parameters of %s, got %zu", *own + *parameters,
                *own, *parameters, check.scheme.name, count);
}

bool is_block_paged(const SchemeCheck& check) {
    return check.descriptor.layout() == layout_tag::block_paged;
}

// Whether the format says how a scheme goes together with pages.
bool suits_pages(std::uint8_t scheme) {
    return scheme == scheme_tag::per_tensor_affine || scheme == scheme_tag::per_channel_affine ||
           scheme == scheme_tag::per_block_affine;
}

Result<void> check_header(const SchemeCheck& check) {
    const QuantizationFields& fields = check.fields;
    const std::uint8_t type = check.descriptor.element_type();
    if (std::ranges::find(check.scheme.storage_types, type) == check.scheme.storage_types.end()) {
        const ElementTypeInfo* info = find_element_type(type);
        return fail(Status::invalid_quantization, at(check, 0), "scheme: %s expects elements of %s, got %s (%02X)",
                    check.scheme.name, check.scheme.storage_type_names, info == nullptr ? "a private type" : info->name,
                    type);
    }
    if (is_block_paged(check) && !suits_pages(fields.scheme)) {
        return fail(Status::unsupported, at(check, 0),
                    "scheme: layout block_paged expects an affine scheme, the format does not say what %s means there",
                    check.scheme.name);
    }
    if (fields.version != scheme_version) {
        return fail(Status::invalid_quantization, at(check, 1), "scheme_version: expected %u, got %u", scheme_version,
                    fields.version);
    }
    if ((fields.flags & ~check.scheme.flags) != 0) {
        return fail(Status::invalid_quantization, at(check, 2),
                    "quantization flags: expected no other than %04X of %s, got %04X", check.scheme.flags,
                    check.scheme.name, fields.flags);
    }
    return {};
}

Result<void> check_scale(const SchemeCheck& check, std::uint32_t offset) {
    const float scale = check.fields.scale;
    if (std::isfinite(scale) && scale != 0) return {};
    return fail(Status::invalid_quantization, at(check, offset), "scale: expected a finite number other than 0, got %g",
                static_cast<double>(scale));
}

// Zero points are int32 on the wire whatever the storage type is.
Result<void> check_zero_point(const SchemeCheck& check, std::uint32_t offset) {
    const ElementTypeInfo& type = *find_element_type(check.descriptor.element_type());
    const bool is_signed = type.kind == ElementKind::signed_integer;
    const std::int64_t low = is_signed ? -(std::int64_t{1} << (type.bits - 1)) : 0;
    const std::int64_t high = (std::int64_t{1} << (is_signed ? type.bits - 1 : type.bits)) - 1;
    const std::int64_t zero_point = check.fields.zero_point;
    if (zero_point >= low && zero_point <= high) return {};
    return fail(Status::invalid_quantization, at(check, offset), "zero_point: expected %lld to %lld for %s, got %lld",
                static_cast<long long>(low), static_cast<long long>(high), type.name,
                static_cast<long long>(zero_point));
}

Result<void> check_axis(const SchemeCheck& check, std::uint32_t offset) {
    const std::uint32_t axis = check.fields.axis;
    const std::uint32_t rank = check.descriptor.rank();
    if (axis >= rank) {
        return fail(Status::invalid_quantization, at(check, offset), "axis: expected less than the rank %u, got %u",
                    rank, axis);
    }
    if (is_block_paged(check) && check.scheme.has_blocks() && axis != 0) {
        return fail(Status::invalid_quantization, at(check, offset),
                    "axis: expected the paged axis 0 for %s of layout block_paged, got %u", check.scheme.name, axis);
    }
    if (is_block_paged(check) && !check.scheme.has_blocks() && axis == 0) {
        return fail(Status::invalid_quantization, at(check, offset),
                    "axis: expected 1 or 2 for %s of layout block_paged, got the paged axis 0", check.scheme.name);
    }
    if (check.descriptor.shape()[axis] == dynamic_dimension) {
        return fail(Status::invalid_quantization, at(check, offset),
                    "axis: expected a dimension of known size, shape[%u] is dynamic", axis);
    }
    return {};
}

// Elements of a short block take the room of a whole one.
Result<void> check_room(const SchemeCheck& check, std::uint32_t offset) {
    const auto padded = padded_axis(check.descriptor, check.fields);
    const auto count = check.descriptor.element_count();
    if (!padded || !count || *count == 0) return {};
    const ElementTypeInfo& type = *find_element_type(check.descriptor.element_type());
    const std::uint64_t others = *count / check.descriptor.shape()[padded->axis];
    const auto stored = padded->stored_size == 0 ? std::nullopt : checked_mul(others, padded->stored_size);
    const auto needed = stored ? packed_size(type, *stored) : std::nullopt;
    const std::uint64_t byte_size = check.descriptor.buffers()[0].byte_size;
    const std::uint64_t byte_offset = check.descriptor.byte_offset();
    if (needed && *needed <= byte_size - byte_offset) return {};
    return fail(Status::invalid_quantization, at(check, offset),
                "block_size: expected room in buffer 0 for whole blocks of %u along axis %u from byte_offset %llu, "
                "its byte_size is %llu",
                check.fields.block_size, padded->axis, static_cast<ull>(byte_offset), static_cast<ull>(byte_size));
}

Result<void> check_block_size(const SchemeCheck& check, std::uint32_t offset) {
    const QuantizationScheme& scheme = check.scheme;
    const std::uint32_t block = check.fields.block_size;
    const std::uint32_t axis = check.fields.axis;
    const std::uint64_t size = check.descriptor.shape()[axis];
    const bool power_of_two = (block & (block - 1)) == 0;
    if (!power_of_two || block < scheme.least_block || block > scheme.largest_block) {
        return fail(Status::invalid_quantization, at(check, offset),
                    "block_size: expected a power of two from %u to %u for %s, got %u", scheme.least_block,
                    scheme.largest_block, scheme.name, block);
    }
    if (scheme.whole_blocks_only && (size == 0 || size % block != 0)) {
        return fail(Status::invalid_quantization, at(check, offset),
                    "block_size: %s expects shape[%u] to be a positive multiple of it, got %u for %llu", scheme.name,
                    axis, block, static_cast<ull>(size));
    }
    if (is_block_paged(check) && block != block_paged_fields(check.descriptor).page_size) {
        return fail(Status::invalid_quantization, at(check, offset),
                    "block_size: expected page_size = %u of layout block_paged, got %u",
                    block_paged_fields(check.descriptor).page_size, block);
    }
    if (size != 0 && block > size) {
        return fail(Status::invalid_quantization, at(check, offset),
                    "block_size: expected at most shape[%u] = %llu, got %u", axis, static_cast<ull>(size), block);
    }
    return check_room(check, offset);
}

// That an index leads to an entry behind those of the layout. The first buffer always belongs to the layout.
Result<void> check_index(const SchemeCheck& check, std::uint32_t offset, const char* field, std::uint32_t index) {
    const std::uint32_t own = layout_buffer_count(check.descriptor.layout(), check.descriptor.rank()).value_or(1);
    const std::size_t count = check.descriptor.buffers().size();
    if (index >= own && index < count) return {};
    return fail(Status::invalid_quantization, at(check, offset),
                "%s: expected the index of a buffer with parameters, %u to %zu, got %u", field, own,
                count == 0 ? 0 : count - 1, index);
}

Result<void> check_byte_size(const SchemeCheck& check, std::uint32_t offset, const char* field, std::uint32_t index,
                             std::optional<std::uint64_t> expected, std::uint64_t entries) {
    const std::uint64_t byte_size = check.descriptor.buffers()[index].byte_size;
    if (expected && *expected == byte_size) return {};
    if (!expected) {
        return fail(Status::invalid_quantization, at(check, offset),
                    "%s: expected buffer %u to have the bytes of %llu entries, which are more than 2^64-1, got %llu",
                    field, index, static_cast<ull>(entries), static_cast<ull>(byte_size));
    }
    return fail(Status::invalid_quantization, at(check, offset),
                "%s: expected buffer %u to have exactly %llu bytes for %llu entries, got %llu", field, index,
                static_cast<ull>(*expected), static_cast<ull>(entries), static_cast<ull>(byte_size));
}

Result<void> check_scale_buffer(const SchemeCheck& check, std::uint32_t offset) {
    constexpr const char* field = "scale_buffer_index";
    const std::uint32_t index = check.fields.scale_buffer;
    if (auto checked = check_index(check, offset, field, index); !checked) return checked;
    // A wrong type of scales is the fault of a field that is still to come.
    const auto& types = check.scheme.scale_types;
    if (std::ranges::find(types, check.fields.scale_type) == types.end()) return {};
    const auto sizes = parameter_sizes(check.descriptor, check.fields);
    if (!sizes) return {};
    std::optional<std::uint64_t> expected = sizes->scale_bytes;
    if (is_shared(check)) {
        expected =
            expected && sizes->zero_point_bytes ? checked_add(*expected, *sizes->zero_point_bytes) : std::nullopt;
    }
    return check_byte_size(check, offset, field, index, expected, sizes->entries);
}

Result<void> check_zero_point_buffer(const SchemeCheck& check, std::uint32_t offset) {
    constexpr const char* field = "zero_point_buffer_index";
    const std::uint32_t index = check.fields.zero_point_buffer;
    if (check.fields.symmetric()) {
        if (index == no_buffer) return {};
        return fail(Status::invalid_quantization, at(check, offset), "%s: expected FFFFFFFF with SYMMETRIC, got %08X",
                    field, index);
    }
    if (is_shared(check)) return {};
    if (auto checked = check_index(check, offset, field, index); !checked) return checked;
    const auto sizes = parameter_sizes(check.descriptor, check.fields);
    // Their size does not depend on the type of the scales, which may be wrong.
    if (!sizes) return {};
    return check_byte_size(check, offset, field, index, sizes->zero_point_bytes, sizes->entries);
}

Result<void> check_scale_type(const SchemeCheck& check, std::uint32_t offset) {
    const auto& types = check.scheme.scale_types;
    if (std::ranges::find(types, check.fields.scale_type) != types.end()) return {};
    return fail(Status::invalid_quantization, at(check, offset), "scale_type: expected %s for %s, got %02X",
                types.size() == 1 ? "float32 (03)" : "float16 (01), bfloat16 (02) or float32 (03)", check.scheme.name,
                check.fields.scale_type);
}

Result<void> check_zeros(const SchemeCheck& check, std::uint32_t offset, std::size_t size, const char* field) {
    for (std::size_t i = offset; i < offset + size; ++i) {
        if (check.payload[i] == std::byte{0}) continue;
        return fail(Status::invalid_quantization, at(check, static_cast<std::uint32_t>(i)), "%s: expected 0, got %02X",
                    field, static_cast<unsigned>(check.payload[i]));
    }
    return {};
}

Result<void> check_field(const SchemeCheck& check, const SchemeFieldPlace& place) {
    switch (place.field) {
        case SchemeField::scale:
            return check_scale(check, place.offset);
        case SchemeField::zero_point:
            return check_zero_point(check, place.offset);
        case SchemeField::axis:
            return check_axis(check, place.offset);
        case SchemeField::block_size:
            return check_block_size(check, place.offset);
        case SchemeField::scale_buffer:
            return check_scale_buffer(check, place.offset);
        case SchemeField::zero_point_buffer:
            return check_zero_point_buffer(check, place.offset);
        case SchemeField::scale_type:
            return check_scale_type(check, place.offset);
        case SchemeField::reserved:
            return check_zeros(check, place.offset, place.size, "quantization reserved");
    }
    return fail(Status::internal, at(check, place.offset), "quantization: a field of no kind");
}

bool lists(std::span<const std::uint8_t> tags, std::uint8_t tag) noexcept {
    for (const std::uint8_t listed : tags) {
        if (listed == tag) return true;
    }
    return false;
}

// Whether buffer `index` holds exactly `entries` numbers of a width.
bool holds_exactly(std::span<const BufferHandle> buffers, std::uint32_t index, std::uint64_t entries,
                   std::uint32_t width) noexcept {
    std::uint64_t bytes = 0;
    return !__builtin_mul_overflow(entries, width, &bytes) && buffers[index].byte_size == bytes;
}

// A field of a payload that is long enough; for one that the scheme does not have, `absent`.
std::uint32_t field_of(const QuantizationScheme& scheme, const std::byte* payload, SchemeField field,
                       std::uint32_t absent) noexcept {
    const std::uint32_t offset = scheme.offset_of(field);
    return offset == 0 ? absent : load_le<std::uint32_t>(payload + offset);
}

// Whether the parameters are in the buffers behind buffer 0, and in no other.
bool has_plain_parameters(const QuantizationScheme& scheme, const std::byte* payload,
                          std::span<const BufferHandle> buffers, std::uint64_t entries) noexcept {
    std::uint8_t scale_type = scheme.scale_types.front();
    if (const std::uint32_t offset = scheme.offset_of(SchemeField::scale_type); offset != 0) {
        scale_type = static_cast<std::uint8_t>(payload[offset]);
        if (!lists(scheme.scale_types, scale_type)) return false;
    }
    const std::uint32_t width = find_element_type(scale_type)->group_bytes;
    const std::uint32_t scales = field_of(scheme, payload, SchemeField::scale_buffer, 0);
    const std::uint32_t zero_points = field_of(scheme, payload, SchemeField::zero_point_buffer, no_buffer);
    const bool symmetric = (load_le<std::uint16_t>(payload + 2) & QuantizationFields::symmetric_flag) != 0;
    if (symmetric || !scheme.has(SchemeField::zero_point_buffer)) {
        return zero_points == no_buffer && buffers.size() == 2 && scales == 1 &&
               holds_exactly(buffers, 1, entries, width);
    }
    // Buffers 1 and 2, one of them each.
    return buffers.size() == 3 && (scales == 1 || scales == 2) && zero_points == 3 - scales &&
           holds_exactly(buffers, scales, entries, width) &&
           holds_exactly(buffers, zero_points, entries, zero_point_width);
}

}  // namespace

bool is_plain_payload(const Descriptor& descriptor, std::uint64_t element_count,
                      std::span<const std::byte> payload) noexcept {
    const std::byte* bytes = payload.data();
    const QuantizationScheme* found = find_scheme(static_cast<std::uint8_t>(bytes[0]));
    if (found == nullptr || payload.size() != found->size) return false;
    const QuantizationScheme& scheme = *found;
    if (descriptor.layout() > layout_tag::col_major || element_count == 0) return false;
    if (bytes[1] != std::byte{scheme_version} || (load_le<std::uint16_t>(bytes + 2) & ~scheme.flags) != 0) return false;
    if (!lists(scheme.storage_types, descriptor.element_type())) return false;
    const std::uint32_t axis = field_of(scheme, bytes, SchemeField::axis, no_axis);
    if (axis >= descriptor.rank()) return false;
    std::uint64_t entries = descriptor.shape()[axis];
    if (scheme.has_blocks()) {
        const std::uint32_t block = field_of(scheme, bytes, SchemeField::block_size, 0);
        if ((block & (block - 1)) != 0 || block < scheme.least_block || block > scheme.largest_block) return false;
        if ((entries & (block - 1)) != 0) return false;
        // The blocks of the axis times the other dimensions.
        entries = element_count >> std::countr_zero(block);
    }
    if (const std::uint32_t reserved = scheme.offset_of(SchemeField::reserved); reserved != 0) {
        // The last field of every scheme that has it.
        for (std::uint32_t i = reserved; i < scheme.size; ++i) {
            if (bytes[i] != std::byte{0}) return false;
        }
    }
    return has_plain_parameters(scheme, bytes, descriptor.buffers(), entries);
}

Result<void> check_scheme(const SchemeCheck& check) {
    if (auto checked = check_buffer_count(check); !checked) return checked;
    if (auto checked = check_header(check); !checked) return checked;
    for (const SchemeFieldPlace& place : check.scheme.fields) {
        if (auto checked = check_field(check, place); !checked) return checked;
    }
    return check_zeros(check, check.scheme.size, check.payload.size() - check.scheme.size, "quantization padding");
}

}  // namespace hurray
