// The encoded form of a descriptor, put together from its parts; nothing is checked here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/hurray/descriptor/buffer_handle.hpp"
#include "core/hurray/descriptor/descriptor.hpp"
#include "core/hurray/descriptor/section.hpp"
#include "core/hurray/layout/layout.hpp"

namespace hurray {

/// What is written. The layout's words are those that its codec made, or a builder in its place.
struct WireParts {
    std::uint8_t version_minor = 0;
    std::uint8_t element_type = 0;
    std::uint8_t layout_tag = 0;
    std::uint32_t length = 0;
    std::uint32_t flags = 0;
    std::uint64_t byte_offset = 0;
    std::span<const std::uint64_t> shape = {};
    const LayoutCodec* layout = nullptr;
    std::span<const std::uint64_t> layout_words = {};
    std::span<const BufferHandle> buffers = {};
};

/// Writes the fixed header.
void write_header(const WireParts& parts, std::uint32_t rank, WireWriter& out) noexcept;

/// Writes all up to the end of the buffer table.
void write_up_to_sections(const WireParts& parts, WireWriter& out) noexcept;

}  // namespace hurray
