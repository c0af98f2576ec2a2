#include "core/hurray/statistics/number_stream.hpp"

#include <cmath>
#include <cstring>
#include <limits>

namespace hurray::statistics_detail {
namespace {

double stand_in(const std::complex<double>& pair) noexcept {
    if (std::isnan(pair.real()) || std::isnan(pair.imag())) return std::numeric_limits<double>::quiet_NaN();
    if (std::isinf(pair.real()) || std::isinf(pair.imag())) return std::numeric_limits<double>::infinity();
    return pair.real() != 0 || pair.imag() != 0 ? 1 : 0;
}

}  // namespace

Result<void> NumberReader::read(std::span<const std::byte> data, std::uint64_t first, std::span<double> out) {
    if (format_.kind != ElementKind::complex) return to_float64(format_, data, first, out);
    const std::span pairs(pairs_.data(), out.size());
    if (auto read = to_complex128(format_, data, first, pairs); !read) return read;
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = stand_in(pairs[i]);
    return {};
}

ElementGatherer::ElementGatherer(const AddressMap& map, const std::byte* buffer)
    // A byte more, over which the last element of less than a byte may reach.
    : map_(map), buffer_(buffer), bits_(map.element_bits()), bytes_(block_elements * map.element_bits() / 8 + 1) {}

void ElementGatherer::append(std::int64_t offset) noexcept {
    const std::uint64_t bit = map_.bit_of(offset);
    const std::byte* from = buffer_ + bit / 8;
    const std::uint64_t to_bit = count_ * bits_;
    std::byte* to = bytes_.data() + to_bit / 8;
    ++count_;
    switch (bits_) {
        case 8:
            *to = *from;
            return;
        case 16:
            std::memcpy(to, from, 2);
            return;
        case 32:
            std::memcpy(to, from, 4);
            return;
        case 64:
            std::memcpy(to, from, 8);
            return;
        default:
            break;
    }
    if (bits_ > 8) {
        std::memcpy(to, from, bits_ / 8);
        return;
    }
    unsigned value = static_cast<unsigned>(*from) >> bit % 8;
    if (bit % 8 + bits_ > 8) value |= static_cast<unsigned>(from[1]) << (8 - bit % 8);
    value &= (1U << bits_) - 1;
    value <<= to_bit % 8;
    // The bytes are zero from here on.
    to[0] |= static_cast<std::byte>(value);
    if (to_bit % 8 + bits_ > 8) to[1] |= static_cast<std::byte>(value >> 8);
}

void ElementGatherer::clear() noexcept {
    if (bits_ < 8) std::fill(bytes_.begin(), bytes_.end(), std::byte{0});
    count_ = 0;
}

}  // namespace hurray::statistics_detail
