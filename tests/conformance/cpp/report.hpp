// The report of a relay stage: one JSON line per tensor, and a last one with totals.
#pragma once

#include <chrono>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>

#include "hurray.h"
#include "transport.hpp"

namespace driver {

class Report {
public:
    explicit Report(const std::string& path);

    /// Reads every element of the tensor and adds its line. `started`: when work on the tensor began.
    void add(const std::string& name, const HurrayTensor* tensor, std::chrono::steady_clock::time_point started);
    /// What went through channels; nothing for streams.
    void received(std::optional<std::uint64_t> bytes) { received_ = bytes; }
    void sent(std::optional<Output::Bytes> bytes) { sent_ = bytes; }
    /// Adds the last line; `live_before` is what live_handles() was before the first tensor.
    void finish(std::uint64_t live_before);

private:
    std::ofstream file_;
    std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
    std::uint64_t tensors_ = 0;
    std::uint64_t bytes_ = 0;
    std::optional<std::uint64_t> received_;
    std::optional<Output::Bytes> sent_;
};

}  // namespace driver
