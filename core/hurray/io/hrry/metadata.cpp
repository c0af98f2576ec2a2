#include "core/hurray/io/hrry/metadata.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "core/hurray/base/endian.hpp"
#include "core/hurray/base/utf8.hpp"
#include "core/hurray/io/quoted.hpp"

namespace hurray::hrry {
namespace {

using ull = unsigned long long;

// Elements of different lengths from one mark to the next.
constexpr std::uint32_t mark_distance = 16;

// A key of a byte, its length, a tag, and the shortest value.
constexpr std::uint64_t least_entry_size = 5;

constexpr bool has_length(MetadataType type) noexcept {
    return type == MetadataType::string || type == MetadataType::bytes;
}

// Bytes of a value; of the length in front of those that have one.
constexpr std::uint32_t fixed_size(MetadataType type) noexcept {
    switch (type) {
        case MetadataType::boolean:
            return 1;
        case MetadataType::string:
        case MetadataType::bytes:
            return 4;
        default:
            return 8;
    }
}

// A value that is no array, which lies at `at`.
MetadataView read_value(MetadataType type, const std::byte* at) noexcept {
    MetadataView view;
    view.type = type;
    switch (type) {
        case MetadataType::boolean:
            view.boolean = *at != std::byte{0};
            break;
        case MetadataType::int64:
            view.int64 = static_cast<std::int64_t>(load_le<std::uint64_t>(at));
            break;
        case MetadataType::uint64:
            view.uint64 = load_le<std::uint64_t>(at);
            break;
        case MetadataType::float64:
            view.float64 = std::bit_cast<double>(load_le<std::uint64_t>(at));
            break;
        default:
            view.text = {reinterpret_cast<const char*>(at) + 4, load_le<std::uint32_t>(at)};
    }
    return view;
}

}  // namespace

class Metadata::Reader {
  public:
    Reader(Metadata& out, std::uint64_t offset) noexcept : out_(out), bytes_(out.bytes_), offset_(offset) {}

    Result<void> read() {
        if (bytes_.size() < 4) return ends_in("kv_count", 4);
        const std::uint32_t count = load_le<std::uint32_t>(bytes_.data());
        at_ = 4;
        if (count > (bytes_.size() - at_) / least_entry_size) {
            return fail(Status::invalid_format, offset_,
                        "kv_count: %u entries do not fit the %zu bytes of the metadata section", count, bytes_.size());
        }
        out_.entries_.reserve(count);
        for (std::uint32_t i = 0; i < count; ++i) {
            if (auto done = read_entry(); !done) return done;
        }
        if (at_ == bytes_.size()) return {};
        return fail(Status::invalid_format, here(),
                    "metadata: expected the end of the section behind the last of %u entries, got %zu bytes more",
                    count, bytes_.size() - at_);
    }

  private:
    [[nodiscard]] std::uint64_t here() const noexcept { return offset_ + at_; }
    [[nodiscard]] std::size_t left() const noexcept { return bytes_.size() - at_; }
    [[nodiscard]] const std::byte* data() const noexcept { return bytes_.data() + at_; }

    std::unexpected<Error> ends_in(const char* field, std::uint64_t expected) const {
        return fail(Status::invalid_format, here(), "metadata: %s: expected %llu bytes, the section ends after %zu",
                    field, static_cast<ull>(expected), left());
    }

    Result<void> read_entry() {
        if (left() < 2) return ends_in("key_length", 2);
        Entry entry;
        entry.key_length = load_le<std::uint16_t>(data());
        if (entry.key_length == 0) {
            return fail(Status::invalid_format, here(), "metadata: key_length: expected at least 1, got 0");
        }
        at_ += 2;
        if (left() < entry.key_length) return ends_in("key", entry.key_length);
        entry.key_at = static_cast<std::uint32_t>(at_);
        const std::string_view key = out_.key_of(entry);
        if (const auto invalid = find_invalid_utf8(key)) {
            return fail(Status::invalid_format, here() + *invalid, "metadata: key %s: invalid UTF-8",
                        Quoted(key).c_str());
        }
        key_ = key;
        at_ += entry.key_length;
        const auto type = read_tag("value_tag", 7);
        if (!type) return std::unexpected(type.error());
        entry.type = *type;
        entry.value_at = static_cast<std::uint32_t>(at_);
        auto done = entry.type == MetadataType::array ? read_array(entry) : read_payload(entry.type);
        if (done) out_.entries_.push_back(entry);
        return done;
    }

    Result<MetadataType> read_tag(const char* field, unsigned most) {
        if (left() < 1) return ends_in(field, 1);
        const auto tag = std::to_integer<unsigned>(*data());
        if (tag == 0 || tag > most) {
            return fail(Status::invalid_format, here(), "metadata: key %s: %s: expected 01 to %02X, got %02X",
                        Quoted(key_).c_str(), field, most, tag);
        }
        ++at_;
        return static_cast<MetadataType>(tag);
    }

