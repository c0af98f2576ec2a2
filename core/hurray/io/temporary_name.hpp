// The name of a file while it is written beside its target.
#pragma once

#include <cstdint>
#include <cstdio>
#include <random>
#include <string>

namespace hurray {

/// How many names are tried where others have the same idea.
inline constexpr int naming_attempts = 100;

/// Short, so that it fits wherever the target's own name does.
inline std::string temporary_name() {
    std::random_device source;
    const std::uint64_t number = (std::uint64_t{source()} << 32) | source();
    char name[40];
    std::snprintf(name, sizeof name, ".hurray-%016llx.tmp", static_cast<unsigned long long>(number));
    return name;
}

}  // namespace hurray
