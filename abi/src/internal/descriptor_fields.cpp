#include "abi/src/internal/descriptor_fields.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "core/hurray/descriptor/composite_member_section.hpp"
#include "core/hurray/descriptor/extension_type_section.hpp"
#include "core/hurray/descriptor/statistics_section.hpp"
#include "core/hurray/layout/block_paged.hpp"
#include "core/hurray/layout/composite.hpp"
#include "core/hurray/layout/compressed.hpp"
#include "core/hurray/layout/coo.hpp"
#include "core/hurray/layout/csf.hpp"
#include "core/hurray/layout/hilbert.hpp"
#include "core/hurray/layout/morton.hpp"
#include "core/hurray/layout/private_layout.hpp"
#include "core/hurray/layout/tiled.hpp"
#include "core/hurray/quantization/fields.hpp"
#include "core/hurray/quantization/scheme.hpp"

namespace hurray::abi {
namespace {

// More than any descriptor that a reader accepts by default: nothing larger needs to be copied to be refused.
constexpr std::uint64_t largest_payload = DecodeOptions{}.max_length;

template <typename T>
const T* data_or_null(std::span<const T> values) noexcept {
    return values.empty() ? nullptr : values.data();
}

const std::uint8_t* bytes_or_null(std::span<const std::byte> bytes) noexcept {
    return bytes.empty() ? nullptr : reinterpret_cast<const std::uint8_t*>(bytes.data());
}

std::span<const std::byte> as_span(const std::uint8_t* bytes, std::uint64_t length) noexcept {
    return {reinterpret_cast<const std::byte*>(bytes), static_cast<std::size_t>(length)};
}

Result<void> check_flag(std::uint8_t value, const char* field) noexcept {
    if (value <= 1) return {};
    return fail(Status::invalid_argument, Error::no_offset, "%s: expected 0 or 1, got %u", field, value);
}

Result<void> check_flags(std::initializer_list<std::pair<std::uint8_t, const char*>> flags) noexcept {
    for (const auto& [value, field] : flags) {
        if (auto checked = check_flag(value, field); !checked) return checked;
    }
    return {};
}

Result<void> check_present(std::uint8_t present, const char* parameter) noexcept {
    if (present == 1) return {};
    return fail(Status::invalid_argument, Error::no_offset, "%s->present: expected 1, got %u", parameter, present);
}

Result<void> check_reserved(std::span<const std::uint8_t> reserved, const char* parameter) noexcept {
    if (std::ranges::all_of(reserved, [](std::uint8_t byte) { return byte == 0; })) return {};
    return fail(Status::invalid_argument, Error::no_offset, "%s->reserved: expected 0", parameter);
}

Result<void> check_array(const void* values, std::uint64_t count, const char* field) noexcept {
    if (values != nullptr || count == 0) return {};
    return fail(Status::null_pointer, Error::no_offset, "%s: is null, expected %llu values", field,
                static_cast<unsigned long long>(count));
}

Result<void> check_length(std::uint64_t length, const char* field) noexcept {
    if (length <= largest_payload) return {};
    return fail(Status::limit_exceeded, Error::no_offset, "%s: expected at most %llu, got %llu", field,
                static_cast<unsigned long long>(largest_payload), static_cast<unsigned long long>(length));
}

Result<void> check_rank(std::uint32_t rank, const char* parameter) noexcept {
    if (rank <= max_rank) return {};
    return fail(Status::invalid_argument, Error::no_offset, "%s->rank: expected at most %u, got %u", parameter, max_rank, rank);
}

// Values of an array whose field on the wire has 32 bits.
Result<std::vector<std::uint32_t>> narrowed(const std::uint64_t* values, std::uint32_t count, const char* field) {
    if (auto there = check_array(values, count, field); !there) return std::unexpected(there.error());
    std::vector<std::uint32_t> result(count);
    for (std::uint32_t k = 0; k < count; ++k) {
        if (values[k] > std::numeric_limits<std::uint32_t>::max()) {
            return fail(Status::invalid_argument, Error::no_offset, "%s[%u]: expected less than 2^32, got %llu", field, k,
                        static_cast<unsigned long long>(values[k]));
        }
        result[k] = static_cast<std::uint32_t>(values[k]);
    }
    return result;
}

}  // namespace

Result<DecodeOptions> decode_options(const HurrayDecodeOptions* options) {
    auto chosen = read_sized_struct(options, sizeof(HurrayDecodeOptions), "options");
    if (!chosen) return std::unexpected(chosen.error());
    constexpr std::uint32_t known = HURRAY_DECODE_PERMISSIVE | HURRAY_DECODE_PRIVATE_TAGS;
    if ((chosen->flags & ~known) != 0) {
        return fail(Status::invalid_argument, Error::no_offset, "options->flags: unknown bits 0x%x", chosen->flags & ~known);
    }
    DecodeOptions result;
    if (chosen->max_length > std::numeric_limits<std::uint32_t>::max()) {
        return fail(Status::invalid_argument, Error::no_offset, "options->max_length: expected less than 2^32, got %llu",
                    static_cast<unsigned long long>(chosen->max_length));
    }
    if (chosen->max_length != 0) result.max_length = static_cast<std::uint32_t>(chosen->max_length);
    if ((chosen->flags & HURRAY_DECODE_PERMISSIVE) != 0) result.mode = Mode::permissive;
    if ((chosen->flags & HURRAY_DECODE_PRIVATE_TAGS) != 0) result.private_tags = PrivateTags::allow;
    return result;
}

HurrayLayoutFields layout_fields(const Descriptor& descriptor) noexcept {
    HurrayLayoutFields fields{};
    fields.layout = descriptor.layout();
    fields.rank = descriptor.rank();
    if (descriptor.is_unread()) return fields;
    switch (descriptor.layout()) {
        case layout_tag::strided:
            fields.strides = data_or_null(descriptor.strides());
            break;
        case layout_tag::tiled:
            fields.tile_level_count = static_cast<std::uint32_t>(tiled_levels(descriptor).size());
            break;
        case layout_tag::morton:
            fields.morton_bits = data_or_null(morton_bits(descriptor));
            break;
        case layout_tag::coo: {
            const CooFields coo = coo_fields(descriptor);
            fields.nnz = coo.nnz;
            fields.is_sorted = coo.is_sorted ? 1 : 0;
            break;
        }
        case layout_tag::csr:
        case layout_tag::csc:
            fields.nnz = compressed_fields(descriptor).nnz;
            break;
        case layout_tag::csf: {
            const CsfFields csf = csf_fields(descriptor);
            fields.nnz = csf.nnz;
            fields.mode_order = data_or_null(csf.mode_order);
            break;
        }
        case layout_tag::composite: {
            const CompositeFields composite = composite_fields(descriptor);
            fields.composition_rule = composite.rule;
            fields.combine_op = composite.combine_op;
            fields.member_count = composite.member_count;
            break;
        }
        case layout_tag::hilbert: {
            const HilbertFields hilbert = hilbert_fields(descriptor);
            fields.hilbert_order = hilbert.order;
            fields.hilbert_rank = hilbert.rank;
            break;
        }
        case layout_tag::block_paged: {
            const BlockPagedFields paged = block_paged_fields(descriptor);
            fields.page_size = paged.page_size;
            fields.num_pages = paged.num_pages;
            fields.paged_axis = paged.paged_axis;
            fields.num_seqs = paged.num_seqs;
            fields.kv_role = paged.kv_role;
            fields.layer_index = paged.layer_index;
            fields.index_type = paged.index_type;
            break;
        }
        default:
            if (is_private_layout(descriptor.layout())) {
                const PrivateLayoutFields own = private_layout_fields(descriptor);
                fields.private_id = own.id;
                fields.private_data = bytes_or_null(own.data);
                fields.private_length = own.data.size();
            }
            break;
    }
    return fields;
}

Result<HurrayTileLevel> tile_level(const Descriptor& descriptor, std::uint32_t level) noexcept {
    const TiledLevels levels = tiled_levels(descriptor);
    if (level >= levels.size()) {
        return fail(Status::index_out_of_bounds, Error::no_offset, "level: expected less than %zu, got %u", levels.size(), level);
    }
    const TiledLevel& source = levels[level];
    HurrayTileLevel fields{};
    fields.rank = descriptor.rank();
    fields.tile_shape = data_or_null(source.tile_shape);
    fields.outer_strides = data_or_null(source.outer_strides);
    fields.inner_strides = data_or_null(source.inner_strides);
    fields.outer_layout = source.outer_layout;
    fields.inner_layout = source.inner_layout;
    return fields;
}

HurrayQuantization quantization(const Descriptor& descriptor) noexcept {
    HurrayQuantization result{};
    const auto words = descriptor.section_words(descriptor_flag::quantization);
    const auto fields = quantization_fields(descriptor);
    if (!fields) return result;
    const std::span<const std::byte> payload = std::as_bytes(words.subspan(1)).first(static_cast<std::size_t>(words[0]));
    const QuantizationScheme* scheme = find_scheme(fields->scheme);
    result.present = 1;
    result.scheme = fields->scheme;
    result.version = fields->version;
    result.scale_type = scheme == nullptr || scheme->scale_types.empty() ? std::uint8_t{0} : fields->scale_type;
    result.flags = fields->flags;
    result.scale = fields->scale;
    result.zero_point = fields->zero_point;
    result.axis = fields->axis;
    result.block_size = fields->block_size;
    result.scale_buffer = fields->scale_buffer;
    result.zero_point_buffer = fields->zero_point_buffer;
    result.padding = fields->padding;
    result.private_data = bytes_or_null(fields->private_data);
    result.private_length = fields->private_data.size();
    result.payload = bytes_or_null(payload);
    result.payload_length = payload.size();
    return result;
}

HurrayStatistics statistics_of(const StatisticsFields& fields) noexcept {
    HurrayStatistics result{};
    result.present = 1;
    result.computed_mask = fields.computed_mask;
    result.nnz = fields.nnz;
    result.sparsity_ratio = fields.sparsity_ratio;
    result.value_min = fields.value_min;
    result.value_max = fields.value_max;
    result.value_abs_max = fields.value_abs_max;
    result.value_mean = fields.value_mean;
    result.value_stddev = fields.value_stddev;
    result.nm_n = fields.nm_n;
    result.nm_m = fields.nm_m;
    result.has_nan = fields.has_nan ? 1 : 0;
    result.has_inf = fields.has_inf ? 1 : 0;
    return result;
}

HurrayStatistics statistics(const Descriptor& descriptor) noexcept {
    const auto fields = statistics_fields(descriptor);
    return fields ? statistics_of(*fields) : HurrayStatistics{};
}

HurrayExtensionType extension_type(const Descriptor& descriptor) noexcept {
    HurrayExtensionType result{};
    const auto fields = extension_type_fields(descriptor);
    if (!fields) return result;
    result.present = 1;
    result.bit_width = fields->bit_width;
    result.packing_factor = fields->packing_factor;
    result.is_float = fields->is_float ? 1 : 0;
    result.is_signed = fields->is_signed ? 1 : 0;
    result.sign_bits = fields->sign_bits;
    result.exponent_bits = fields->exponent_bits;
    result.mantissa_bits = fields->mantissa_bits;
    result.exponent_bias = fields->exponent_bias;
    result.has_nan = fields->has_nan ? 1 : 0;
    result.has_inf = fields->has_inf ? 1 : 0;
    return result;
}

HurrayCompositeMember composite_member(const Descriptor& descriptor) noexcept {
    HurrayCompositeMember result{};
    const auto fields = composite_member_fields(descriptor);
    if (!fields) return result;
    result.present = 1;
    result.member_role = static_cast<std::uint8_t>(fields->role);
    return result;
}

void set_strides(HurrayDescriptorBuilder& builder, std::span<const std::int64_t> strides) {
    std::vector<std::int64_t> kept(strides.begin(), strides.end());
    builder.value.set_strides(strides);
    builder.strides = std::move(kept);
}

std::vector<TiledLevel> levels_of(const HurrayDescriptorBuilder& builder) {
    std::vector<TiledLevel> levels;
    levels.reserve(builder.tile_levels.size());
    for (const TileLevelCopy& each : builder.tile_levels) {
        levels.push_back({each.tile_shape, each.outer_layout, each.inner_layout, each.outer_strides, each.inner_strides});
    }
    return levels;
}

Result<void> set_layout_fields(HurrayDescriptorBuilder& builder, const HurrayLayoutFields* fields) {
    auto given = read_sized_struct(fields, sizeof(HurrayLayoutFields), "fields");
    if (!given) return std::unexpected(given.error());
    if (auto zero = check_reserved(given->reserved, "fields"); !zero) return zero;
    if (given->layout != builder.layout) {
        return fail(Status::invalid_argument, Error::no_offset, "fields->layout: expected the builder's %02X, got %02X",
                    builder.layout, given->layout);
    }
    if (auto fits = check_rank(given->rank, "fields"); !fits) return fits;
    switch (given->layout) {
        case layout_tag::strided: {
            if (auto there = check_array(given->strides, given->rank, "fields->strides"); !there) return there;
            set_strides(builder, std::span(given->strides, given->rank));
            break;
        }
        case layout_tag::morton: {
            auto bits = narrowed(given->morton_bits, given->rank, "fields->morton_bits");
            if (!bits) return std::unexpected(bits.error());
            builder.value.set_morton_bits(*bits);
            builder.morton_bits = std::move(*bits);
            break;
        }
        case layout_tag::coo:
            if (auto flag = check_flag(given->is_sorted, "fields->is_sorted"); !flag) return flag;
            builder.value.set_coo({.nnz = given->nnz, .is_sorted = given->is_sorted != 0});
            break;
        case layout_tag::csr:
        case layout_tag::csc:
            builder.value.set_compressed(given->nnz);
            break;
        case layout_tag::csf: {
            auto order = narrowed(given->mode_order, given->rank, "fields->mode_order");
            if (!order) return std::unexpected(order.error());
            builder.value.set_csf(given->nnz, *order);
            builder.mode_order = std::move(*order);
            break;
        }
        case layout_tag::composite:
            builder.value.set_composite(
                {.rule = given->composition_rule, .combine_op = given->combine_op, .member_count = given->member_count});
            break;
        case layout_tag::hilbert:
            builder.value.set_hilbert(given->hilbert_order);
            builder.hilbert_order = given->hilbert_order;
            break;
        case layout_tag::block_paged:
            builder.value.set_block_paged({.page_size = given->page_size,
                                           .num_pages = given->num_pages,
                                           .paged_axis = given->paged_axis,
                                           .num_seqs = given->num_seqs,
                                           .kv_role = given->kv_role,
                                           .layer_index = given->layer_index,
                                           .index_type = given->index_type});
            break;
        default:
            if (is_private_layout(given->layout)) {
                if (auto there = check_array(given->private_data, given->private_length, "fields->private_data"); !there) {
                    return there;
                }
                if (auto fits = check_length(given->private_length, "fields->private_length"); !fits) return fits;
                builder.value.set_private_layout({.id = given->private_id, .data = as_span(given->private_data, given->private_length)});
            }
            break;
    }
    return {};
}

Result<void> add_tile_level(HurrayDescriptorBuilder& builder, const HurrayTileLevel* level) {
    auto given = read_sized_struct(level, sizeof(HurrayTileLevel), "level");
    if (!given) return std::unexpected(given.error());
    if (auto zero = check_reserved(given->reserved, "level"); !zero) return zero;
    if (auto fits = check_rank(given->rank, "level"); !fits) return fits;
    if (builder.layout != layout_tag::tiled) {
        return fail(Status::invalid_argument, Error::no_offset, "level: expected a builder of layout %02X (tiled), it is of %02X",
                    layout_tag::tiled, builder.layout);
    }
    if (builder.tile_levels.size() == max_tile_levels) {
        return fail(Status::invalid_layout, Error::no_offset, "level: expected at most %zu levels", max_tile_levels);
    }
    const std::uint32_t rank = given->rank;
    if (auto there = check_array(given->tile_shape, rank, "level->tile_shape"); !there) return there;
    if (given->outer_layout == layout_tag::strided) {
        if (auto there = check_array(given->outer_strides, rank, "level->outer_strides"); !there) return there;
    }
    if (given->inner_layout == layout_tag::strided) {
        if (auto there = check_array(given->inner_strides, rank, "level->inner_strides"); !there) return there;
    }
    TileLevelCopy copy;
    copy.outer_layout = given->outer_layout;
    copy.inner_layout = given->inner_layout;
    if (rank != 0) {
        copy.tile_shape.assign(given->tile_shape, given->tile_shape + rank);
        // Strides that the orders do not have are passed on, so that the builder can refuse them.
        if (given->outer_strides != nullptr) copy.outer_strides.assign(given->outer_strides, given->outer_strides + rank);
        if (given->inner_strides != nullptr) copy.inner_strides.assign(given->inner_strides, given->inner_strides + rank);
    }
    builder.tile_levels.push_back(std::move(copy));
    try {
        builder.value.set_tiled(levels_of(builder));
    } catch (...) {
        builder.tile_levels.pop_back();
        throw;
    }
    return {};
}

Result<void> set_quantization(HurrayDescriptorBuilder& builder, const HurrayQuantization* quantization) {
    auto given = read_sized_struct(quantization, sizeof(HurrayQuantization), "quantization");
    if (!given) return std::unexpected(given.error());
    if (auto present = check_present(given->present, "quantization"); !present) return present;
    if (given->reserved != 0) return fail(Status::invalid_argument, Error::no_offset, "quantization->reserved: expected 0");
    QuantizationFields fields;
    fields.scheme = given->scheme;
    fields.version = given->version;
    fields.flags = given->flags;
    fields.scale_type = given->scale_type;
    fields.scale = given->scale;
    fields.zero_point = given->zero_point;
    fields.axis = given->axis;
    fields.block_size = given->block_size;
    fields.scale_buffer = given->scale_buffer;
    fields.zero_point_buffer = given->zero_point_buffer;
    fields.padding = given->padding;
    // A known scheme has no private data.
    if (find_scheme(given->scheme) == nullptr) {
        if (auto there = check_array(given->private_data, given->private_length, "quantization->private_data"); !there) return there;
        if (auto fits = check_length(given->private_length, "quantization->private_length"); !fits) return fits;
        fields.private_data = as_span(given->private_data, given->private_length);
    }
    if (auto fits = check_length(given->padding, "quantization->padding"); !fits) return fits;
    builder.value.set_quantization(fields);
    return {};
}

Result<void> set_statistics(HurrayDescriptorBuilder& builder, const HurrayStatistics* statistics) {
    auto given = read_sized_struct(statistics, sizeof(HurrayStatistics), "statistics");
    if (!given) return std::unexpected(given.error());
    if (auto present = check_present(given->present, "statistics"); !present) return present;
    if (auto zero = check_reserved(given->reserved, "statistics"); !zero) return zero;
    if (auto flags = check_flags({{given->has_nan, "statistics->has_nan"}, {given->has_inf, "statistics->has_inf"}}); !flags) {
        return flags;
    }
    StatisticsFields fields;
    fields.computed_mask = given->computed_mask;
    fields.nnz = given->nnz;
    fields.sparsity_ratio = given->sparsity_ratio;
    fields.value_min = given->value_min;
    fields.value_max = given->value_max;
    fields.value_abs_max = given->value_abs_max;
    fields.value_mean = given->value_mean;
    fields.value_stddev = given->value_stddev;
    fields.nm_n = given->nm_n;
    fields.nm_m = given->nm_m;
    fields.has_nan = given->has_nan != 0;
    fields.has_inf = given->has_inf != 0;
    builder.value.set_statistics(fields);
    return {};
}

Result<void> set_extension_type(HurrayDescriptorBuilder& builder, const HurrayExtensionType* type) {
    auto given = read_sized_struct(type, sizeof(HurrayExtensionType), "type");
    if (!given) return std::unexpected(given.error());
    if (auto present = check_present(given->present, "type"); !present) return present;
    if (auto zero = check_reserved(given->reserved, "type"); !zero) return zero;
    if (auto flags = check_flags({{given->is_float, "type->is_float"},
                                  {given->is_signed, "type->is_signed"},
                                  {given->has_nan, "type->has_nan"},
                                  {given->has_inf, "type->has_inf"}});
        !flags) {
        return flags;
    }
    ExtensionTypeFields fields;
    fields.bit_width = given->bit_width;
    fields.packing_factor = given->packing_factor;
    fields.is_float = given->is_float != 0;
    fields.is_signed = given->is_signed != 0;
    fields.sign_bits = given->sign_bits;
    fields.exponent_bits = given->exponent_bits;
    fields.mantissa_bits = given->mantissa_bits;
    fields.exponent_bias = given->exponent_bias;
    fields.has_nan = given->has_nan != 0;
    fields.has_inf = given->has_inf != 0;
    builder.value.set_extension_type(fields);
    return {};
}

Result<void> set_composite_member(HurrayDescriptorBuilder& builder, const HurrayCompositeMember* member) {
    auto given = read_sized_struct(member, sizeof(HurrayCompositeMember), "member");
    if (!given) return std::unexpected(given.error());
    if (auto present = check_present(given->present, "member"); !present) return present;
    if (auto zero = check_reserved(given->reserved, "member"); !zero) return zero;
    builder.value.set_composite_member(static_cast<MemberRole>(given->member_role));
    return {};
}

}  // namespace hurray::abi
