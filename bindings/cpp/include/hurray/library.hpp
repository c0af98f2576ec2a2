// The loaded library: versions, build, live handles, diagnostics.
#ifndef HURRAY_LIBRARY_HPP_
#define HURRAY_LIBRARY_HPP_

#include <cstdint>

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

struct LiveHandles {
    std::uint64_t handles = 0;
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
