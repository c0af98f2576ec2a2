#include "core/hurray/io/hrry/index.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "core/hurray/base/endian.hpp"
#include "core/hurray/base/utf8.hpp"
#include "core/hurray/io/crc32c.hpp"
#include "core/hurray/io/quoted.hpp"

namespace hurray::hrry {
namespace {

using ull = unsigned long long;

constexpr std::uint64_t count_size = 8;
// In the trailer.
constexpr std::uint64_t checksum_at = 28;
// Of the fields behind the name.
constexpr std::uint64_t length_at = 8;
constexpr std::uint64_t data_offset_at = 12;
constexpr std::uint64_t data_length_at = 20;
constexpr std::uint64_t flags_at = 28;

std::uint64_t hash_of(std::string_view text) noexcept {
    constexpr std::uint64_t factor = 0x9E3779B97F4A7C15;
    std::uint64_t hash = text.size() * factor;
    while (!text.empty()) {
        std::uint64_t word = 0;
        const std::size_t size = std::min(text.size(), sizeof word);
        std::memcpy(&word, text.data(), size);
        text.remove_prefix(size);
        hash = (hash ^ word) * factor;
        hash ^= hash >> 32;
    }
    return hash;
}

// Positions ordered by a number of each, then by `less`.
template <typename NumberOf, typename Less>
std::vector<std::uint32_t> order_by(std::size_t count, NumberOf number_of, Less less) {
    // The numbers go with the positions while these are moved: they are what is compared nearly always.
    std::vector<std::pair<std::uint64_t, std::uint32_t>> numbered(count);
    for (std::uint32_t i = 0; i < count; ++i) numbered[i] = {number_of(i), i};
    std::sort(numbered.begin(), numbered.end(), [&](const auto& a, const auto& b) {
        return a.first != b.first ? a.first < b.first : less(a.second, b.second);
    });
    std::vector<std::uint32_t> order(count);
    std::ranges::transform(numbered, order.begin(), [](const auto& entry) { return entry.second; });
    return order;
}

}  // namespace

std::uint64_t Index::fields_at(std::uint64_t i) const noexcept {
    const std::uint64_t at = at_[static_cast<std::size_t>(i)];
    return at + 2 + load_le<std::uint16_t>(&bytes_[static_cast<std::size_t>(at)]);
}

std::uint64_t Index::length_field(std::uint64_t i) const noexcept {
    return place_.offset + fields_at(i) + length_at;
}
std::uint64_t Index::data_offset_field(std::uint64_t i) const noexcept {
    return place_.offset + fields_at(i) + data_offset_at;
}
std::uint64_t Index::data_length_field(std::uint64_t i) const noexcept {
    return place_.offset + fields_at(i) + data_length_at;
}

std::string_view Index::name(std::uint64_t i) const noexcept {
    const std::byte* at = bytes_.data() + at_[static_cast<std::size_t>(i)];
    return {reinterpret_cast<const char*>(at) + 2, load_le<std::uint16_t>(at)};
}

IndexEntry Index::entry(std::uint64_t i) const noexcept {
    const std::string_view text = name(i);
    const auto* fields = reinterpret_cast<const std::byte*>(text.data() + text.size());
    return {.name = text,
            .descriptor_offset = load_le<std::uint64_t>(fields),
            .descriptor_length = load_le<std::uint32_t>(fields + length_at),
            .data_offset = load_le<std::uint64_t>(fields + data_offset_at),
            .data_length = load_le<std::uint64_t>(fields + data_length_at)};
}

Result<Index> Index::read(std::span<const std::byte> bytes, const Place& place, Mode mode) {
    Index index;
    index.bytes_ = bytes;
    index.place_ = place;
    index.mode_ = mode;
    auto done = index.read_entries();
    if (done) done = index.order_names();
    if (done) {
        index.order_offsets();
        done = index.check_order(mode);
    }
    if (!done) return std::unexpected(done.error());
    return index;
}

Result<Index> Index::read_checked(std::span<const std::byte> bytes, const Header& header, const Trailer& trailer,
                                  std::uint64_t trailer_offset, Mode mode) {
    if ((header.flags & file_flag::has_checksum) != 0) {
        const std::uint32_t checksum = crc32c(bytes);
        if (checksum != trailer.index_checksum) {
            return fail(Status::invalid_format, trailer_offset + checksum_at,
                        "index_crc32c: expected %08X, the checksum of the index, got %08X", checksum,
                        trailer.index_checksum);
        }
    }
    return read(bytes,
                {.offset = trailer.index_offset,
                 .region_end = trailer.metadata_offset != 0 ? trailer.metadata_offset : trailer.index_offset,
                 .data_alignment = header.data_alignment,
                 .first_descriptor_offset = header.first_descriptor_offset,
                 .sorted = (header.flags & file_flag::sorted_index) != 0},
                mode);
}

Result<void> Index::read_entries() {
    const std::uint64_t count = load_le<std::uint64_t>(bytes_.data());
    // An entry has a name of a byte at least.
    if (count > (bytes_.size() - count_size) / (entry_size + 1)) {
        return fail(Status::invalid_format, place_.offset,
                    "index_entry_count: %llu entries do not fit the %zu bytes of the index", static_cast<ull>(count),
                    bytes_.size());
    }
    if (count > std::numeric_limits<std::uint32_t>::max()) {
        return fail(Status::limit_exceeded, place_.offset, "index_entry_count: expected at most 2^32-1, got %llu",
                    static_cast<ull>(count));
    }
    at_.reserve(static_cast<std::size_t>(count));
    std::uint64_t at = count_size;
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint64_t left = bytes_.size() - at;
        const std::uint32_t length = left < 2 ? 0 : load_le<std::uint16_t>(&bytes_[static_cast<std::size_t>(at)]);
        if (left < entry_size + length) {
            return fail(Status::invalid_format, place_.offset + at,
                        "index entry %llu: expected %llu bytes, the index ends after %llu", static_cast<ull>(i),
                        static_cast<ull>(entry_size + length), static_cast<ull>(left));
        }
        if (length == 0) {
            return fail(Status::invalid_format, place_.offset + at,
                        "index entry %llu: name_length: expected at least 1, got 0", static_cast<ull>(i));
        }
        at_.push_back(at);
        if (auto checked = check_entry(at, entry(i), mode_); !checked) return checked;
        at += entry_size + length;
    }
    if (at != bytes_.size()) {
        return fail(Status::invalid_format, place_.offset + at,
                    "index: expected its end behind the last of %llu entries, got %llu bytes more",
                    static_cast<ull>(count), static_cast<ull>(bytes_.size() - at));
    }
    return {};
}

