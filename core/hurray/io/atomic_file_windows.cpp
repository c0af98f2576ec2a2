// The file has a name of its own until it is committed; a process that is killed in between leaves it.
#ifdef _WIN32
#include <fcntl.h>
#include <io.h>

#include <cerrno>
#include <utility>

#include "core/hurray/io/atomic_file.hpp"
#include "core/hurray/io/path.hpp"
#include "core/hurray/io/quoted.hpp"
#include "core/hurray/io/system_error.hpp"
#include "core/hurray/io/temporary_name.hpp"
#include "core/hurray/io/windows_system.hpp"

namespace hurray {
namespace {

// The file that will really be replaced: a symbolic link is followed.
Result<std::string> find_target(const std::string& path) {
    const auto wide = wide_path(path);
    if (!wide) return std::unexpected(wide.error());
    const HandleHolder old(::CreateFileW(wide->c_str(), 0, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr,
                                         OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, nullptr));
    if (!old.valid()) {
        const DWORD code = ::GetLastError();
        if (code != ERROR_FILE_NOT_FOUND) return std::unexpected(windows_error_at("open", path, code));
        if (::GetFileAttributesW(wide->c_str()) != INVALID_FILE_ATTRIBUTES) {
            return fail(Status::invalid_argument, Error::no_offset, "%s is a symbolic link that leads nowhere",
                        Quoted(path, 120).c_str());
        }
        return path;
    }
    BY_HANDLE_FILE_INFORMATION facts{};
    const bool on_disk = ::GetFileType(old.get()) == FILE_TYPE_DISK;
    if (on_disk && ::GetFileInformationByHandle(old.get(), &facts) == 0) {
        return std::unexpected(windows_error_at("stat", path, ::GetLastError()));
    }
    if (!on_disk || (facts.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0) {
        return fail(Status::invalid_argument, Error::no_offset, "%s is %s: only a regular file can be replaced",
                    Quoted(path, 120).c_str(), on_disk ? "a directory" : "a device or pipe");
    }
    std::wstring real(MAX_PATH, L'\0');
    for (;;) {
        const DWORD length = ::GetFinalPathNameByHandleW(old.get(), real.data(), static_cast<DWORD>(real.size()), 0);
        if (length == 0) return std::unexpected(windows_error_at("resolve", path, ::GetLastError()));
        const bool fits = length < real.size();
        real.resize(length);
        if (fits) return utf8_of(real);
    }
}

Result<FdHolder> create_beside(const std::string& target, std::string& temporary) {
    const std::size_t name = target.find_last_of("/\\:") + 1;  // 0 where there is no folder
    if (name == target.size()) {
        return fail(Status::invalid_argument, Error::no_offset, "%s ends with a slash: expected the name of a file",
                    Quoted(target, 120).c_str());
    }
    DWORD code = ERROR_FILE_EXISTS;
    for (int attempt = 0; attempt < naming_attempts && code == ERROR_FILE_EXISTS; ++attempt) {
        std::string candidate = target.substr(0, name) + temporary_name();
        const auto wide = wide_path(candidate);
        if (!wide) return std::unexpected(wide.error());
        HandleHolder file(::CreateFileW(wide->c_str(), GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_DELETE, nullptr, CREATE_NEW,
                                        FILE_ATTRIBUTE_NORMAL, nullptr));
        if (!file.valid()) {
            code = ::GetLastError();
            continue;
        }
        temporary = std::move(candidate);
        const int fd = ::_open_osfhandle(reinterpret_cast<std::intptr_t>(file.get()), _O_WRONLY | _O_BINARY);
        if (fd < 0) {
            const int number = errno;
            (void)::DeleteFileW(wide->c_str());
            return std::unexpected(system_error_at("create", temporary.c_str(), number));
        }
        (void)file.release();
        return FdHolder(fd, FdOwnership::close);
    }
    return std::unexpected(windows_error_at("create a file beside", target, code));
}

}  // namespace

AtomicFile::AtomicFile(FdHolder folder, std::string name, FdHolder file, std::string temporary)
    : folder_(std::move(folder)),
      name_(std::move(name)),
      file_(std::move(file)),
      temporary_(std::move(temporary)),
      sink_(file_.get()) {}

AtomicFile::~AtomicFile() {
    if (temporary_.empty()) return;
    file_ = FdHolder();
    if (const auto wide = wide_path(temporary_)) (void)::DeleteFileW(wide->c_str());
}

Result<std::unique_ptr<AtomicFile>> AtomicFile::create(std::string_view path, Temporary) {
    const auto checked = terminated_path(path);
    if (!checked) return std::unexpected(checked.error());
    auto target = find_target(*checked);
    if (!target) return std::unexpected(target.error());
    std::string temporary;
    auto file = create_beside(*target, temporary);
    if (!file) return std::unexpected(file.error());
    return std::unique_ptr<AtomicFile>(
        new AtomicFile(FdHolder(), std::move(*target), std::move(*file), std::move(temporary)));
}

Result<void> AtomicFile::write(std::span<const std::span<const std::byte>> pieces) {
    if (failed_) return fail(Status::invalid_argument, Error::no_offset, "an earlier write to this file has failed");
    auto written = sink_.write(pieces);
    failed_ = !written;
    return written;
}

Result<void> AtomicFile::commit() {
    if (failed_) {
        return fail(Status::invalid_argument, Error::no_offset,
                    "the file is committed already, or an earlier write to it has failed");
    }
    failed_ = true;  // whatever happens now, it happens once
    if (::_commit(file_.get()) != 0) return std::unexpected(system_error("flush", errno));
    file_ = FdHolder();
    const auto from = wide_path(temporary_);
    const auto to = wide_path(name_);
    if (!from) return std::unexpected(from.error());
    if (!to) return std::unexpected(to.error());
    if (::MoveFileExW(from->c_str(), to->c_str(), MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH) == 0) {
        return std::unexpected(windows_error_at("rename to", name_, ::GetLastError()));
    }
    temporary_.clear();
    return {};
}

}  // namespace hurray
#endif
