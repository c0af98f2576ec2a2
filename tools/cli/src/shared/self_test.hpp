// A short test of the library that was found: doctor runs it.
#pragma once

#include <string>
#include <vector>

namespace cli {

struct SelfTest {
    std::string name;
    /// Empty where it passed.
    std::string failure;
};

std::vector<SelfTest> run_self_tests();

}  // namespace cli
