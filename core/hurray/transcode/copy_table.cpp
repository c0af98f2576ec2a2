#include "core/hurray/transcode/copy_table.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "core/hurray/transcode/element_kind.hpp"
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

namespace {

std::uint64_t magnitude(std::int64_t stride) noexcept {
    return stride < 0 ? 0 - static_cast<std::uint64_t>(stride) : static_cast<std::uint64_t>(stride);
}

// Runs at all combinations of steps, the first ones the fastest.
std::vector<Run> combine_in_order(const std::vector<Steps>& steps, std::uint64_t run) {
    std::uint64_t count = 1;
    for (const Steps& each : steps) count *= each.count;
    std::vector<Run> runs;
    runs.reserve(count);
    runs.push_back({0, 0, run});
    for (const Steps& each : steps) {
        const std::size_t inner = runs.size();
        for (std::uint64_t i = 1; i < each.count; ++i) {
            const auto times = static_cast<std::int64_t>(i);
            for (std::size_t k = 0; k < inner; ++k) {
                runs.push_back({runs[k].from + times * each.from, runs[k].to + times * each.to, run});
            }
        }
    }
    return runs;
}

// Those that take the smallest steps in the target are the fastest, so that, without steps backwards, all runs come out in
// its order.
std::vector<Run> combine(std::vector<Steps>& steps, std::uint64_t run) {
    std::ranges::sort(steps, {}, [](const Steps& each) { return magnitude(each.to); });
    return combine_in_order(steps, run);
}

// Makes the fastest ones two runs that are neighbours in the target, and two that are in the source: then lines of the
// cache, in which there is more than one run, are read and written at once. False when there are none.
bool pair_first(std::vector<Steps>& steps, std::uint64_t run) {
    const auto distance = static_cast<std::int64_t>(run);
    for (std::int64_t Steps::*place : {&Steps::from, &Steps::to}) {
        const auto found = std::ranges::find_if(
            steps, [&](const Steps& each) { return each.*place == distance && each.count % 2 == 0; });
        if (found == steps.end()) return false;
        const Steps pair{found->from, found->to, 2};
        *found = {2 * pair.from, 2 * pair.to, found->count / 2};
        steps.insert(steps.begin(), pair);
    }
    return true;
}

}  // namespace

// Looks for squares in a block.
class SquareFinder {
  public:
    SquareFinder(const std::vector<Steps>& steps, const Packing& packing) : packing_(packing) {
        // Each factor 2 of a number of steps for itself.
        for (Steps each : steps) {
            for (; each.count % 2 == 0; each.count /= 2) {
                halves_.push_back({each.from, each.to, 2});
                each.from *= 2;
                each.to *= 2;
            }
            if (each.count != 1) others_.push_back(each);
        }
    }

    [[nodiscard]] std::optional<CopyTable> find() {
        if (packing_.group_shift != 0) return std::nullopt;
        for (std::size_t side = CopyTable::largest_square; side > 1; side /= 2) {
            if (CopyKernels::squares_of(packing_.group_bytes, side) == nullptr) continue;
            if (auto table = find_of(side)) return table;
        }
        return std::nullopt;
    }

  private:
    std::optional<CopyTable> find_of(std::size_t side) {
        std::vector<Steps> rest = halves_;
        const auto take = [&](std::int64_t Steps::*place, std::int64_t distance) -> std::optional<Steps> {
            const auto found = std::ranges::find(rest, distance, place);
            if (found == rest.end()) return std::nullopt;
            const Steps steps = *found;
            rest.erase(found);
            return steps;
        };
        CopyTable table;
        const auto bytes = static_cast<std::int64_t>(packing_.group_bytes);
        for (std::size_t distance = 1; distance < side; distance *= 2) {
            const auto along_row = take(&Steps::from, static_cast<std::int64_t>(distance));
            if (!along_row) return std::nullopt;
            const auto along_column = take(&Steps::to, static_cast<std::int64_t>(distance));
            if (!along_column) return std::nullopt;
            for (std::size_t k = 0; k < side; ++k) {
                if ((k & distance) == 0) continue;
                table.rows_[k] += along_column->from * bytes;
                table.columns_[k] += along_row->to * bytes;
            }
        }
        table.element_count_ = side * side;
        rest.insert(rest.end(), others_.begin(), others_.end());
        for (const Run& run : combine(rest, 1)) {
            table.from_.push_back(run.from * bytes);
            table.to_.push_back(run.to * bytes);
        }
        table.size_ = table.from_.size();
        table.element_count_ *= table.size_;
        table.packing_ = packing_;
        table.kernel_ = CopyKernels::squares_of(packing_.group_bytes, side);
        return table;
    }

    Packing packing_;
    std::vector<Steps> halves_;
    std::vector<Steps> others_;
};

void copy_run(const std::byte* from_base, std::uint64_t from_start, std::byte* to_base, std::uint64_t to_start,
              std::uint64_t count, const Packing& packing) noexcept {
    // Whole groups, then what is left of the last one.
    std::uint64_t done = 0;
    if (packing.is_first(from_start) && packing.is_first(to_start)) {
        const std::uint64_t groups = count >> packing.group_shift;
        if (groups != 0) {
            std::memcpy(to_base + packing.byte_of(to_start), from_base + packing.byte_of(from_start),
                        groups * packing.group_bytes);
        }
        done = groups << packing.group_shift;
    }
    with_kind(packing, [&](const auto& kind) {
        for (; done < count; ++done) kind.copy(from_base, from_start + done, to_base, to_start + done);
    });
}

CopyTable make_copy_table(std::vector<Steps>&& steps, std::uint64_t run, const Packing& packing, bool from_at_groups,
                          bool to_at_groups) {
    if (run == 1) {
        if (auto squares = SquareFinder(steps, packing).find()) return std::move(*squares);
    }
    CopyTable table(combine(steps, run), packing, from_at_groups, to_at_groups);
    constexpr std::uint64_t line = 64;
    if (table.lists_both_places() && packing.byte_of(run) < line && pair_first(steps, run)) {
        table.reorder(combine_in_order(steps, run));
    }
    return table;
}

CopyTable::CopyTable(std::vector<Run>&& runs, const Packing& packing, bool from_at_groups, bool to_at_groups)
    : packing_(packing) {
    if (!std::ranges::is_sorted(runs, {}, &Run::to)) std::ranges::sort(runs, {}, &Run::to);
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
    whole_bytes_ = true;
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
    if (!empties) from_.reserve(runs.size());
    if (!fills) to_.reserve(runs.size());
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

void CopyTable::reorder(const std::vector<Run>& runs) noexcept {
    // Some were joined.
    if (runs.size() != size_) return;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        from_[i] = (runs[i].from >> packing_.group_shift) * static_cast<std::int64_t>(packing_.group_bytes);
        to_[i] = (runs[i].to >> packing_.group_shift) * static_cast<std::int64_t>(packing_.group_bytes);
    }
}

}  // namespace hurray::transcode_detail
