// Fills a descriptor while it is decoded. Only the decoder, layouts and sections use this.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

#include "core/hurray/base/endian.hpp"
#include "core/hurray/descriptor/descriptor.hpp"
#include "core/hurray/descriptor/wire_reader.hpp"

namespace hurray {

/// Appends to the descriptor's one block of memory, in its order: shape, layout words, buffer handles, section words,
/// trailing bytes. Memory is claimed first and filled then; who claims knows that it is there (see ensure).
class DescriptorAssembler {
  public:
    /// An empty descriptor in its place.
    static Result<Descriptor> empty() noexcept {
        return Result<Descriptor>(std::in_place, Descriptor::MadeByDecoder{});
    }

    /// @param descriptor an empty one
    /// @param capacity bytes to make room for at once; ensure() adds more
    /// @param private_tags whether sections and layouts may have private tags
    /// @param mode whether they may have unknown ones; who meets one calls mark_opaque
    DescriptorAssembler(Descriptor& descriptor, std::size_t capacity, PrivateTags private_tags, Mode mode)
        : descriptor_(descriptor), private_tags_(private_tags), mode_(mode) {
        descriptor_.storage_.resize_discarding(capacity);
    }
    /// Bytes of a descriptor that have been filled.
    struct Used {
        std::size_t size;
    };
    /// Continues with a descriptor that another assembler began.
    DescriptorAssembler(Descriptor& descriptor, Used used, PrivateTags private_tags, Mode mode) noexcept
        : descriptor_(descriptor), used_(used.size), private_tags_(private_tags), mode_(mode) {}
    DescriptorAssembler(const DescriptorAssembler&) = delete;
    DescriptorAssembler& operator=(const DescriptorAssembler&) = delete;

    /// What has been filled so far. Its buffers() come last and are complete after the buffer table only.
    [[nodiscard]] const Descriptor& descriptor() const noexcept { return descriptor_; }
    [[nodiscard]] PrivateTags private_tags() const noexcept { return private_tags_; }
    [[nodiscard]] Mode mode() const noexcept { return mode_; }
    void mark_opaque() noexcept { descriptor_.opaque_ = true; }
    /// As above; what follows is of a layout that is not known.
    void mark_unread() noexcept {
        descriptor_.opaque_ = true;
        descriptor_.unread_ = true;
    }
    /// Product of the shape; 0 while a dimension is dynamic.
    [[nodiscard]] std::uint64_t element_count() const noexcept { return descriptor_.element_count_; }

    void set_header(std::uint8_t version_minor, std::uint32_t length, std::uint32_t flags, std::uint8_t element_type,
                    std::uint8_t layout, std::uint32_t rank) noexcept {
        descriptor_.version_minor_ = version_minor;
        descriptor_.encoded_length_ = length;
        descriptor_.flags_ = flags;
        descriptor_.element_type_ = element_type;
        descriptor_.layout_ = layout;
        descriptor_.rank_ = static_cast<std::uint8_t>(rank);
    }
    void set_element_count(std::uint64_t count, bool dynamic) noexcept {
        descriptor_.element_count_ = count;
        descriptor_.dynamic_ = dynamic;
    }
    void set_byte_offset(std::uint64_t byte_offset) noexcept { descriptor_.byte_offset_ = byte_offset; }

    /// Makes room for `size` further bytes. Needed only where the words of a field are wider than on the wire.
    void ensure(std::size_t size) {
        if (size > descriptor_.storage_.size() - used_) descriptor_.storage_.resize(used_ + size);
    }

    /// Claims memory for `count` words.
    [[nodiscard]] std::uint64_t* claim_words(std::size_t count) noexcept {
        return reinterpret_cast<std::uint64_t*>(claim(count * 8));
    }
    /// Takes over `count` u64 as they stand on the wire.
    void add_wire_words(const std::byte* from, std::size_t count) noexcept {
        std::uint64_t* to = claim_words(count);
        for (std::size_t i = 0; i < count; ++i) to[i] = load_le<std::uint64_t>(from + 8 * i);
    }
    void end_layout() noexcept {
        descriptor_.layout_word_count_ = static_cast<std::uint32_t>(used_ / 8) - descriptor_.rank_;
    }
    /// Claims memory for handles `first` to `end` - 1 of the buffer table.
    [[nodiscard]] BufferHandle* claim_buffers(std::uint32_t first, std::uint32_t end) noexcept {
        descriptor_.buffer_count_ = static_cast<std::uint8_t>(end);
        return reinterpret_cast<BufferHandle*>(claim(std::size_t{end - first} * sizeof(BufferHandle)));
    }
    [[nodiscard]] std::size_t used() const noexcept { return used_; }
    /// Ends the section of a row of the section table; it started when `used_before` bytes were in use.
    void end_section(std::size_t row, std::size_t used_before) noexcept {
        descriptor_.section_word_counts_[row] = static_cast<std::uint32_t>((used_ - used_before) / 8);
    }
    void add_trailing(std::span<const std::byte> bytes) noexcept {
        std::memcpy(claim(bytes.size()), bytes.data(), bytes.size());
        descriptor_.trailing_size_ = static_cast<std::uint32_t>(bytes.size());
    }

    /// Ends the work.
    void finish() noexcept { descriptor_.storage_.shrink(used_); }

  private:
    [[nodiscard]] std::byte* claim(std::size_t size) noexcept {
        std::byte* memory = descriptor_.storage_.data() + used_;
        used_ += size;
        return memory;
    }

    Descriptor& descriptor_;
    std::size_t used_ = 0;
    PrivateTags private_tags_;
    Mode mode_;
};

}  // namespace hurray
