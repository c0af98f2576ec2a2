// A folder of a test's own, removed with all that is in it.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace hurray {

class TemporaryFolder {
public:
    TemporaryFolder() {
        const char* base = std::getenv("TEST_TMPDIR");
        std::string pattern = std::string(base != nullptr ? base : "/tmp") + "/hurray-io-XXXXXX";
        if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot make a temporary folder");
        path_ = pattern;
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    ~TemporaryFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }

    [[nodiscard]] const std::string& path() const { return path_; }

    /// Writes a file and returns its path.
    [[nodiscard]] std::string file(std::string_view name, std::string_view contents) const {
        const std::string path = path_ + "/" + std::string(name);
        std::ofstream(path, std::ios::binary) << contents;
        return path;
    }

    /// Names of all that is in the folder, hidden files included.
    [[nodiscard]] std::vector<std::string> names() const {
        std::vector<std::string> names;
        for (const auto& entry : std::filesystem::directory_iterator(path_)) names.push_back(entry.path().filename());
        return names;
    }

private:
    std::string path_;
};

inline std::string read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace hurray
