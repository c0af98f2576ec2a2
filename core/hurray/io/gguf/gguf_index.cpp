#include "core/hurray/io/gguf/gguf_index.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "core/hurray/base/checked.hpp"
#include "core/hurray/base/endian.hpp"
#include "core/hurray/base/utf8.hpp"
#include "core/hurray/descriptor/descriptor.hpp"
#include "core/hurray/io/quoted.hpp"
#include "core/hurray/io/text_order.hpp"

static_assert(std::endian::native == std::endian::little, "GGUF data is little-endian and is used in place");

namespace hurray {
namespace {

using ull = unsigned long long;

constexpr std::uint64_t counts_end = 24;
// The least that a metadata entry takes: length, key of one byte, type, value of one byte; and a tensor info: length,
// rank, type, offset.
constexpr std::uint64_t least_entry = 14;
constexpr std::uint64_t least_info = 24;
// The most that ggml itself, which counts in int64, takes.
constexpr std::uint64_t largest_count = std::numeric_limits<std::int64_t>::max();

constexpr GgufPlace file_header{"header"};

// Bytes of a tensor. Sizes are computed over the dimensions that are not 0, so that neither a product that wraps nor a
// 0 beside huge dimensions passes.
Result<std::uint64_t> data_size(const GgufPlace& place, std::uint64_t at, const GgufType& type,
                                std::span<const std::uint64_t> shape) {
    const std::uint64_t row = shape.empty() ? 1 : shape.back();
    if (row % type.block_elements != 0) {
        return gguf_fault(Status::invalid_format, at, place, "dimensions",
                          "a row of %llu elements is no whole number of %s blocks of %u", static_cast<ull>(row),
                          std::string(type.name).c_str(), type.block_elements);
    }
    std::uint64_t elements = 1;
    bool empty = false;
    for (const std::uint64_t dimension : shape) {
        empty = empty || dimension == 0;
        const auto next = checked_mul(elements, std::max<std::uint64_t>(dimension, 1));
        // Eight bytes an element is the most that any form of it takes here.
        if (!next || *next > largest_count / 8) {
            return gguf_fault(Status::invalid_format, at, place, "dimensions", "their product is 2^60 or more");
        }
        elements = *next;
    }
    if (empty) return std::uint64_t{0};
    return elements / type.block_elements * type.block_bytes;
}

}  // namespace

Result<GgufIndex> GgufIndex::parse(FileBytes file, std::uint64_t header_limit) {
    // Places in the header are kept in 32 bits.
    const std::uint64_t limit = std::min<std::uint64_t>(header_limit, std::numeric_limits<std::uint32_t>::max());
    GgufIndex index(GgufHeader(std::move(file), limit));
    auto done = index.parse_counts();
    if (done) done = index.parse_metadata();
    if (done) done = index.parse_alignment();
    if (done) done = index.parse_tensors();
    if (done) done = index.place_data();
    if (done) done = index.check_overlaps();
    if (!done) return std::unexpected(done.error());
    return index;
}

Result<void> GgufIndex::parse_counts() {
    if (auto there = header_.need(0, 4, file_header, "magic"); !there) return there;
    if (header_.text(0, 4) != "GGUF") {
        return gguf_fault(Status::invalid_format, 0, file_header, "magic", "%s, expected \"GGUF\"",
                          Quoted(header_.text(0, 4)).c_str());
    }
    if (auto there = header_.need(4, 4, file_header, "version"); !there) return there;
    version_ = load_le<std::uint32_t>(header_.at(4));
    if (const std::uint32_t swapped = std::byteswap(version_); swapped >= 1 && swapped <= 3) {
        return gguf_fault(Status::unsupported, 4, file_header, "version",
                          "%u in big-endian byte order; only little-endian files are read", swapped);
    }
    if (version_ != 2 && version_ != 3) {
        return gguf_fault(Status::unsupported, 4, file_header, "version", "%u, expected 2 or 3", version_);
    }
    const auto parse_count = [&](std::uint64_t at, const char* field, std::uint64_t least, std::uint64_t& count) {
        auto there = header_.need(at, 8, file_header, field);
        if (!there) return there;
        count = load_le<std::uint64_t>(header_.at(at));
        const std::uint64_t left = header_.file_size() - at - 8;
        if (count > left / least) {
            there = gguf_fault(Status::invalid_format, at, file_header, field,
                               "%llu, but only %llu bytes follow in the file", static_cast<ull>(count),
                               static_cast<ull>(left));
        } else if (count > header_.limit() / least) {
            there = gguf_fault(Status::limit_exceeded, at, file_header, field,
                               "%llu: the header would be longer than its limit, %llu bytes (header_limit)",
                               static_cast<ull>(count), static_cast<ull>(header_.limit()));
        }
        return there;
    };
    auto done = parse_count(8, "tensor count", least_info, tensor_count_);
    if (done) done = parse_count(16, "metadata count", least_entry, metadata_count_);
    at_ = counts_end;
    return done;
}

Result<GgufIndex::Text> GgufIndex::parse_text(const GgufPlace& place, const char* field, std::uint64_t limit) {
    if (auto there = header_.need(at_, 8, place, field); !there) return std::unexpected(there.error());
    const auto length = load_le<std::uint64_t>(header_.at(at_));
    const std::uint64_t start = at_ + 8;
    if (length > header_.file_size() - start) {
        return gguf_fault(Status::invalid_format, at_, place, field, "of %llu bytes, but only %llu follow in the file",
                          static_cast<ull>(length), static_cast<ull>(header_.file_size() - start));
    }
    if (length > limit) {
        return gguf_fault(Status::invalid_format, at_, place, field, "of %llu bytes, expected at most %llu",
                          static_cast<ull>(length), static_cast<ull>(limit));
    }
    if (auto there = header_.need(start, length, place, field); !there) return std::unexpected(there.error());
    if (const auto invalid = find_invalid_utf8(header_.text(start, length))) {
        return gguf_fault(Status::invalid_format, start + *invalid, place, field, "invalid UTF-8");
    }
    at_ = start + length;
    return Text{static_cast<std::uint32_t>(start), static_cast<std::uint32_t>(length)};
}

Result<void> GgufIndex::parse_metadata() {
    for (std::uint64_t i = 0; i < metadata_count_; ++i) {
        const GgufPlace place{"metadata entry", i};
        const std::uint64_t key_at = at_;
        const auto key = parse_text(place, "key", longest_key);
        if (!key) return std::unexpected(key.error());
        if (key->length == 0) return gguf_fault(Status::invalid_format, key_at, place, "key", "empty");
        auto value = GgufValue::parse(header_, at_, place, string_marks_);
        if (!value) return std::unexpected(value.error());
        metadata_.push_back({*key, *value});
    }
    const auto key_of = [this](std::uint32_t i) { return text(metadata_[i].key); };
    by_key_ = order_by_text(metadata_.size(), key_of);
    if (const auto duplicate = find_duplicate(by_key_, key_of)) {
        return gguf_fault(Status::invalid_format, metadata_[*duplicate].key.offset, {"metadata entry", *duplicate},
                          "key", "%s is there twice", Quoted(key_of(*duplicate)).c_str());
    }
    return {};
}

Result<void> GgufIndex::parse_alignment() {
    const auto found = find_metadata(alignment_key);
    if (!found) return {};
    const GgufPlace place{"metadata entry", *found};
    const GgufValue& value = metadata_[*found].value;
    if (value.type != GgufValueType::uint32) {
        return gguf_fault(Status::invalid_format, value.at, place, "general.alignment",
                          "a value of type %u, expected 4 (uint32)", static_cast<unsigned>(value.type));
    }
    alignment_ = load_le<std::uint32_t>(header_.at(value.at));
    if (!std::has_single_bit(alignment_) || alignment_ < least_alignment || alignment_ > largest_alignment) {
        return gguf_fault(Status::invalid_format, value.at, place, "general.alignment",
                          "%u, expected a power of two from %u to %u", alignment_, least_alignment, largest_alignment);
    }
    return {};
}

Result<void> GgufIndex::parse_tensor(std::uint64_t index) {
    const GgufPlace place{"tensor info", index};
    Entry entry;
    const auto name = parse_text(place, "name", std::numeric_limits<std::uint64_t>::max());
    if (!name) return std::unexpected(name.error());
    entry.name = *name;
    if (auto there = header_.need(at_, 4, place, "rank"); !there) return there;
    const auto rank = load_le<std::uint32_t>(header_.at(at_));
    if (rank > max_rank) {
        return gguf_fault(Status::unsupported, at_, place, "rank", "%u, expected at most %u", rank, max_rank);
    }
    const std::uint64_t dimensions_at = at_ + 4;
    const std::uint64_t number_at = dimensions_at + std::uint64_t{rank} * 8;
    if (auto there = header_.need(dimensions_at, std::uint64_t{rank} * 8, place, "dimensions"); !there) return there;
    entry.rank = static_cast<std::uint8_t>(rank);
    entry.first_dimension = static_cast<std::uint32_t>(dimensions_.size());
    for (std::uint32_t i = rank; i-- != 0;) {
        const auto dimension = load_le<std::uint64_t>(header_.at(dimensions_at + std::uint64_t{i} * 8));
        dimensions_.push_back(dimension);
    }
    const std::span<const std::uint64_t> shape(dimensions_.data() + entry.first_dimension, rank);
    if (auto there = header_.need(number_at, 4, place, "type"); !there) return there;
    const auto number = load_le<std::uint32_t>(header_.at(number_at));
    const GgufType* type = find_gguf_type(number);
    // The size says what is wrong with the dimensions, which come first, whatever the type.
    static constexpr GgufType bytes{0, "", 1, 1, GgufKind::plain, 0, 0, nullptr};
    const auto size = data_size(place, dimensions_at, type == nullptr ? bytes : *type, shape);
    if (!size) return std::unexpected(size.error());
    if (type == nullptr) {
        return gguf_fault(Status::unsupported, number_at, place, "type", "%u is no type of ggml that is read here",
                          number);
    }
    entry.type = static_cast<std::uint8_t>(type - gguf_types().data());
    entry.byte_size = *size;
    const std::uint64_t offset_at = number_at + 4;
    if (auto there = header_.need(offset_at, 8, place, "offset"); !there) return there;
    entry.file_offset = load_le<std::uint64_t>(header_.at(offset_at));
    if (entry.file_offset % alignment_ != 0) {
        return gguf_fault(Status::invalid_format, offset_at, place, "offset",
                          "%llu, expected a multiple of the alignment, %u", static_cast<ull>(entry.file_offset),
                          alignment_);
    }
    entries_.push_back(entry);
    at_ = offset_at + 8;
    return {};
}

Result<void> GgufIndex::parse_tensors() {
    for (std::uint64_t i = 0; i < tensor_count_; ++i) {
        if (auto parsed = parse_tensor(i); !parsed) return parsed;
    }
    const auto name_of = [this](std::uint32_t i) { return text(entries_[i].name); };
    by_name_ = order_by_text(entries_.size(), name_of);
    if (const auto duplicate = find_duplicate(by_name_, name_of)) {
        return gguf_fault(Status::invalid_format, entries_[*duplicate].name.offset, {"tensor info", *duplicate}, "name",
                          "%s is there twice", Quoted(name_of(*duplicate)).c_str());
    }
    return {};
}

// Makes the offsets those of the file. The data starts at the next multiple of the alignment behind the header.
Result<void> GgufIndex::place_data() {
    if (entries_.empty()) return {};
    const std::uint64_t start = (at_ + alignment_ - 1) / alignment_ * alignment_;
    const std::uint64_t size = header_.file_size();
    if (start > size) {
        return gguf_fault(Status::invalid_format, size, file_header, "data",
                          "expected at byte %llu, but the file ends before", static_cast<ull>(start));
    }
    for (std::size_t i = 0; i < entries_.size(); ++i) {
        Entry& entry = entries_[i];
        if (entry.file_offset > size - start || entry.byte_size > size - start - entry.file_offset) {
            return gguf_fault(Status::invalid_format, type_at(entry) + 4, {"tensor info", i}, "offset",
                              "%llu bytes at %llu are not inside the data, which has %llu",
                              static_cast<ull>(entry.byte_size), static_cast<ull>(entry.file_offset),
                              static_cast<ull>(size - start));
        }
        entry.file_offset += start;
    }
    return {};
}

// Gaps are no fault: files with more padding than is needed are about.
Result<void> GgufIndex::check_overlaps() const {
    std::vector<std::uint32_t> order;
    order.reserve(entries_.size());
    for (std::uint32_t i = 0; i < entries_.size(); ++i) {
        if (entries_[i].byte_size != 0) order.push_back(i);
    }
    const auto less = [this](std::uint32_t a, std::uint32_t b) {
        return entries_[a].file_offset != entries_[b].file_offset ? entries_[a].file_offset < entries_[b].file_offset
                                                                  : a < b;
    };
    if (!std::is_sorted(order.begin(), order.end(), less)) std::sort(order.begin(), order.end(), less);
    for (std::size_t i = 1; i < order.size(); ++i) {
        const Entry& before = entries_[order[i - 1]];
        const Entry& entry = entries_[order[i]];
        if (before.file_offset + before.byte_size > entry.file_offset) {
            return gguf_fault(Status::invalid_format, type_at(entry) + 4, {"tensor info", order[i]}, "offset",
                              "the data of %s overlaps that of %s", Quoted(text(entry.name)).c_str(),
                              Quoted(text(before.name)).c_str());
        }
    }
    return {};
}

std::optional<std::size_t> GgufIndex::find(std::string_view name) const noexcept {
    return find_text(by_name_, name, [this](std::uint32_t i) { return text(entries_[i].name); });
}

std::optional<std::size_t> GgufIndex::find_metadata(std::string_view key) const noexcept {
    return find_text(by_key_, key, [this](std::uint32_t i) { return text(metadata_[i].key); });
}

}  // namespace hurray
