#include "element_digest.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

namespace driver {
namespace {

constexpr std::array<std::uint32_t, 256> crc_table = [] {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < 256; ++i) {
        std::uint32_t value = i;
        for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? 0xEDB88320U : 0U);
        table[i] = value;
    }
    return table;
}();

class Crc32 {
public:
    void add(const std::uint8_t* bytes, std::uint64_t count) {
        for (std::uint64_t i = 0; i < count; ++i) state_ = (state_ >> 8) ^ crc_table[(state_ ^ bytes[i]) & 0xFF];
    }
    [[nodiscard]] std::uint32_t value() const { return ~state_; }

private:
    std::uint32_t state_ = 0xFFFFFFFF;
};

double half_to_double(std::uint16_t bits) {
    const int exponent = (bits >> 10) & 0x1F;
    const int mantissa = bits & 0x3FF;
    const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
    if (exponent == 0x1F) return mantissa != 0 ? std::nan("") : sign * HUGE_VAL;
    if (exponent == 0) return sign * std::ldexp(mantissa, -24);
    return sign * std::ldexp(mantissa + 1024, exponent - 25);
}

template <typename T>
T load(const std::uint8_t* bytes) {
    T value;
    std::memcpy(&value, bytes, sizeof value);
    return value;
}

std::optional<double> value_of(std::uint8_t type, const std::uint8_t* bytes) {
    switch (type) {
        case HURRAY_TYPE_FLOAT16: return half_to_double(load<std::uint16_t>(bytes));
        case HURRAY_TYPE_BFLOAT16:
            return std::bit_cast<float>(static_cast<std::uint32_t>(load<std::uint16_t>(bytes)) << 16);
        case HURRAY_TYPE_FLOAT32: return load<float>(bytes);
        case HURRAY_TYPE_FLOAT64: return load<double>(bytes);
        case HURRAY_TYPE_INT8: return load<std::int8_t>(bytes);
        case HURRAY_TYPE_UINT8: return load<std::uint8_t>(bytes);
        case HURRAY_TYPE_INT16: return load<std::int16_t>(bytes);
        case HURRAY_TYPE_UINT16: return load<std::uint16_t>(bytes);
        case HURRAY_TYPE_INT32: return load<std::int32_t>(bytes);
        case HURRAY_TYPE_UINT32: return load<std::uint32_t>(bytes);
        case HURRAY_TYPE_INT64: return static_cast<double>(load<std::int64_t>(bytes));
        case HURRAY_TYPE_UINT64: return static_cast<double>(load<std::uint64_t>(bytes));
        default: return std::nullopt;
    }
}

// Calls `visit(offset in elements from element (0, ..., 0))` for every element in row-major order.
template <typename Visit>
void for_each_element(const HurrayView& view, Visit&& visit) {
    std::vector<std::int64_t> index(view.rank, 0);
    std::int64_t offset = 0;
    for (std::uint64_t n = 0; n < view.element_count; ++n) {
        visit(offset);
        for (int d = view.rank - 1; d >= 0; --d) {
            offset += view.strides[d];
            if (++index[d] < view.shape[d]) break;
            offset -= view.strides[d] * view.shape[d];
            index[d] = 0;
        }
    }
}

}  // namespace

ElementDigest digest_of(const HurrayView& view) {
    ElementDigest result;
    Crc32 crc;
    const auto* data = static_cast<const std::uint8_t*>(view.data);
    double sum = 0.0;
    const std::array<std::uint8_t, 16> zero{};
    const bool has_sum = view.element_type == HURRAY_TYPE_BOOL || value_of(view.element_type, zero.data()).has_value();

    if (view.bits % 8 == 0) {
        const std::uint64_t width = view.bits / 8;
        result.bytes = view.element_count * width;
        if ((view.flags & HURRAY_VIEW_CONTIGUOUS) != 0) {
            crc.add(data, result.bytes);
            for (std::uint64_t i = 0; has_sum && i < view.element_count; ++i) {
                sum += *value_of(view.element_type, data + i * width);
            }
        } else {
            for_each_element(view, [&](std::int64_t offset) {
                const std::uint8_t* element = data + offset * static_cast<std::int64_t>(width);
                crc.add(element, width);
                if (has_sum) sum += *value_of(view.element_type, element);
            });
        }
    } else {
        // Packed elements: read bit by bit, packed again in row-major order.
        std::vector<std::uint8_t> packed((view.element_count * view.bits + 7) / 8, 0);
        if (view.bits == 6) packed.resize((view.element_count + 3) / 4 * 3, 0);
        std::uint64_t position = 0;
        const auto take = [&](std::int64_t offset) {
            for (std::uint32_t b = 0; b < view.bits; ++b, ++position) {
                const std::int64_t from = offset * view.bits + b;
                const int bit = (data[from >> 3] >> (from & 7)) & 1;
                packed[position >> 3] = static_cast<std::uint8_t>(packed[position >> 3] | (bit << (position & 7)));
                if (has_sum) sum += bit;
            }
        };
        if ((view.flags & HURRAY_VIEW_CONTIGUOUS) != 0) {
            for (std::uint64_t i = 0; i < view.element_count; ++i) take(static_cast<std::int64_t>(i));
        } else {
            for_each_element(view, take);
        }
        result.bytes = packed.size();
        crc.add(packed.data(), packed.size());
    }
    result.crc32 = crc.value();
    if (has_sum) result.sum = sum;
    return result;
}

}  // namespace driver
