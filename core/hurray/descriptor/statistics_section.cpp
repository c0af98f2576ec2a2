#include "core/hurray/descriptor/statistics_section.hpp"

#include <algorithm>
#include <bit>

#include "core/hurray/layout/sparse_fields.hpp"

namespace hurray {
namespace {

using ull = unsigned long long;

// Places of the fields in the section.
constexpr std::uint32_t computed_mask_at = 0;
constexpr std::uint32_t reserved_at = 4;
constexpr std::uint32_t nnz_at = 8;
constexpr std::uint32_t sparsity_ratio_at = 16;
constexpr std::uint32_t value_stddev_at = 56;
constexpr std::uint32_t nm_n_at = 64;
constexpr std::uint32_t nm_m_at = 65;
constexpr std::uint32_t has_nan_at = 66;
constexpr std::uint32_t has_inf_at = 67;
constexpr std::uint32_t reserved2_at = 68;
constexpr std::size_t section_words = statistics_size / 8;

std::uint32_t encoded_size(std::uint32_t, std::span<const std::uint64_t>) {
    return statistics_size;
}

// A section that may end early, read field by field.
class Fields {
  public:
    explicit Fields(const WireReader& in) : in_(in) {}

    [[nodiscard]] std::uint64_t offset(std::uint32_t at) const { return std::uint64_t{in_.offset()} + at; }
    [[nodiscard]] bool has(std::uint32_t at, std::uint32_t size) const { return in_.has(at + size); }
    [[nodiscard]] std::uint8_t u8(std::uint32_t at) const { return static_cast<std::uint8_t>(in_.here()[at]); }
    [[nodiscard]] std::uint32_t u32(std::uint32_t at) const { return load_le<std::uint32_t>(in_.here() + at); }
    [[nodiscard]] std::uint64_t u64(std::uint32_t at) const { return load_le<std::uint64_t>(in_.here() + at); }
    [[nodiscard]] double f64(std::uint32_t at) const { return std::bit_cast<double>(u64(at)); }

