// The JSON object of a descriptor from the library's readers of fields.
#include <bit>
#include <cmath>

#include "core/hurray/descriptor/composite_member_section.hpp"
#include "core/hurray/descriptor/extension_type_section.hpp"
#include "core/hurray/descriptor/statistics_section.hpp"
#include "core/hurray/layout/block_paged.hpp"
#include "core/hurray/layout/composite.hpp"
#include "core/hurray/layout/compressed.hpp"
#include "core/hurray/layout/coo.hpp"
#include "core/hurray/layout/csf.hpp"
#include "core/hurray/layout/hilbert.hpp"
#include "core/hurray/layout/layout.hpp"
#include "core/hurray/layout/morton.hpp"
#include "core/hurray/layout/private_layout.hpp"
#include "core/hurray/layout/tiled.hpp"
#include "core/hurray/quantization/scheme.hpp"
#include "core/hurray/tests/golden.hpp"

namespace hurray::test {
namespace {

template <typename Float, typename Bits>
void put_float(json& object, const char* name, Float value) {
    object[name] = std::isfinite(value) ? json(double{value}) : json(nullptr);
    Bytes bytes(sizeof(Bits));
    const auto bits = std::bit_cast<Bits>(value);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(bits >> 8 * (bytes.size() - 1 - i));
    object[std::string(name) + "_bits"] = hex_of(bytes);
}

std::string type_of(std::uint8_t tag) {
    if (is_private_element_type(tag)) return "private";
    const ElementTypeInfo* info = find_element_type(tag);
    return info == nullptr ? "unknown" : info->name;
}

json tiled(const Descriptor& descriptor) {
    json nested;
    const TiledLevels levels = tiled_levels(descriptor);
    for (std::size_t i = levels.size(); i-- > 0;) {
        nested = {{"tile_shape", levels[i].tile_shape},       {"outer_layout", levels[i].outer_layout},
                  {"inner_layout", levels[i].inner_layout},   {"outer_strides", levels[i].outer_strides},
                  {"inner_strides", levels[i].inner_strides}, {"inner_tiled", nested}};
    }
    return nested;
}

json layout_fields(const Descriptor& descriptor) {
    if (descriptor.is_unread()) return json::object();
    if (is_private_layout(descriptor.layout())) {
        const PrivateLayoutFields fields = private_layout_fields(descriptor);
        return {{"extension_layout_id", fields.id},
                {"extension_data_length", fields.data.size()},
                {"extension_data_hex", hex_of(fields.data)}};
    }
    switch (descriptor.layout()) {
        case layout_tag::strided:
            return {{"strides", descriptor.strides()}};
        case layout_tag::tiled:
            return tiled(descriptor);
        case layout_tag::morton:
            return {{"morton_bits", morton_bits(descriptor)}};
        case layout_tag::hilbert: {
            const HilbertFields fields = hilbert_fields(descriptor);
            return {{"hilbert_order", fields.order}, {"hilbert_rank", fields.rank}};
        }
        case layout_tag::block_paged: {
            const BlockPagedFields fields = block_paged_fields(descriptor);
            return {{"page_size", fields.page_size},     {"num_pages", fields.num_pages},
                    {"paged_axis", fields.paged_axis},   {"num_seqs", fields.num_seqs},
                    {"kv_role", fields.kv_role},         {"layer_index", fields.layer_index},
                    {"block_table_index_type", fields.index_type}};
        }
        case layout_tag::composite: {
            const CompositeFields fields = composite_fields(descriptor);
            return {{"composition_rule", fields.rule},
                    {"combine_op", fields.combine_op},
                    {"member_count", fields.member_count}};
        }
        case layout_tag::coo: {
            const CooFields fields = coo_fields(descriptor);
            return {{"nnz", fields.nnz}, {"is_sorted", fields.is_sorted}};
        }
        case layout_tag::csr:
        case layout_tag::csc:
            return {{"nnz", compressed_fields(descriptor).nnz}};
        case layout_tag::csf: {
            const CsfFields fields = csf_fields(descriptor);
            return {{"nnz", fields.nnz}, {"mode_order", fields.mode_order}};
        }
        default:
            return json::object();
    }
}

void put_scheme_field(json& object, SchemeField field, const QuantizationFields& fields) {
    switch (field) {
        case SchemeField::scale:
            return put_float<float, std::uint32_t>(object, "scale", fields.scale);
        case SchemeField::zero_point:
            object["zero_point"] = fields.zero_point;
            return;
        case SchemeField::axis:
            object["axis"] = fields.axis;
            return;
        case SchemeField::block_size:
            object["block_size"] = fields.block_size;
            return;
        case SchemeField::scale_buffer:
            object["scale_buffer_index"] = fields.scale_buffer;
            return;
        case SchemeField::zero_point_buffer:
            object["zero_point_buffer_index"] = fields.zero_point_buffer;
            return;
        case SchemeField::scale_type:
            object["scale_type_tag"] = fields.scale_type;
            return;
        case SchemeField::reserved:
            return;
    }
}

json quantization(const Descriptor& descriptor) {
    const auto fields = quantization_fields(descriptor);
    if (!fields) return nullptr;
    const QuantizationScheme* scheme = find_scheme(fields->scheme);
    // The length, and the bytes as they stand on the wire.
    const auto words = descriptor.section_words(descriptor_flag::quantization);
    const auto payload = std::as_bytes(words.subspan(1)).first(words[0]);
    json object = {{"quantization_length", payload.size()},
                   {"scheme_tag", fields->scheme},
                   {"scheme_version", fields->version},
                   {"flags", fields->flags},
                   {"scheme", scheme != nullptr                   ? scheme->name
                              : is_private_scheme(fields->scheme) ? "private"
                                                                  : "unknown"},
                   {"raw_hex", hex_of(payload)}};
    if (scheme == nullptr) return object;
    if (scheme->flags != 0) object["symmetric"] = fields->symmetric();
    for (const SchemeFieldPlace& place : scheme->fields) put_scheme_field(object, place.field, *fields);
    return object;
}

json statistics(const Descriptor& descriptor) {
    const auto fields = statistics_fields(descriptor);
    if (!fields) return nullptr;
    json object = {{"computed_mask", fields->computed_mask},
                   {"nnz", fields->nnz},
                   {"nm_n", fields->nm_n},
                   {"nm_m", fields->nm_m},
                   {"has_nan", fields->has_nan},
                   {"has_inf", fields->has_inf}};
    const auto put = put_float<double, std::uint64_t>;
    put(object, "sparsity_ratio", fields->sparsity_ratio);
    put(object, "value_min", fields->value_min);
    put(object, "value_max", fields->value_max);
    put(object, "value_abs_max", fields->value_abs_max);
    put(object, "value_mean", fields->value_mean);
    put(object, "value_stddev", fields->value_stddev);
    return object;
}

json extension_type(const Descriptor& descriptor) {
    const auto fields = extension_type_fields(descriptor);
    if (!fields) return nullptr;
    return {{"bit_width", fields->bit_width},         {"packing_factor", fields->packing_factor},
            {"is_float", fields->is_float},           {"is_signed", fields->is_signed},
            {"sign_bits", fields->sign_bits},         {"exponent_bits", fields->exponent_bits},
            {"mantissa_bits", fields->mantissa_bits}, {"exponent_bias", fields->exponent_bias},
            {"has_nan", fields->has_nan},             {"has_inf", fields->has_inf}};
}

}  // namespace

json described(const Descriptor& descriptor, std::size_t input_size) {
    json buffers = json::array();
    for (const BufferHandle& buffer : descriptor.buffers()) {
        buffers.push_back({{"byte_size", buffer.byte_size},
                           {"alignment", buffer.alignment},
                           {"device_tag", buffer.device_tag},
                           {"sync_mode", buffer.sync_mode},
                           {"memory_class", buffer.memory_class}});
    }
    json shard;
    if (descriptor.has_shard()) {
        shard = {{"parent_shape", descriptor.parent_shape()}, {"shard_offset", descriptor.shard_offset()}};
    }
    json member;
    if (const auto fields = composite_member_fields(descriptor)) {
        member = {{"member_role", static_cast<unsigned>(fields->role)}};
    }
    const Layout* layout = find_layout(descriptor.layout());
    return {{"version_major", descriptor.version_major()},
            {"version_minor", descriptor.version_minor()},
            {"descriptor_length", descriptor.encoded_length()},
            {"trailing_bytes", input_size - descriptor.encoded_length()},
            {"flags", descriptor.flags()},
            {"type", type_of(descriptor.element_type())},
            {"type_tag", descriptor.element_type()},
            {"layout", layout == nullptr ? "unknown" : layout->name},
            {"layout_tag", descriptor.layout()},
            {"rank", descriptor.rank()},
            {"shape", descriptor.shape()},
            {"byte_offset", descriptor.byte_offset()},
            {"layout_fields", layout_fields(descriptor)},
            {"buffers", buffers},
            {"quantization", quantization(descriptor)},
            {"shard", shard},
            {"statistics", statistics(descriptor)},
            {"extension_type", extension_type(descriptor)},
            {"composite_member", member}};
}

}  // namespace hurray::test
