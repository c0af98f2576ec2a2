#include "core/hurray/io/npz/zip_output.hpp"

#define ZLIB_CONST
#include <zlib.h>

#include <algorithm>
#include <concepts>
#include <limits>
#include <utility>

#include "core/hurray/base/endian.hpp"
#include "core/hurray/io/npz/zip_format.hpp"
#include "core/hurray/io/npz/zip_name.hpp"
#include "core/hurray/io/npz/zip_source.hpp"

namespace hurray::zip {
namespace {

// What zlib itself, and Python with it, takes when nobody asks for another.
constexpr int level = Z_DEFAULT_COMPRESSION;
constexpr int memory_level = 8;
constexpr std::size_t packed_at_once = 128 * 1024;
// Deflate may make data that it cannot compress a little longer: by 5 bytes in 16 KiB, at most.
constexpr std::uint64_t largest_plain = 0xFFFFFFFFULL - 0xFFFFFFFFULL / 1024;

// 1980-01-01, 00:00:00.
constexpr std::uint16_t dos_time = 0;
constexpr std::uint16_t dos_date = (1U << 5) | 1U;
// Made on Unix; a regular file that its owner reads and writes.
constexpr std::uint16_t made_by_unix = 3U << 8;
constexpr std::uint32_t attributes = 0100600U << 16;

/// A record that grows field by field, little-endian.
class Record {
public:
    template <std::unsigned_integral T>
    Record& add(T value) {
        std::byte bytes[sizeof(T)];
        store_le(bytes, value);
        bytes_.insert(bytes_.end(), std::begin(bytes), std::end(bytes));
        return *this;
    }
    Record& add_zeros(std::size_t count) {
        bytes_.resize(bytes_.size() + count);
        return *this;
    }
    Record& add(std::string_view text) {
        const auto bytes = std::as_bytes(std::span(text));
        bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
        return *this;
    }
    [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }

private:
    std::vector<std::byte> bytes_;
};

constexpr std::uint32_t low(std::uint64_t value) noexcept {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(value, in_zip64_32));
}
constexpr bool needs_zip64(std::uint64_t value) noexcept { return value >= in_zip64_32; }

std::uint16_t name_flags(std::string_view name) noexcept { return is_ascii(name) ? std::uint16_t{0} : flag::utf8; }

constexpr std::size_t zip64_local_extra = 4 + 16;
// Header of the field, and the alignment in it.
constexpr std::size_t alignment_extra = 4 + 2;

}  // namespace

/// A raw stream of deflate into memory.
class Output::Deflater {
public:
    Deflater() = default;
    Deflater(const Deflater&) = delete;
    Deflater& operator=(const Deflater&) = delete;
    ~Deflater() {
        if (open_) deflateEnd(&stream_);
    }

    Result<void> start() {
        if (open_ ? deflateReset(&stream_) != Z_OK
                  : deflateInit2(&stream_, level, Z_DEFLATED, -MAX_WBITS, memory_level, Z_DEFAULT_STRATEGY) != Z_OK) {
            return fail(Status::out_of_memory, Error::no_offset, "no memory to compress with");
        }
        open_ = true;
        packed_.resize(packed_at_once);
        return {};
    }

    void give(std::span<const std::byte> bytes) noexcept {
        stream_.next_in = reinterpret_cast<const Bytef*>(bytes.data());
        stream_.avail_in = static_cast<uInt>(bytes.size());
    }

    /// Compressed bytes; fewer than there is room for when all input was taken (`last`: and the stream has ended).
    std::span<const std::byte> next(bool last) noexcept {
        stream_.next_out = reinterpret_cast<Bytef*>(packed_.data());
        stream_.avail_out = static_cast<uInt>(packed_.size());
        // Its only failure here would be to have nothing to do.
        (void)deflate(&stream_, last ? Z_FINISH : Z_NO_FLUSH);
        return std::span(packed_).first(packed_.size() - stream_.avail_out);
    }

private:
    z_stream stream_{};
    std::vector<std::byte> packed_;
    bool open_ = false;
};

Output::Output(ByteSink& sink) noexcept : sink_(sink) {}
Output::~Output() = default;

Result<void> Output::put(std::span<const std::byte> bytes) {
    if (auto done = sink_.write(bytes); !done) return done;
    position_ += bytes.size();
    return {};
}

