// Ownership of a file descriptor.
#pragma once

#include <cstdint>
#include <utility>

namespace hurray {

enum class FdOwnership : std::uint8_t { borrow, close };

/// Closes a descriptor of the operating system (fd_posix.cpp, fd_windows.cpp).
void close_fd(int fd) noexcept;

/// A file descriptor, closed at the end if it is owned.
class FdHolder {
public:
    FdHolder() = default;
    FdHolder(int fd, FdOwnership ownership) noexcept : fd_(fd), ownership_(ownership) {}
    FdHolder(FdHolder&& other) noexcept : fd_(std::exchange(other.fd_, -1)), ownership_(other.ownership_) {}
    FdHolder& operator=(FdHolder&& other) noexcept {
        std::swap(fd_, other.fd_);
        std::swap(ownership_, other.ownership_);
        return *this;
    }
    ~FdHolder() {
        if (fd_ >= 0 && ownership_ == FdOwnership::close) close_fd(fd_);
    }

    [[nodiscard]] int get() const noexcept { return fd_; }

private:
    int fd_ = -1;
    FdOwnership ownership_ = FdOwnership::borrow;
};

}  // namespace hurray
