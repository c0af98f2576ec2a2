#include "core/hurray/transcode/copy_table.hpp"

#include <algorithm>
#include <cstring>

#include "core/hurray/values/packing.hpp"

namespace hurray::transcode_detail {
namespace {

using values_detail::get_bits;
using values_detail::put_bits;

// Elements whose places are listed one by one.
constexpr std::uint64_t most_single_places = 8192;

// Joins what lies one after the other in both buffers. The runs are sorted by target.
void join(std::vector<Run>& runs) {
    std::size_t last = 0;
    for (std::size_t i = 1; i < runs.size(); ++i) {
        Run& previous = runs[last];
        const auto length = static_cast<std::int64_t>(previous.count);
        if (runs[i].from == previous.from + length && runs[i].to == previous.to + length) {
            previous.count += runs[i].count;
        } else {
            runs[++last] = runs[i];
        }
    }
    runs.resize(last + 1);
}

bool are_equally_long(const std::vector<Run>& runs) {
    return std::ranges::all_of(runs, [&](const Run& run) { return run.count == runs[0].count; });
}

template <std::int64_t Run::*place>
bool fill_without_gaps(const std::vector<Run>& runs) {
    for (std::size_t i = 1; i < runs.size(); ++i) {
        if (runs[i].*place != runs[i - 1].*place + static_cast<std::int64_t>(runs[i - 1].count)) return false;
    }
    return true;
}

template <std::int64_t Run::*place>
bool are_at_groups(const std::vector<Run>& runs, const Packing& packing) {
    return std::ranges::all_of(
        runs, [&](const Run& run) { return packing.is_first(static_cast<std::uint64_t>(run.*place)); });
}

}  // namespace

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
                put_bits<bits>(to_base, to + k, get_bits<bits>(from_base, from + k));
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
                const unsigned value = get_bits<bits>(from_base, from_start + static_cast<std::uint64_t>(places[i + k]));
                group |= value << (k * bits);
            }
            for (std::size_t k = 0; k < bytes; ++k) to[k] = static_cast<std::byte>(group >> (8 * k));
            to += bytes;
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

CopyTable::CopyTable(std::vector<Run>&& runs, const Packing& packing, bool from_at_groups, bool to_at_groups)
    : packing_(packing) {
    std::ranges::sort(runs, {}, &Run::to);
    join(runs);
    for (const Run& run : runs) element_count_ += run.count;
    const bool even = are_equally_long(runs);
    const bool whole_groups =
        from_at_groups && to_at_groups && are_at_groups<&Run::from>(runs, packing) &&
        are_at_groups<&Run::to>(runs, packing) &&
        std::ranges::all_of(runs, [&](const Run& run) { return packing.is_first(run.count); });
    if (!whole_groups) {
        if (to_at_groups && fill_without_gaps<&Run::to>(runs) && runs[0].to == 0 &&
            packing.is_first(element_count_) && element_count_ <= most_single_places) {
            for (const Run& run : runs) {
                for (std::uint64_t i = 0; i < run.count; ++i) from_.push_back(run.from + static_cast<std::int64_t>(i));
            }
            size_ = from_.size();
            kernel_ = CopyKernels::packed_gather_of(packing.bits);
            return;
        }
        for (const Run& run : runs) {
            from_.push_back(run.from);
            to_.push_back(run.to);
            counts_.push_back(run.count);
        }
        size_ = runs.size();
        kernel_ = CopyKernels::packed_of(packing.bits);
        return;
    }
    size_ = runs.size();
    const bool fills = even && runs[0].to == 0 && fill_without_gaps<&Run::to>(runs);
    bool empties = false;
    if (even && !fills) {
        std::ranges::sort(runs, {}, &Run::from);
        empties = runs[0].from == 0 && fill_without_gaps<&Run::from>(runs);
        if (!empties) std::ranges::sort(runs, {}, &Run::to);
    }
    const auto bytes = [&](std::int64_t place) {
        // Rounds down, for negative places, too.
        return (place >> packing.group_shift) * static_cast<std::int64_t>(packing.group_bytes);
    };
    for (const Run& run : runs) {
        if (!empties) from_.push_back(bytes(run.from));
        if (!fills) to_.push_back(bytes(run.to));
        if (!even) counts_.push_back(packing.byte_of(run.count));
    }
    run_ = packing.byte_of(runs[0].count);
    kernel_ = !even     ? CopyKernels::uneven
              : fills   ? CopyKernels::of_size<CopyKernels::Gather>(run_)
              : empties ? CopyKernels::of_size<CopyKernels::Scatter>(run_)
                        : CopyKernels::of_size<CopyKernels::Both>(run_);
}

}  // namespace hurray::transcode_detail
