// The boundary between C++ and C: nothing but a status code and a bounded message leaves a public function.
#pragma once

#include <cstdint>
#include <cstring>
#include <new>
#include <type_traits>

#include "abi/src/api/status.hpp"
#include "abi/src/internal/diagnostics.hpp"
#include "core/hurray/base/error.hpp"

namespace hurray::abi {

/// Writes the code and message of `error` to the caller's report (nullable), with the byte offset behind it.
HurrayStatus report(const Error& error, HurrayError* out) noexcept;
HurrayStatus report_null(const char* parameter, HurrayError* out) noexcept;
HurrayStatus report_out_of_memory(HurrayError* out) noexcept;
/// A caught exception: its text is also kept for hurray_diagnostics_read.
HurrayStatus report_panic(const char* what, HurrayError* out) noexcept;

inline HurrayStatus succeed(HurrayError* out) noexcept {
    if (out != nullptr) {
        out->code = HURRAY_OK;
        out->message[0] = '\0';
    }
    return HURRAY_OK;
}

/// Runs the body of a public function: a callable that returns Result<void>. No exception passes. Inlined always: each body
/// is used once, and a call would hand over what it captures through memory.
template <typename Body>
[[gnu::always_inline]] inline HurrayStatus guarded(HurrayError* error, Body&& body) noexcept {
    try {
        const Result<void> result = body();
        if (result.has_value()) [[likely]] return succeed(error);
        return report(result.error(), error);
    } catch (const std::bad_alloc&) {
        return report_out_of_memory(error);
    } catch (...) {
        return report_panic(exception_text(), error);
    }
}

HurrayStatus report_invalid_handle(const char* parameter, HurrayError* out) noexcept;

/// The end of a call that ends handles: INTERNAL_PANIC unless `clean`. What the callback threw was kept when it was caught.
HurrayStatus report_end(bool clean, HurrayError* out) noexcept;

/// Fails with HURRAY_ERR_INVALID_HANDLE.
std::unexpected<Error> invalid_handle(const char* parameter, const char* expected) noexcept;

/// Larger values of struct_size are refused: nobody's struct is, and a variable that was never set may well be.
inline constexpr std::uint32_t largest_struct_size = 4096;

/// Prepares a struct that starts with struct_size: reads the size the caller compiled with, zeroes the rest up to
/// it, and says how much of ours fits. `minimum` is the size of the struct when it was introduced.
template <typename Struct>
Result<void> fill_sized_struct(Struct* out, const Struct& value, std::uint32_t minimum, const char* parameter) noexcept {
    static_assert(std::is_trivially_copyable_v<Struct>);
    const std::uint32_t size = out->struct_size;
    if (size < minimum || size > largest_struct_size) {
        return fail(Status::invalid_argument, Error::no_offset, "%s->struct_size: expected %u to %u, got %u", parameter, minimum,
                    largest_struct_size, size);
    }
    auto* bytes = reinterpret_cast<unsigned char*>(out);
    const std::uint32_t ours = size < sizeof(Struct) ? size : static_cast<std::uint32_t>(sizeof(Struct));
    std::memcpy(bytes + sizeof size, reinterpret_cast<const unsigned char*>(&value) + sizeof size, ours - sizeof size);
    if (size > ours) std::memset(bytes + ours, 0, size - ours);
    return {};
}

/// Zeroes a caller's sized struct behind its struct_size, before anything else happens.
template <typename Struct>
void clear_sized_struct(Struct* out) noexcept {
    const std::uint32_t size = out->struct_size;
    if (size > sizeof size && size <= largest_struct_size) std::memset(reinterpret_cast<unsigned char*>(out) + sizeof size, 0, size - sizeof size);
}

/// Reads a caller's options struct of any size into ours: missing fields are zero, and unknown further ones must be.
template <typename Struct>
Result<Struct> read_sized_struct(const Struct* in, std::uint32_t minimum, const char* parameter) noexcept {
    Struct value{};
    if (in == nullptr) return value;
    const std::uint32_t size = in->struct_size;
    if (size < minimum || size > largest_struct_size) {
        return fail(Status::invalid_argument, Error::no_offset, "%s->struct_size: expected %u to %u, got %u", parameter, minimum,
                    largest_struct_size, size);
    }
    const auto* bytes = reinterpret_cast<const unsigned char*>(in);
    for (std::uint32_t i = sizeof(Struct); i < size; ++i) {
        if (bytes[i] != 0) {
            return fail(Status::unsupported, Error::no_offset,
                        "%s: byte %u is set, but this library knows only %zu bytes of the struct", parameter, i,
                        sizeof(Struct));
        }
    }
    std::memcpy(&value, in, size < sizeof(Struct) ? size : sizeof(Struct));
    value.struct_size = sizeof(Struct);
    return value;
}

}  // namespace hurray::abi