    // A value that is no array.
    Result<void> read_payload(MetadataType type) {
        const std::uint32_t size = fixed_size(type);
        if (left() < size) return ends_in("value", size);
        if (type == MetadataType::boolean && std::to_integer<unsigned>(*data()) > 1) {
            return fail(Status::invalid_format, here(), "metadata: key %s: expected a bool of 00 or 01, got %02X",
                        Quoted(key_).c_str(), std::to_integer<unsigned>(*data()));
        }
        if (!has_length(type)) {
            at_ += size;
            return {};
        }
        const std::uint32_t length = load_le<std::uint32_t>(data());
        if (length > left() - size) {
            return fail(Status::invalid_format, here(),
                        "metadata: key %s: length of a value: expected at most %zu, where the section ends, got %u",
                        Quoted(key_).c_str(), left() - size, length);
        }
        at_ += size;
        if (type == MetadataType::string) {
            if (const auto invalid = find_invalid_utf8({reinterpret_cast<const char*>(data()), length})) {
                return fail(Status::invalid_format, here() + *invalid, "metadata: key %s: invalid UTF-8 in its value",
                            Quoted(key_).c_str());
            }
        }
        at_ += length;
        return {};
    }

    Result<void> read_array(Entry& entry) {
        const auto type = read_tag("element type of the array", 6);
        if (!type) return std::unexpected(type.error());
        entry.element_type = *type;
        if (left() < 4) return ends_in("element count", 4);
        entry.elements = load_le<std::uint32_t>(data());
        if (entry.elements > (left() - 4) / fixed_size(*type)) {
            return fail(
                Status::invalid_format, here(),
                "metadata: key %s: %u elements of the array do not fit the %zu bytes that are left of the section",
                Quoted(key_).c_str(), entry.elements, left() - 4);
        }
        at_ += 4;
        entry.value_at = static_cast<std::uint32_t>(at_);
        entry.first_mark = out_.marks_.size();
        if (!has_length(*type) && *type != MetadataType::boolean) {
            at_ += std::size_t{entry.elements} * fixed_size(*type);
            return {};
        }
        for (std::uint32_t i = 0; i < entry.elements; ++i) {
            if (has_length(*type) && i % mark_distance == 0) out_.marks_.push_back(static_cast<std::uint32_t>(at_));
            if (auto done = read_payload(*type); !done) return done;
        }
        return {};
    }

    Metadata& out_;
    std::span<const std::byte> bytes_;
    std::uint64_t offset_;
    std::size_t at_ = 0;
    std::string_view key_;
};

std::string_view Metadata::key_of(const Entry& entry) const noexcept {
    return {reinterpret_cast<const char*>(bytes_.data()) + entry.key_at, entry.key_length};
}

Result<Metadata> Metadata::read(std::span<const std::byte> bytes, std::uint64_t offset) {
    Metadata metadata;
    metadata.bytes_ = bytes;
    auto done = Reader(metadata, offset).read();
    if (done) done = metadata.order_keys(offset);
    if (!done) return std::unexpected(done.error());
    return metadata;
}

Result<void> Metadata::order_keys(std::uint64_t offset) {
    by_key_.resize(entries_.size());
    std::iota(by_key_.begin(), by_key_.end(), 0U);
    std::sort(by_key_.begin(), by_key_.end(), [&](std::uint32_t a, std::uint32_t b) {
        const int order = key(a).compare(key(b));
        return order != 0 ? order < 0 : a < b;
    });
    const auto twice = std::adjacent_find(by_key_.begin(), by_key_.end(),
                                          [&](std::uint32_t a, std::uint32_t b) { return key(a) == key(b); });
    if (twice == by_key_.end()) return {};
    return fail(Status::invalid_format, offset + entries_[*(twice + 1)].key_at, "metadata: the key %s is there twice",
                Quoted(key(*twice)).c_str());
}

std::string_view Metadata::key(std::uint64_t i) const noexcept {
    return key_of(entries_[static_cast<std::size_t>(i)]);
}

MetadataView Metadata::value(std::uint64_t i) const noexcept {
    const Entry& entry = entries_[static_cast<std::size_t>(i)];
    if (entry.type != MetadataType::array) return read_value(entry.type, bytes_.data() + entry.value_at);
    MetadataView view;
    view.type = MetadataType::array;
    view.element_type = entry.element_type;
    view.count = entry.elements;
    return view;
}

MetadataView Metadata::element(std::uint64_t i, std::uint64_t element) const noexcept {
    const Entry& entry = entries_[static_cast<std::size_t>(i)];
    if (!has_length(entry.element_type)) {
        return read_value(entry.element_type,
                          bytes_.data() + entry.value_at + element * fixed_size(entry.element_type));
    }
    const std::byte* at = bytes_.data() + marks_[static_cast<std::size_t>(entry.first_mark + element / mark_distance)];
    for (std::uint64_t skip = element % mark_distance; skip != 0; --skip) at += 4 + load_le<std::uint32_t>(at);
    return read_value(entry.element_type, at);
}

std::optional<std::uint64_t> Metadata::find(std::string_view wanted) const noexcept {
    const auto found = std::lower_bound(by_key_.begin(), by_key_.end(), wanted,
                                        [&](std::uint32_t i, std::string_view text) { return key(i) < text; });
    if (found == by_key_.end() || key(*found) != wanted) return std::nullopt;
    return *found;
}

}  // namespace hurray::hrry
