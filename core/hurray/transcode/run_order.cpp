#include "core/hurray/transcode/run_order.hpp"

#include <algorithm>

namespace hurray::transcode_detail {
namespace {

std::uint64_t magnitude(std::int64_t stride) noexcept {
    return stride < 0 ? 0 - static_cast<std::uint64_t>(stride) : static_cast<std::uint64_t>(stride);
}

}  // namespace

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

std::vector<Run> combine(std::vector<Steps>& steps, std::uint64_t run) {
    std::ranges::sort(steps, {}, [](const Steps& each) { return magnitude(each.to); });
    return combine_in_order(steps, run);
}

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

}  // namespace hurray::transcode_detail
