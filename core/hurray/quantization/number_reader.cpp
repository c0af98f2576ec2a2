#include "core/hurray/quantization/number_reader.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/hurray/quantization/packed_run.hpp"
#include "core/hurray/values/convert.hpp"

namespace hurray::quantization_detail {
namespace {

// Becomes a finite float32: below the middle between the largest one and 2^128.
constexpr double beyond_float32 = 0x1.ffffffp127;

bool is_usable(double number) noexcept {
    return std::fabs(number) < beyond_float32;
}

}  // namespace

NumberReader::NumberReader(AddressMap&& map, const NumberFormat& format, std::span<const std::byte> data)
    : map_(std::move(map)),
      format_(format),
      data_(data),
      contiguous_(map_.layout() == layout_tag::row_major),
      scratch_(piece * (format.bits / 8)) {}

Result<NumberReader> NumberReader::make(const Tensor& tensor) {
    auto map = AddressMap::make(tensor.descriptor);
    if (!map) return std::unexpected(map.error());
    const auto format = number_format(tensor.descriptor.element_type());
    if (!format) return std::unexpected(format.error());
    return NumberReader(std::move(*map), *format, tensor.buffers[0].bytes());
}

Result<void> NumberReader::read(std::uint64_t first, std::span<double> out) {
    const std::uint64_t width = format_.bits / 8;
    if (contiguous_) {
        const auto bytes = data_.subspan(map_.byte_offset() + first * width, out.size() * width);
        if (auto read = to_float64(format_, bytes, 0, out); !read) return read;
    } else {
        // Row by row of the last dimension.
        const auto shape = map_.shape();
        std::array<std::uint64_t, max_rank> index{};
        for (std::size_t done = 0; done < out.size();) {
            std::uint64_t rest = first + done;
            for (std::size_t k = shape.size(); k-- > 0;) {
                index[k] = rest % shape[k];
                rest /= shape[k];
            }
            const std::size_t last = shape.size() - 1;
            const std::uint64_t start = index[last];
            const auto now = static_cast<std::size_t>(std::min<std::uint64_t>(out.size() - done, shape[last] - start));
            map_.visit([&](const auto& address) {
                pack_elements(data_.data(), format_.bits, now, scratch_.data(), [&](std::size_t i) {
                    index[last] = start + i;
                    return map_.bit_of(address(index.data()));
                });
            });
            if (auto read = to_float64(format_, scratch_, 0, out.subspan(done, now)); !read) return read;
            done += now;
        }
    }
    const auto bad = std::find_if_not(out.begin(), out.end(), is_usable);
    if (bad == out.end()) return {};
    const std::uint64_t index = first + static_cast<std::uint64_t>(bad - out.begin());
    return fail(Status::invalid_argument, Error::no_offset,
                "element %llu: expected a finite number of float32, got %.9g", static_cast<unsigned long long>(index),
                *bad);
}

}  // namespace hurray::quantization_detail
