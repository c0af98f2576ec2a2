#include "core/hurray/io/gguf/raw_scheme.hpp"

#include <algorithm>
#include <cstring>

#include "core/hurray/base/endian.hpp"

namespace hurray::gguf_blocks {
namespace {

constexpr std::array magic = {std::byte{'G'}, std::byte{'G'}, std::byte{'U'}, std::byte{'F'}};

}  // namespace

RawPayload raw_payload(const GgufType& type) noexcept {
    RawPayload payload;
    std::memcpy(payload.data(), magic.data(), magic.size());
    store_le(payload.data() + 4, type.number);
    store_le(payload.data() + 8, type.block_elements);
    store_le(payload.data() + 12, type.block_bytes);
    return payload;
}

QuantizationFields raw_fields(const RawPayload& payload) noexcept {
    QuantizationFields fields;
    fields.scheme = raw_scheme_tag;
    fields.private_data = payload;
    return fields;
}

const GgufType* raw_type(const Descriptor& descriptor) noexcept {
    const auto fields = quantization_fields(descriptor);
    if (!fields || fields->scheme != raw_scheme_tag || fields->private_data.size() != raw_payload_size) return nullptr;
    const GgufType* type = find_gguf_type(load_le<std::uint32_t>(fields->private_data.data() + 4));
    if (type == nullptr || !std::ranges::equal(raw_payload(*type), fields->private_data)) return nullptr;
    return type;
}

}  // namespace hurray::gguf_blocks
