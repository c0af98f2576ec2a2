// The loaded library: versions, build, live handles, diagnostics.
#ifndef HURRAY_LIBRARY_HPP_
#define HURRAY_LIBRARY_HPP_

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "hurray/callback.hpp"
#include "hurray/error.hpp"

namespace hurray {

/// Facts about the loaded library; the strings are static.
inline Result<HurrayRuntimeInfo> runtime_info() noexcept {
    return detail::fill<HurrayRuntimeInfo>(hurray_runtime_info);
}

/// Whether the loaded library serves programs that were compiled against this header. The error names both versions.
inline Result<void> check_version() noexcept {
    const std::uint32_t loaded = hurray_c_abi_version();
    if (loaded == HURRAY_C_ABI_VERSION || hurray_c_abi_supports(HURRAY_C_ABI_VERSION) == 1) return {};
    char text[96] = "this program needs C ABI version ";
    std::size_t length = std::strlen(text);
    const auto put = [&](std::uint32_t number) {
        char digits[10];
        int count = 0;
        do digits[count++] = static_cast<char>('0' + number % 10);
        while ((number /= 10) != 0);
        while (count > 0) text[length++] = digits[--count];
    };
    const auto say = [&](const char* words) {
        while (*words != '\0') text[length++] = *words++;
    };
    put(HURRAY_C_ABI_VERSION);
    say(", the loaded library has ");
    put(loaded);
    return Error(HURRAY_ERR_VERSION_MISMATCH, {text, length});
}

/// Identifies the build of the loaded library; static.
inline const char* build_id() noexcept {
    return hurray_build_id();
}

/// One of the last messages of caught exceptions and broken invariants, 0 the oldest that is kept.
/// HURRAY_ERR_INDEX_OUT_OF_BOUNDS: fewer are kept.
inline Result<HurrayError> diagnostic(std::uint32_t index) noexcept {
    return detail::get<HurrayError>(hurray_diagnostics_read, index);
}

/// Hears what goes into the diagnostics, as long as it lives. There is one in a process: a further one takes the place of the one
/// before, which then hears nothing more, and the end of either leaves none. Not to be ended by itself while it hears something.
class LogCallback {
  public:
    /// `hear` takes (HurrayStatus code, std::string_view message), on the thread on which it arose, one call at a time. What it
    /// throws is dropped.
    template <typename Hear>
    static Result<LogCallback> install(Hear&& hear) noexcept {
        LogCallback made;
        made.call_ = detail::own<void(HurrayStatus, std::string_view)>(std::forward<Hear>(hear));
        if (!made.call_) return detail::out_of_memory();
        if (auto done = detail::call(hurray_log_callback_set, &LogCallback::tell, static_cast<void*>(made.call_.get()));
            !done) {
            return done.error();
        }
        return made;
    }
    LogCallback(LogCallback&&) noexcept = default;
    LogCallback& operator=(LogCallback&& other) noexcept {
        if (this != &other) {
            // What is taken over is installed already, and stays so.
            if (call_ && !other.call_) end();
            call_ = std::move(other.call_);
        }
        return *this;
    }
    ~LogCallback() { end(); }

  private:
    using Call = detail::OwnedCall<void(HurrayStatus, std::string_view)>;

    LogCallback() noexcept = default;
    void end() noexcept {
        if (call_) (void)detail::call(hurray_log_callback_set, HurrayLogFn{nullptr}, static_cast<void*>(nullptr));
        call_.reset();
    }
    static void tell(void* context, HurrayStatus code, const char* message) noexcept {
        HURRAY_HPP_TRY_ {
            (*static_cast<Call*>(context))(code, message);
        }
        HURRAY_HPP_CATCH_ALL_ {}
    }

    std::unique_ptr<Call> call_;
};

/// How much is alive.
struct LiveHandles {
    /// Handles that were made and not ended.
    std::uint64_t handles = 0;
    /// Bytes that they stand for.
    std::uint64_t bytes = 0;
};

/// Live handles of a kind (HURRAY_HANDLE_) over the whole process, and the bytes that they stand for.
inline Result<LiveHandles> live_handles(std::uint32_t kind = HURRAY_HANDLE_ANY) noexcept {
    LiveHandles live;
    if (auto done = detail::call(hurray_live_handles, kind, &live.handles, &live.bytes); !done) return done.error();
    return live;
}

/// Switches the quarantine of destroyed handles on or off.
inline Result<void> set_handle_checks(bool enabled) noexcept {
    return detail::call(hurray_handle_checks_set, static_cast<std::uint8_t>(enabled));
}

}  // namespace hurray

#endif  // HURRAY_LIBRARY_HPP_
