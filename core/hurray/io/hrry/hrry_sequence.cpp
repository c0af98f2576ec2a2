#include "core/hurray/io/hrry/hrry_sequence.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>

#include "core/hurray/base/checked.hpp"
#include "core/hurray/descriptor/codec.hpp"
#include "core/hurray/io/crc32c.hpp"
#include "core/hurray/io/hrry/data_region.hpp"

namespace hurray {
namespace {

using ull = unsigned long long;

// Memory that is filled before more is asked for.
constexpr std::size_t step = 64 * 1024;

constexpr std::array<char, 4> descriptor_magic = {'H', 'R', 'R', 'Y'};

// Whether a descriptor starts so. A count of entries cannot: four bytes of zeros or one of them would follow that are
// as many as 1,498,567,240 entries take.
bool starts_descriptor(std::span<const std::byte, hrry::part_alignment> bytes) noexcept {
    return std::memcmp(bytes.data(), descriptor_magic.data(), descriptor_magic.size()) == 0 && bytes[4] != std::byte{0};
}

bool is_zero(std::span<const std::byte> bytes) noexcept {
    return std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{0}; });
}

}  // namespace

HrrySequence::HrrySequence(std::unique_ptr<ByteSource> file, const StreamLimits& limits,
                           std::uint64_t metadata_limit) noexcept
    : file_(std::move(file)), limits_(limits), metadata_limit_(metadata_limit) {}

std::optional<std::uint64_t> HrrySequence::remaining() const {
    const auto behind = file_->remaining();
    return behind ? checked_add(*behind, ahead().size()) : std::nullopt;
}

Result<std::size_t> HrrySequence::take(std::span<std::byte> into) {
    const std::size_t have = std::min(into.size(), ahead().size());
    if (have == 0) {
        const auto count = file_->read_some(into);
        if (count) offset_ += *count;
        return count;
    }
    std::memcpy(into.data(), ahead().data(), have);
    ahead_taken_ += have;
    offset_ += have;
    return have;
}

Result<std::size_t> HrrySequence::take_all(std::span<std::byte> into) {
    std::size_t done = 0;
    while (done < into.size()) {
        const auto count = take(into.subspan(done));
        if (!count) return count;
        if (*count == 0) break;
        done += *count;
    }
    return done;
}

Result<void> HrrySequence::look_ahead(std::uint64_t at_most) {
    if (ahead().size() >= hrry::part_alignment) return {};
    ahead_.erase(ahead_.begin(), ahead_.begin() + static_cast<std::ptrdiff_t>(ahead_taken_));
    ahead_taken_ = 0;
    std::size_t have = ahead_.size();
    const auto room = static_cast<std::size_t>(std::min<std::uint64_t>(at_most, step));
    ahead_.resize(room);
    while (have < hrry::part_alignment) {
        const auto count = file_->read_some(std::span(ahead_).subspan(have));
        have += count.value_or(0);
        if (count && *count != 0) continue;
        ahead_.resize(have);
        if (!count) return std::unexpected(count.error());
        return fail(Status::invalid_format, offset_ + have, "the file ends inside the tensor region");
    }
    ahead_.resize(have);
    return {};
}

Result<void> HrrySequence::read_all(std::span<std::byte> into, const char* part) {
    const auto count = take_all(into);
    if (!count) return std::unexpected(count.error());
    if (*count == into.size()) return {};
    return fail(Status::invalid_format, offset_, "the file ends inside %s, expected %zu more bytes", part,
                into.size() - *count);
}

Result<void> HrrySequence::read_padding(std::uint64_t end) {
    std::array<std::byte, 4096> bytes;
    while (offset_ < end) {
        const std::uint64_t start = offset_;
        const auto piece =
            std::span(bytes).first(static_cast<std::size_t>(std::min<std::uint64_t>(end - start, bytes.size())));
        if (auto done = read_all(piece, "padding"); !done) return done;
        const auto other = std::ranges::find_if(piece, [](std::byte byte) { return byte != std::byte{0}; });
        if (other == piece.end()) continue;
        return fail(Status::invalid_format, start + static_cast<std::uint64_t>(other - piece.begin()),
                    "padding: expected 00, got %02X", std::to_integer<unsigned>(*other));
    }
    return {};
}

