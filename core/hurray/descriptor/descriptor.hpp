// A tensor descriptor as values: what decode and DescriptorBuilder::build make. (format: tensor descriptor)
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/hurray/base/error.hpp"
#include "core/hurray/base/inline_storage.hpp"
#include "core/hurray/descriptor/buffer_handle.hpp"
#include "core/hurray/layout/layout_tag.hpp"

namespace hurray {

/// The highest rank that a descriptor may have.
inline constexpr std::uint32_t max_rank = 64;
/// A dimension whose size is not known yet.
inline constexpr std::uint64_t dynamic_dimension = ~std::uint64_t{0};
/// Bytes of the fixed header, and the least that descriptor_length may be.
inline constexpr std::uint32_t fixed_header_size = 20;

/// The bits of the flags field: which sections follow the buffer table.
namespace descriptor_flag {
inline constexpr std::uint32_t quantization = 1U << 0;
inline constexpr std::uint32_t shard = 1U << 1;
inline constexpr std::uint32_t extension_type = 1U << 2;
inline constexpr std::uint32_t statistics = 1U << 3;
inline constexpr std::uint32_t composite_member = 1U << 4;
}  // namespace descriptor_flag

/// What a reader does with a tag that it does not know.
enum class Mode : std::uint8_t {
    /// Refuses it.
    strict,
    /// Accepts the tag of an element type, a layout or a quantization scheme unless the format calls it invalid (00 and
    /// FF), and private devices, and makes an opaque descriptor. All other rules stay.
    permissive,
};

/// How many kinds of sections there are.
inline constexpr std::size_t section_count = 5;
/// Their flags in the order in which they lie on the wire, which is not that of the bits.
inline constexpr std::array<std::uint32_t, section_count> section_flags = {
    descriptor_flag::quantization,     descriptor_flag::shard,
    descriptor_flag::statistics,       descriptor_flag::extension_type,
    descriptor_flag::composite_member,
};
/// All of them.
inline constexpr std::uint32_t all_section_flags = (1U << section_count) - 1;

/// A descriptor that passed every check that needs no data. Immutable; spans live as long as the object and are
/// invalidated by moving it. A moved-from object may only be assigned to or destroyed.
///
/// Thread rule: may be read by any number of threads.
class Descriptor {
    struct MadeByDecoder {};

  public:
    /// Only the decoder, which fills it, can name the argument.
    explicit Descriptor(MadeByDecoder) noexcept {}
    /// A place for decode_into; until that has filled it, it is like one that was moved from.
    [[nodiscard]] static Descriptor vacant() noexcept { return Descriptor(MadeByDecoder{}); }

    /// Type tag; see find_element_type.
    [[nodiscard]] std::uint8_t element_type() const noexcept { return element_type_; }
    /// Layout tag; see layout_tag.
    [[nodiscard]] std::uint8_t layout() const noexcept { return layout_; }
    [[nodiscard]] std::uint32_t rank() const noexcept { return rank_; }
    /// `rank` sizes; dynamic_dimension for one that is not known.
    [[nodiscard]] std::span<const std::uint64_t> shape() const noexcept { return words(0, rank_); }
    /// Where element (0, ..., 0) starts in buffer 0, in bytes.
    [[nodiscard]] std::uint64_t byte_offset() const noexcept { return byte_offset_; }

    /// The fields of the layout as 64-bit words, in the order and meaning that the layout's own file gives them.
    [[nodiscard]] std::span<const std::uint64_t> layout_words() const noexcept {
        return words(rank_, layout_word_count_);
    }
    /// The strides of the strided layout, in elements; empty for others (see dense_strides).
    [[nodiscard]] std::span<const std::int64_t> strides() const noexcept {
        if (layout_ != layout_tag::strided) return {};
        const auto fields = layout_words();
        return {reinterpret_cast<const std::int64_t*>(fields.data()), fields.size()};
    }

    [[nodiscard]] std::span<const BufferHandle> buffers() const noexcept {
        return {reinterpret_cast<const BufferHandle*>(storage_.data() + buffers_at()), buffer_count_};
    }

