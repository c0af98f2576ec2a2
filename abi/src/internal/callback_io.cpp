#include "abi/src/internal/callback_io.hpp"

#include <cinttypes>
#include <cstring>
#include <limits>

#include "abi/src/api/status.hpp"
#include "abi/src/internal/exchange.hpp"
#include "abi/src/internal/release.hpp"

namespace hurray::abi {
namespace {

bool is_error_of_ours(std::int64_t answer) {
    if (answer >= 0 || answer < std::numeric_limits<HurrayStatus>::min()) return false;
    return std::strcmp(hurray_status_name(static_cast<HurrayStatus>(answer)), "UNKNOWN") != 0;
}

}  // namespace

std::unexpected<Error> callback_failed(const char* callback, std::int64_t answer) {
    if (is_error_of_ours(answer)) {
        return fail(static_cast<Status>(answer), Error::no_offset, "%s callback: it failed with %s (%" PRId64 ")", callback,
                    hurray_status_name(static_cast<HurrayStatus>(answer)), answer);
    }
    return fail(Status::io, Error::no_offset, "%s callback: it failed with %" PRId64 ", which is no status of the library",
                callback, answer);
}

std::unexpected<Error> callback_threw(const char* callback) {
    return fail(Status::internal_panic, Error::no_offset, "%s callback: it threw an exception", callback);
}

Result<std::size_t> CallbackSource::read_some(std::span<std::byte> into) {
    if (into.empty()) return std::size_t{0};
    std::int64_t count = 0;
    if (!run_callback("read callback", [&] { count = read_(context_, into.data(), into.size()); })) return callback_threw("read");
    if (count < 0) return callback_failed("read", count);
    if (static_cast<std::uint64_t>(count) > into.size()) {
        return fail(Status::invalid_argument, Error::no_offset,
                    "read callback: expected a count of at most %zu, the capacity, got %" PRId64, into.size(), count);
    }
    return static_cast<std::size_t>(count);
}

Result<void> CallbackSink::write(std::span<const std::span<const std::byte>> pieces) {
    for (const auto piece : pieces) {
        if (piece.empty()) continue;
        HurrayStatus status = HURRAY_OK;
        if (!run_callback("write callback", [&] { status = write_(context_, piece.data(), piece.size()); })) {
            return callback_threw("write");
        }
        if (status != HURRAY_OK) return callback_failed("write", status);
    }
    return {};
}

}  // namespace hurray::abi
