#ifdef _WIN32
#include <fcntl.h>
#include <io.h>

#include <algorithm>
#include <cerrno>

#include "core/hurray/io/quoted.hpp"
#include "core/hurray/io/system_error.hpp"
#include "core/hurray/io/system_file.hpp"
#include "core/hurray/io/windows_system.hpp"

namespace hurray {
namespace {

constexpr std::size_t largest_transfer = std::size_t{1} << 30;

// Of descriptors that open_regular_file made: for others the C runtime would end the process.
HANDLE handle_of(int fd) noexcept { return reinterpret_cast<HANDLE>(::_get_osfhandle(fd)); }

}  // namespace

Result<FdHolder> open_regular_file(const std::string& name) {
    const auto path = wide_path(name);
    if (!path) return std::unexpected(path.error());
    // As on other systems, others may write to the file, move and remove it meanwhile. FILE_FLAG_BACKUP_SEMANTICS opens
    // directories, too, so that they are told apart from what may not be read.
    HandleHolder file(::CreateFileW(path->c_str(), GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr,
                                    OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, nullptr));
    if (!file.valid()) return std::unexpected(windows_error_at("open", name, ::GetLastError()));
    const char* other = nullptr;
    BY_HANDLE_FILE_INFORMATION facts{};
    if (::GetFileType(file.get()) != FILE_TYPE_DISK) {
        other = "a device or pipe";
    } else if (::GetFileInformationByHandle(file.get(), &facts) == 0) {
        return std::unexpected(windows_error_at("stat", name, ::GetLastError()));
    } else if ((facts.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0) {
        other = "a directory";
    }
    if (other != nullptr) {
        return fail(Status::invalid_format, Error::no_offset, "%s is %s: expected a regular file", Quoted(name, 120).c_str(),
                    other);
    }
    const int fd = ::_open_osfhandle(reinterpret_cast<std::intptr_t>(file.get()), _O_RDONLY | _O_BINARY);
    if (fd < 0) return std::unexpected(system_error_at("open", name.c_str(), errno));
    (void)file.release();
    return FdHolder(fd, FdOwnership::close);
}

Result<std::uint64_t> regular_file_size(int fd, const std::string& name) {
    LARGE_INTEGER size{};
    if (::GetFileSizeEx(handle_of(fd), &size) == 0) return std::unexpected(windows_error_at("stat", name, ::GetLastError()));
    return static_cast<std::uint64_t>(size.QuadPart);
}

Result<std::size_t> read_at(int fd, std::uint64_t offset, std::span<std::byte> into, std::uint64_t where) {
    // With a place, ReadFile does not ask where the file stands.
    OVERLAPPED place{};
    place.Offset = static_cast<DWORD>(offset);
    place.OffsetHigh = static_cast<DWORD>(offset >> 32);
    DWORD count = 0;
    const auto size = static_cast<DWORD>(std::min(into.size(), largest_transfer));
    if (::ReadFile(handle_of(fd), into.data(), size, &count, &place) == 0) {
        const DWORD code = ::GetLastError();
        if (code == ERROR_HANDLE_EOF) return std::size_t{0};
        return std::unexpected(windows_error("read", code, where));
    }
    return std::size_t{count};
}

Result<const std::byte*> map_for_reading(int fd, std::size_t size, const std::string& name) {
    const HandleHolder mapping(::CreateFileMappingW(handle_of(fd), nullptr, PAGE_READONLY, 0, 0, nullptr));
    if (!mapping.valid()) return std::unexpected(windows_error_at("map", name, ::GetLastError()));
    // The view keeps what it needs of the mapping.
    const void* const address = ::MapViewOfFile(mapping.get(), FILE_MAP_READ, 0, 0, size);
    if (address == nullptr) return std::unexpected(windows_error_at("map", name, ::GetLastError()));
    return static_cast<const std::byte*>(address);
}

void unmap(const std::byte* base, std::size_t) noexcept { ::UnmapViewOfFile(base); }

}  // namespace hurray
#endif
