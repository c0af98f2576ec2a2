// Makes a descriptor of values instead of bytes.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "core/hurray/base/error.hpp"
#include "core/hurray/base/inline_storage.hpp"
#include "core/hurray/descriptor/descriptor.hpp"

namespace hurray {

enum class MemberRole : std::uint8_t;
struct CompositeFields;
struct CooFields;
struct CsfFields;
struct BlockPagedFields;
struct ExtensionTypeFields;
struct Layout;
struct PrivateLayoutFields;
struct QuantizationFields;
struct StatisticsFields;
struct TiledLevel;

/// Collects the fields of a descriptor of version 1.0; build() applies the checks of decode to them. Everything given
/// to it is copied.
///
/// Thread rule: one thread at a time.
class DescriptorBuilder {
  public:
    /// @param element_type type tag
    /// @param layout layout tag
    /// @param shape sizes; dynamic_dimension for one that is not known
    DescriptorBuilder(std::uint8_t element_type, std::uint8_t layout, std::span<const std::uint64_t> shape);

    /// Where element (0, ..., 0) starts in buffer 0, in bytes; 0 when not set.
    DescriptorBuilder& set_byte_offset(std::uint64_t byte_offset) noexcept;
    /// The strides of the strided layout, in elements, one a dimension.
    DescriptorBuilder& set_strides(std::span<const std::int64_t> strides);
    /// The levels of the tiled layout, the outermost first.
    /// @param levels at most 8; the tiles of each are multiples of those of the next (build() refuses others)
    DescriptorBuilder& set_tiled(std::span<const TiledLevel> levels);
    /// The bits of the Morton layout, one number a dimension: 2^bits is at least the dimension's size.
    DescriptorBuilder& set_morton_bits(std::span<const std::uint32_t> bits);
    /// The fields of the layout as another descriptor has them, which is of the builder's layout and rank.
    DescriptorBuilder& set_layout_of(const Descriptor& descriptor);
    /// The order of the Hilbert layout: every dimension's size is 2^order.
    DescriptorBuilder& set_hilbert(std::uint32_t order);
    /// The fields of the COO layout.
    DescriptorBuilder& set_coo(const CooFields& fields);
    /// The entries that are stored, of the CSR and the CSC layout.
    DescriptorBuilder& set_compressed(std::uint64_t nnz);
    /// The fields of the CSF layout.
    /// @param nnz entries that are stored
    /// @param mode_order the dimension of each level, the outermost first: each dimension once
    DescriptorBuilder& set_csf(std::uint64_t nnz, std::span<const std::uint32_t> mode_order);
    /// As above.
    DescriptorBuilder& set_csf(const CsfFields& fields);
    /// Makes the tensor the head of a composite. The members are tensors of their own (see Composite).
    DescriptorBuilder& set_composite(const CompositeFields& fields);
    /// The fields of the block-paged layout.
    DescriptorBuilder& set_block_paged(const BlockPagedFields& fields);
    /// The fields of a private layout, whatever its tag; build() takes it with PrivateTags::allow only.
    DescriptorBuilder& set_private_layout(const PrivateLayoutFields& fields);
    /// Makes the tensor a part of a larger one: its shape, and where the part starts, one value a dimension each.
    DescriptorBuilder& set_shard(std::span<const std::uint64_t> parent_shape,
                                 std::span<const std::uint64_t> shard_offset);
    /// Says how the elements are quantized; the buffers with scales and zero points are added as others are. Of a
    /// scheme that is neither known nor private only the tag, the version and the flags are kept, which build()
    /// refuses.
    DescriptorBuilder& set_quantization(const QuantizationFields& fields);
    DescriptorBuilder& set_statistics(const StatisticsFields& fields);
    /// Describes the element type, which is a private one then.
    DescriptorBuilder& set_extension_type(const ExtensionTypeFields& fields);
    /// Makes the tensor a member of an overlay.
    DescriptorBuilder& set_composite_member(MemberRole role);
    /// Appends an entry to the buffer table.
    /// @errors invalid_layout: the table has 255 entries already
    Result<void> add_buffer(const BufferHandle& handle);

    /// Checks what was collected and makes the descriptor. The builder stays as it is.
    /// @errors as decode; offsets are those of the encoded form
    [[nodiscard]] Result<Descriptor> build(PrivateTags private_tags = PrivateTags::refuse) const;

  private:
    using Words = InlineStorage<64>;

    /// Keeps the words of a section; those of the shard section are set for themselves.
    DescriptorBuilder& set_section_words(std::uint32_t flag, std::span<const std::uint64_t> words);
    /// Keeps the fields of a layout as the words of its codec.
    void set_layout_words(std::uint8_t layout, std::span<const std::uint64_t> words);
    /// Keeps what is wrong with fields that the encoded form has no room for: too few or too many values, say.
    void set_layout_fault(std::uint8_t layout, const Error& fault);
    /// As above, for fields that are one word a dimension.
    void set_words_of_rank(std::uint8_t layout, std::span<const std::uint64_t> words, const char* field);
    /// Offset of the layout's fields in the encoded form.
    [[nodiscard]] std::uint64_t layout_fields_at() const noexcept;
    [[nodiscard]] std::optional<Error> find_layout_fault(const Layout& layout) const;
    [[nodiscard]] Result<Descriptor> refuse_layout_fields(const Error& fault, PrivateTags private_tags) const;

    std::uint64_t byte_offset_ = 0;
    Words shape_;
    Words layout_words_;
    std::optional<Error> layout_fault_;
    Words parent_shape_;
    Words shard_offset_;
    // In the order of section_flags.
    std::array<Words, section_count> section_words_;
    InlineStorage<64> buffers_;
    std::uint32_t flags_ = 0;
    std::uint8_t element_type_;
    std::uint8_t layout_;
    /// The layout whose fields were set; 0 for none.
    std::uint8_t fields_of_ = 0;
};

}  // namespace hurray
