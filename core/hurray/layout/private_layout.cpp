#include "core/hurray/layout/private_layout.hpp"

#include <cstring>

namespace hurray {
namespace {

constexpr std::size_t word_size = 8;
// id and length.
constexpr std::size_t header_words = 2;

std::size_t data_words(std::uint64_t size) noexcept {
    return static_cast<std::size_t>(size / word_size + (size % word_size != 0 ? 1 : 0));
}

PrivateLayoutFields fields_of(std::span<const std::uint64_t> words) noexcept {
    return {words[0], std::as_bytes(words.subspan(header_words)).first(static_cast<std::size_t>(words[1]))};
}

std::uint32_t encoded_size(std::uint32_t, std::span<const std::uint64_t> words) {
    return private_layout_header_size + static_cast<std::uint32_t>(words[1]);
}

void encode_fields(std::uint32_t, std::span<const std::uint64_t> words, WireWriter& out) {
    const PrivateLayoutFields fields = fields_of(words);
    out.u64(fields.id);
    out.u32(static_cast<std::uint32_t>(fields.data.size()));
    out.bytes(fields.data);
}

Result<void> decode_fields(WireReader& in, DescriptorAssembler& out) {
    const std::uint32_t at = in.offset();
    if (!in.has(8)) [[unlikely]]
        return truncated_field("extension_layout_id", at, 8, in.remaining());
    const std::uint64_t id = in.u64();
    if (!in.has(4)) [[unlikely]]
        return truncated_field("extension_data_length", at + 8, 4, in.remaining());
    const std::uint32_t length = in.u32();
    if (!in.has(length)) [[unlikely]] {
        return fail(Status::invalid_layout, at + 8,
                    "extension_data_length: expected at most the %u bytes that are left of descriptor_length, got %u",
                    in.remaining(), length);
    }
    if (out.private_tags() == PrivateTags::refuse) out.mark_opaque();
    const std::size_t count = header_words + data_words(length);
    // The words are longer than the fields, and what follows needs its room, too.
    out.ensure(count * word_size + in.remaining() - length);
    std::uint64_t* words = out.claim_words(count);
    // Zeros behind the data.
    words[count - 1] = 0;
    words[0] = id;
    words[1] = length;
    if (length != 0) std::memcpy(words + header_words, in.here(), length);
    in.skip(length);
    return {};
}

// How many buffers there are is a private matter.
Result<void> check_fields(const LayoutContext& context) {
    const std::uint64_t byte_offset = context.descriptor.byte_offset();
    if (context.buffer_count != 0 || byte_offset == 0) return {};
    return fail(Status::invalid_layout, context.byte_offset_at, "byte_offset: expected 0 without buffers, got %llu",
                static_cast<unsigned long long>(byte_offset));
}

Result<void> check_buffer_size(const LayoutContext&, std::uint32_t, std::uint64_t) {
    return {};
}

}  // namespace

PrivateLayoutFields private_layout_fields(const Descriptor& descriptor) noexcept {
    if (!is_private_layout(descriptor.layout()) || descriptor.layout_words().size() < header_words) return {};
    return fields_of(descriptor.layout_words());
}

std::vector<std::uint64_t> private_layout_words(const PrivateLayoutFields& fields) {
    std::vector<std::uint64_t> words(header_words + data_words(fields.data.size()));
    words[0] = fields.id;
    words[1] = fields.data.size();
    if (!fields.data.empty()) std::memcpy(words.data() + header_words, fields.data.data(), fields.data.size());
    return words;
}

const LayoutCodec private_layout_codec = {encoded_size, decode_fields, encode_fields, check_fields, check_buffer_size};

}  // namespace hurray
