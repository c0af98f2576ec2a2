// Standard output and error. Everything that is printed goes through here, so that a failed write is noticed.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace cli {

/// Buffered bytes for standard output; throws ClosedPipe or a Failure.
class Output {
  public:
    void write(std::string_view bytes);
    void flush();
    /// Forgets what is not written yet.
    void drop() noexcept { pending_.clear(); }

  private:
    std::string pending_;
};

Output& standard_output();

template <typename... Arguments>
void print(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    standard_output().write(fmt::format(format, std::forward<Arguments>(arguments)...));
}

/// A line for people on standard error: "hurray: ...". Whoever does not want to read it is no failure.
void complain(std::string_view message);
/// A line for people on standard error without a prefix.
void remark(std::string_view message);

}  // namespace cli
