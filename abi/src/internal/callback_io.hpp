// Bytes that come from, and go to, callbacks of the caller.
#pragma once

#include <cstdint>

#include "abi/src/api/io.hpp"
#include "core/hurray/base/error.hpp"
#include "core/hurray/io/byte_sink.hpp"
#include "core/hurray/io/byte_source.hpp"

namespace hurray::abi {

/// What a callback that threw an exception is to the call that ran it: internal_panic.
/// @param callback what it is called in messages: "read", "write", "source"
std::unexpected<Error> callback_threw(const char* callback);
/// What a callback that did not succeed says: its own code where that is one of ours, so that a caller gets back what its
/// callback meant; else io.
std::unexpected<Error> callback_failed(const char* callback, std::int64_t answer);

/// Reads what a callback gives. One that throws, that claims to have given more than there was room for, or that fails, is an
/// error: internal_panic, invalid_argument, or the code it returned (io, where that is none of ours).
class CallbackSource final : public ByteSource {
public:
    /// @param read not null; it and `context` are the caller's and outlive the source
    CallbackSource(HurrayReadFn read, void* context) noexcept : read_(read), context_(context) {}

    Result<std::size_t> read_some(std::span<std::byte> into) override;

private:
    HurrayReadFn read_;
    void* context_;
};

/// Hands what is written to a callback, piece by piece, where it lies. Errors: as CallbackSource.
class CallbackSink final : public ByteSink {
public:
    CallbackSink(HurrayWriteFn write, void* context) noexcept : write_(write), context_(context) {}

    using ByteSink::write;
    Result<void> write(std::span<const std::span<const std::byte>> pieces) override;

private:
    HurrayWriteFn write_;
    void* context_;
};

}  // namespace hurray::abi