Result<void> Output::write_local_header(const Entry& entry, std::uint32_t alignment) {
    const bool later = (entry.flags & flag::descriptor) != 0;
    std::size_t extra = entry.zip64 ? zip64_local_extra : 0;
    std::size_t padding = 0;
    if (alignment > 1) {
        extra += alignment_extra;
        const std::uint64_t start = position_ + local_size + entry.name.size() + extra;
        padding = static_cast<std::size_t>((alignment - start % alignment) % alignment);
        extra += padding;
    }
    Record record;
    record.add(local_signature).add(entry.zip64 ? version_zip64 : version_plain).add(entry.flags).add(entry.method);
    record.add(dos_time).add(dos_date).add(entry.crc);
    record.add(entry.zip64 ? in_zip64_32 : low(later ? 0 : entry.compressed_size));
    record.add(entry.zip64 ? in_zip64_32 : low(later ? 0 : entry.size));
    record.add(static_cast<std::uint16_t>(entry.name.size())).add(static_cast<std::uint16_t>(extra)).add(entry.name);
    if (entry.zip64) {
        record.add(extra::zip64).add(std::uint16_t{16});
        record.add(later ? 0 : entry.size).add(later ? 0 : entry.compressed_size);
    }
    if (alignment > 1) {
        record.add(extra::alignment).add(static_cast<std::uint16_t>(2 + padding)).add(static_cast<std::uint16_t>(alignment));
        record.add_zeros(padding);
    }
    return put(record.bytes());
}

Result<void> Output::begin_stored(std::string_view name, std::uint64_t size, std::uint32_t crc, std::uint32_t alignment) {
    current_ = {std::string(name), method::stored, name_flags(name), crc, size, size, position_, needs_zip64(size)};
    return write_local_header(current_, alignment);
}

Result<void> Output::begin_deflated(std::string_view name, std::uint64_t size) {
    if (deflater_ == nullptr) deflater_ = std::make_unique<Deflater>();
    if (auto started = deflater_->start(); !started) return started;
    const auto flags = static_cast<std::uint16_t>(name_flags(name) | flag::descriptor);
    current_ = {std::string(name), method::deflate, flags, 0, 0, size, position_, size > largest_plain};
    return write_local_header(current_, 1);
}

Result<void> Output::pack(std::span<const std::byte> bytes, bool last) {
    deflater_->give(bytes);
    while (true) {
        const auto packed = deflater_->next(last);
        if (auto done = put(packed); !done) return done;
        current_.compressed_size += packed.size();
        if (packed.size() < packed_at_once) return {};
    }
}

Result<void> Output::write(std::span<const std::byte> bytes) {
    if (current_.method == method::stored) return put(bytes);
    current_.crc = crc32(current_.crc, bytes);
    while (!bytes.empty()) {
        const auto piece = bytes.first(std::min<std::size_t>(bytes.size(), std::size_t{1} << 30));
        if (auto done = pack(piece, false); !done) return done;
        bytes = bytes.subspan(piece.size());
    }
    return {};
}

Result<void> Output::end_member() {
    if (current_.method == method::deflate) {
        if (auto done = pack({}, true); !done) return done;
        Record record;
        record.add(descriptor_signature).add(current_.crc);
        if (current_.zip64) {
            record.add(current_.compressed_size).add(current_.size);
        } else {
            record.add(low(current_.compressed_size)).add(low(current_.size));
        }
        if (auto done = put(record.bytes()); !done) return done;
    }
    entries_.push_back(std::move(current_));
    return {};
}

Result<void> Output::finish() {
    const std::uint64_t start = position_;
    for (const Entry& entry : entries_) {
        Record values;
        for (const std::uint64_t value : {entry.size, entry.compressed_size, entry.local_offset}) {
            if (needs_zip64(value)) values.add(value);
        }
        const bool zip64 = !values.bytes().empty() || entry.zip64;
        const std::uint16_t version = zip64 ? version_zip64 : version_plain;
        Record record;
        record.add(central_signature).add(static_cast<std::uint16_t>(made_by_unix | version)).add(version);
        record.add(entry.flags).add(entry.method).add(dos_time).add(dos_date).add(entry.crc);
        record.add(low(entry.compressed_size)).add(low(entry.size));
        record.add(static_cast<std::uint16_t>(entry.name.size()));
        record.add(static_cast<std::uint16_t>(values.bytes().empty() ? 0 : 4 + values.bytes().size()));
        // No comment, the first part, no hints about the contents.
        record.add_zeros(6).add(attributes).add(low(entry.local_offset)).add(entry.name);
        if (!values.bytes().empty()) {
            record.add(extra::zip64).add(static_cast<std::uint16_t>(values.bytes().size()));
        }
        if (auto done = put(record.bytes()); !done) return done;
        if (auto done = put(values.bytes()); !done) return done;
    }
    const std::uint64_t size = position_ - start;
    const std::uint64_t count = entries_.size();
    Record record;
    if (count >= in_zip64_16 || needs_zip64(size) || needs_zip64(start)) {
        const std::uint64_t records = position_;
        record.add(zip64_end_signature).add(std::uint64_t{zip64_end_size - 12});
        record.add(static_cast<std::uint16_t>(made_by_unix | version_zip64)).add(version_zip64);
        record.add_zeros(8).add(count).add(count).add(size).add(start);
        record.add(zip64_locator_signature).add_zeros(4).add(records).add(std::uint32_t{1});
    }
    const auto low_count = static_cast<std::uint16_t>(std::min<std::uint64_t>(count, in_zip64_16));
    record.add(end_signature).add_zeros(4).add(low_count).add(low_count).add(low(size)).add(low(start)).add_zeros(2);
    return put(record.bytes());
}

}  // namespace hurray::zip