Result<void> HrrySequence::read_header() {
    std::array<std::byte, hrry::header_size> bytes{};
    if (auto done = read_all(bytes, "its header"); !done) return done;
    const auto header = hrry::read_header(bytes);
    if (!header) return std::unexpected(header.error());
    header_ = *header;
    if (auto done = read_padding(header_.first_descriptor_offset); !done) return done;
    end_ = offset_;
    state_ = State::between_tensors;
    return {};
}

// Another tensor, or what follows the last one. Where there is a choice of padding both are looked for: padding up to
// the next multiple of 8, and up to that of data_alignment.
Result<void> HrrySequence::find_next() {
    const auto start = hrry::round_up(end_, hrry::part_alignment);
    const auto aligned = hrry::round_up(end_, header_.data_alignment);
    if (!start || !aligned) return fail(Status::invalid_format, offset_, "the file is longer than 2^64-1 bytes");
    if (auto done = read_padding(*start); !done) return done;
    tail_offset_ = *start;
    // Both are multiples of 8.
    while (offset_ < *aligned) {
        if (auto done = look_ahead(*aligned - offset_); !done) return done;
        if (!is_zero(ahead().first(hrry::part_alignment))) break;
        ahead_taken_ += hrry::part_alignment;
        offset_ += hrry::part_alignment;
    }
    std::array<std::byte, hrry::part_alignment> bytes{};
    if (auto done = read_all(bytes, "the tensor region"); !done) return done;
    return starts_descriptor(bytes) ? read_descriptor(bytes) : read_tail(bytes);
}

Result<void> HrrySequence::read_descriptor(std::span<const std::byte> start) {
    Seen seen;
    seen.descriptor_offset = offset_ - start.size();
    const auto in_file = [&](Error error) {
        if (error.offset != Error::no_offset) error.offset += seen.descriptor_offset;
        return std::unexpected(error);
    };
    descriptor_.assign(start.begin(), start.end());
    descriptor_.resize(fixed_header_size);
    if (auto done = read_all(std::span(descriptor_).subspan(start.size()), "a descriptor"); !done) return done;
    DecodeOptions options{.private_tags = limits_.private_tags, .mode = limits_.mode};
    options.max_length = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(limits_.max_descriptor_length, std::numeric_limits<std::uint32_t>::max()));
    const auto length = peek_length(descriptor_, options);
    if (!length) return in_file(length.error());
    while (descriptor_.size() < *length) {
        const std::size_t have = descriptor_.size();
        descriptor_.resize(std::min<std::size_t>(*length, std::max(step, 2 * have)));
        if (auto done = read_all(std::span(descriptor_).subspan(have), "a descriptor"); !done) return done;
    }
    const auto descriptor = decode(descriptor_, options);
    if (!descriptor) return in_file(descriptor.error());
    if (auto checked = check_stream_table(*descriptor, limits_, seen.descriptor_offset); !checked) return checked;
    const auto region = hrry::data_region(descriptor->buffers(), header_.data_alignment);
    const auto data_offset = hrry::round_up(offset_, header_.data_alignment);
    if (!region || !data_offset || !checked_add(*data_offset, region->length)) {
        return fail(Status::invalid_format, seen.descriptor_offset,
                    "the buffers of the tensor end beyond 2^64-1 bytes");
    }
    seen.descriptor_length = *length;
    seen.data_offset = *data_offset;
    seen.data_length = region->length;
    seen.used_length = region->used;
    seen_.push_back(seen);
    sizes_.clear();
    for (const BufferHandle& handle : descriptor->buffers()) sizes_.push_back(handle.byte_size);
    end_ = offset_;
    descriptor_given_ = 0;
    buffer_ = 0;
    left_ = 0;
    state_ = State::descriptor;
    return {};
}

// The next buffer that has bytes, or the end of the tensor.
Result<void> HrrySequence::begin_buffer() {
    while (buffer_ < sizes_.size() && sizes_[buffer_] == 0) ++buffer_;
    if (buffer_ == sizes_.size()) {
        state_ = State::between_tensors;
        return {};
    }
    // It ends before 2^64, and so does its start.
    if (auto done = read_padding(hrry::round_up(offset_, header_.data_alignment).value_or(offset_)); !done) return done;
    left_ = sizes_[buffer_++];
    end_ = offset_ + left_;
    state_ = State::data;
    return {};
}

