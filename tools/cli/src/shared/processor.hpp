// Which vector instructions the processor and its operating system run, as the library asks for them at load.
#pragma once

#include <string>
#include <vector>

namespace cli {

struct VectorSet {
    std::string name;
    /// What it takes.
    std::string needs;
    bool there = false;
};

struct Kernels {
    /// The set that the library's kernels choose: the last one that is there.
    std::string chosen;
    std::vector<VectorSet> sets;
};

Kernels kernels();

}  // namespace cli
