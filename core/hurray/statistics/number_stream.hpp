// The elements of a tensor as numbers of float64, in blocks.
#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/hurray/base/error.hpp"
#include "core/hurray/layout/address.hpp"
#include "core/hurray/values/convert.hpp"
#include "core/hurray/values/number_format.hpp"

namespace hurray::statistics_detail {

/// Elements of a block. A multiple of the largest group of GroupCounts; the numbers stay in the processor's nearest
/// cache.
inline constexpr std::uint64_t block_elements = 2048;

/// Converts runs of packed elements. Of complex numbers it makes real ones that are 0, NaN and infinite where these
/// are, and 1 otherwise.
class NumberReader {
  public:
    explicit NumberReader(const NumberFormat& format) : format_(format) {
        if (format.kind == ElementKind::complex) pairs_.resize(block_elements);
    }

    /// @param out at most block_elements
    /// @errors as to_float64
    Result<void> read(std::span<const std::byte> data, std::uint64_t first, std::span<double> out);

  private:
    NumberFormat format_;
    std::vector<std::complex<double>> pairs_;
};

/// Hands out a packed run of elements block by block: `use(numbers)` returns a Result<void>.
/// @errors as to_float64, and those of `use`
template <typename Use>
Result<void> for_each_block(NumberReader& reader, std::span<const std::byte> data, std::uint64_t first,
                            std::uint64_t count, Use&& use) {
    std::array<double, block_elements> numbers;
    for (std::uint64_t done = 0; done < count;) {
        const std::span some(numbers.data(), std::min(count - done, block_elements));
        if (auto read = reader.read(data, first + done, some); !read) return read;
        if (auto used = use(std::span<const double>(some)); !used) return used;
        done += some.size();
    }
    return {};
}

/// Gathers elements of a dense tensor, wherever they lie, into a packed run.
class ElementGatherer {
  public:
    /// @param buffer the tensor's buffer 0
    ElementGatherer(const AddressMap& map, const std::byte* buffer);

    /// Appends the element at an offset. At most block_elements until clear().
    void append(std::int64_t offset) noexcept;
    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
    [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }
    void clear() noexcept;

  private:
    const AddressMap& map_;
    const std::byte* buffer_;
    std::uint64_t bits_;
    std::uint64_t count_ = 0;
    std::vector<std::byte> bytes_;
};

/// Calls `use(offset)` for every element of a dense tensor in row-major order of the indices; stops when it returns
/// false. The places of the last dimension are looked up in a table where the layout allows it.
template <typename Use>
void for_each_offset_in_row_major(const AddressMap& map, Use&& use) {
    const auto shape = map.shape();
    const std::size_t rank = shape.size();
    if (map.element_count() == 0) return;
    if (rank == 0) {
        use(map.offset(nullptr));
        return;
    }
    // Long rows piece by piece, so that the table stays small.
    constexpr std::uint64_t most = 1 << 14;
    const std::uint64_t row = shape[rank - 1];
    std::vector<std::int64_t> along(map.is_separable() ? std::min(row, most) : 0);
    std::uint64_t tabled = ~std::uint64_t{0};
    std::array<std::uint64_t, max_rank> index{};
    while (true) {
        for (std::uint64_t start = 0; start < row; start += most) {
            const std::uint64_t count = std::min(row - start, most);
            if (map.is_separable()) {
                if (tabled != start) {
                    for (std::uint64_t i = 0; i < count; ++i) along[i] = map.offset_along(rank - 1, start + i);
                    tabled = start;
                }
                index[rank - 1] = 0;
                const std::int64_t base = map.offset(index.data());
                for (std::uint64_t i = 0; i < count; ++i) {
                    if (!use(base + along[i])) return;
                }
            } else {
                for (std::uint64_t i = 0; i < count; ++i) {
                    index[rank - 1] = start + i;
                    if (!use(map.offset(index.data()))) return;
                }
            }
        }
        std::size_t k = rank - 1;
        index[k] = 0;
        while (k > 0 && ++index[k - 1] == shape[k - 1]) index[--k] = 0;
        if (k == 0) return;
    }
}

}  // namespace hurray::statistics_detail
