#include "core/hurray/io/npz/zip_source.hpp"

#define ZLIB_CONST
#include <zlib.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "core/hurray/io/quoted.hpp"

namespace hurray::zip {
namespace {

using ull = unsigned long long;

// Compressed bytes that are read at once from a file that is not mapped, and taken at once from one that is.
constexpr std::uint64_t read_at_once = 64 * 1024;
constexpr std::uint64_t mapped_at_once = 16 * 1024 * 1024;

constexpr std::size_t most_at_once = std::numeric_limits<uInt>::max();

}  // namespace

/// A raw stream of deflate in a file.
class Source::Inflater {
public:
    Inflater(const FileBytes& bytes, const Member& member, std::string_view name) noexcept
        : bytes_(bytes), name_(name), offset_(member.data_offset), rest_(member.compressed_size) {}
    Inflater(const Inflater&) = delete;
    Inflater& operator=(const Inflater&) = delete;
    ~Inflater() {
        if (open_) inflateEnd(&stream_);
    }

    Result<void> open() {
        // A negative number of bits: no header and no checksum, which the archive has of its own.
        if (inflateInit2(&stream_, -MAX_WBITS) != Z_OK) {
            return fail(Status::out_of_memory, Error::no_offset, "member %s: no memory to unpack it", Quoted(name_).c_str());
        }
        open_ = true;
        return {};
    }

    /// Unpacks up to into.size() bytes; 0 at the end of the stream only.
    Result<std::size_t> read(std::span<std::byte> into) {
        const std::size_t wanted = std::min(into.size(), most_at_once);
        stream_.next_out = reinterpret_cast<Bytef*>(into.data());
        stream_.avail_out = static_cast<uInt>(wanted);
        while (stream_.avail_out == wanted && !ended_) {
            if (stream_.avail_in == 0) {
                if (auto filled = fill(); !filled) return std::unexpected(filled.error());
            }
            const int status = inflate(&stream_, Z_NO_FLUSH);
            if (status == Z_STREAM_END) {
                ended_ = true;
            } else if (status == Z_MEM_ERROR) {
                return fail(Status::out_of_memory, Error::no_offset, "member %s: no memory to unpack it", Quoted(name_).c_str());
            } else if (status == Z_BUF_ERROR && stream_.avail_in == 0 && rest_ == 0) {
                return fail(Status::invalid_format, place(), "member %s: its compressed data has no end", Quoted(name_).c_str());
            } else if (status != Z_OK && status != Z_BUF_ERROR) {
                return fail(Status::invalid_format, place(), "member %s: invalid compressed data: %s", Quoted(name_).c_str(),
                            stream_.msg == nullptr ? "a dictionary is missing" : stream_.msg);
            }
        }
        return wanted - stream_.avail_out;
    }

    /// Compressed bytes behind the end of the stream.
    [[nodiscard]] std::uint64_t left() const noexcept { return rest_ + stream_.avail_in; }
    /// Where in the file the next compressed byte is.
    [[nodiscard]] std::uint64_t place() const noexcept { return offset_ - stream_.avail_in; }

private:
    Result<void> fill() {
        std::span<const std::byte> input;
        if (bytes_.in_place()) {
            auto window = bytes_.window(offset_, std::min(rest_, mapped_at_once));
            if (!window) return std::unexpected(window.error());
            input = window->bytes;
        } else {
            buffer_.resize(static_cast<std::size_t>(std::min(rest_, read_at_once)));
            if (auto read = bytes_.read(offset_, buffer_); !read) return read;
            input = buffer_;
        }
        stream_.next_in = reinterpret_cast<const Bytef*>(input.data());
        stream_.avail_in = static_cast<uInt>(input.size());
        offset_ += input.size();
        rest_ -= input.size();
        return {};
    }

    const FileBytes& bytes_;
    std::string_view name_;
    std::uint64_t offset_;
    std::uint64_t rest_;
    std::vector<std::byte> buffer_;
    z_stream stream_{};
    bool open_ = false;
    bool ended_ = false;
};

Source::Source(FileBytes bytes, const Member& member, std::string_view name)
    : bytes_(std::move(bytes)), member_(member), name_(name), remaining_(member.size) {}

Source::~Source() = default;

Result<std::unique_ptr<Source>> Source::open(const FileBytes& bytes, const Member& member, std::string_view name) {
    std::unique_ptr<Source> source(new Source(bytes, member, name));
    if (member.is_compressed()) {
        source->inflater_ = std::make_unique<Inflater>(source->bytes_, member, source->name_);
        if (auto opened = source->inflater_->open(); !opened) return std::unexpected(opened.error());
    }
    return source;
}

Result<std::size_t> Source::read_some(std::span<std::byte> into) {
    into = into.first(static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), remaining_)));
    if (into.empty()) return std::size_t{0};
    if (inflater_ == nullptr) {
        if (auto read = bytes_.read(member_.data_offset + (member_.size - remaining_), into); !read) {
            return std::unexpected(read.error());
        }
    } else {
        const auto count = inflater_->read(into);
        if (!count) return count;
        if (*count == 0) {
            return fail(Status::invalid_format, inflater_->place(), "member %s: ends after %llu bytes, expected %llu",
                        Quoted(name_).c_str(), static_cast<ull>(member_.size - remaining_), static_cast<ull>(member_.size));
        }
        into = into.first(*count);
    }
    crc_ = crc32(crc_, into);
    remaining_ -= into.size();
    return into.size();
}

Result<void> Source::finish() {
    std::vector<std::byte> scratch(static_cast<std::size_t>(std::min<std::uint64_t>(remaining_, read_at_once)));
    while (remaining_ != 0) {
        if (const auto skipped = read_some(scratch); !skipped) return std::unexpected(skipped.error());
    }
    if (inflater_ != nullptr) {
        std::byte more{};
        const auto count = inflater_->read(std::span(&more, 1));
        if (!count) return std::unexpected(count.error());
        if (*count != 0) {
            return fail(Status::invalid_format, inflater_->place(), "member %s: unpacks to more than %llu bytes",
                        Quoted(name_).c_str(), static_cast<ull>(member_.size));
        }
        if (inflater_->left() != 0) {
            return fail(Status::invalid_format, inflater_->place(),
                        "member %s: %llu bytes behind the end of its compressed data", Quoted(name_).c_str(),
                        static_cast<ull>(inflater_->left()));
        }
    }
    if (crc_ != member_.crc) {
        return fail(Status::invalid_format, member_.data_offset, "member %s: its CRC-32 is %08x, expected %08x",
                    Quoted(name_).c_str(), crc_, member_.crc);
    }
    return {};
}

std::uint32_t crc32(std::uint32_t crc, std::span<const std::byte> bytes) noexcept {
    // zlib takes a null pointer for the wish to begin.
    if (bytes.empty()) return crc;
    return static_cast<std::uint32_t>(::crc32_z(crc, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace hurray::zip
