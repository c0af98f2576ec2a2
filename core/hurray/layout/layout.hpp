// The layouts of the format as a table: a row names a layout, its codec does the work. A layout is added by a file with
// its codec and its line in layout.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "core/hurray/base/error.hpp"
#include "core/hurray/descriptor/assembler.hpp"
#include "core/hurray/descriptor/descriptor.hpp"
#include "core/hurray/descriptor/wire_reader.hpp"
#include "core/hurray/descriptor/wire_writer.hpp"
#include "core/hurray/types/element_type.hpp"

namespace hurray {

/// What the checks of a layout see of a descriptor that is being decoded. Header, shape, byte_offset and layout words
/// are there, the buffers are not yet.
struct LayoutContext {
    const Descriptor& descriptor;
    const ElementTypeInfo& type;
    /// Offsets on the wire, for errors.
    std::uint32_t byte_offset_at;
    std::uint32_t fields_at;
    std::uint32_t buffer_count_at;
    std::uint8_t buffer_count;
    /// How many elements must have room: 0 while a dimension is dynamic.
    std::uint64_t element_count;

    [[nodiscard]] std::uint32_t handle_at(std::uint32_t index) const noexcept {
        return buffer_count_at + 1 + index * BufferHandle::encoded_size;
    }
};

/// The error of a buffer table that check_own_buffer_count refuses.
[[gnu::cold, gnu::noinline]] Result<void> own_buffer_count_fault(const LayoutContext& context, std::uint32_t own,
                                                                 const char* whose);

/// Checks that a layout has its own buffers, and no other ones unless there is a quantization section, which checks then
/// that those are the ones it refers to.
/// @param own how many, see layout_buffer_count
inline Result<void> check_own_buffer_count(const LayoutContext& context, std::uint32_t own, const char* whose) {
    const bool quantized = (context.descriptor.flags() & descriptor_flag::quantization) != 0;
    if (context.buffer_count == own || (quantized && context.buffer_count > own)) [[likely]]
        return {};
    return own_buffer_count_fault(context, own, whose);
}

/// What differs from layout to layout. decode, encode and encoded_size are null for a layout without fields.
struct LayoutCodec {
    /// Bytes of the fields on the wire.
    std::uint32_t (*encoded_size)(std::uint32_t rank, std::span<const std::uint64_t> words);
    /// Reads the fields; checks only what it needs to find their end.
    Result<void> (*decode)(WireReader& in, DescriptorAssembler& out);
    void (*encode)(std::uint32_t rank, std::span<const std::uint64_t> words, WireWriter& out);
    /// Checks what does not depend on the buffers' sizes, in wire order: byte_offset, the fields, the buffer count.
    Result<void> (*check_fields)(const LayoutContext& context);
    /// Checks the size of one buffer. byte_offset is known to be at most the size of buffer 0.
    Result<void> (*check_buffer_size)(const LayoutContext& context, std::uint32_t index, std::uint64_t byte_size);
};

struct Layout {
    std::uint8_t tag;
    const char* name;
    /// The ranks that it can have.
    std::uint8_t min_rank;
    std::uint8_t max_rank;
    /// Null for a layout that is known by name only: descriptors of it are refused as unsupported.
    const LayoutCodec* codec;
};

/// The row of each tag; null for tags that are invalid or reserved. All private tags share a row.
extern const std::array<const Layout*, 256> layout_of_tag;

/// The row of a tag; null for tags that are invalid or reserved.
inline const Layout* find_layout(std::uint8_t tag) noexcept {
    return layout_of_tag[tag];
}

}  // namespace hurray