Result<void> Index::check_entry(std::uint64_t at, const IndexEntry& entry, Mode mode) const {
    const std::uint64_t name_at = place_.offset + at + 2;
    const std::uint64_t fields = name_at + entry.name.size();
    if (const auto invalid = find_invalid_utf8(entry.name)) {
        return fail(Status::invalid_format, name_at + *invalid, "index: name %s: invalid UTF-8",
                    Quoted(entry.name).c_str());
    }
    if (place_.sorted && at_.size() > 1) {
        const std::string_view before = name(at_.size() - 2);
        if (before == entry.name) {
            return fail(Status::invalid_format, name_at, "index: two tensors have the name %s", Quoted(before).c_str());
        }
        if (before > entry.name) {
            return fail(Status::invalid_format, name_at,
                        "index: expected names in order, as flag bit 1 says, got %s behind %s",
                        Quoted(entry.name).c_str(), Quoted(before).c_str());
        }
    }
    if (entry.descriptor_offset % part_alignment != 0 || entry.descriptor_offset < place_.first_descriptor_offset ||
        entry.descriptor_offset > place_.region_end) {
        return fail(Status::invalid_format, fields,
                    "tensor %s: descriptor_offset: expected a multiple of 8 from %llu to %llu, got %llu",
                    Quoted(entry.name).c_str(), static_cast<ull>(place_.first_descriptor_offset),
                    static_cast<ull>(place_.region_end), static_cast<ull>(entry.descriptor_offset));
    }
    if (entry.descriptor_length < fixed_header_size ||
        entry.descriptor_length > place_.region_end - entry.descriptor_offset) {
        return fail(Status::invalid_format, fields + length_at,
                    "tensor %s: descriptor_length: expected 20 to %llu bytes, which is where the tensors end, got %u",
                    Quoted(entry.name).c_str(), static_cast<ull>(place_.region_end - entry.descriptor_offset),
                    entry.descriptor_length);
    }
    // Both lie in the file, far from 2^64.
    const std::uint64_t end = entry.descriptor_end();
    const std::uint64_t aligned = (end + place_.data_alignment - 1) & ~std::uint64_t{place_.data_alignment - 1};
    const bool empty = entry.data_length == 0;
    // The data of nothing is anywhere in the padding: composite heads, which have none, are followed by 8-byte padding.
    const std::uint64_t least = empty ? end : aligned;
    const std::uint64_t most = empty || mode == Mode::strict ? aligned : place_.region_end;
    if (entry.data_offset < least || entry.data_offset > most ||
        (!empty && entry.data_offset % place_.data_alignment != 0)) {
        return fail(Status::invalid_format, fields + data_offset_at,
                    "tensor %s: data_offset: expected %llu, the first multiple of %u behind the descriptor, got %llu",
                    Quoted(entry.name).c_str(), static_cast<ull>(aligned), place_.data_alignment,
                    static_cast<ull>(entry.data_offset));
    }
    if (!empty &&
        (entry.data_offset > place_.region_end || entry.data_length > place_.region_end - entry.data_offset)) {
        return fail(Status::invalid_format, fields + data_length_at,
                    "tensor %s: data_length: expected an end at %llu or before, where the tensors end, got %llu bytes "
                    "from %llu",
                    Quoted(entry.name).c_str(), static_cast<ull>(place_.region_end),
                    static_cast<ull>(entry.data_length), static_cast<ull>(entry.data_offset));
    }
    const auto flags =
        load_le<std::uint32_t>(reinterpret_cast<const std::byte*>(entry.name.data() + entry.name.size()) + flags_at);
    if (flags != 0) {
        return fail(Status::invalid_format, fields + flags_at, "tensor %s: flags: expected 0, got %08X",
                    Quoted(entry.name).c_str(), flags);
    }
    return {};
}

