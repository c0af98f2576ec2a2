// The list of names that travels beside a stream.
#pragma once

#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace driver {

/// A JSON string a line.
inline std::vector<std::string> read_names(const std::string& path) {
    std::ifstream file(path);
    if (!file) throw std::runtime_error("cannot open the list of names " + path);
    std::vector<std::string> names;
    for (std::string line; std::getline(file, line);) {
        if (!line.empty()) names.push_back(nlohmann::json::parse(line).get<std::string>());
    }
    return names;
}

}  // namespace driver
