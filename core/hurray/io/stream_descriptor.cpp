#include "core/hurray/io/stream_descriptor.hpp"

#include <algorithm>
#include <span>

#include "core/hurray/base/endian.hpp"
#include "core/hurray/descriptor/codec.hpp"
#include "core/hurray/layout/layout.hpp"

namespace hurray {
namespace {

bool is_plain(const BufferHandle& handle) {
    return handle.device_tag == device_tag::cpu && handle.memory_class == memory_class::standard;
}

// Bytes of the layout's fields in the encoded form.
std::size_t layout_fields_size(const Descriptor& descriptor) {
    const Layout* layout = find_layout(descriptor.layout());
    if (layout == nullptr || layout->codec == nullptr || layout->codec->encoded_size == nullptr) return 0;
    return layout->codec->encoded_size(descriptor.rank(), descriptor.layout_words());
}

// In the encoded form of the descriptor.
void replace_buffers(const Descriptor& descriptor, std::uint64_t byte_offset, std::span<const BufferHandle> table,
                     std::span<std::byte> bytes) {
    // fixed header | shape | byte_offset | layout fields | count | handles
    const std::size_t byte_offset_at = fixed_header_size + 8 * descriptor.rank();
    const std::size_t table_at = byte_offset_at + 8 + layout_fields_size(descriptor) + 1;
    store_le(&bytes[byte_offset_at], byte_offset);
    for (std::size_t i = 0; i < table.size(); ++i) {
        encode_buffer_handle(table[i], bytes.subspan(table_at + BufferHandle::encoded_size * i));
    }
}

}  // namespace

Result<std::vector<std::byte>> encode_for_stream(const Descriptor& descriptor, std::uint32_t prefix) {
    std::vector<std::byte> bytes(descriptor.encoded_length());
    if (const auto encoded = encode(descriptor, bytes); !encoded) return std::unexpected(encoded.error());
    const auto table = descriptor.buffers();
    if (prefix == 0 && std::all_of(table.begin(), table.end(), is_plain)) return bytes;

    if (descriptor.byte_offset() < prefix) {
        return fail(Status::invalid_argument, Error::no_offset,
                    "byte_offset: %llu, less than the prefix of %u bytes that are not the buffer's own",
                    static_cast<unsigned long long>(descriptor.byte_offset()), prefix);
    }
    std::vector<BufferHandle> plain(table.begin(), table.end());
    for (BufferHandle& handle : plain) {
        handle.device_tag = device_tag::cpu;
        handle.memory_class = memory_class::standard;
    }
    if (!plain.empty()) plain.front().byte_size -= prefix;
    replace_buffers(descriptor, descriptor.byte_offset() - prefix, plain, bytes);
    // Negative strides may reach below byte_offset, into the prefix: then what was made is not a valid descriptor.
    if (const auto checked = decode(bytes, whatever_was_accepted); !checked) {
        return fail(Status::invalid_argument, Error::no_offset, "prefix: %u bytes are not the buffer's own, but: %s", prefix,
                    checked.error().message);
    }
    return bytes;
}

Result<Descriptor> with_buffers(const Descriptor& descriptor, std::uint64_t byte_offset,
                                std::span<const BufferHandle> table) {
    std::vector<std::byte> bytes(descriptor.encoded_length());
    if (const auto encoded = encode(descriptor, bytes); !encoded) return std::unexpected(encoded.error());
    replace_buffers(descriptor, byte_offset, table, bytes);
    return decode(bytes, whatever_was_accepted);
}

}  // namespace hurray
