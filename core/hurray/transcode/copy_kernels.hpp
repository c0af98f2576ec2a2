// How the runs of a table are copied: one function for each form of table, size of a run and packing of elements.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "core/hurray/transcode/copy_table.hpp"
#include "core/hurray/values/packing.hpp"

namespace hurray::transcode_detail {

struct CopyKernels {
    using Kernel = CopyTable::Kernel;

    static const std::byte* begin(const CopyTable& table, const std::byte* base, std::uint64_t start) noexcept {
        return base + table.packing_.byte_of(start);
    }
    static std::byte* begin(const CopyTable& table, std::byte* base, std::uint64_t start) noexcept {
        return base + table.packing_.byte_of(start);
    }

    // Bytes of a run that are known, or 0.
    template <std::size_t Size>
    static void copy_run(std::byte* to, const std::byte* from, std::size_t size) noexcept {
        std::memcpy(to, from, Size != 0 ? Size : size);
    }

    // To one place after the other.
    template <std::size_t Size>
    static void gather(const CopyTable& table, const std::byte* from_base, std::uint64_t from_start, std::byte* to_base,
                       std::uint64_t to_start) noexcept {
        const std::byte* from = begin(table, from_base, from_start);
        std::byte* to = begin(table, to_base, to_start);
        const std::int64_t* places = table.from_.data();
        const std::size_t size = Size != 0 ? Size : table.run_;
#pragma GCC unroll 4
        for (std::size_t i = 0; i < table.size_; ++i) copy_run<Size>(to + i * size, from + places[i], size);
    }

    // From one place after the other.
    template <std::size_t Size>
    static void scatter(const CopyTable& table, const std::byte* from_base, std::uint64_t from_start,
                        std::byte* to_base, std::uint64_t to_start) noexcept {
        const std::byte* from = begin(table, from_base, from_start);
        std::byte* to = begin(table, to_base, to_start);
        const std::int64_t* places = table.to_.data();
        const std::size_t size = Size != 0 ? Size : table.run_;
#pragma GCC unroll 4
        for (std::size_t i = 0; i < table.size_; ++i) copy_run<Size>(to + places[i], from + i * size, size);
    }

    template <std::size_t Size>
    static void both(const CopyTable& table, const std::byte* from_base, std::uint64_t from_start, std::byte* to_base,
                     std::uint64_t to_start) noexcept {
        const std::byte* from = begin(table, from_base, from_start);
        std::byte* to = begin(table, to_base, to_start);
        const std::int64_t* sources = table.from_.data();
        const std::int64_t* targets = table.to_.data();
        const std::size_t size = Size != 0 ? Size : table.run_;
#pragma GCC unroll 4
        for (std::size_t i = 0; i < table.size_; ++i) copy_run<Size>(to + targets[i], from + sources[i], size);
    }

    static void uneven(const CopyTable& table, const std::byte* from_base, std::uint64_t from_start, std::byte* to_base,
                       std::uint64_t to_start) noexcept {
        const std::byte* from = begin(table, from_base, from_start);
        std::byte* to = begin(table, to_base, to_start);
        for (std::size_t i = 0; i < table.size_; ++i) {
            std::memcpy(to + table.to_[i], from + table.from_[i], table.counts_[i]);
        }
    }

    // Elements that share bytes, one by one.
    template <unsigned bits>
    static void packed(const CopyTable& table, const std::byte* from_base, std::uint64_t from_start, std::byte* to_base,
                       std::uint64_t to_start) noexcept {
        for (std::size_t i = 0; i < table.size_; ++i) {
            const std::uint64_t from = from_start + static_cast<std::uint64_t>(table.from_[i]);
            const std::uint64_t to = to_start + static_cast<std::uint64_t>(table.to_[i]);
            const std::uint64_t count = table.counts_[i];
            for (std::uint64_t k = 0; k < count; ++k) {
                values_detail::put_bits<bits>(to_base, to + k, values_detail::get_bits<bits>(from_base, from + k));
            }
        }
    }

    // As above, to whole groups without gaps: a place of the source for each element.
    template <unsigned bits>
    static void packed_gather(const CopyTable& table, const std::byte* from_base, std::uint64_t from_start,
                              std::byte* to_base, std::uint64_t to_start) noexcept {
        constexpr std::size_t in_group = bits == 6 ? 4 : 8 / bits;
        constexpr std::size_t bytes = bits == 6 ? 3 : 1;
        std::byte* to = begin(table, to_base, to_start);
        const std::int64_t* places = table.from_.data();
        for (std::size_t i = 0; i < table.size_; i += in_group) {
            unsigned group = 0;
            for (std::size_t k = 0; k < in_group; ++k) {
                const unsigned value = values_detail::get_bits<bits>(from_base, from_start + static_cast<std::uint64_t>(places[i + k]));
                group |= value << (k * bits);
            }
            for (std::size_t k = 0; k < bytes; ++k) to[k] = static_cast<std::byte>(group >> (8 * k));
            to += bytes;
        }
    }

