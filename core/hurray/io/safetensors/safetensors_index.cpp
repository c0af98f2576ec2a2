#include "core/hurray/io/safetensors/safetensors_index.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

#include "core/hurray/io/quoted.hpp"
#include "core/hurray/io/safetensors/safetensors_header_handler.hpp"
#include "core/hurray/io/text_order.hpp"
#include "core/hurray/base/utf8.hpp"

static_assert(std::endian::native == std::endian::little, "safetensors data is little-endian and is used in place");

namespace hurray {
namespace {

using ull = unsigned long long;

Result<std::uint64_t> read_header_length(const FileBytes& file, std::uint64_t limit) {
    constexpr std::uint64_t prefix = SafetensorsIndex::prefix_size;
    // Offsets of pieces of text are 32 bits wide.
    limit = std::min<std::uint64_t>(limit, std::numeric_limits<std::uint32_t>::max());
    if (file.size() < prefix) {
        return fail(Status::invalid_format, file.size(),
                    "header length: the file ends after %llu bytes, expected at least 8", static_cast<ull>(file.size()));
    }
    std::uint64_t length = 0;
    if (auto read = file.read(0, std::as_writable_bytes(std::span(&length, 1))); !read) {
        return std::unexpected(read.error());
    }
    if (length > file.size() - prefix) {
        return fail(Status::invalid_format, 0,
                    "header length: %llu bytes, but only %llu bytes follow in the file", static_cast<ull>(length),
                    static_cast<ull>(file.size() - prefix));
    }
    if (length > limit) {
        return fail(Status::limit_exceeded, 0, "header length: %llu bytes, the limit is %llu",
                    static_cast<ull>(length), static_cast<ull>(limit));
    }
    if (length == 0) return fail(Status::invalid_format, 0, "header length: 0, expected a JSON object");
    return length;
}

}  // namespace

Result<SafetensorsIndex> SafetensorsIndex::parse(const FileBytes& file, std::uint64_t header_limit) {
    const auto length = read_header_length(file, header_limit);
    if (!length) return std::unexpected(length.error());
    const auto window = file.window(prefix_size, *length);
    if (!window) return std::unexpected(window.error());
    const std::string_view header(reinterpret_cast<const char*>(window->bytes.data()), window->bytes.size());
    if (header.front() != '{') {
        return fail(Status::invalid_format, prefix_size, "header: expected '{', got %s",
                    Quoted(header.substr(0, 1)).c_str());
    }
    if (const auto invalid = find_invalid_utf8(header)) {
        return fail(Status::invalid_format, prefix_size + *invalid, "header: invalid UTF-8");
    }
    SafetensorsIndex index;
    index.header_length_ = *length;
    const std::uint64_t data_size = file.size() - index.data_offset();
    auto done = parse_safetensors_header(header, data_size, index);
    if (done) done = index.index_metadata();
    if (done) done = index.index_names();
    if (done) done = index.check_coverage(data_size);
    if (!done) return std::unexpected(done.error());
    return index;
}

Result<void> SafetensorsIndex::index_names() {
    const auto name_of = [this](std::uint32_t i) { return text(entries_[i].name); };
    by_name_ = order_by_text(entries_.size(), name_of);
    if (const auto duplicate = find_duplicate(by_name_, name_of)) {
        return fail(Status::invalid_format, Error::no_offset, "header: two tensors have the name %s",
                    Quoted(name_of(*duplicate)).c_str());
    }
    return {};
}

Result<void> SafetensorsIndex::index_metadata() {
    const auto key_of = [this](std::uint32_t i) { return text(metadata_[i].key); };
    by_key_ = order_by_text(metadata_.size(), key_of);
    if (const auto duplicate = find_duplicate(by_key_, key_of)) {
        return fail(Status::invalid_format, Error::no_offset, "__metadata__: the key %s is there twice",
                    Quoted(key_of(*duplicate)).c_str());
    }
    return {};
}

// The data section must be covered from its first byte to its last, each byte by one tensor: what lies between or
// behind could be anything, a second file included.
Result<void> SafetensorsIndex::check_coverage(std::uint64_t data_size) const {
    const auto less = [this](std::uint32_t a, std::uint32_t b) {
        const Entry& x = entries_[a];
        const Entry& y = entries_[b];
        return x.begin != y.begin ? x.begin < y.begin : x.end < y.end;
    };
    std::vector<std::uint32_t> order(entries_.size());
    std::iota(order.begin(), order.end(), 0U);
    if (!std::is_sorted(order.begin(), order.end(), less)) std::sort(order.begin(), order.end(), less);

    std::uint64_t covered = 0;
    const Entry* previous = nullptr;
    for (const std::uint32_t i : order) {
        const Entry& entry = entries_[i];
        if (entry.begin < covered) {
            return fail(Status::invalid_format, data_offset() + entry.begin,
                        "tensor %s: data_offsets [%llu,%llu] overlap those of %s, which end at %llu",
                        Quoted(text(entry.name)).c_str(), static_cast<ull>(entry.begin), static_cast<ull>(entry.end),
                        Quoted(text(previous->name)).c_str(), static_cast<ull>(covered));
        }
        if (entry.begin > covered) {
            return fail(Status::invalid_format, data_offset() + covered,
                        "tensor %s: data_offsets start at %llu and leave a gap: bytes %llu to %llu of the data section "
                        "belong to no tensor",
                        Quoted(text(entry.name)).c_str(), static_cast<ull>(entry.begin), static_cast<ull>(covered),
                        static_cast<ull>(entry.begin));
        }
        covered = entry.end;
        previous = &entry;
    }
    if (covered != data_size) {
        return fail(Status::invalid_format, data_offset() + covered,
                    "data section: %llu bytes, but the tensors cover %llu", static_cast<ull>(data_size),
                    static_cast<ull>(covered));
    }
    return {};
}

std::optional<std::size_t> SafetensorsIndex::find(std::string_view name) const noexcept {
    return find_text(by_name_, name, [this](std::uint32_t i) { return text(entries_[i].name); });
}

std::optional<std::size_t> SafetensorsIndex::find_metadata(std::string_view key) const noexcept {
    return find_text(by_key_, key, [this](std::uint32_t i) { return text(metadata_[i].key); });
}

}  // namespace hurray
