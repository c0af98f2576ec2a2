#include "core/hurray/descriptor/section.hpp"

#include "core/hurray/descriptor/shard_section.hpp"

namespace hurray {
namespace {

// The codec's address and whether there is one, apart: with -fsanitize=undefined GCC does not take a comparison of an
// address with null for a constant.
constexpr Section known(std::uint32_t flag, const char* name) {
    return {flag, name, nullptr, 0};
}
constexpr Section built(std::uint32_t flag, const char* name, const SectionCodec* codec) {
    return {flag, name, codec, flag};
}

}  // namespace

constexpr std::array<Section, section_count> section_table = {
    known(descriptor_flag::quantization, "quantization"),
    built(descriptor_flag::shard, "shard", &shard_codec),
    known(descriptor_flag::statistics, "statistics"),
    known(descriptor_flag::extension_type, "extension_type"),
    known(descriptor_flag::composite_member, "composite_member"),
};

constexpr std::uint32_t supported_section_flags = [] {
    std::uint32_t flags = 0;
    for (const Section& section : section_table) flags |= section.supported_flag;
    return flags;
}();

}  // namespace hurray
