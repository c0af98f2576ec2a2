// A fixture: every test ends with the handles that it started with, each ended once, which the library's checks would tell.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <hurray.hpp>
#include <numeric>
#include <utility>
#include <vector>

namespace hurray_test {

class LiveHandles : public testing::Test {
  protected:
    void SetUp() override {
        ASSERT_TRUE(hurray::set_handle_checks(true));
        before_ = live();
    }
    void TearDown() override { EXPECT_EQ(live(), before_); }
    static std::uint64_t live() { return hurray::live_handles().value_or(hurray::LiveHandles{}).handles; }

  private:
    std::uint64_t before_ = 0;
};

inline constexpr std::uint64_t shape_2_3[] = {2, 3};

/// float32 [2, 3]: first, first + 1, ...
inline hurray::Tensor numbers(float first = 0) {
    std::vector<float> values(6);
    std::iota(values.begin(), values.end(), first);
    auto tensor = hurray::Tensor::from_container(std::move(values), shape_2_3);
    EXPECT_TRUE(tensor) << tensor.error().message();
    return std::move(*tensor);
}

}  // namespace hurray_test
