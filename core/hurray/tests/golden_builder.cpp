// The builder, told what the JSON object of a descriptor says.
#include <bit>
#include <deque>

#include "core/hurray/descriptor/composite_member_section.hpp"
#include "core/hurray/descriptor/extension_type_section.hpp"
#include "core/hurray/descriptor/statistics_section.hpp"
#include "core/hurray/layout/block_paged.hpp"
#include "core/hurray/layout/composite.hpp"
#include "core/hurray/layout/compressed.hpp"
#include "core/hurray/layout/coo.hpp"
#include "core/hurray/layout/csf.hpp"
#include "core/hurray/layout/private_layout.hpp"
#include "core/hurray/layout/tiled.hpp"
#include "core/hurray/quantization/scheme.hpp"
#include "core/hurray/tests/golden.hpp"

namespace hurray::test {
namespace {

template <typename Float, typename Bits>
Float float_of(const json& bits) {
    return std::bit_cast<Float>(static_cast<Bits>(std::stoull(bits.get<std::string>(), nullptr, 16)));
}

double double_of(const json& object, const char* name) {
    return float_of<double, std::uint64_t>(object.at(std::string(name) + "_bits"));
}

// Levels of tiles with the memory that they refer to.
class OwnedLevels {
  public:
    explicit OwnedLevels(const json& fields) {
        for (const json* level = &fields; !level->is_null(); level = &level->at("inner_tiled")) {
            levels_.push_back({.tile_shape = keep(shapes_, *level, "tile_shape"),
                               .outer_layout = level->at("outer_layout"),
                               .inner_layout = level->at("inner_layout"),
                               .outer_strides = keep(strides_, *level, "outer_strides"),
                               .inner_strides = keep(strides_, *level, "inner_strides")});
        }
    }
    OwnedLevels(const OwnedLevels&) = delete;
    OwnedLevels& operator=(const OwnedLevels&) = delete;
    [[nodiscard]] const std::vector<TiledLevel>& levels() const { return levels_; }