  private:
    const WireReader& in_;
};

Result<void> check_nnz(const Fields& fields, const Descriptor& descriptor) {
    const std::uint64_t nnz = fields.u64(nnz_at);
    if (!is_sparse_layout(descriptor.layout()) || nnz == stored_element_count(descriptor)) return {};
    return fail(Status::invalid_layout, fields.offset(nnz_at), "nnz: expected the layout's nnz = %llu, got %llu",
                static_cast<ull>(stored_element_count(descriptor)), static_cast<ull>(nnz));
}

Result<void> check_number(const Fields& fields, std::uint32_t mask, std::uint32_t at, const Descriptor& descriptor) {
    if (at == nnz_at && (mask & statistics_bit::nnz) != 0) return check_nnz(fields, descriptor);
    if (at == sparsity_ratio_at && (mask & statistics_bit::sparsity) != 0) {
        const double ratio = fields.f64(at);
        if (ratio >= 0 && ratio <= 1) return {};
        return fail(Status::invalid_layout, fields.offset(at), "sparsity_ratio: expected 0 to 1, got %g", ratio);
    }
    if (at == value_stddev_at && (mask & statistics_bit::moments) != 0) {
        const double stddev = fields.f64(at);
        if (stddev >= 0) return {};
        return fail(Status::invalid_layout, fields.offset(at), "value_stddev: expected at least 0, got %g", stddev);
    }
    return {};
}

Result<void> check_byte(const Fields& fields, std::uint32_t mask, std::uint32_t at) {
    const unsigned value = fields.u8(at);
    if (at == nm_m_at && (mask & statistics_bit::nm_sparsity) != 0 && fields.u8(nm_n_at) > value) {
        return fail(Status::invalid_layout, fields.offset(at), "nm_m: expected at least nm_n = %u, got %u",
                    fields.u8(nm_n_at), value);
    }
    if ((at == has_nan_at || at == has_inf_at) && (mask & statistics_bit::nan_inf) != 0 && value > 1) {
        return fail(Status::invalid_layout, fields.offset(at), "%s: expected 0 or 1, got %u",
                    at == has_nan_at ? "has_nan" : "has_inf", value);
    }
    if (at >= reserved2_at && value != 0) {
        return fail(Status::invalid_layout, fields.offset(at), "statistics reserved: expected 0, got %02X", value);
    }
    return {};
}

// Walks the fields as far as they are there; that the section ends early is the last fault.
Result<void> check_section(const WireReader& in, const Descriptor& descriptor) {
    constexpr const char* numbers[] = {"nnz",           "sparsity_ratio", "value_min",   "value_max",
                                       "value_abs_max", "value_mean",     "value_stddev"};
    constexpr const char* bytes[] = {"nm_n", "nm_m", "has_nan", "has_inf"};
    const Fields fields(in);
    const auto truncated = [&](const char* field, std::uint32_t at, std::uint32_t size) {
        return truncated_field(field, fields.offset(at), size, in.remaining() - at);
    };
    if (!fields.has(computed_mask_at, 4)) return truncated("computed_mask", computed_mask_at, 4);
    const std::uint32_t mask = fields.u32(computed_mask_at);
    if ((mask & ~statistics_bit::all) != 0) {
        return fail(Status::invalid_layout, fields.offset(computed_mask_at),
                    "computed_mask: expected bits 6 to 31 to be 0, got %08X", mask);
    }
    if (!fields.has(reserved_at, 4)) return truncated("statistics reserved", reserved_at, 4);
    if (fields.u32(reserved_at) != 0) {
        return fail(Status::invalid_layout, fields.offset(reserved_at), "statistics reserved: expected 0, got %08X",
                    fields.u32(reserved_at));
    }
    for (std::uint32_t at = nnz_at; at < nm_n_at; at += 8) {
        if (!fields.has(at, 8)) return truncated(numbers[at / 8 - 1], at, 8);
        if (auto checked = check_number(fields, mask, at, descriptor); !checked) return checked;
    }
    for (std::uint32_t at = nm_n_at; at < statistics_size; ++at) {
        if (!fields.has(at, 1))
            return truncated(at < reserved2_at ? bytes[at - nm_n_at] : "statistics reserved", at, 1);
        if (auto checked = check_byte(fields, mask, at); !checked) return checked;
    }
    return {};
}

Result<void> decode_section(WireReader& in, DescriptorAssembler& out) {
    if (auto checked = check_section(in, out.descriptor()); !checked) [[unlikely]]
        return checked;
    out.add_wire_words(in.here(), section_words);
    in.skip(statistics_size);
    return {};
}

void encode_section(std::uint32_t, std::span<const std::uint64_t> words, WireWriter& out) {
    out.u64s(words);
}

std::uint8_t byte_of(std::uint64_t word, int index) {
    return static_cast<std::uint8_t>(word >> (8 * index));
}

}  // namespace

std::optional<StatisticsFields> statistics_fields(const Descriptor& descriptor) noexcept {
    const auto words = descriptor.section_words(descriptor_flag::statistics);
    if (words.empty()) return std::nullopt;
    return StatisticsFields{.computed_mask = static_cast<std::uint32_t>(words[0]),
                            .nnz = words[1],
                            .sparsity_ratio = std::bit_cast<double>(words[2]),
                            .value_min = std::bit_cast<double>(words[3]),
                            .value_max = std::bit_cast<double>(words[4]),
                            .value_abs_max = std::bit_cast<double>(words[5]),
                            .value_mean = std::bit_cast<double>(words[6]),
                            .value_stddev = std::bit_cast<double>(words[7]),
                            .nm_n = byte_of(words[8], 0),
                            .nm_m = byte_of(words[8], 1),
                            .has_nan = byte_of(words[8], 2) != 0,
                            .has_inf = byte_of(words[8], 3) != 0};
}

std::array<std::uint64_t, section_words> statistics_words(const StatisticsFields& fields) noexcept {
    const std::uint64_t bytes = std::uint64_t{fields.nm_n} | std::uint64_t{fields.nm_m} << 8 |
                                std::uint64_t{fields.has_nan} << 16 | std::uint64_t{fields.has_inf} << 24;
    return {fields.computed_mask,
            fields.nnz,
            std::bit_cast<std::uint64_t>(fields.sparsity_ratio),
            std::bit_cast<std::uint64_t>(fields.value_min),
            std::bit_cast<std::uint64_t>(fields.value_max),
            std::bit_cast<std::uint64_t>(fields.value_abs_max),
            std::bit_cast<std::uint64_t>(fields.value_mean),
            std::bit_cast<std::uint64_t>(fields.value_stddev),
            bytes};
}

const SectionCodec statistics_codec = {encoded_size, decode_section, encode_section};

}  // namespace hurray
