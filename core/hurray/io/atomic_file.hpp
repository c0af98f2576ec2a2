// A file that appears, or replaces an older one, in one step.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/hurray/base/error.hpp"
#include "core/hurray/io/byte_sink.hpp"
#include "core/hurray/io/fd.hpp"

namespace hurray {

/// A new file that is written beside its target and moved over it by commit(). Until then, and after any failure, the
/// target is as it was. Destroyed without a commit it leaves nothing; where the system can make files without a name
/// (Linux), not even a process that is killed in the middle leaves one.
///
/// The old file's inode lives on as long as it is mapped or open, so the target may be what the data comes from. The
/// new file takes over the permission bits of the one it replaces; a target that is a symbolic link is followed.
///
/// Thread rule: one thread at a time.
class AtomicFile final : public ByteSink {
public:
    /// How the file is kept until it is committed.
    enum class Temporary {
        /// Without a name where the system can do that, otherwise under a name of its own in the target's folder.
        automatic,
        /// Under a name.
        named,
    };

    /// Errors: invalid_argument (empty path or one with a NUL; something else than a regular file is at `path`),
    /// not_found (no such folder), io.
    static Result<std::unique_ptr<AtomicFile>> create(std::string_view path,
                                                      Temporary temporary = Temporary::automatic);
    ~AtomicFile() override;

    using ByteSink::write;
    Result<void> write(std::span<const std::span<const std::byte>> pieces) override;

    /// Makes the contents durable, moves the file over its target and makes that durable too. Once only.
    Result<void> commit() override;

private:
    AtomicFile(FdHolder folder, std::string name, FdHolder file, std::string temporary);

    FdHolder folder_;
    std::string name_;
    FdHolder file_;
    /// Name of the file while it is written; empty while it has none.
    std::string temporary_;
    FdSink sink_;
    bool failed_ = false;
};

}  // namespace hurray
