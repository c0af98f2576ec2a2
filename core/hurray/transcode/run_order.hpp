// The order in which the runs of a table are copied.
#pragma once

#include <cstdint>
#include <vector>

#include "core/hurray/transcode/copy_table.hpp"

namespace hurray::transcode_detail {

/// Runs at all combinations of steps, the first ones the fastest.
std::vector<Run> combine_in_order(const std::vector<Steps>& steps, std::uint64_t run);

/// As above. Those that take the smallest steps in the target are the fastest, so that, without steps backwards, all runs
/// come out in its order; the steps are left so.
std::vector<Run> combine(std::vector<Steps>& steps, std::uint64_t run);

/// Makes the fastest ones two runs that are neighbours in the target, and two that are in the source: then lines of the
/// cache, in which there is more than one run, are read and written at once. False when there are none.
bool pair_first(std::vector<Steps>& steps, std::uint64_t run);

}  // namespace hurray::transcode_detail
