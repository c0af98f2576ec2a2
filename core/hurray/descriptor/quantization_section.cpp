#include "core/hurray/descriptor/quantization_section.hpp"

#include <cstring>

#include "core/hurray/quantization/scheme_check.hpp"

namespace hurray {
namespace {

constexpr std::uint32_t word_size = 8;

std::size_t word_count(std::uint64_t payload_size) {
    return 1 + static_cast<std::size_t>((payload_size + word_size - 1) / word_size);
}

std::span<const std::byte> payload_of(std::span<const std::uint64_t> words) {
    return std::as_bytes(words.subspan(1)).first(words[0]);
}

std::uint32_t encoded_size(std::uint32_t, std::span<const std::uint64_t> words) {
    return static_cast<std::uint32_t>(4 + words[0]);
}

// A scheme that is private or not known.
[[gnu::cold, gnu::noinline]] Result<void> check_other_scheme(unsigned tag, std::uint32_t at, DescriptorAssembler& out) {
    if (is_private_scheme(static_cast<std::uint8_t>(tag))) {
        if (out.private_tags() == PrivateTags::allow) return {};
    }
    if (out.mode() == Mode::permissive && tag != 0x00 && tag != 0xFF) {
        out.mark_opaque();
        return {};
    }
    return fail(Status::invalid_quantization, at, "scheme: expected the tag of a known scheme, got %s%02X",
                is_private_scheme(static_cast<std::uint8_t>(tag)) ? "the private " : "", tag);
}

// A payload that is not a plain one.
[[gnu::noinline]] Result<void> check_payload(std::span<const std::byte> payload, std::uint32_t payload_at,
                                             DescriptorAssembler& out) {
    const auto tag = static_cast<std::uint8_t>(payload[0]);
    const QuantizationScheme* scheme = find_scheme(tag);
    if (scheme == nullptr) return check_other_scheme(tag, payload_at, out);
    if (payload.size() < scheme->size) {
        return fail(Status::invalid_quantization, payload_at - 4,
                    "quantization_length: expected at least %u bytes for %s, got %zu", scheme->size, scheme->name,
                    payload.size());
    }
    // The first section, right behind the buffer table.
    const auto table_size =
        static_cast<std::uint32_t>(1 + out.descriptor().buffers().size() * BufferHandle::encoded_size);
    const QuantizationFields fields = read_scheme_fields(scheme, payload);
    return check_scheme({.descriptor = out.descriptor(),
                         .scheme = *scheme,
                         .fields = fields,
                         .payload = payload,
                         .payload_at = payload_at,
                         .buffer_count_at = payload_at - 4 - table_size});
}

// A section whose length is wrong, or which must not be there.
[[gnu::cold, gnu::noinline]] Result<void> section_fault(const WireReader& in, const DescriptorAssembler& out) {
    const std::uint32_t at = in.offset();
    if (!in.has(4)) return truncated_field("quantization_length", at, 4, in.remaining());
    const std::uint32_t length = load_le<std::uint32_t>(in.here());
    if (!in.has(4 + std::uint64_t{length})) {
        return fail(Status::invalid_layout, at,
                    "quantization_length: expected at most the %u bytes that are left of descriptor_length, got %u",
                    in.remaining() - 4, length);
    }
    if (length < scheme_header_size) {
        return fail(Status::invalid_quantization, at, "quantization_length: expected at least %u bytes, got %u",
                    scheme_header_size, length);
    }
    if (out.descriptor().layout() == layout_tag::composite) {
        return fail(Status::invalid_composite, at,
                    "quantization: a composite head has no elements, expected no such section");
    }
    return fail(Status::internal, at, "quantization: was refused for no reason");
}

// Takes over a payload that has been checked.
void add_payload(WireReader& in, DescriptorAssembler& out, std::uint32_t length) {
    const std::size_t count = word_count(length);
    // The words are longer than the section, and the sections that follow need their room, too.
    out.ensure(count * word_size + in.remaining() - length);
    std::uint64_t* words = out.claim_words(count);
    words[0] = length;
    words[count - 1] = 0;
    std::memcpy(words + 1, in.here(), length);
    in.skip(length);
}

Result<void> decode_section(WireReader& in, DescriptorAssembler& out) {
    if (!in.has(4)) [[unlikely]]
        return section_fault(in, out);
    const std::uint32_t length = load_le<std::uint32_t>(in.here());
    if (!in.has(4 + std::uint64_t{length}) || length < scheme_header_size ||
        out.descriptor().layout() == layout_tag::composite) [[unlikely]]
        return section_fault(in, out);
    in.skip(4);
    const std::span<const std::byte> payload(in.here(), length);
    if (!is_plain_payload(out.descriptor(), out.element_count(), payload)) {
        if (auto checked = check_payload(payload, in.offset(), out); !checked) [[unlikely]]
            return checked;
    }
    add_payload(in, out, length);
    return {};
}

void encode_section(std::uint32_t, std::span<const std::uint64_t> words, WireWriter& out) {
    out.u32(static_cast<std::uint32_t>(words[0]));
    out.bytes(payload_of(words));
}

}  // namespace

std::vector<std::uint64_t> quantization_words(const QuantizationFields& fields) {
    const std::uint64_t size = payload_size(fields);
    std::vector<std::uint64_t> words(word_count(size));
    words[0] = size;
    write_scheme_fields(fields, std::as_writable_bytes(std::span(words).subspan(1)).first(size));
    return words;
}

const SectionCodec quantization_codec = {encoded_size, decode_section, encode_section};

}  // namespace hurray