Result<void> HrrySequence::advance() {
    for (;;) {
        Result<void> done;
        switch (state_) {
            case State::header:
                done = read_header();
                break;
            case State::between_tensors:
                done = find_next();
                break;
            case State::descriptor:
                if (descriptor_given_ < descriptor_.size()) return {};
                done = begin_buffer();
                break;
            case State::data:
                if (left_ != 0) return {};
                done = begin_buffer();
                break;
            case State::complete:
                return {};
        }
        if (!done) return done;
    }
}

Result<std::size_t> HrrySequence::read_some(std::span<std::byte> into) {
    if (into.empty()) return std::size_t{0};
    if (auto done = advance(); !done) return std::unexpected(done.error());
    if (state_ == State::complete) return std::size_t{0};
    if (state_ == State::descriptor) {
        const std::size_t count = std::min(into.size(), descriptor_.size() - descriptor_given_);
        std::memcpy(into.data(), descriptor_.data() + descriptor_given_, count);
        descriptor_given_ += count;
        return count;
    }
    const auto count = take(into.first(static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), left_))));
    if (!count) return count;
    if (*count == 0) {
        return fail(Status::invalid_format, offset_, "the file ends inside buffer %zu, expected %llu more bytes",
                    buffer_ - 1, static_cast<ull>(left_));
    }
    left_ -= *count;
    return count;
}

Result<std::uint64_t> HrrySequence::skip(std::uint64_t count) {
    std::uint64_t done = 0;
    while (done < count) {
        if (auto next = advance(); !next) return std::unexpected(next.error());
        if (state_ == State::complete) break;
        if (state_ == State::descriptor) {
            const auto given = std::min<std::uint64_t>(count - done, descriptor_.size() - descriptor_given_);
            descriptor_given_ += static_cast<std::size_t>(given);
            done += given;
            continue;
        }
        const std::uint64_t wanted = std::min(count - done, left_);
        const std::uint64_t known = std::min<std::uint64_t>(wanted, ahead().size());
        ahead_taken_ += static_cast<std::size_t>(known);
        auto skipped = file_->skip(wanted - known);
        if (!skipped) return skipped;
        *skipped += known;
        offset_ += *skipped;
        left_ -= *skipped;
        done += *skipped;
        if (*skipped == wanted) continue;
        return fail(Status::invalid_format, offset_, "the file ends inside buffer %zu, expected %llu more bytes",
                    buffer_ - 1, static_cast<ull>(left_));
    }
    return done;
}

// Metadata, index and trailer, to the end of the file. It is known how long they can be.
Result<void> HrrySequence::read_tail(std::span<const std::byte> start) {
    const std::uint64_t longest_index = 8 + seen_.size() * (hrry::Index::entry_size + hrry::Index::longest_name);
    const std::uint64_t limit =
        2 * std::uint64_t{header_.data_alignment} + metadata_limit_ + longest_index + hrry::trailer_size;
    // What was taken for padding may be a metadata section without entries.
    tail_.assign(static_cast<std::size_t>(offset_ - start.size() - tail_offset_), std::byte{0});
    tail_.insert(tail_.end(), start.begin(), start.end());
    for (;;) {
        const std::size_t have = tail_.size();
        if (have > limit) {
            return fail(
                Status::limit_exceeded, offset_,
                "behind the tensors there are more than %llu bytes, which is more than metadata and index may take",
                static_cast<ull>(limit));
        }
        tail_.resize(have + std::max(step, std::min<std::size_t>(have, std::size_t{64} << 20)));
        const auto count = take_all(std::span(tail_).subspan(have));
        if (!count) return std::unexpected(count.error());
        const bool whole = have + *count == tail_.size();
        tail_.resize(have + *count);
        if (!whole) break;
    }
    tail_.shrink_to_fit();
    auto done = check_tail();
    if (done) state_ = State::complete;
    return done;
}

Result<void> HrrySequence::check_zeros(std::uint64_t from, std::uint64_t to) const {
    for (std::uint64_t at = from; at < to; ++at) {
        const std::byte byte = tail_[static_cast<std::size_t>(at - tail_offset_)];
        if (byte != std::byte{0}) {
            return fail(Status::invalid_format, at, "padding: expected 00, got %02X", std::to_integer<unsigned>(byte));
        }
    }
    return {};
}

