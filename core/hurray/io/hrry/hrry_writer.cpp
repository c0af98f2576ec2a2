#include "core/hurray/io/hrry/hrry_writer.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "core/hurray/base/checked.hpp"
#include "core/hurray/base/endian.hpp"
#include "core/hurray/base/utf8.hpp"
#include "core/hurray/io/announced_tensor.hpp"
#include "core/hurray/io/crc32c.hpp"
#include "core/hurray/io/hrry/format.hpp"
#include "core/hurray/io/hrry/index.hpp"
#include "core/hurray/io/hrry/metadata_writer.hpp"
#include "core/hurray/io/quoted.hpp"

namespace hurray {
namespace {

using ull = unsigned long long;

constexpr std::array<std::byte, 64 * 1024> zeros{};
// Of the index, gathered before they are written.
constexpr std::size_t bytes_at_once = 64 * 1024;

std::unexpected<Error> of_tensor(std::string_view name, const Error& error) {
    return fail(error.code, error.offset, "tensor %s: %s", Quoted(name).c_str(), error.message);
}

// Spans to write, and where in the file they will lie.
class Pieces {
  public:
    explicit Pieces(std::uint64_t offset) noexcept : offset_(offset) {}

    void add(std::span<const std::byte> bytes) {
        const auto sum = checked_add(offset_, bytes.size());
        if (!sum) overflow_ = true;
        offset_ = sum.value_or(0);
        if (!bytes.empty()) list_.push_back(bytes);
    }

    void pad(std::uint64_t alignment) {
        const auto aligned = hrry::round_up(offset_, alignment);
        if (!aligned) overflow_ = true;
        std::uint64_t count = aligned.value_or(offset_) - offset_;
        while (count != 0) {
            const auto step = static_cast<std::size_t>(std::min<std::uint64_t>(count, zeros.size()));
            add(std::span(zeros).first(step));
            count -= step;
        }
    }

    [[nodiscard]] std::uint64_t offset() const noexcept { return offset_; }
    [[nodiscard]] bool overflow() const noexcept { return overflow_; }
    [[nodiscard]] std::span<const std::span<const std::byte>> list() const noexcept { return list_; }

