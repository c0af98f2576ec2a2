#include "slice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "exit.hpp"
#include "text.hpp"

namespace cli {
namespace {

Failure wrong(std::string_view part, std::string_view why) {
    return Failure(usage, "--slice", fmt::format("\"{}\": {}", part, why)).with_hint("such as '0:2, ::2, -1' or '..., 0'");
}

std::optional<std::int64_t> number(std::string_view part, std::string_view text) {
    text = trimmed(text);
    if (text.empty()) return std::nullopt;
    const bool negative = text.starts_with('-');
    std::uint64_t value = 0;
    if (!parse_number(text.substr(negative ? 1 : 0), value) || value > std::numeric_limits<std::int64_t>::max()) {
        throw wrong(part, "is no number");
    }
    const auto result = static_cast<std::int64_t>(value);
    return negative ? -result : result;
}

// As Python's slice.indices().
SliceRange range_of(std::string_view part, std::uint64_t size) {
    const auto pieces = split(part, ':');
    if (pieces.size() > 3) throw wrong(part, "has more than two colons");
    const auto length = static_cast<std::int64_t>(size);
    if (pieces.size() == 1) {
        const auto index = number(part, part);
        if (!index) throw wrong(part, "is empty");
        const std::int64_t at = *index < 0 ? *index + length : *index;
        if (at < 0 || at >= length) throw wrong(part, fmt::format("is outside of a dimension of {}", size));
        return {static_cast<std::uint64_t>(at), 1, 1, true};
    }
    const std::int64_t step = pieces.size() == 3 ? number(part, pieces[2]).value_or(1) : 1;
    if (step == 0) throw wrong(part, "has the step 0");
    const std::int64_t low = step < 0 ? -1 : 0;
    const std::int64_t high = step < 0 ? length - 1 : length;
    const auto bound = [&](const std::string& text, std::int64_t otherwise) {
        const auto given = number(part, text);
        if (!given) return otherwise;
        return std::clamp(*given < 0 ? *given + length : *given, low, high);
    };
    const std::int64_t start = bound(pieces[0], step < 0 ? high : low);
    const std::int64_t stop = bound(pieces[1], step < 0 ? low : high);
    SliceRange range;
    range.step = step;
    if (step > 0 && start < stop) range.count = (static_cast<std::uint64_t>(stop - start) - 1) / static_cast<std::uint64_t>(step) + 1;
    if (step < 0 && stop < start) {
        range.count = (static_cast<std::uint64_t>(start - stop) - 1) / (0 - static_cast<std::uint64_t>(step)) + 1;
    }
    range.first = range.count == 0 ? 0 : static_cast<std::uint64_t>(start);
    return range;
}

}  // namespace

std::vector<SliceRange> parse_slice(std::string_view text, std::span<const std::uint64_t> shape) {
    text = trimmed(text);
    if (text.starts_with('[') && text.ends_with(']')) text = trimmed(text.substr(1, text.size() - 2));
    std::vector<SliceRange> ranges;
    const auto whole = [&](std::size_t dimension) { ranges.push_back({0, 1, shape[dimension], false}); };
    std::vector<std::string> parts;
    if (!text.empty()) parts = split(text, ',');
    const auto dots = [](const std::string& part) { return trimmed(part) == "..."; };
    const auto ellipses = static_cast<std::size_t>(std::ranges::count_if(parts, dots));
    if (ellipses > 1) throw wrong(text, "has more than one \"...\"");
    const std::size_t given = parts.size() - ellipses;
    if (given > shape.size()) {
        throw wrong(text, fmt::format("names {} of {}", given, count_text(shape.size(), "dimension")));
    }
    for (const std::string& part : parts) {
        if (dots(part)) {
            for (std::size_t i = given; i < shape.size(); ++i) whole(ranges.size());
        } else {
            ranges.push_back(range_of(trimmed(part), shape[ranges.size()]));
        }
    }
    while (ranges.size() < shape.size()) whole(ranges.size());
    return ranges;
}

std::vector<std::uint64_t> sliced_shape(std::span<const SliceRange> ranges) {
    std::vector<std::uint64_t> shape;
    for (const SliceRange& range : ranges) {
        if (!range.single) shape.push_back(range.count);
    }
    return shape;
}

SliceWalk::SliceWalk(std::vector<SliceRange> ranges, std::span<const std::uint64_t> shape)
    : ranges_(std::move(ranges)), strides_(shape.size(), 1), position_(shape.size(), 0) {
    for (std::size_t d = shape.size(); d-- > 1;) strides_[d - 1] = strides_[d] * shape[d];
    done_ = std::ranges::any_of(ranges_, [](const SliceRange& range) { return range.count == 0; });
}

bool SliceWalk::next(std::uint64_t& place) {
    if (done_) return false;
    place = 0;
    for (std::size_t d = 0; d < ranges_.size(); ++d) {
        place += (ranges_[d].first + position_[d] * static_cast<std::uint64_t>(ranges_[d].step)) * strides_[d];
    }
    done_ = true;
    for (std::size_t d = ranges_.size(); d-- > 0;) {
        if (++position_[d] < ranges_[d].count) {
            done_ = false;
            break;
        }
        position_[d] = 0;
    }
    return true;
}

}  // namespace cli