    // Squares of elements whose rows are runs in the source, and whose columns are runs in the target: turned around in
    // the processor's registers.
    template <typename Element, int side>
    struct Square {
        typedef Element Row __attribute__((vector_size(sizeof(Element) * side)));
        Row rows[side];

        // Each round puts the elements of two rows in turns; after as many rounds as the side has bits, all are where
        // they shall be.
        template <int... lane>
        void turn(std::integer_sequence<int, lane...>) noexcept {
            for (int round = 1; round < side; round *= 2) {
                Square mixed;
                for (int k = 0; k < side / 2; ++k) {
                    const Row a = rows[k];
                    const Row b = rows[k + side / 2];
                    mixed.rows[2 * k] = __builtin_shufflevector(a, b, (lane / 2 + lane % 2 * side)...);
                    mixed.rows[2 * k + 1] = __builtin_shufflevector(a, b, (side / 2 + lane / 2 + lane % 2 * side)...);
                }
                *this = mixed;
            }
        }
    };

    template <typename Element, int side>
    static void squares(const CopyTable& table, const std::byte* from_base, std::uint64_t from_start,
                        std::byte* to_base, std::uint64_t to_start) noexcept {
        constexpr std::size_t row_bytes = sizeof(Element) * side;
        const std::byte* from = begin(table, from_base, from_start);
        std::byte* to = begin(table, to_base, to_start);
        std::int64_t row_places[side];
        std::int64_t column_places[side];
        std::copy_n(table.rows_.begin(), side, row_places);
        std::copy_n(table.columns_.begin(), side, column_places);
        const std::int64_t* sources = table.from_.data();
        const std::int64_t* targets = table.to_.data();
        for (std::size_t i = 0; i < table.size_; ++i) {
            Square<Element, side> square;
            for (int k = 0; k < side; ++k) std::memcpy(&square.rows[k], from + sources[i] + row_places[k], row_bytes);
            square.turn(std::make_integer_sequence<int, side>());
            for (int k = 0; k < side; ++k) std::memcpy(to + targets[i] + column_places[k], &square.rows[k], row_bytes);
        }
    }

    static Kernel squares_of(std::uint64_t bytes, std::size_t side) noexcept {
        switch (bytes * 16 + side) {
            case 16 + 2:
                return squares<std::uint8_t, 2>;
            case 16 + 4:
                return squares<std::uint8_t, 4>;
            case 16 + 8:
                return squares<std::uint8_t, 8>;
            case 2 * 16 + 2:
                return squares<std::uint16_t, 2>;
            case 2 * 16 + 4:
                return squares<std::uint16_t, 4>;
            case 2 * 16 + 8:
                return squares<std::uint16_t, 8>;
            case 4 * 16 + 2:
                return squares<std::uint32_t, 2>;
            case 4 * 16 + 4:
                return squares<std::uint32_t, 4>;
            case 8 * 16 + 2:
                return squares<std::uint64_t, 2>;
            default:
                return nullptr;
        }
    }

    template <template <std::size_t> typename Of>
    static Kernel of_size(std::uint64_t size) noexcept {
        switch (size) {
            case 1:
                return Of<1>::kernel;
            case 2:
                return Of<2>::kernel;
            case 4:
                return Of<4>::kernel;
            case 8:
                return Of<8>::kernel;
            case 16:
                return Of<16>::kernel;
            case 32:
                return Of<32>::kernel;
            case 64:
                return Of<64>::kernel;
            case 128:
                return Of<128>::kernel;
            default:
                return Of<0>::kernel;
        }
    }
    template <std::size_t Size>
    struct Gather {
        static constexpr Kernel kernel = gather<Size>;
    };
    template <std::size_t Size>
    struct Scatter {
        static constexpr Kernel kernel = scatter<Size>;
    };
    template <std::size_t Size>
    struct Both {
        static constexpr Kernel kernel = both<Size>;
    };

    static Kernel packed_of(std::uint64_t bits) noexcept {
        return bits == 1 ? packed<1> : bits == 2 ? packed<2> : bits == 4 ? packed<4> : packed<6>;
    }
    static Kernel packed_gather_of(std::uint64_t bits) noexcept {
        return bits == 1   ? packed_gather<1>
               : bits == 2 ? packed_gather<2>
               : bits == 4 ? packed_gather<4>
                           : packed_gather<6>;
    }
};

}  // namespace hurray::transcode_detail
