#include "core/hurray/descriptor/section.hpp"

#include "core/hurray/descriptor/shard_section.hpp"

namespace hurray {
namespace {

constexpr Section rows[section_count] = {
    {descriptor_flag::quantization, "quantization", nullptr},
    {descriptor_flag::shard, "shard", &shard_codec},
    {descriptor_flag::statistics, "statistics", nullptr},
    {descriptor_flag::extension_type, "extension_type", nullptr},
    {descriptor_flag::composite_member, "composite_member", nullptr},
};

constexpr std::uint32_t flags_with_codec = [] {
    std::uint32_t flags = 0;
    for (const Section& section : rows) flags |= section.codec != nullptr ? section.flag : 0;
    return flags;
}();

}  // namespace

std::span<const Section, section_count> sections() noexcept { return rows; }

std::uint32_t supported_flags() noexcept { return flags_with_codec; }

}  // namespace hurray
