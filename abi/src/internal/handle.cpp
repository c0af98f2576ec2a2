#include "abi/src/internal/handle.hpp"

#include <array>
#include <atomic>
#include <mutex>
#include <new>

namespace hurray::abi {
namespace {

struct Counter {
    std::atomic<std::int64_t> handles{0};
    std::atomic<std::int64_t> bytes{0};
};
std::array<Counter, handle_kind_count> counters;

#if defined(HURRAY_HANDLE_CHECKS) && HURRAY_HANDLE_CHECKS
constinit std::atomic<bool> checks_enabled{true};
#else
constinit std::atomic<bool> checks_enabled{false};
#endif

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

void count_handle(std::uint32_t kind, std::int64_t handles, std::int64_t bytes) noexcept {
    if (handles != 0) counters[kind].handles.fetch_add(handles, std::memory_order_relaxed);
    if (bytes != 0) counters[kind].bytes.fetch_add(bytes, std::memory_order_relaxed);
}

void read_counters(std::uint32_t kind, std::uint64_t& handles, std::uint64_t& bytes) noexcept {
    std::int64_t handle_sum = 0;
    std::int64_t byte_sum = 0;
    const std::uint32_t first = kind == HURRAY_HANDLE_ANY ? 1 : kind;
    const std::uint32_t last = kind == HURRAY_HANDLE_ANY ? handle_kind_count - 1 : kind;
    for (std::uint32_t k = first; k <= last; ++k) {
        handle_sum += counters[k].handles.load(std::memory_order_relaxed);
        byte_sum += counters[k].bytes.load(std::memory_order_relaxed);
    }
    handles = static_cast<std::uint64_t>(handle_sum);
    bytes = static_cast<std::uint64_t>(byte_sum);
}

bool handle_checks_enabled() noexcept { return checks_enabled.load(std::memory_order_relaxed); }
void set_handle_checks(bool enabled) noexcept { checks_enabled.store(enabled, std::memory_order_relaxed); }

bool quarantine(void* memory, void (*free_memory)(void*) noexcept) noexcept {
    if (!handle_checks_enabled()) return false;
    Quarantined evicted;
    {
        const std::lock_guard lock(quarantine_mutex);
        evicted = quarantined[quarantine_next];
        quarantined[quarantine_next] = {memory, free_memory};
        quarantine_next = (quarantine_next + 1) % quarantine_capacity;
    }
    if (evicted.memory != nullptr) evicted.free_memory(evicted.memory);
    return true;
}

void reset_quarantine_after_fork() noexcept { new (&quarantine_mutex) std::mutex; }

}  // namespace hurray::abi
