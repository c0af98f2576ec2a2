// A meter of long work on standard error: on a terminal only, with rate and time left.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace cli {

/// Shows nothing for the first half second, nor where standard error is no terminal.
class Meter {
  public:
    /// `total` in bytes; 0 where it is not known.
    Meter(std::string what, std::uint64_t total) : what_(std::move(what)), total_(total) {}
    Meter(const Meter&) = delete;
    Meter& operator=(const Meter&) = delete;
    ~Meter() { clear(); }

    /// Bytes done so far, in all. False when the user wants to stop.
    bool at(std::uint64_t done);
    /// More bytes done, of work that has ended.
    void advance(std::uint64_t bytes) { base_ += bytes; }
    /// For hurray::WorkOptions: how far the current part is, whose size in bytes is `part`.
    bool part(std::uint64_t done, std::uint64_t total, std::uint64_t part);
    void clear();

  private:
    using Clock = std::chrono::steady_clock;

    void show(std::uint64_t done);

    std::string what_;
    std::uint64_t total_;
    std::uint64_t base_ = 0;
    Clock::time_point start_ = Clock::now();
    Clock::time_point last_ = start_;
    bool shown_ = false;
};

}  // namespace cli
