// How the program ends.
#pragma once

#include <hurray.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace cli {

enum Exit : int {
    good = 0,
    /// verify and diff: anything wrong or different in a file that could be opened as its format.
    finding = 1,
    usage = 2,
    /// Input that is no supported format or cannot be read as it.
    unreadable = 3,
    /// The work could not be done: the output could not be written, the format cannot hold it, no memory.
    failed = 4,
    interrupted = 130,
};

/// Ends a command with an exit code and a message about `subject` (a path, a tensor).
class Failure : public std::runtime_error {
  public:
    Failure(Exit code, const std::string& subject, const std::string& message)
        : std::runtime_error(subject.empty() ? message : subject + ": " + message), code_(code) {}
    Failure(Exit code, const std::string& subject, const hurray::Error& error)
        : std::runtime_error(subject + ": " + error.name() + ": " + error.message()),
          code_(error.code() == HURRAY_ERR_CANCELLED ? interrupted : code),
          error_(error) {}

    Exit code() const noexcept { return code_; }
    /// What the library said, where it was the library.
    const std::optional<hurray::Error>& error() const noexcept { return error_; }
    /// What may help, for people; may be empty.
    const std::string& hint() const noexcept { return hint_; }
    Failure&& with_hint(std::string hint) && {
        hint_ = std::move(hint);
        return std::move(*this);
    }

  private:
    Exit code_;
    std::optional<hurray::Error> error_;
    std::string hint_;
};

/// Whoever reads the output has gone: the program ends as the signal would have it, without a word.
struct ClosedPipe {};

/// The value of a result, or a Failure about `subject`.
template <typename T>
T take(hurray::Result<T> result, const std::string& subject, Exit code = unreadable) {
    if (!result) throw Failure(code, subject, result.error());
    return std::move(*result);
}
inline void take(const hurray::Result<void>& result, const std::string& subject, Exit code = unreadable) {
    if (!result) throw Failure(code, subject, result.error());
}

}  // namespace cli
