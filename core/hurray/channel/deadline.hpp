// Until when a call may wait.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>

namespace hurray {

class Deadline {
public:
    /// Waits for ever.
    Deadline() = default;
    /// @param milliseconds from now; 0: does not wait at all; negative: waits for ever
    explicit Deadline(std::int64_t milliseconds) {
        if (milliseconds >= 0) at_ = Clock::now() + std::chrono::milliseconds(std::min(milliseconds, longest));
    }

    /// Milliseconds that are left, as poll takes them: -1 for ever.
    [[nodiscard]] int left() const {
        if (!at_) return -1;
        // Rounded up, so that nobody polls again and again within the last millisecond.
        const auto rest = std::chrono::ceil<std::chrono::milliseconds>(*at_ - Clock::now()).count();
        return static_cast<int>(std::clamp<std::int64_t>(rest, 0, std::numeric_limits<int>::max()));
    }

private:
    using Clock = std::chrono::steady_clock;
    static constexpr std::int64_t longest = std::int64_t{1} << 40;

    std::optional<Clock::time_point> at_;
};

}  // namespace hurray