  private:
    std::uint64_t offset_;
    bool overflow_ = false;
    std::vector<std::span<const std::byte>> list_;
};

Result<OutgoingTensor> checked_outgoing(std::string_view name, const Tensor& tensor) {
    if (tensor.descriptor.is_unread()) {
        return fail(Status::unsupported, Error::no_offset,
                    "tensor %s: layout_tag: %02X is not known, and so is how many buffers it has", Quoted(name).c_str(),
                    tensor.descriptor.layout());
    }
    if (tensor.descriptor.is_dynamic()) {
        return fail(Status::invalid_layout, Error::no_offset,
                    "tensor %s: shape: expected known sizes in a file, got a dynamic dimension", Quoted(name).c_str());
    }
    auto outgoing = outgoing_tensor(tensor);
    if (!outgoing) return of_tensor(name, outgoing.error());
    return outgoing;
}

}  // namespace

HrryWriter::HrryWriter(std::unique_ptr<ByteSink> sink, const FileWriterOptions& options)
    : sink_(std::move(sink)),
      options_(options),
      data_alignment_(options.data_alignment == 0 ? hrry::least_data_alignment : options.data_alignment),
      composites_({.max_descriptors = ~std::uint64_t{0}}) {}

Result<std::unique_ptr<HrryWriter>> HrryWriter::create(std::unique_ptr<ByteSink> sink,
                                                       const FileWriterOptions& options) {
    if (options.data_alignment != 0 && !hrry::is_data_alignment(options.data_alignment)) {
        return fail(Status::invalid_argument, Error::no_offset,
                    "data_alignment: expected 0 or a power of two from 4096 to 2097152, got %u",
                    options.data_alignment);
    }
    if (options.compress) {
        return fail(Status::invalid_argument, Error::no_offset, "compress: a .hrry file is never compressed");
    }
    return std::unique_ptr<HrryWriter>(new HrryWriter(std::move(sink), options));
}

Result<void> HrryWriter::check_open() const {
    if (finished_) return fail(Status::invalid_argument, Error::no_offset, "the writer has finished");
    if (!broken_) return {};
    return fail(Status::invalid_argument, Error::no_offset, "an earlier write has failed in the middle of the file");
}

Result<void> HrryWriter::check_name(std::string_view name) const {
    if (name.empty() || name.size() > hrry::Index::longest_name) {
        return fail(Status::invalid_argument, Error::no_offset, "tensor name: expected 1 to 65535 bytes, got %zu",
                    name.size());
    }
    if (find_invalid_utf8(name)) {
        return fail(Status::invalid_argument, Error::no_offset, "tensor name %s: invalid UTF-8", Quoted(name).c_str());
    }
    if (places_.contains(name)) {
        return fail(Status::invalid_argument, Error::no_offset, "tensor name %s: there is one of that name already",
                    Quoted(name).c_str());
    }
    return {};
}

Result<void> HrryWriter::write(std::span<const std::span<const std::byte>> pieces) {
    // Until all is written: an exception leaves the file with a part of it, too.
    broken_ = true;
    if (auto done = sink_->write(pieces); !done) return done;
    broken_ = false;
    for (const auto piece : pieces) offset_ += piece.size();
    return {};
}

Result<void> HrryWriter::write_header() {
    if (header_written_) return {};
    // The flag says whether there will be metadata, which is not known yet: with a tensor in the file there always is a
    // section, if only one without entries.
    has_metadata_ = !finished_ || !metadata_.empty();
    std::array<std::byte, hrry::header_size> bytes{};
    const std::uint32_t flags = hrry::file_flag::has_checksum |
                                (options_.sorted_index ? hrry::file_flag::sorted_index : 0) |
                                (has_metadata_ ? hrry::file_flag::has_metadata : 0);
    hrry::write_header({.flags = flags, .data_alignment = data_alignment_}, bytes);
    const std::span<const std::byte> piece(bytes);
    auto done = write(std::span(&piece, 1));
    header_written_ = done.has_value();
    return done;
}

Result<void> HrryWriter::write_tensor(std::string_view name, const Descriptor& descriptor,
                                      const OutgoingTensor& outgoing) {
    if (places_.size() == std::numeric_limits<std::uint32_t>::max()) {
        return fail(Status::limit_exceeded, Error::no_offset, "tensor %s: expected at most 2^32-1 tensors in a file",
                    Quoted(name).c_str());
    }
    if (auto done = write_header(); !done) return done;
    Place place;
    place.descriptor_offset = offset_;
    place.descriptor_length = static_cast<std::uint32_t>(outgoing.descriptor.size());
    Pieces pieces(offset_);
    pieces.add(outgoing.descriptor);
    // A composite head has no data, and nothing to align.
    if (outgoing.buffers.empty()) {
        place.data_offset = pieces.offset();
    } else {
        pieces.pad(data_alignment_);
        place.data_offset = pieces.offset();
    }
    std::uint64_t end = place.data_offset;
    for (const auto buffer : outgoing.buffers) {
        pieces.add(buffer);
        end = pieces.offset();
        pieces.pad(data_alignment_);
    }
    pieces.pad(hrry::part_alignment);
    place.data_length = end - place.data_offset;
    if (pieces.overflow()) {
        return fail(Status::limit_exceeded, Error::no_offset, "tensor %s: the file would have more than 2^64-1 bytes",
                    Quoted(name).c_str());
    }
    // An open composite takes it as its next member; what the composite is made of is written already.
    if (auto fits = composites_.add(Tensor{descriptor, {}}); !fits) {
        broken_ = true;
        return of_tensor(name, fits.error());
    }
    broken_ = true;
    const auto added = places_.emplace(name, place).first;
    order_.push_back(added);
    return write(pieces.list());
}

Result<void> HrryWriter::add(std::string_view name, const Tensor& tensor) {
    if (auto open = check_open(); !open) return open;
    if (auto checked = check_name(name); !checked) return checked;
    const auto outgoing = checked_outgoing(name, tensor);
    if (!outgoing) return std::unexpected(outgoing.error());
    return write_tensor(name, tensor.descriptor, *outgoing);
}

Result<void> HrryWriter::add(std::string_view name, const Descriptor& descriptor, TensorSource source) {
    if (auto open = check_open(); !open) return open;
    if (auto checked = check_name(name); !checked) return checked;
    // A file must not be finished without a tensor that was announced.
    broken_ = static_cast<bool>(source);
    const auto tensor = make_announced(name, descriptor, source);
    if (!tensor) return std::unexpected(tensor.error());
    broken_ = false;
    return add(name, *tensor);
}

Result<void> HrryWriter::add_composite(std::string_view name, const Composite& composite) {
    if (auto open = check_open(); !open) return open;
    struct Part {
        std::string name;
        Tensor tensor;
        OutgoingTensor outgoing;
    };
    std::vector<Part> parts;
    parts.reserve(composite.descriptor_count());
    // Of all of them first: a composite that is refused leaves nothing in the file.
    const auto collect = [&](auto& self, const std::string& head_name, const Composite& inner) -> Result<void> {
        parts.push_back({head_name, {inner.head(), {}}, {}});
        for (std::size_t i = 0; i < inner.members().size(); ++i) {
            const CompositeMember& member = inner.members()[i];
            std::string member_name = head_name;
            member_name += '/';
            member_name += std::to_string(i);
            if (member.composite() == nullptr) {
                parts.push_back({member_name, *member.tensor(), {}});
            } else if (auto done = self(self, member_name, *member.composite()); !done) {
                return done;
            }
        }
        return {};
    };
    if (auto done = collect(collect, std::string(name), composite); !done) return done;
    for (Part& part : parts) {
        if (auto checked = check_name(part.name); !checked) return checked;
        auto outgoing = checked_outgoing(part.name, part.tensor);
        if (!outgoing) return std::unexpected(outgoing.error());
        part.outgoing = *std::move(outgoing);
    }
    for (const Part& part : parts) {
        if (auto done = write_tensor(part.name, part.tensor.descriptor, part.outgoing); !done) return done;
    }
    return {};
}

Result<void> HrryWriter::set_metadata(std::string_view key, const MetadataValue& value) {
    if (auto open = check_open(); !open) return open;
    auto encoded = hrry::encode_metadata(key, value);
    if (!encoded) return std::unexpected(encoded.error());
    const auto known = metadata_by_key_.find(key);
    const std::uint64_t before = known == metadata_by_key_.end() ? 0 : metadata_[known->second].encoded.size();
    const std::uint64_t length = metadata_length_ - before + encoded->size();
    if (length > metadata_limit) {
        return fail(Status::limit_exceeded, Error::no_offset,
                    "metadata key %s: makes the section %llu bytes long, readers accept no more than %llu",
                    Quoted(key).c_str(), static_cast<ull>(length), static_cast<ull>(metadata_limit));
    }
    if (known != metadata_by_key_.end()) {
        metadata_[known->second].encoded = *std::move(encoded);
    } else {
        // What can fail comes first: the entry is in both or in none.
        MetadataItem item{std::string(key), *std::move(encoded)};
        if (metadata_.size() == metadata_.capacity()) metadata_.reserve(std::max<std::size_t>(8, 2 * metadata_.size()));
        metadata_by_key_.emplace(key, metadata_.size());
        metadata_.push_back(std::move(item));
    }
    metadata_length_ = length;
    return {};
}

Result<void> HrryWriter::write_metadata() {
    if (!has_metadata_) return {};
    metadata_offset_ = offset_;
    std::array<std::byte, 4> count{};
    store_le(count.data(), static_cast<std::uint32_t>(metadata_.size()));
    Pieces pieces(offset_);
    pieces.add(count);
    for (const MetadataItem& item : metadata_) pieces.add(item.encoded);
    pieces.pad(hrry::part_alignment);
    return write(pieces.list());
}

Result<void> HrryWriter::write_index() {
    hrry::Trailer trailer;
    trailer.index_offset = offset_;
    trailer.metadata_offset = metadata_offset_;
    trailer.metadata_length = has_metadata_ ? static_cast<std::uint32_t>(metadata_length_) : 0;
    std::vector<std::byte> gathered;
    gathered.reserve(bytes_at_once + hrry::Index::longest_name + hrry::Index::entry_size);
    const auto append = [&](auto number) {
        gathered.resize(gathered.size() + sizeof number);
        store_le(gathered.data() + gathered.size() - sizeof number, number);
    };
    const auto flush = [&]() -> Result<void> {
        trailer.index_checksum = crc32c(gathered, trailer.index_checksum);
        const std::span<const std::byte> piece(gathered);
        auto done = write(std::span(&piece, 1));
        gathered.clear();
        return done;
    };
    const auto append_entry = [&](const Places::value_type& entry) -> Result<void> {
        const auto& [name, place] = entry;
        append(static_cast<std::uint16_t>(name.size()));
        const auto text = std::as_bytes(std::span(name));
        gathered.insert(gathered.end(), text.begin(), text.end());
        append(place.descriptor_offset);
        append(place.descriptor_length);
        append(place.data_offset);
        append(place.data_length);
        append(std::uint32_t{0});
        return gathered.size() < bytes_at_once ? Result<void>{} : flush();
    };
    append(static_cast<std::uint64_t>(places_.size()));
    Result<void> done;
    if (options_.sorted_index) {
        for (auto entry = places_.cbegin(); done && entry != places_.cend(); ++entry) done = append_entry(*entry);
    } else {
        for (std::size_t i = 0; done && i < order_.size(); ++i) done = append_entry(*order_[i]);
    }
    if (done) done = flush();
    if (!done) return done;
    trailer.index_length = offset_ - trailer.index_offset;
    std::array<std::byte, hrry::trailer_size> bytes{};
    hrry::write_trailer(trailer, bytes);
    const std::span<const std::byte> piece(bytes);
    return write(std::span(&piece, 1));
}

Result<void> HrryWriter::finish() {
    if (auto open = check_open(); !open) return open;
    finished_ = true;
    if (auto whole = composites_.finish(); !whole) return whole;
    auto done = write_header();
    if (done) done = write_metadata();
    if (done) done = write_index();
    if (done) done = sink_->commit();
    return done;
}

Result<std::unique_ptr<ModelFileWriter>> write_hrry(std::unique_ptr<ByteSink> sink, const FileWriterOptions& options) {
    return HrryWriter::create(std::move(sink), options);
}

}  // namespace hurray
