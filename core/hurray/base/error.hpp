// Errors are values: a code, the byte offset it was found at, and a message that says what is wrong, in which
// field, and what was expected. The message lives inside the object, so that reporting an error never allocates.
#pragma once

#include <cstdint>
#include <expected>

#include "core/hurray/base/status.hpp"

namespace hurray {

struct Error {
    /// `offset` of an error that has no place in the input.
    static constexpr std::uint64_t no_offset = ~std::uint64_t{0};

    Status code = Status::internal;
    std::uint64_t offset = no_offset;
    char message[224] = {};
};

template <typename T>
using Result = std::expected<T, Error>;

/// Formats an error as printf does; a message that is too long is cut at a UTF-8 character boundary, and bytes that are
/// no UTF-8 become question marks.
#if defined(__GNUC__)
__attribute__((cold, noinline, format(printf, 3, 4)))
#endif
Error make_error(Status code, std::uint64_t offset, const char* format, ...);

/// As make_error, ready to be returned from a function that returns a Result.
#if defined(__GNUC__)
__attribute__((cold, noinline, format(printf, 3, 4)))
#endif
std::unexpected<Error> fail(Status code, std::uint64_t offset, const char* format, ...);

}  // namespace hurray
