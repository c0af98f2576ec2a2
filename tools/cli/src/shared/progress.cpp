#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "interrupt.hpp"
#include "terminal.hpp"
#include "text.hpp"

namespace cli {
namespace {

using namespace std::chrono_literals;

std::string duration_text(double seconds) {
    const auto whole = static_cast<std::uint64_t>(seconds + 0.5);
    if (whole < 60) return fmt::format("{} s", whole);
    if (whole < 3600) return fmt::format("{}:{:02} min", whole / 60, whole % 60);
    return fmt::format("{}:{:02} h", whole / 3600, whole / 60 % 60);
}

void put(std::string_view text) {
    // Nobody is to fail because the meter cannot be shown.
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace

bool Meter::at(std::uint64_t done) {
    const auto now = Clock::now();
    if (now - start_ >= 500ms && now - last_ >= 100ms && error_is_terminal()) {
        last_ = now;
        show(done);
    }
    return !is_interrupted();
}

bool Meter::part(std::uint64_t done, std::uint64_t total, std::uint64_t part) {
    const double share = total == 0 ? 1 : static_cast<double>(done) / static_cast<double>(total);
    return at(base_ + static_cast<std::uint64_t>(share * static_cast<double>(part)));
}

void Meter::show(std::uint64_t done) {
    const double seconds = std::chrono::duration<double>(last_ - start_).count();
    const double rate = static_cast<double>(done) / std::max(seconds, 1e-3);
    std::string line = fmt::format("{}  {}", what_, size_text(done));
    if (total_ != 0) {
        const std::uint64_t within = std::min(done, total_);
        line += fmt::format(" of {}  {:.0f}%", size_text(total_), 100.0 * static_cast<double>(within) / static_cast<double>(total_));
    }
    line += fmt::format("  {}/s", size_text(static_cast<std::uint64_t>(rate)));
    if (total_ > done && rate > 0) line += fmt::format("  {} left", duration_text(static_cast<double>(total_ - done) / rate));
    put(fmt::format("\r\x1b[K{}", shortened(line, std::max<std::size_t>(error_width(), 20) - 1)));
    shown_ = true;
}

void Meter::clear() {
    if (shown_) put("\r\x1b[K");
    shown_ = false;
}

}  // namespace cli
