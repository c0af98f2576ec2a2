// Runs a fuzz target over the golden vectors, and over every prefix of them, without a fuzzer: so that the target is
// built and run by every compiler and configuration.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

TEST(Replay, GoldenVectorsAndTheirPrefixes) {
    int files = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator("tests/golden/descriptors")) {
        if (entry.path().extension() != ".bin") continue;
        std::ifstream file(entry.path(), std::ios::binary);
        const std::string bytes{std::istreambuf_iterator<char>(file), {}};
        for (std::size_t size = 0; size <= bytes.size(); ++size) {
            ASSERT_EQ(LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), size), 0);
        }
        ++files;
    }
    EXPECT_GE(files, 160);
}

}  // namespace