    [[nodiscard]] bool has_shard() const noexcept { return (flags_ & descriptor_flag::shard) != 0 && !unread_; }
    /// Shape of the tensor that this one is a part of; empty without a shard section.
    [[nodiscard]] std::span<const std::uint64_t> parent_shape() const noexcept {
        return has_shard() ? section_words(descriptor_flag::shard).first(rank_) : std::span<const std::uint64_t>{};
    }
    /// Where in the parent this tensor starts; empty without a shard section.
    [[nodiscard]] std::span<const std::uint64_t> shard_offset() const noexcept {
        return has_shard() ? section_words(descriptor_flag::shard).subspan(rank_, rank_)
                           : std::span<const std::uint64_t>{};
    }
    /// The fields of the section of a flag as 64-bit words, in the order and meaning that the section's own file gives
    /// them; empty when the section is absent.
    [[nodiscard]] std::span<const std::uint64_t> section_words(std::uint32_t flag) const noexcept;

    [[nodiscard]] std::uint32_t flags() const noexcept { return flags_; }
    [[nodiscard]] std::uint8_t version_major() const noexcept { return 1; }
    [[nodiscard]] std::uint8_t version_minor() const noexcept { return version_minor_; }
    /// Length of the encoded descriptor in bytes.
    [[nodiscard]] std::uint32_t encoded_length() const noexcept { return encoded_length_; }
    /// Whether a permissive reader met a tag that it does not know: nobody may touch the data then. Of an element type
    /// that is not known the buffers' sizes were not checked, of a scheme nothing of its payload; see also is_unread.
    [[nodiscard]] bool is_opaque() const noexcept { return opaque_; }
    /// Whether the layout is the one that is not known: nothing behind byte_offset was read then, so that there are no
    /// layout fields, buffers and sections here, whatever flags() says.
    [[nodiscard]] bool is_unread() const noexcept { return unread_; }
    /// What a higher minor version put behind the known sections, or what is unread: kept as it was, and encoded again.
    [[nodiscard]] std::span<const std::byte> trailing() const noexcept {
        return {storage_.data() + storage_.size() - trailing_size_, trailing_size_};
    }

    /// Whether a dimension is not known yet.
    [[nodiscard]] bool is_dynamic() const noexcept { return dynamic_; }
    /// Product of the shape; 1 for rank 0.
    /// @errors invalid_layout: a dimension is dynamic; the offset is that of the first such
    [[nodiscard]] Result<std::uint64_t> element_count() const;

  private:
    friend class DescriptorAssembler;

    [[nodiscard]] std::span<const std::uint64_t> words(std::size_t first, std::size_t count) const noexcept {
        return {reinterpret_cast<const std::uint64_t*>(storage_.data()) + first, count};
    }
    [[nodiscard]] std::size_t buffers_at() const noexcept { return (std::size_t{rank_} + layout_word_count_) * 8; }

    // Enough for a dense descriptor of rank 4, strided or with a shard section, without an allocation; the decoder asks
    // for a byte more than the 112 of the latter.
    static constexpr std::size_t inline_capacity = 120;

    std::uint64_t byte_offset_ = 0;
    std::uint64_t element_count_ = 1;
    std::uint32_t encoded_length_ = 0;
    std::uint32_t flags_ = 0;
    std::uint32_t layout_word_count_ = 0;
    std::uint32_t trailing_size_ = 0;
    std::uint8_t version_minor_ = 0;
    std::uint8_t element_type_ = 0;
    std::uint8_t layout_ = 0;
    std::uint8_t rank_ = 0;
    std::uint8_t buffer_count_ = 0;
    bool dynamic_ = false;
    bool opaque_ = false;
    bool unread_ = false;
    // Words of each section, in wire order.
    std::uint32_t section_word_counts_[section_count] = {};
    // shape | layout words | buffer handles | section words in wire order | trailing bytes
    InlineStorage<inline_capacity> storage_;
};

}  // namespace hurray
