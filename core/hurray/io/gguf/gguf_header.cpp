#include "core/hurray/io/gguf/gguf_header.hpp"

#include <algorithm>
#include <cstdarg>
#include <cstdio>

namespace hurray {
namespace {

using ull = unsigned long long;

// What is read at first.
constexpr std::uint64_t first_step = 64 * 1024;

}  // namespace

std::unexpected<Error> gguf_fault(Status code, std::uint64_t offset, const GgufPlace& place, const char* field,
                                  const char* format, ...) {
    char what[sizeof(Error::message)];
    std::va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    if (place.index == GgufPlace::alone) return fail(code, offset, "%s: %s: %s", place.part, field, what);
    return fail(code, offset, "%s %llu: %s: %s", place.part, static_cast<ull>(place.index), field, what);
}

Result<void> GgufHeader::need(std::uint64_t at, std::uint64_t length, const GgufPlace& place, const char* field) {
    const std::uint64_t size = file_.size();
    if (at > size || length > size - at) {
        return gguf_fault(Status::invalid_format, at, place, field, "expected %llu bytes, but the file ends after %llu",
                          static_cast<ull>(length), static_cast<ull>(size - std::min(at, size)));
    }
    const std::uint64_t end = at + length;
    if (end > limit_) {
        return gguf_fault(Status::limit_exceeded, at, place, field,
                          "the header is longer than its limit, %llu bytes (header_limit)", static_cast<ull>(limit_));
    }
    if (end <= window_.bytes.size()) return {};
    const std::uint64_t wanted =
        file_.in_place() ? limit_ : std::max({end, std::uint64_t{window_.bytes.size()} * 2, first_step});
    auto window = file_.window(0, std::min({wanted, size, limit_}));
    if (!window) return std::unexpected(window.error());
    window_ = *std::move(window);
    return {};
}

}  // namespace hurray