  private:
    template <typename T>
    static std::span<const T> keep(std::deque<std::vector<T>>& all, const json& level, const char* key) {
        return all.emplace_back(level.at(key).get<std::vector<T>>());
    }
    std::deque<std::vector<std::uint64_t>> shapes_;
    std::deque<std::vector<std::int64_t>> strides_;
    std::vector<TiledLevel> levels_;
};

void set_layout(DescriptorBuilder& builder, std::uint8_t tag, const json& fields) {
    if (is_private_layout(tag)) {
        const Bytes data = bytes_of_hex(fields.at("extension_data_hex"));
        builder.set_private_layout({.id = fields.at("extension_layout_id"), .data = data});
        return;
    }
    switch (tag) {
        case layout_tag::strided:
            builder.set_strides(fields.at("strides").get<std::vector<std::int64_t>>());
            return;
        case layout_tag::tiled:
            builder.set_tiled(OwnedLevels(fields).levels());
            return;
        case layout_tag::morton:
            builder.set_morton_bits(fields.at("morton_bits").get<std::vector<std::uint32_t>>());
            return;
        case layout_tag::hilbert:
            builder.set_hilbert(fields.at("hilbert_order"));
            return;
        case layout_tag::coo:
            builder.set_coo({.nnz = fields.at("nnz"), .is_sorted = fields.at("is_sorted")});
            return;
        case layout_tag::csr:
        case layout_tag::csc:
            builder.set_compressed(fields.at("nnz"));
            return;
        case layout_tag::csf:
            builder.set_csf(fields.at("nnz"), fields.at("mode_order").get<std::vector<std::uint32_t>>());
            return;
        case layout_tag::block_paged:
            builder.set_block_paged({.page_size = fields.at("page_size"),
                                     .num_pages = fields.at("num_pages"),
                                     .paged_axis = fields.at("paged_axis"),
                                     .num_seqs = fields.at("num_seqs"),
                                     .kv_role = fields.at("kv_role"),
                                     .layer_index = fields.at("layer_index"),
                                     .index_type = fields.at("block_table_index_type")});
            return;
        case layout_tag::composite:
            builder.set_composite({.rule = fields.at("composition_rule"),
                                   .combine_op = fields.at("combine_op"),
                                   .member_count = fields.at("member_count")});
            return;
        default:
            return;
    }
}

void set_quantization(DescriptorBuilder& builder, const json& object) {
    QuantizationFields fields = {.scheme = object.at("scheme_tag"),
                                 .version = object.at("scheme_version"),
                                 .flags = object.at("flags"),
                                 .scale_type = object.value("scale_type_tag", std::uint8_t{0}),
                                 .zero_point = object.value("zero_point", 0),
                                 .axis = object.value("axis", 0U),
                                 .block_size = object.value("block_size", 0U),
                                 .scale_buffer = object.value("scale_buffer_index", no_buffer),
                                 .zero_point_buffer = object.value("zero_point_buffer_index", no_buffer)};
    if (object.contains("scale_bits")) fields.scale = float_of<float, std::uint32_t>(object.at("scale_bits"));
    const Bytes payload = bytes_of_hex(object.at("raw_hex"));
    if (const QuantizationScheme* scheme = find_scheme(fields.scheme); scheme != nullptr) {
        fields.padding = static_cast<std::uint32_t>(payload.size()) - scheme->size;
    } else {
        fields.private_data = std::span(payload).subspan(scheme_header_size);
    }
    builder.set_quantization(fields);
}

void set_statistics(DescriptorBuilder& builder, const json& object) {
    builder.set_statistics({.computed_mask = object.at("computed_mask"),
                            .nnz = object.at("nnz"),
                            .sparsity_ratio = double_of(object, "sparsity_ratio"),
                            .value_min = double_of(object, "value_min"),
                            .value_max = double_of(object, "value_max"),
                            .value_abs_max = double_of(object, "value_abs_max"),
                            .value_mean = double_of(object, "value_mean"),
                            .value_stddev = double_of(object, "value_stddev"),
                            .nm_n = object.at("nm_n"),
                            .nm_m = object.at("nm_m"),
                            .has_nan = object.at("has_nan"),
                            .has_inf = object.at("has_inf")});
}

void set_extension_type(DescriptorBuilder& builder, const json& object) {
    builder.set_extension_type({.bit_width = object.at("bit_width"),
                                .packing_factor = object.at("packing_factor"),
                                .is_float = object.at("is_float"),
                                .is_signed = object.at("is_signed"),
                                .sign_bits = object.at("sign_bits"),
                                .exponent_bits = object.at("exponent_bits"),
                                .mantissa_bits = object.at("mantissa_bits"),
                                .exponent_bias = object.at("exponent_bias"),
                                .has_nan = object.at("has_nan"),
                                .has_inf = object.at("has_inf")});
}

}  // namespace

Result<Descriptor> built(const json& fields, PrivateTags private_tags) {
    const std::uint8_t layout = fields.at("layout_tag");
    DescriptorBuilder builder(fields.at("type_tag"), layout, fields.at("shape").get<std::vector<std::uint64_t>>());
    builder.set_byte_offset(fields.at("byte_offset"));
    set_layout(builder, layout, fields.at("layout_fields"));
    for (const json& buffer : fields.at("buffers")) {
        const auto added = builder.add_buffer({.byte_size = buffer.at("byte_size"),
                                               .alignment = buffer.at("alignment"),
                                               .device_tag = buffer.at("device_tag"),
                                               .sync_mode = buffer.at("sync_mode"),
                                               .memory_class = buffer.at("memory_class")});
        if (!added) return std::unexpected(added.error());
    }
    if (const json& shard = fields.at("shard"); !shard.is_null()) {
        builder.set_shard(shard.at("parent_shape").get<std::vector<std::uint64_t>>(),
                          shard.at("shard_offset").get<std::vector<std::uint64_t>>());
    }
    if (const json& section = fields.at("quantization"); !section.is_null()) set_quantization(builder, section);
    if (const json& section = fields.at("statistics"); !section.is_null()) set_statistics(builder, section);
    if (const json& section = fields.at("extension_type"); !section.is_null()) set_extension_type(builder, section);
    if (const json& section = fields.at("composite_member"); !section.is_null()) {
        builder.set_composite_member(static_cast<MemberRole>(section.at("member_role").get<unsigned>()));
    }
    return builder.build(private_tags);
}

}  // namespace hurray::test
