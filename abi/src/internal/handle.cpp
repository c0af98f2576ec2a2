#include "abi/src/internal/handle.hpp"

#include <array>
#include <atomic>
#include <mutex>
#include <new>

namespace hurray::abi {
namespace {

// The most recently destroyed handles, oldest overwritten first.
struct Quarantined {
    void* memory = nullptr;
    void (*free_memory)(void*) noexcept = nullptr;
};
constexpr std::size_t quarantine_capacity = 4096;
constinit std::mutex quarantine_mutex;
constinit std::array<Quarantined, quarantine_capacity> quarantined{};
constinit std::size_t quarantine_next = 0;

}  // namespace

constinit std::array<LiveCounter, handle_kind_count> live_counters{};

#if defined(HURRAY_HANDLE_CHECKS) && HURRAY_HANDLE_CHECKS
constinit std::atomic<bool> handle_checks{true};
#else
constinit std::atomic<bool> handle_checks{false};
#endif

void read_counters(std::uint32_t kind, std::uint64_t& handles, std::uint64_t& bytes) noexcept {
    std::int64_t handle_sum = 0;
    std::int64_t byte_sum = 0;
    const std::uint32_t first = kind == HURRAY_HANDLE_ANY ? 1 : kind;
    const std::uint32_t last = kind == HURRAY_HANDLE_ANY ? handle_kind_count - 1 : kind;
    for (std::uint32_t k = first; k <= last; ++k) {
        handle_sum += live_counters[k].handles.load(std::memory_order_relaxed);
        byte_sum += live_counters[k].bytes.load(std::memory_order_relaxed);
    }
    handles = static_cast<std::uint64_t>(handle_sum);
    bytes = static_cast<std::uint64_t>(byte_sum);
}

void set_handle_checks(bool enabled) noexcept { handle_checks.store(enabled, std::memory_order_relaxed); }

void quarantine(void* memory, void (*free_memory)(void*) noexcept) noexcept {
    Quarantined evicted;
    {
        const std::lock_guard lock(quarantine_mutex);
        evicted = quarantined[quarantine_next];
        quarantined[quarantine_next] = {memory, free_memory};
        quarantine_next = (quarantine_next + 1) % quarantine_capacity;
    }
    if (evicted.memory != nullptr) evicted.free_memory(evicted.memory);
}

void reset_quarantine_after_fork() noexcept { new (&quarantine_mutex) std::mutex; }

}  // namespace hurray::abi
