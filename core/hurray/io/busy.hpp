// A mark that stands as long as a call is running: calls that come from within it are seen.
#pragma once

namespace hurray {

class BusyMark {
public:
    /// Sets the flag, which was not set, until the mark ends.
    explicit BusyMark(bool& flag) noexcept : flag_(flag) { flag_ = true; }
    BusyMark(const BusyMark&) = delete;
    BusyMark& operator=(const BusyMark&) = delete;
    ~BusyMark() { flag_ = false; }

private:
    bool& flag_;
};

}  // namespace hurray
