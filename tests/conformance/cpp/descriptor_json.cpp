#include <bit>
#include <cmath>
#include <cstdio>

#include "descriptor_fields.hpp"
#include "element_types.hpp"

namespace driver {
namespace {

using nlohmann::ordered_json;

bool is_private(std::uint8_t tag) {
    return tag >= 0xF0 && tag <= 0xFE;
}

const char* layout_name(std::uint8_t tag) {
    switch (tag) {
        case HURRAY_LAYOUT_ROW_MAJOR: return "row_major";
        case HURRAY_LAYOUT_COL_MAJOR: return "col_major";
        case HURRAY_LAYOUT_STRIDED: return "strided";
        case HURRAY_LAYOUT_TILED: return "tiled";
        case HURRAY_LAYOUT_MORTON: return "morton";
        case HURRAY_LAYOUT_COO: return "coo";
        case HURRAY_LAYOUT_CSR: return "csr";
        case HURRAY_LAYOUT_CSC: return "csc";
        case HURRAY_LAYOUT_CSF: return "csf";
        case HURRAY_LAYOUT_BLOCK_PAGED: return "block_paged";
        case HURRAY_LAYOUT_COMPOSITE: return "composite";
        case HURRAY_LAYOUT_HILBERT: return "hilbert";
        default: return is_private(tag) ? "private_extension" : "unknown";
    }
}

const char* scheme_name(std::uint8_t tag) {
    switch (tag) {
        case HURRAY_SCHEME_PER_TENSOR_AFFINE: return "per_tensor_affine";
        case HURRAY_SCHEME_PER_CHANNEL_AFFINE: return "per_channel_affine";
        case HURRAY_SCHEME_PER_BLOCK_AFFINE: return "per_block_affine";
        case HURRAY_SCHEME_NF4: return "nf4";
        case HURRAY_SCHEME_MXFP: return "mxfp";
        default: return is_private(tag) ? "private" : "unknown";
    }
}

template <typename T>
ordered_json list_of(const T* values, std::uint32_t count) {
    ordered_json list = ordered_json::array();
    for (std::uint32_t i = 0; values != nullptr && i < count; ++i) list.push_back(values[i]);
    return list;
}

// A float as a number where it is finite, and as its bits.
template <typename Float, typename Bits>
void put_float(ordered_json& object, const std::string& name, Float value) {
    object[name] = nullptr;
    if (std::isfinite(value)) object[name] = static_cast<double>(value);
    char digits[17];
    std::snprintf(digits, sizeof digits, "%0*llx", static_cast<int>(2 * sizeof value),
                  static_cast<unsigned long long>(std::bit_cast<Bits>(value)));
    object[name + "_bits"] = digits;
}

ordered_json buffer_json(const HurrayBufferHandleBytes& handle) {
    const auto number = [&](int at, int width) {
        std::uint64_t value = 0;
        for (int i = 0; i < width; ++i) value |= static_cast<std::uint64_t>(handle.bytes[at + i]) << (8 * i);
        return value;
    };
    ordered_json json;
    json["byte_size"] = number(0, 8);
    json["alignment"] = number(8, 4);
    json["device_tag"] = number(12, 1);
    json["sync_mode"] = number(13, 1);
    json["memory_class"] = number(14, 1);
    return json;
}

ordered_json tiled_json(const std::vector<HurrayTileLevel>& levels) {
    ordered_json nested = nullptr;
    for (auto level = levels.rbegin(); level != levels.rend(); ++level) {
        ordered_json json;
        json["tile_shape"] = list_of(level->tile_shape, level->rank);
        json["outer_layout"] = level->outer_layout;
        json["inner_layout"] = level->inner_layout;
        json["outer_strides"] = list_of(level->outer_strides, level->rank);
        json["inner_strides"] = list_of(level->inner_strides, level->rank);
        json["inner_tiled"] = nested;
        nested = json;
    }
    return nested;
}

ordered_json layout_json(const DescriptorFields& fields) {
    const HurrayLayoutFields& layout = fields.layout;
    ordered_json json = ordered_json::object();
    if ((fields.info.reading & HURRAY_DESCRIPTOR_UNREAD) != 0) return json;
    switch (layout.layout) {
        case HURRAY_LAYOUT_STRIDED: json["strides"] = list_of(layout.strides, layout.rank); break;
        case HURRAY_LAYOUT_TILED: return tiled_json(fields.levels);
        case HURRAY_LAYOUT_MORTON: json["morton_bits"] = list_of(layout.morton_bits, layout.rank); break;
        case HURRAY_LAYOUT_COO:
            json["nnz"] = layout.nnz;
            json["is_sorted"] = layout.is_sorted != 0;
            break;
        case HURRAY_LAYOUT_CSR:
        case HURRAY_LAYOUT_CSC: json["nnz"] = layout.nnz; break;
        case HURRAY_LAYOUT_CSF:
            json["nnz"] = layout.nnz;
            json["mode_order"] = list_of(layout.mode_order, layout.rank);
            break;
        case HURRAY_LAYOUT_BLOCK_PAGED:
            json["page_size"] = layout.page_size;
            json["num_pages"] = layout.num_pages;
            json["paged_axis"] = layout.paged_axis;
            json["num_seqs"] = layout.num_seqs;
            json["kv_role"] = layout.kv_role;
            json["layer_index"] = layout.layer_index;
            json["block_table_index_type"] = layout.index_type;
            break;
        case HURRAY_LAYOUT_COMPOSITE:
            json["composition_rule"] = layout.composition_rule;
            json["combine_op"] = layout.combine_op;
            json["member_count"] = layout.member_count;
            break;
        case HURRAY_LAYOUT_HILBERT:
            json["hilbert_order"] = layout.hilbert_order;
            json["hilbert_rank"] = layout.hilbert_rank;
            break;
        default:
            if (!is_private(layout.layout)) break;
            json["extension_layout_id"] = layout.private_id;
            json["extension_data_length"] = layout.private_length;
            json["extension_data_hex"] = hex(layout.private_data, layout.private_length);
    }
    return json;
}

ordered_json quantization_json(const HurrayQuantization& fields) {
    if (fields.present == 0) return nullptr;
    const std::uint8_t scheme = fields.scheme;
    ordered_json json;
    json["quantization_length"] = fields.payload_length;
    json["scheme_tag"] = scheme;
    json["scheme_version"] = fields.version;
    json["flags"] = fields.flags;
    json["scheme"] = scheme_name(scheme);
    const bool affine_arrays = scheme == HURRAY_SCHEME_PER_CHANNEL_AFFINE || scheme == HURRAY_SCHEME_PER_BLOCK_AFFINE;
    const bool blocks =
        scheme == HURRAY_SCHEME_PER_BLOCK_AFFINE || scheme == HURRAY_SCHEME_NF4 || scheme == HURRAY_SCHEME_MXFP;
    if (scheme == HURRAY_SCHEME_PER_TENSOR_AFFINE) {
        put_float<float, std::uint32_t>(json, "scale", fields.scale);
        json["zero_point"] = fields.zero_point;
    }
    if (affine_arrays) json["symmetric"] = (fields.flags & HURRAY_QUANTIZATION_SYMMETRIC) != 0;
    if (affine_arrays || blocks) json["axis"] = fields.axis;
    if (blocks) json["block_size"] = fields.block_size;
    if (affine_arrays || blocks) json["scale_buffer_index"] = fields.scale_buffer;
    if (affine_arrays) {
        json["zero_point_buffer_index"] = fields.zero_point_buffer;
        json["scale_type_tag"] = fields.scale_type;
    }
    json["raw_hex"] = hex(fields.payload, fields.payload_length);
    return json;
}

ordered_json shard_json(const HurrayDescriptorInfo& info) {
    if (info.parent_shape == nullptr) return nullptr;
    return {{"parent_shape", list_of(info.parent_shape, info.rank)}, {"shard_offset", list_of(info.shard_offset, info.rank)}};
}

ordered_json statistics_json(const HurrayStatistics& fields) {
    if (fields.present == 0) return nullptr;
    constexpr auto put = put_float<double, std::uint64_t>;
    ordered_json json;
    json["computed_mask"] = fields.computed_mask;
    json["nnz"] = fields.nnz;
    put(json, "sparsity_ratio", fields.sparsity_ratio);
    put(json, "value_min", fields.value_min);
    put(json, "value_max", fields.value_max);
    put(json, "value_abs_max", fields.value_abs_max);
    put(json, "value_mean", fields.value_mean);
    put(json, "value_stddev", fields.value_stddev);
    json["nm_n"] = fields.nm_n;
    json["nm_m"] = fields.nm_m;
    json["has_nan"] = fields.has_nan != 0;
    json["has_inf"] = fields.has_inf != 0;
    return json;
}

ordered_json extension_type_json(const HurrayExtensionType& fields) {
    if (fields.present == 0) return nullptr;
    ordered_json json;
    json["bit_width"] = fields.bit_width;
    json["packing_factor"] = fields.packing_factor;
    json["is_float"] = fields.is_float != 0;
    json["is_signed"] = fields.is_signed != 0;
    json["sign_bits"] = fields.sign_bits;
    json["exponent_bits"] = fields.exponent_bits;
    json["mantissa_bits"] = fields.mantissa_bits;
    json["exponent_bias"] = fields.exponent_bias;
    json["has_nan"] = fields.has_nan != 0;
    json["has_inf"] = fields.has_inf != 0;
    return json;
}

}  // namespace

std::string hex(const std::uint8_t* bytes, std::uint64_t length) {
    constexpr const char* digits = "0123456789abcdef";
    std::string text;
    for (std::uint64_t i = 0; i < length; ++i) {
        text += digits[bytes[i] >> 4];
        text += digits[bytes[i] & 15];
    }
    return text;
}

ordered_json json_of(const DescriptorFields& fields, std::uint64_t input_length) {
    const HurrayDescriptorInfo& info = fields.info;
    ordered_json json;
    json["version_major"] = info.version_major;
    json["version_minor"] = info.version_minor;
    json["descriptor_length"] = info.descriptor_length;
    json["trailing_bytes"] = input_length - info.descriptor_length;
    json["flags"] = info.flags;
    json["type"] = is_private(info.element_type) ? "private" : type_name(info.element_type);
    json["type_tag"] = info.element_type;
    json["layout"] = layout_name(info.layout);
    json["layout_tag"] = info.layout;
    json["rank"] = info.rank;
    json["shape"] = list_of(info.shape, info.rank);
    json["byte_offset"] = info.byte_offset;
    json["layout_fields"] = layout_json(fields);
    json["buffers"] = ordered_json::array();
    for (const HurrayBufferHandleBytes& buffer : fields.buffers) json["buffers"].push_back(buffer_json(buffer));
    json["quantization"] = quantization_json(fields.quantization);
    json["shard"] = shard_json(info);
    json["statistics"] = statistics_json(fields.statistics);
    json["extension_type"] = extension_type_json(fields.extension_type);
    json["composite_member"] = nullptr;
    if (fields.member.present != 0) json["composite_member"] = {{"member_role", fields.member.member_role}};
    return json;
}

}  // namespace driver
