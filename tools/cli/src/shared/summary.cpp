#include "summary.hpp"

#include <fmt/format.h>

#include "exit.hpp"
#include "text.hpp"

namespace cli {

std::string quantization_text(hurray::DescriptorRef descriptor) {
    const HurrayQuantization section = take(descriptor.quantization(), "descriptor");
    if (section.present == 0) return "";
    std::string text = hurray::scheme_name(section.scheme);
    switch (section.scheme) {
        case HURRAY_SCHEME_PER_TENSOR_AFFINE:
            return text + fmt::format(", scale {}, zero point {}", number_text(static_cast<double>(section.scale)),
                                      section.zero_point);
        case HURRAY_SCHEME_PER_CHANNEL_AFFINE: text += fmt::format(", axis {}", section.axis); break;
        case HURRAY_SCHEME_PER_BLOCK_AFFINE:
        case HURRAY_SCHEME_NF4:
        case HURRAY_SCHEME_MXFP: text += fmt::format(", axis {}, block {}", section.axis, section.block_size); break;
        default: return text;
    }
    if (section.scheme != HURRAY_SCHEME_NF4 && section.scheme != HURRAY_SCHEME_MXFP) {
        text += fmt::format(", {} scales", hurray::type_name(section.scale_type));
    }
    if ((section.flags & HURRAY_QUANTIZATION_SYMMETRIC) != 0) text += ", symmetric";
    return text;
}

std::string layout_text(hurray::DescriptorRef descriptor) {
    const HurrayLayoutFields layout = take(descriptor.layout_fields(), "descriptor");
    std::string text = hurray::layout_name(layout.layout);
    switch (layout.layout) {
        case HURRAY_LAYOUT_TILED: {
            if (layout.tile_level_count == 0) return text;
            const HurrayTileLevel tile = take(descriptor.tile_level(0), "descriptor");
            for (std::uint32_t i = 0; i < tile.rank; ++i) text += fmt::format("{}{}", i == 0 ? " " : "x", tile.tile_shape[i]);
            return text;
        }
        case HURRAY_LAYOUT_COO:
        case HURRAY_LAYOUT_CSR:
        case HURRAY_LAYOUT_CSC:
        case HURRAY_LAYOUT_CSF: return text + fmt::format(", {} stored", layout.nnz);
        case HURRAY_LAYOUT_BLOCK_PAGED: return text + fmt::format(", {}", count_text(layout.num_pages, "page"));
        case HURRAY_LAYOUT_COMPOSITE: {
            constexpr const char* rules[] = {"", "partition", "overlay", "group"};
            const char* rule = layout.composition_rule < 4 ? rules[layout.composition_rule] : "private rule";
            return text + fmt::format(", {} of {}", rule, layout.member_count);
        }
        default: return text;
    }
}

}  // namespace cli
