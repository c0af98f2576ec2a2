// What all handles have in common: the frozen prefix, the live counters, and the checks against misuse.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <new>

#include "abi/src/api/buffer.hpp"
#include "abi/src/api/version.hpp"
#include "abi/src/internal/exchange.hpp"

namespace hurray::abi {

inline constexpr std::uint32_t handle_kind_count = 16;

struct LiveCounter {
    std::atomic<std::int64_t> handles{0};
    std::atomic<std::int64_t> bytes{0};
};
extern std::array<LiveCounter, handle_kind_count> live_counters;

/// Adds to the live counters of a kind (negative: subtracts).
inline void count_handle(std::uint32_t kind, std::int64_t handles, std::int64_t bytes) noexcept {
    if (handles != 0) live_counters[kind].handles.fetch_add(handles, std::memory_order_relaxed);
    if (bytes != 0) live_counters[kind].bytes.fetch_add(bytes, std::memory_order_relaxed);
}

/// Live handles and bytes of a kind; HURRAY_HANDLE_ANY sums them all.
void read_counters(std::uint32_t kind, std::uint64_t& handles, std::uint64_t& bytes) noexcept;

/// Whether destroyed handles go to quarantine instead of back to the allocator.
extern std::atomic<bool> handle_checks;
inline bool handle_checks_enabled() noexcept { return handle_checks.load(std::memory_order_relaxed); }
void set_handle_checks(bool enabled) noexcept;

/// Keeps the memory of a destroyed handle away from the allocator for a while, so that a later use of the stale
/// pointer still finds `dead_magic`. Only while the checks are enabled.
void quarantine(void* memory, void (*free_memory)(void*) noexcept) noexcept;

/// For the child of a fork: see reset_diagnostics_after_fork.
void reset_quarantine_after_fork() noexcept;

/// Base of every handle of kind `Kind`; counts itself.
template <std::uint32_t Kind>
struct HandleBase {
    static constexpr std::uint32_t kind = Kind;

    HandlePrefix prefix{magic_of(Kind), handle_generation, HURRAY_C_ABI_VERSION, &exchange_table};

    HandleBase() noexcept { count_handle(Kind, 1, 0); }
    HandleBase(const HandleBase&) = delete;
    HandleBase& operator=(const HandleBase&) = delete;
    ~HandleBase() {
        // Volatile: the compiler would drop a store to memory that is about to be freed.
        *static_cast<volatile std::uint64_t*>(&prefix.magic) = dead_magic;
        count_handle(Kind, -1, 0);
    }

};

/// Ends a handle that was made with new.
template <typename Handle>
void retire(Handle* handle) noexcept {
    handle->~Handle();
    // With the checks off they cost this one load.
    if (handle_checks_enabled()) [[unlikely]] return quarantine(handle, [](void* memory) noexcept { ::operator delete(memory); });
    ::operator delete(handle);
}

}  // namespace hurray::abi
