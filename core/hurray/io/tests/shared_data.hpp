// Real files that are not part of the project.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>

namespace hurray {

/// A file or folder of the shared data: $HURRAY_SHARED/<name>, or ../shared/<name> beside the project. Nothing, and a
/// line that says so, when it is not there.
inline std::optional<std::string> shared_data(const std::string& name) {
    const char* base = std::getenv("HURRAY_SHARED");
    const std::string path = (base != nullptr ? std::string(base) : std::string("../shared")) + "/" + name;
    if (std::filesystem::exists(path)) return path;
    std::cout << "skipped: " << path << " is not there (set HURRAY_SHARED to the folder that holds it)\n";
    return std::nullopt;
}

}  // namespace hurray