Result<void> Index::order_names() {
    if (place_.sorted) return {};
    by_hash_ = order_by(
        at_.size(), [&](std::uint32_t i) { return hash_of(name(i)); },
        [&](std::uint32_t a, std::uint32_t b) {
            const int order = name(a).compare(name(b));
            return order != 0 ? order < 0 : a < b;
        });
    const auto same = [&](std::uint32_t a, std::uint32_t b) { return name(a) == name(b); };
    const auto twice = std::adjacent_find(by_hash_.begin(), by_hash_.end(), same);
    if (twice == by_hash_.end()) return {};
    return fail(Status::invalid_format, place_.offset + at_[*(twice + 1)] + 2, "index: two tensors have the name %s",
                Quoted(name(*twice)).c_str());
}

void Index::order_offsets() {
    const auto offset_of = [&](std::uint64_t i) {
        return load_le<std::uint64_t>(&bytes_[static_cast<std::size_t>(fields_at(i))]);
    };
    std::uint64_t before = 0;
    bool in_order = true;
    for (std::uint64_t i = 0; i < count() && in_order; ++i) {
        const std::uint64_t offset = offset_of(i);
        in_order = i == 0 || before <= offset;
        before = offset;
    }
    if (in_order) return;
    by_offset_ = order_by(at_.size(), offset_of, [](std::uint32_t a, std::uint32_t b) { return a < b; });
}

// Each tensor starts behind the one before it; in between there is nothing but padding.
Result<void> Index::check_order(Mode mode) const {
    // Of the gap before a tensor, or behind the last one.
    const auto check_gap = [&](std::uint64_t end, std::uint64_t start, std::uint64_t field) -> Result<void> {
        const std::uint64_t aligned = (end + place_.data_alignment - 1) & ~std::uint64_t{place_.data_alignment - 1};
        if (mode == Mode::permissive || start <= aligned) return {};
        return fail(
            Status::invalid_format, field,
            "tensor region: expected a tensor or its end at %llu or before, got bytes that belong to none up to %llu",
            static_cast<ull>(aligned), static_cast<ull>(start));
    };
    std::uint64_t end = place_.first_descriptor_offset;
    for (std::uint64_t position = 0; position < count(); ++position) {
        const std::uint64_t i = at_position(position);
        const IndexEntry tensor = entry(i);
        const std::uint64_t field = place_.offset + fields_at(i);
        if (tensor.descriptor_offset < end) {
            return fail(Status::invalid_format, field,
                        "tensor %s: descriptor_offset: %llu lies in tensor %s, which ends at %llu",
                        Quoted(tensor.name).c_str(), static_cast<ull>(tensor.descriptor_offset),
                        Quoted(name(at_position(position - 1))).c_str(), static_cast<ull>(end));
        }
        if (position == 0 && mode == Mode::strict && tensor.descriptor_offset != end) {
            return fail(
                Status::invalid_format, field,
                "tensor %s: descriptor_offset: expected %llu, the first_descriptor_offset of the header, got %llu",
                Quoted(tensor.name).c_str(), static_cast<ull>(end), static_cast<ull>(tensor.descriptor_offset));
        }
        if (auto checked = check_gap(end, tensor.descriptor_offset, field); !checked) return checked;
        end = tensor.end();
    }
    return check_gap(end, place_.region_end, place_.offset);
}

std::optional<std::uint64_t> Index::find(std::string_view wanted) const noexcept {
    if (place_.sorted) {
        std::uint64_t low = 0;
        std::uint64_t high = count();
        while (low < high) {
            const std::uint64_t middle = low + (high - low) / 2;
            if (name(middle) < wanted) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        if (low == count() || name(low) != wanted) return std::nullopt;
        return low;
    }
    const std::uint64_t hash = hash_of(wanted);
    const auto found =
        std::lower_bound(by_hash_.begin(), by_hash_.end(), wanted, [&](std::uint32_t i, std::string_view) {
            const std::string_view text = name(i);
            const std::uint64_t other = hash_of(text);
            return other != hash ? other < hash : text < wanted;
        });
    if (found == by_hash_.end() || name(*found) != wanted) return std::nullopt;
    return *found;
}

std::uint64_t Index::position_of(std::uint64_t i) const noexcept {
    if (by_offset_.empty()) return i;
    const auto offset_of = [&](std::uint64_t other) {
        return load_le<std::uint64_t>(&bytes_[static_cast<std::size_t>(fields_at(other))]);
    };
    const auto found =
        std::lower_bound(by_offset_.begin(), by_offset_.end(), offset_of(i),
                         [&](std::uint32_t other, std::uint64_t offset) { return offset_of(other) < offset; });
    return static_cast<std::uint64_t>(found - by_offset_.begin());
}

}  // namespace hurray::hrry
