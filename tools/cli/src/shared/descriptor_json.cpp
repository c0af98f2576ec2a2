#include "descriptor_json.hpp"

#include <vector>

#include "exit.hpp"
#include "text.hpp"

namespace cli {
namespace {

template <typename T>
T field(hurray::Result<T> result) {
    return take(std::move(result), "descriptor");
}

template <typename T>
void list(JsonWriter& json, std::string_view name, const T* values, std::uint32_t count) {
    json.key(name).begin_array(true);
    for (std::uint32_t i = 0; values != nullptr && i < count; ++i) json.integer(values[i]);
    json.end_array();
}

void tiles(JsonWriter& json, hurray::DescriptorRef descriptor, std::uint32_t level, std::uint32_t count) {
    if (level == count) {
        json.null();
        return;
    }
    const HurrayTileLevel tile = field(descriptor.tile_level(level));
    json.begin_object();
    list(json, "tile_shape", tile.tile_shape, tile.rank);
    json.field("outer_layout", tile.outer_layout).field("inner_layout", tile.inner_layout);
    list(json, "outer_strides", tile.outer_strides, tile.rank);
    list(json, "inner_strides", tile.inner_strides, tile.rank);
    json.key("inner_tiled");
    tiles(json, descriptor, level + 1, count);
    json.end_object();
}

void layout_members(JsonWriter& json, const HurrayLayoutFields& layout) {
    switch (layout.layout) {
        case HURRAY_LAYOUT_STRIDED: list(json, "strides", layout.strides, layout.rank); break;
        case HURRAY_LAYOUT_MORTON: list(json, "morton_bits", layout.morton_bits, layout.rank); break;
        case HURRAY_LAYOUT_COO: json.field("nnz", layout.nnz).field("is_sorted", layout.is_sorted != 0); break;
        case HURRAY_LAYOUT_CSR:
        case HURRAY_LAYOUT_CSC: json.field("nnz", layout.nnz); break;
        case HURRAY_LAYOUT_CSF:
            json.field("nnz", layout.nnz);
            list(json, "mode_order", layout.mode_order, layout.rank);
            break;
        case HURRAY_LAYOUT_BLOCK_PAGED:
            json.field("page_size", layout.page_size).field("num_pages", layout.num_pages);
            json.field("paged_axis", layout.paged_axis).field("num_seqs", layout.num_seqs);
            json.field("kv_role", layout.kv_role).field("layer_index", layout.layer_index);
            json.field("block_table_index_type", layout.index_type);
            break;
        case HURRAY_LAYOUT_COMPOSITE:
            json.field("composition_rule", layout.composition_rule).field("combine_op", layout.combine_op);
            json.field("member_count", layout.member_count);
            break;
        case HURRAY_LAYOUT_HILBERT:
            json.field("hilbert_order", layout.hilbert_order).field("hilbert_rank", layout.hilbert_rank);
            break;
        default:
            if (!hurray::is_private_tag(layout.layout)) break;
            json.field("extension_layout_id", layout.private_id).field("extension_data_length", layout.private_length);
            json.field("extension_data_hex", hex({layout.private_data, static_cast<std::size_t>(layout.private_length)}));
    }
}

void layout_fields(JsonWriter& json, hurray::DescriptorRef descriptor, const HurrayDescriptorInfo& info) {
    json.key("layout_fields");
    const HurrayLayoutFields layout = field(descriptor.layout_fields());
    const bool unread = (info.reading & HURRAY_DESCRIPTOR_UNREAD) != 0;
    if (!unread && layout.layout == HURRAY_LAYOUT_TILED) return tiles(json, descriptor, 0, layout.tile_level_count);
    json.begin_object();
    if (!unread) layout_members(json, layout);
    json.end_object();
}

void buffers(JsonWriter& json, hurray::DescriptorRef descriptor, std::uint32_t count) {
    json.key("buffers").begin_array();
    for (std::uint32_t i = 0; i < count; ++i) {
        const auto handle = field(descriptor.buffer(i));
        const auto number = [&](int at, int width) {
            std::uint64_t value = 0;
            for (int k = 0; k < width; ++k) value |= static_cast<std::uint64_t>(handle.bytes[at + k]) << (8 * k);
            return value;
        };
        json.begin_object().field("byte_size", number(0, 8)).field("alignment", number(8, 4));
        json.field("device_tag", number(12, 1)).field("sync_mode", number(13, 1)).field("memory_class", number(14, 1));
        json.end_object();
    }
    json.end_array();
}

void quantization(JsonWriter& json, const HurrayQuantization& fields) {
    json.key("quantization");
    if (fields.present == 0) {
        json.null();
        return;
    }
    const std::uint8_t scheme = fields.scheme;
    json.begin_object().field("quantization_length", fields.payload_length).field("scheme_tag", scheme);
    json.field("scheme_version", fields.version).field("flags", fields.flags).field("scheme", hurray::scheme_name(scheme));
    const bool arrays = scheme == HURRAY_SCHEME_PER_CHANNEL_AFFINE || scheme == HURRAY_SCHEME_PER_BLOCK_AFFINE;
    const bool blocks =
        scheme == HURRAY_SCHEME_PER_BLOCK_AFFINE || scheme == HURRAY_SCHEME_NF4 || scheme == HURRAY_SCHEME_MXFP;
    if (scheme == HURRAY_SCHEME_PER_TENSOR_AFFINE) {
        json.float_field("scale", fields.scale).field("zero_point", fields.zero_point);
    }
    if (arrays) json.field("symmetric", (fields.flags & HURRAY_QUANTIZATION_SYMMETRIC) != 0);
    if (arrays || blocks) json.field("axis", fields.axis);
    if (blocks) json.field("block_size", fields.block_size);
    if (arrays || blocks) json.field("scale_buffer_index", fields.scale_buffer);
    if (arrays) json.field("zero_point_buffer_index", fields.zero_point_buffer).field("scale_type_tag", fields.scale_type);
    json.field("raw_hex", hex({fields.payload, static_cast<std::size_t>(fields.payload_length)}));
    json.end_object();
}

void shard(JsonWriter& json, const HurrayDescriptorInfo& info) {
    json.key("shard");
    if (info.parent_shape == nullptr) {
        json.null();
        return;
    }
    json.begin_object();
    list(json, "parent_shape", info.parent_shape, info.rank);
    list(json, "shard_offset", info.shard_offset, info.rank);
    json.end_object();
}

void statistics(JsonWriter& json, const HurrayStatistics& fields) {
    json.key("statistics");
    if (fields.present == 0) {
        json.null();
        return;
    }
    json.begin_object().field("computed_mask", fields.computed_mask).field("nnz", fields.nnz);
    json.float_field("sparsity_ratio", fields.sparsity_ratio).float_field("value_min", fields.value_min);
    json.float_field("value_max", fields.value_max).float_field("value_abs_max", fields.value_abs_max);
    json.float_field("value_mean", fields.value_mean).float_field("value_stddev", fields.value_stddev);
    json.field("nm_n", fields.nm_n).field("nm_m", fields.nm_m);
    json.field("has_nan", fields.has_nan != 0).field("has_inf", fields.has_inf != 0).end_object();
}

void extension_type(JsonWriter& json, const HurrayExtensionType& fields) {
    json.key("extension_type");
    if (fields.present == 0) {
        json.null();
        return;
    }
    json.begin_object().field("bit_width", fields.bit_width).field("packing_factor", fields.packing_factor);
    json.field("is_float", fields.is_float != 0).field("is_signed", fields.is_signed != 0);
    json.field("sign_bits", fields.sign_bits).field("exponent_bits", fields.exponent_bits);
    json.field("mantissa_bits", fields.mantissa_bits).field("exponent_bias", fields.exponent_bias);
    json.field("has_nan", fields.has_nan != 0).field("has_inf", fields.has_inf != 0).end_object();
}

}  // namespace

void write_descriptor(JsonWriter& json, hurray::DescriptorRef descriptor, std::uint64_t trailing_bytes) {
    const HurrayDescriptorInfo info = field(descriptor.info());
    json.begin_object().field("version_major", info.version_major).field("version_minor", info.version_minor);
    json.field("descriptor_length", info.descriptor_length).field("trailing_bytes", trailing_bytes);
    json.field("flags", info.flags).field("type", hurray::type_name(info.element_type)).field("type_tag", info.element_type);
    json.field("layout", hurray::layout_name(info.layout)).field("layout_tag", info.layout).field("rank", info.rank);
    list(json, "shape", info.shape, info.rank);
    json.field("byte_offset", info.byte_offset);
    layout_fields(json, descriptor, info);
    buffers(json, descriptor, info.buffer_count);
    quantization(json, field(descriptor.quantization()));
    shard(json, info);
    statistics(json, field(descriptor.statistics()));
    extension_type(json, field(descriptor.extension_type()));
    json.key("composite_member");
    const auto member = field(descriptor.composite_member());
    if (member.present == 0) json.null();
    else json.begin_object().field("member_role", member.member_role).end_object();
    json.end_object();
}

void write_error(JsonWriter& json, const hurray::Error& error) {
    json.begin_object().key("error").begin_object().field("code", error.code()).field("name", error.name());
    json.field("message", error.message()).key("offset");
    if (const auto offset = error.offset()) json.integer(*offset);
    else json.null();
    json.end_object().end_object();
}

}  // namespace cli
