#include "core/hurray/descriptor/section.hpp"

#include "core/hurray/descriptor/composite_member_section.hpp"
#include "core/hurray/descriptor/extension_type_section.hpp"
#include "core/hurray/descriptor/quantization_section.hpp"
#include "core/hurray/descriptor/shard_section.hpp"
#include "core/hurray/descriptor/statistics_section.hpp"

namespace hurray {

constexpr std::array<Section, section_count> section_table = {{
    {descriptor_flag::quantization, "quantization", &quantization_codec},
    {descriptor_flag::shard, "shard", &shard_codec},
    {descriptor_flag::statistics, "statistics", &statistics_codec},
    {descriptor_flag::extension_type, "extension_type", &extension_type_codec},
    {descriptor_flag::composite_member, "composite_member", &composite_member_codec},
}};

namespace {

constexpr bool is_in_wire_order() {
    for (std::size_t row = 0; row < section_count; ++row) {
        if (section_table[row].flag != section_flags[row]) return false;
    }
    return true;
}
static_assert(is_in_wire_order());

}  // namespace

}  // namespace hurray
