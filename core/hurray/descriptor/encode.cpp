#include "core/hurray/descriptor/codec.hpp"
#include "core/hurray/descriptor/wire_parts.hpp"

namespace hurray {

void write_header(const WireParts& parts, std::uint32_t rank, WireWriter& out) noexcept {
    std::byte* header = out.here();
    header[0] = std::byte{'H'};
    header[1] = std::byte{'R'};
    header[2] = std::byte{'R'};
    header[3] = std::byte{'Y'};
    header[4] = std::byte{1};
    header[5] = std::byte{parts.version_minor};
    store_le(header + 6, parts.length);
    store_le(header + 10, parts.flags);
    header[14] = std::byte{parts.element_type};
    header[15] = std::byte{parts.layout_tag};
    store_le(header + 16, rank);
    out.skip(fixed_header_size);
}

void write_up_to_sections(const WireParts& parts, WireWriter& out) noexcept {
    const auto rank = static_cast<std::uint32_t>(parts.shape.size());
    write_header(parts, rank, out);
    out.u64s(parts.shape);
    out.u64(parts.byte_offset);
    if (parts.layout != nullptr && parts.layout->encode != nullptr) parts.layout->encode(rank, parts.layout_words, out);
    out.u8(static_cast<std::uint8_t>(parts.buffers.size()));
    for (const BufferHandle& handle : parts.buffers) {
        encode_buffer_handle(handle, {out.here(), BufferHandle::encoded_size});
        out.skip(BufferHandle::encoded_size);
    }
}

Result<std::size_t> encode(const Descriptor& descriptor, std::span<std::byte> out) {
    const std::uint32_t length = descriptor.encoded_length();
    if (out.size() < length) [[unlikely]] {
        return fail(Status::buffer_too_small, Error::no_offset, "out: expected room for %u bytes, got %zu", length,
                    out.size());
    }
    WireWriter writer(out.data());
    if (descriptor.is_unread()) [[unlikely]] {
        write_header({.version_minor = descriptor.version_minor(),
                      .element_type = descriptor.element_type(),
                      .layout_tag = descriptor.layout(),
                      .length = length,
                      .flags = descriptor.flags()},
                     descriptor.rank(), writer);
        writer.u64s(descriptor.shape());
        writer.u64(descriptor.byte_offset());
        writer.bytes(descriptor.trailing());
        return length;
    }
    write_up_to_sections({.version_minor = descriptor.version_minor(),
                          .element_type = descriptor.element_type(),
                          .layout_tag = descriptor.layout(),
                          .length = length,
                          .flags = descriptor.flags(),
                          .byte_offset = descriptor.byte_offset(),
                          .shape = descriptor.shape(),
                          .layout = find_layout(descriptor.layout())->codec,
                          .layout_words = descriptor.layout_words(),
                          .buffers = descriptor.buffers()},
                         writer);
    if (descriptor.flags() != 0) {
        for (const Section& section : section_table) {
            if ((descriptor.flags() & section.flag) == 0) continue;
            section.codec->encode(descriptor.rank(), descriptor.section_words(section.flag), writer);
        }
    }
    writer.bytes(descriptor.trailing());
    return length;
}

}  // namespace hurray
