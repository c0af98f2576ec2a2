// Windows as the files named *_windows.cpp need it: names in UTF-16, and its refusals as errors. Empty elsewhere.
#pragma once

#ifdef _WIN32
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "core/hurray/base/error.hpp"

namespace hurray {

/// A path in UTF-8 as Windows takes it. Errors: invalid_argument (not UTF-8).
Result<std::wstring> wide_path(std::string_view path);
/// UTF-16 in UTF-8; what is no UTF-16 is replaced.
std::string utf8_of(std::wstring_view text);

/// As system_error, for a code of GetLastError.
Error windows_error(const char* action, DWORD code, std::uint64_t offset = Error::no_offset);
/// As above, naming the file.
Error windows_error_at(const char* action, const std::string& path, DWORD code);

/// Closes a handle at the end, unless it was given away.
class HandleHolder {
public:
    explicit HandleHolder(HANDLE handle) noexcept : handle_(handle) {}
    HandleHolder(const HandleHolder&) = delete;
    HandleHolder& operator=(const HandleHolder&) = delete;
    ~HandleHolder() {
        if (valid()) ::CloseHandle(handle_);
    }
    [[nodiscard]] bool valid() const noexcept { return handle_ != INVALID_HANDLE_VALUE && handle_ != nullptr; }
    [[nodiscard]] HANDLE get() const noexcept { return handle_; }
    HANDLE release() noexcept {
        HANDLE given = handle_;
        handle_ = nullptr;
        return given;
    }

private:
    HANDLE handle_;
};

}  // namespace hurray
#endif