Result<void> HrrySequence::check_tail() {
    if (tail_.size() < sizeof(std::uint64_t) + hrry::trailer_size) {
        return fail(Status::invalid_format, offset_,
                    "the file ends inside its index, expected at least %llu more bytes",
                    static_cast<ull>(sizeof(std::uint64_t) + hrry::trailer_size - tail_.size()));
    }
    const std::uint64_t trailer_offset = offset_ - hrry::trailer_size;
    const auto trailer = hrry::read_trailer(std::span(tail_).last<hrry::trailer_size>(), trailer_offset, header_);
    if (!trailer) return std::unexpected(trailer.error());
    const bool has_metadata = trailer->metadata_offset != 0;
    const std::uint64_t region_end = has_metadata ? trailer->metadata_offset : trailer->index_offset;
    if (region_end < tail_offset_) {
        return fail(Status::invalid_format, trailer_offset + (has_metadata ? 16 : 0),
                    "%s: expected %llu or more, where the last tensor ends, got %llu",
                    has_metadata ? "kv_offset" : "index_offset", static_cast<ull>(tail_offset_),
                    static_cast<ull>(region_end));
    }
    const auto part = [&](std::uint64_t offset, std::uint64_t length) {
        return std::span<const std::byte>(tail_).subspan(static_cast<std::size_t>(offset - tail_offset_),
                                                         static_cast<std::size_t>(length));
    };
    auto zeros = check_zeros(tail_offset_, region_end);
    if (zeros && has_metadata) {
        if (trailer->metadata_length > metadata_limit_) {
            return fail(Status::limit_exceeded, trailer_offset + 24, "kv_length: %u bytes, the limit is %llu",
                        trailer->metadata_length, static_cast<ull>(metadata_limit_));
        }
        auto metadata =
            hrry::Metadata::read(part(trailer->metadata_offset, trailer->metadata_length), trailer->metadata_offset);
        if (!metadata) return std::unexpected(metadata.error());
        metadata_ = *std::move(metadata);
        zeros = check_zeros(trailer->metadata_offset + trailer->metadata_length, trailer->index_offset);
    }
    if (zeros) zeros = check_zeros(trailer->index_offset + trailer->index_length, trailer_offset);
    if (!zeros) return zeros;
    auto index = hrry::Index::read_checked(part(trailer->index_offset, trailer->index_length), header_, *trailer,
                                           trailer_offset, limits_.mode);
    if (!index) return std::unexpected(index.error());
    index_ = *std::move(index);
    return check_tensors();
}

Result<void> HrrySequence::check_tensors() const {
    if (index_.count() != seen_.size()) {
        return fail(Status::invalid_format, index_.offset(),
                    "index_entry_count: expected %zu as there are tensors in the file, got %llu", seen_.size(),
                    static_cast<ull>(index_.count()));
    }
    for (std::uint64_t i = 0; i < index_.count(); ++i) {
        const std::uint64_t number = index_.at_position(i);
        const hrry::IndexEntry entry = index_.entry(number);
        const Seen& seen = seen_[static_cast<std::size_t>(i)];
        const bool right_data = entry.data_length == 0 ? seen.used_length == 0 : entry.data_offset == seen.data_offset;
        const bool right_length = entry.data_length == seen.data_length || entry.data_length == seen.used_length;
        if (entry.descriptor_offset == seen.descriptor_offset && entry.descriptor_length == seen.descriptor_length &&
            right_data && right_length) {
            continue;
        }
        return fail(Status::invalid_format, index_.entry_offset(number),
                    "index: expected a descriptor of %u bytes at %llu with %llu bytes of data at %llu, got %u at %llu "
                    "with %llu at %llu",
                    seen.descriptor_length, static_cast<ull>(seen.descriptor_offset),
                    static_cast<ull>(seen.data_length), static_cast<ull>(seen.data_offset), entry.descriptor_length,
                    static_cast<ull>(entry.descriptor_offset), static_cast<ull>(entry.data_length),
                    static_cast<ull>(entry.data_offset));
    }
    return {};
}

std::optional<std::string_view> HrrySequence::name(std::uint64_t i) const noexcept {
    if (!complete() || i >= index_.count()) return std::nullopt;
    return index_.entry(index_.at_position(i)).name;
}

std::optional<std::uint64_t> HrrySequence::find(std::string_view name) const noexcept {
    if (!complete()) return std::nullopt;
    const auto found = index_.find(name);
    if (!found) return std::nullopt;
    return index_.position_of(*found);
}

}  // namespace hurray
