#include "abi/src/internal/diagnostics.hpp"

#include <array>
#include <cstdio>
#include <mutex>
#include <new>

namespace hurray::abi {
namespace {

constexpr std::uint32_t ring_capacity = 32;
constinit std::mutex ring_mutex;
constinit std::array<HurrayError, ring_capacity> ring{};
constinit std::uint64_t ring_written = 0;

}  // namespace

void keep_diagnostic(HurrayStatus code, const char* message) noexcept {
    const std::lock_guard lock(ring_mutex);
    HurrayError& entry = ring[ring_written % ring_capacity];
    entry.code = code;
    std::snprintf(entry.message, sizeof entry.message, "%s", message);
    ++ring_written;
}

bool read_diagnostic(std::uint32_t index, HurrayError& out) noexcept {
    const std::lock_guard lock(ring_mutex);
    const std::uint64_t kept = ring_written < ring_capacity ? ring_written : ring_capacity;
    if (index >= kept) return false;
    out = ring[(ring_written - kept + index) % ring_capacity];
    return true;
}

void reset_diagnostics_after_fork() noexcept { new (&ring_mutex) std::mutex; }

}  // namespace hurray::abi
