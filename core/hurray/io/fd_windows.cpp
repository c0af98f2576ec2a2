// Reading and writing file descriptors of the C runtime on Windows. They must be in binary mode: in text mode it changes line ends.
#ifdef _WIN32
#include <io.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "core/hurray/io/byte_sink.hpp"
#include "core/hurray/io/byte_source.hpp"
#include "core/hurray/io/system_error.hpp"

// Of the universal C runtime; its headers in MinGW leave it out.
extern "C" _invalid_parameter_handler __cdecl _set_thread_local_invalid_parameter_handler(_invalid_parameter_handler handler);

namespace hurray {
namespace {

constexpr std::size_t largest_transfer = std::size_t{1} << 30;

// The runtime ends the process where a descriptor is none, unless the thread says that it looks at errno.
class ErrorsAreLookedAt {
public:
    ErrorsAreLookedAt() noexcept : before_(::_set_thread_local_invalid_parameter_handler(&ErrorsAreLookedAt::go_on)) {}
    ErrorsAreLookedAt(const ErrorsAreLookedAt&) = delete;
    ErrorsAreLookedAt& operator=(const ErrorsAreLookedAt&) = delete;
    ~ErrorsAreLookedAt() { ::_set_thread_local_invalid_parameter_handler(before_); }

private:
    static void __cdecl go_on(const wchar_t*, const wchar_t*, const wchar_t*, unsigned, std::uintptr_t) {}

    _invalid_parameter_handler before_;
};

unsigned transfer_of(std::size_t size) noexcept { return static_cast<unsigned>(std::min(size, largest_transfer)); }

}  // namespace

void close_fd(int fd) noexcept {
    const ErrorsAreLookedAt here;
    ::_close(fd);
}

Result<std::size_t> FdSource::read_some(std::span<std::byte> into) {
    if (into.empty()) return std::size_t{0};
    const ErrorsAreLookedAt here;
    const int count = ::_read(fd_.get(), into.data(), transfer_of(into.size()));
    if (count < 0) return std::unexpected(system_error("read", errno));
    return static_cast<std::size_t>(count);
}

Result<std::uint64_t> FdSource::skip(std::uint64_t count) {
    const auto left = remaining();
    if (!left) return ByteSource::skip(count);
    const std::uint64_t step = std::min(count, *left);
    const ErrorsAreLookedAt here;
    if (::_lseeki64(fd_.get(), static_cast<std::int64_t>(step), SEEK_CUR) < 0) return std::unexpected(system_error("seek", errno));
    return step;
}

std::optional<std::uint64_t> FdSource::remaining() const {
    const ErrorsAreLookedAt here;
    struct _stat64 status {};
    if (::_fstat64(fd_.get(), &status) != 0 || (status.st_mode & _S_IFMT) != _S_IFREG) return std::nullopt;
    const std::int64_t position = ::_lseeki64(fd_.get(), 0, SEEK_CUR);
    if (position < 0) return std::nullopt;
    return position < status.st_size ? static_cast<std::uint64_t>(status.st_size - position) : 0;
}

FdSink::FdSink(int fd, FdOwnership ownership) noexcept : fd_(fd, ownership) {}

Result<void> FdSink::write(std::span<const std::span<const std::byte>> pieces) {
    const ErrorsAreLookedAt here;
    for (std::span<const std::byte> piece : pieces) {
        while (!piece.empty()) {
            const int written = ::_write(fd_.get(), piece.data(), transfer_of(piece.size()));
            // Nothing written without a reason: never try that for ever.
            if (written <= 0) return std::unexpected(system_error("write", written == 0 ? EIO : errno));
            piece = piece.subspan(static_cast<std::size_t>(written));
        }
    }
    return {};
}

}  // namespace hurray
#endif
