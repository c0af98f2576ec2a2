#include "core/hurray/io/windows_system.hpp"

#ifdef _WIN32
#include <limits>

#include "core/hurray/io/quoted.hpp"

namespace hurray {
namespace {

Status status_of(DWORD code) {
    switch (code) {
        case ERROR_FILE_NOT_FOUND:
        case ERROR_PATH_NOT_FOUND: return Status::not_found;
        case ERROR_NOT_ENOUGH_MEMORY:
        case ERROR_OUTOFMEMORY:
        case ERROR_COMMITMENT_LIMIT: return Status::out_of_memory;
        default: return Status::io;
    }
}

std::string words_of(DWORD code) {
    wchar_t text[256];
    DWORD length = ::FormatMessageW(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS | FORMAT_MESSAGE_MAX_WIDTH_MASK,
                                    nullptr, code, 0, text, 256, nullptr);
    while (length > 0 && (text[length - 1] == L' ' || text[length - 1] == L'.')) --length;
    return length == 0 ? "failed" : utf8_of({text, length});
}

}  // namespace

Result<std::wstring> wide_path(std::string_view path) {
    if (path.empty() || path.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
        return fail(Status::invalid_argument, Error::no_offset, "path: expected 1 to %d bytes", std::numeric_limits<int>::max());
    }
    const int size = static_cast<int>(path.size());
    const int length = ::MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path.data(), size, nullptr, 0);
    if (length <= 0) return fail(Status::invalid_argument, Error::no_offset, "path: %s is not UTF-8", Quoted(path).c_str());
    std::wstring wide(static_cast<std::size_t>(length), L'\0');
    ::MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path.data(), size, wide.data(), length);
    return wide;
}

std::string utf8_of(std::wstring_view text) {
    const int size = static_cast<int>(text.size());
    const int length = size == 0 ? 0 : ::WideCharToMultiByte(CP_UTF8, 0, text.data(), size, nullptr, 0, nullptr, nullptr);
    if (length <= 0) return {};
    std::string narrow(static_cast<std::size_t>(length), '\0');
    ::WideCharToMultiByte(CP_UTF8, 0, text.data(), size, narrow.data(), length, nullptr, nullptr);
    return narrow;
}

Error windows_error(const char* action, DWORD code, std::uint64_t offset) {
    return make_error(status_of(code), offset, "%s: %s (Windows error %lu)", action, words_of(code).c_str(), code);
}

Error windows_error_at(const char* action, const std::string& path, DWORD code) {
    return make_error(status_of(code), Error::no_offset, "%s %s: %s (Windows error %lu)", action, Quoted(path, 120).c_str(),
                      words_of(code).c_str(), code);
}

}  // namespace hurray
#endif
