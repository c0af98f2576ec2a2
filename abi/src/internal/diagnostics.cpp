#include "abi/src/internal/diagnostics.hpp"

#include <array>
#include <atomic>
#include <cstring>
#include <exception>
#include <mutex>
#include <new>
#include <string>

#include "abi/src/internal/thread_mark.hpp"
#include "core/hurray/base/error.hpp"

namespace hurray::abi {
namespace {

constexpr std::uint32_t ring_capacity = 32;
constinit std::mutex ring_mutex;
constinit std::array<HurrayError, ring_capacity> ring{};
constinit std::uint64_t ring_written = 0;

// The log callback runs under this lock, so that whoever replaces it knows that it has ended. `log_thread` is the thread
// that runs it: a message that arises on that thread meanwhile is kept and not logged, which would go round for ever.
constinit std::mutex log_mutex;
constinit std::atomic<std::uintptr_t> log_thread{0};
constinit HurrayLogFn log_callback = nullptr;
constinit void* log_context = nullptr;

class LogTurn {
public:
    LogTurn() : lock_(log_mutex) { log_thread.store(this_thread_mark(), std::memory_order_relaxed); }
    LogTurn(const LogTurn&) = delete;
    LogTurn& operator=(const LogTurn&) = delete;
    ~LogTurn() { log_thread.store(0, std::memory_order_relaxed); }

    static bool is_ours() noexcept { return log_thread.load(std::memory_order_relaxed) == this_thread_mark(); }

private:
    std::lock_guard<std::mutex> lock_;
};

void log(const HurrayError& entry) noexcept {
    if (LogTurn::is_ours()) return;
    const LogTurn turn;
    if (log_callback == nullptr) return;
    try {
        log_callback(log_context, entry.code, entry.message);
    } catch (...) {  // NOLINT: the message is in the ring already, and there is nobody left to tell
    }
}

}  // namespace

const char* exception_text() noexcept {
    const char* text = nullptr;
    try {
        throw;  // the same object again, so that its text outlives this function
    } catch (const std::exception& exception) {
        text = exception.what();
    } catch (const std::string& thrown) {
        text = thrown.c_str();
    } catch (const char* thrown) {
        text = thrown;
    } catch (...) {
        return "an exception of an unknown type";
    }
    return text != nullptr ? text : "an exception without a text";
}

void keep_diagnostic(HurrayStatus code, const char* message, const char* detail) noexcept {
    HurrayError entry{};
    entry.code = code;
    // An Error cuts what is too long at a character.
    const Error text = make_error(static_cast<Status>(code), Error::no_offset, "%s%s%s", message, detail == nullptr ? "" : ": ",
                                  detail == nullptr ? "" : detail);
    static_assert(sizeof text.message <= sizeof entry.message);
    std::memcpy(entry.message, text.message, sizeof text.message);
    {
        const std::lock_guard lock(ring_mutex);
        ring[ring_written % ring_capacity] = entry;
        ++ring_written;
    }
    log(entry);
}

bool read_diagnostic(std::uint32_t index, HurrayError& out) noexcept {
    const std::lock_guard lock(ring_mutex);
    const std::uint64_t kept = ring_written < ring_capacity ? ring_written : ring_capacity;
    if (index >= kept) return false;
    out = ring[(ring_written - kept + index) % ring_capacity];
    return true;
}

bool set_log_callback(HurrayLogFn callback, void* context) noexcept {
    if (LogTurn::is_ours()) return false;
    const LogTurn turn;
    log_callback = callback;
    log_context = context;
    return true;
}

void reset_diagnostics_after_fork() noexcept {
    new (&ring_mutex) std::mutex;
    new (&log_mutex) std::mutex;
    log_thread.store(0, std::memory_order_relaxed);
    log_callback = nullptr;
    log_context = nullptr;
}

}  // namespace hurray::abi
