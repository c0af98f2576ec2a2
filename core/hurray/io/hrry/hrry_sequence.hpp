// .hrry files from front to back, without seeking: from a pipe or a socket. (format: file, sequential reader)
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/hurray/base/error.hpp"
#include "core/hurray/io/byte_source.hpp"
#include "core/hurray/io/hrry/format.hpp"
#include "core/hurray/io/hrry/index.hpp"
#include "core/hurray/io/hrry/metadata.hpp"
#include "core/hurray/io/model_file.hpp"
#include "core/hurray/io/stream_reader.hpp"

namespace hurray {

/// Makes a stream of a .hrry file: gives its descriptors and buffers as a stream has them, without header and padding,
/// and ends where the tensors end. So a StreamReader over it reads the file's tensors.
///
/// Behind a tensor there is padding, and then the next descriptor, which starts with its magic number, or the end of
/// the tensors: neither the metadata section nor the index can start like that. What follows is read to the end of the
/// file then, and the index is checked against the tensors that came: each is there, at its place, and no other one.
/// All padding is checked to be zeros.
///
/// Thread rule: one thread at a time.
class HrrySequence final : public ByteSource {
  public:
    static constexpr std::uint64_t default_metadata_limit = std::uint64_t{256} << 20;

    /// @param metadata_limit longest metadata section accepted, in bytes
    HrrySequence(std::unique_ptr<ByteSource> file, const StreamLimits& limits,
                 std::uint64_t metadata_limit = default_metadata_limit) noexcept;

    /// Errors (offsets are those in the file): as HrryFile::open, those of decoding a descriptor and
    /// check_stream_table; invalid_format: the file ends early; padding that is not zero; an index that does not fit
    /// the tensors.
    Result<std::size_t> read_some(std::span<std::byte> into) override;
    Result<std::uint64_t> skip(std::uint64_t count) override;
    /// An upper bound: padding and index count.
    [[nodiscard]] std::optional<std::uint64_t> remaining() const override;

    /// Whether all of the file was read and checked: then names and metadata are there.
    [[nodiscard]] bool complete() const noexcept { return state_ == State::complete; }
    /// Tensors that came so far.
    [[nodiscard]] std::uint64_t tensor_count() const noexcept { return seen_.size(); }
    /// Name of the i-th tensor that came; nothing before the file is complete. Lives as long as this object.
    [[nodiscard]] std::optional<std::string_view> name(std::uint64_t i) const noexcept;
    /// Number of the tensor of that name, in the order in which they came; nothing before the file is complete.
    [[nodiscard]] std::optional<std::uint64_t> find(std::string_view name) const noexcept;
    /// Empty before the file is complete.
    [[nodiscard]] const hrry::Metadata& metadata() const noexcept { return metadata_; }

  private:
    enum class State { header, between_tensors, descriptor, data, complete };

    struct Seen {
        std::uint64_t descriptor_offset = 0;
        std::uint64_t data_offset = 0;
        std::uint64_t data_length = 0;
        /// To the end of the last buffer that is not empty.
        std::uint64_t used_length = 0;
        std::uint32_t descriptor_length = 0;
    };

    /// Goes on until there are bytes to hand out, or the file is complete.
    Result<void> advance();
    Result<void> read_header();
    Result<void> find_next();
    Result<void> read_descriptor(std::span<const std::byte> start);
    Result<void> begin_buffer();
    Result<void> read_tail(std::span<const std::byte> start);
    Result<void> check_tail();
    Result<void> check_tensors() const;
    [[nodiscard]] Result<void> check_zeros(std::uint64_t from, std::uint64_t to) const;
    /// Bytes that were looked at already, or those of the file: as ByteSource::read_some.
    Result<std::size_t> take(std::span<std::byte> into);
    /// Fills `into` or returns how many bytes there were.
    Result<std::size_t> take_all(std::span<std::byte> into);
    /// Sees to it that at least 8 of the next bytes can be looked at, and no more than so many.
    Result<void> look_ahead(std::uint64_t at_most);
    [[nodiscard]] std::span<const std::byte> ahead() const noexcept { return std::span(ahead_).subspan(ahead_taken_); }
    /// Fills `into`; the file must not end before.
    Result<void> read_all(std::span<std::byte> into, const char* part);
    Result<void> read_padding(std::uint64_t end);

    std::unique_ptr<ByteSource> file_;
    StreamLimits limits_;
    std::uint64_t metadata_limit_;
    State state_ = State::header;
    std::uint64_t offset_ = 0;
    std::vector<std::byte> ahead_;
    std::size_t ahead_taken_ = 0;
    hrry::Header header_;
    std::vector<Seen> seen_;
    /// Where the last tensor ends, without padding.
    std::uint64_t end_ = 0;
    std::vector<std::byte> descriptor_;
    std::size_t descriptor_given_ = 0;
    std::vector<std::uint64_t> sizes_;
    std::size_t buffer_ = 0;
    std::uint64_t left_ = 0;
    /// What follows the tensors, from tail_offset_ in the file to its end.
    std::vector<std::byte> tail_;
    std::uint64_t tail_offset_ = 0;
    hrry::Index index_;
    hrry::Metadata metadata_;
};

/// A StreamReader over a HrrySequence.
///
/// Thread rule: one thread at a time; tensors live on their own.
class HrryStreamReader {
  public:
    explicit HrryStreamReader(std::unique_ptr<ByteSource> file, const StreamLimits& limits = {},
                              std::uint64_t metadata_limit = HrrySequence::default_metadata_limit)
        : HrryStreamReader(std::make_unique<HrrySequence>(std::move(file), limits, metadata_limit), limits) {}

    /// The next tensor, or nothing at the end of the file, which was checked then.
    /// Errors: as StreamReader::next and HrrySequence::read_some.
    Result<std::optional<Tensor>> next() { return reader_.next(); }

    /// For reading data as it comes.
    [[nodiscard]] StreamReader& reader() noexcept { return reader_; }
    /// Names and metadata, once the end was reached.
    [[nodiscard]] const HrrySequence& sequence() const noexcept { return *sequence_; }

  private:
    HrryStreamReader(std::unique_ptr<HrrySequence> sequence, const StreamLimits& limits)
        : sequence_(sequence.get()), reader_(std::move(sequence), limits) {}

    HrrySequence* sequence_;
    StreamReader reader_;
};

}  // namespace hurray
