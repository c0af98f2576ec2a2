#include "transform.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "exit.hpp"
#include "text.hpp"

namespace cli {
namespace {

std::vector<std::uint64_t> numbers(std::string_view text, char separator, std::string_view what) {
    std::vector<std::uint64_t> values;
    for (const std::string& part : split(text, separator)) {
        std::uint64_t value = 0;
        if (!parse_number(trimmed(part), value)) {
            throw Failure(usage, std::string(what), fmt::format("\"{}\" is no number", part));
        }
        values.push_back(value);
    }
    return values;
}

std::uint8_t type_of(std::string_view text) {
    const std::uint8_t type = hurray::type_named(text);
    if (type == 0) throw Failure(usage, "", fmt::format("there is no element type \"{}\"", text));
    return type;
}

bool is_float(std::uint8_t type) {
    return type == HURRAY_TYPE_FLOAT16 || type == HURRAY_TYPE_BFLOAT16 || type == HURRAY_TYPE_FLOAT32 ||
           type == HURRAY_TYPE_FLOAT64;
}

}  // namespace

LayoutWish LayoutWish::parse(std::string_view text) {
    const std::size_t colon = text.find(':');
    const std::string_view name = text.substr(0, colon);
    LayoutWish wish;
    wish.layout = hurray::layout_named(name);
    const bool made = wish.layout != 0 && wish.layout != HURRAY_LAYOUT_COMPOSITE && wish.layout != HURRAY_LAYOUT_BLOCK_PAGED &&
                      wish.layout != HURRAY_LAYOUT_STRIDED;
    if (!made) {
        throw Failure(usage, "--layout", fmt::format("nothing is converted to \"{}\"", name))
            .with_hint("row_major, col_major, tiled:8x8, morton, hilbert, coo, csr, csc, csf");
    }
    const std::string_view rest = colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
    if (wish.layout == HURRAY_LAYOUT_TILED) {
        if (rest.empty()) throw Failure(usage, "--layout", "tiles need a size, such as tiled:8x8");
        wish.tile = numbers(rest, 'x', "--layout tiled");
        if (std::ranges::find(wish.tile, std::uint64_t{0}) != wish.tile.end()) {
            throw Failure(usage, "--layout tiled", "a tile of size 0");
        }
    } else if (wish.layout == HURRAY_LAYOUT_CSF && !rest.empty()) {
        wish.order = numbers(rest, ',', "--layout csf");
    } else if (!rest.empty()) {
        throw Failure(usage, "--layout", fmt::format("{} has no parameters", name));
    }
    return wish;
}

std::string LayoutWish::text() const {
    std::string result = hurray::layout_name(layout);
    for (std::size_t i = 0; i < tile.size(); ++i) result += fmt::format("{}{}", i == 0 ? ":" : "x", tile[i]);
    return result;
}

std::string LayoutWish::obstacle(const HurrayDescriptorInfo& info) const {
    const bool sparse = layout == HURRAY_LAYOUT_CSR || layout == HURRAY_LAYOUT_CSC;
    if (info.layout == HURRAY_LAYOUT_COMPOSITE) return "a composite";
    if (info.rank == 0 && layout != HURRAY_LAYOUT_ROW_MAJOR) return "a scalar";
    if (layout == HURRAY_LAYOUT_TILED && tile.size() != info.rank) {
        return fmt::format("{} for tiles of {}", count_text(info.rank, "dimension"), tile.size());
    }
    if (sparse && info.rank != 2) return "no matrix";
    if (layout == HURRAY_LAYOUT_CSF && (info.rank < 3 || (!order.empty() && order.size() != info.rank))) {
        return count_text(info.rank, "dimension");
    }
    if (layout == HURRAY_LAYOUT_HILBERT) {
        const auto shape = shape_of(info);
        const bool cube = info.rank >= 2 && std::ranges::all_of(shape, [&](std::uint64_t n) { return n == shape[0]; }) &&
                          shape[0] >= 2 && std::has_single_bit(shape[0]);
        if (!cube) return "the dimensions are not all the same power of two";
    }
    return "";
}

QuantizeWish QuantizeWish::parse(std::string_view text) {
    const auto parts = split(text, ',');
    const std::string_view head = parts.front();
    const std::size_t colon = head.find(':');
    QuantizeWish wish;
    wish.spec = hurray::sized<HurrayQuantizeSpec>();
    HurrayQuantizeSpec& spec = wish.spec;
    spec.scheme = hurray::scheme_named(head.substr(0, colon));
    if (spec.scheme == 0) {
        throw Failure(usage, "--quantize", fmt::format("there is no scheme \"{}\"", head.substr(0, colon)))
            .with_hint("per_tensor_affine, per_channel_affine, per_block_affine, nf4, mxfp");
    }
    const bool blocks = spec.scheme == HURRAY_SCHEME_PER_BLOCK_AFFINE || spec.scheme == HURRAY_SCHEME_NF4 ||
                        spec.scheme == HURRAY_SCHEME_MXFP;
    spec.storage_type = spec.scheme == HURRAY_SCHEME_NF4    ? HURRAY_TYPE_UINT4
                        : spec.scheme == HURRAY_SCHEME_MXFP ? HURRAY_TYPE_FLOAT4_E2M1
                                                            : HURRAY_TYPE_INT8;
    if (colon != std::string_view::npos) spec.storage_type = type_of(head.substr(colon + 1));
    if (blocks) spec.block_size = spec.scheme == HURRAY_SCHEME_NF4 ? 64 : 32;
    if (spec.scheme == HURRAY_SCHEME_PER_BLOCK_AFFINE) spec.scale_type = HURRAY_TYPE_FLOAT16;
    wish.last_axis = blocks;
    for (std::size_t i = 1; i < parts.size(); ++i) {
        const std::string_view part = trimmed(parts[i]);
        const std::size_t equals = part.find('=');
        const std::string_view key = part.substr(0, equals);
        const std::string_view value = equals == std::string_view::npos ? std::string_view() : part.substr(equals + 1);
        std::uint64_t number = 0;
        if (key == "symmetric" && value.empty()) {
            spec.symmetric = 1;
        } else if (key == "scale") {
            spec.scale_type = type_of(value);
        } else if ((key == "block" || key == "axis") && parse_number(value, number) && number <= UINT32_MAX) {
            (key == "block" ? spec.block_size : spec.axis) = static_cast<std::uint32_t>(number);
            if (key == "axis") wish.last_axis = false;
        } else {
            throw Failure(usage, "--quantize", fmt::format("\"{}\" is not understood", part))
                .with_hint("such as per_block_affine:int8,block=32,axis=1,scale=float16,symmetric");
        }
    }
    return wish;
}

HurrayQuantizeSpec QuantizeWish::spec_for(const HurrayDescriptorInfo& info) const {
    HurrayQuantizeSpec result = spec;
    if (last_axis && info.rank > 0) result.axis = info.rank - 1;
    return result;
}

std::string QuantizeWish::obstacle(const HurrayDescriptorInfo& info, bool quantized) const {
    if (info.layout == HURRAY_LAYOUT_COMPOSITE) return "a composite";
    if (quantized) return "quantized already";
    if (!is_float(info.element_type)) return fmt::format("elements of {}", hurray::type_name(info.element_type));
    const HurrayQuantizeSpec wanted = spec_for(info);
    if (wanted.scheme == HURRAY_SCHEME_PER_TENSOR_AFFINE) return "";
    if (info.rank == 0) return "a scalar";
    if (wanted.axis >= info.rank) return fmt::format("there is no dimension {}", wanted.axis);
    const std::uint64_t along = info.shape[wanted.axis];
    if (wanted.block_size > along && along != 0) return fmt::format("{} along the axis", count_text(along, "element"));
    if (wanted.scheme == HURRAY_SCHEME_MXFP && (along == 0 || along % wanted.block_size != 0)) {
        return fmt::format("{} along the axis, no multiple of the block", count_text(along, "element"));
    }
    return "";
}

hurray::Item share(const hurray::Item& item, const std::string& subject) {
    hurray::Item result;
    if (item.tensor) {
        result.tensor = take(item.tensor.share(), subject);
    } else {
        // There is no share of a composite: it is put together again from its members, which are.
        auto builder = take(hurray::CompositeBuilder::create(take(item.composite.head(), subject)), subject);
        const auto info = take(item.composite.info(), subject);
        for (std::uint32_t i = 0; i < info.member_count; ++i) {
            const auto member = take(item.composite.member(i), subject);
            take(member.tensor ? builder.add(member.tensor) : builder.add(member.composite), subject);
        }
        result.composite = take(builder.build(), subject);
    }
    return result;
}

namespace {

hurray::Tensor transcoded(const hurray::Tensor& tensor, const LayoutWish& wish, const HurrayDescriptorInfo& info,
                          const hurray::WorkOptions& work, const std::string& subject) {
    auto spec = hurray::sized<HurrayTranscodeSpec>();
    spec.layout = wish.layout;
    if (wish.tile.empty() && wish.order.empty()) return take(tensor.transcode(spec, nullptr, work), subject, failed);
    auto fields = take(hurray::DescriptorBuilder::create(info.element_type, wish.layout,
                                                         hurray::Span<const std::uint64_t>(info.shape, info.rank)),
                       subject, failed);
    if (!wish.tile.empty()) {
        auto level = hurray::sized<HurrayTileLevel>();
        level.rank = info.rank;
        level.tile_shape = wish.tile.data();
        level.outer_layout = level.inner_layout = HURRAY_LAYOUT_ROW_MAJOR;
        fields.add_tile_level(level);
    } else {
        auto layout = hurray::sized<HurrayLayoutFields>();
        layout.layout = wish.layout;
        layout.rank = info.rank;
        layout.mode_order = wish.order.data();
        fields.layout_fields(layout);
    }
    take(fields.status(), subject, failed);
    return take(tensor.transcode(spec, &fields, work), subject, failed);
}

}  // namespace

Transformed transform(const hurray::Item& item, const Plan& plan, Meter& meter, std::uint64_t bytes, const std::string& subject) {
    Transformed result;
    const auto progress = [&](std::uint64_t done, std::uint64_t total) { return meter.part(done, total, bytes); };
    hurray::WorkOptions work;
    work.progress = progress;
    result.item = share(item, subject);
    hurray::Tensor& tensor = result.item.tensor;
    if (plan.merge && result.item.composite) {
        const auto info = take(result.item.composite.info(), subject);
        if (info.composition_rule == HURRAY_COMPOSITION_PARTITION || info.composition_rule == HURRAY_COMPOSITION_OVERLAY) {
            tensor = take(result.item.composite.merged(work), subject, failed);
            result.item.composite.reset();
            result.done.emplace_back("merged");
        } else {
            result.left.emplace_back("not merged: neither partition nor overlay");
        }
    }
    if (!tensor) {
        if (plan.dequantize || plan.layout || plan.quantize) result.left.emplace_back("left as it is: a composite");
        return result;
    }
    const auto facts = [&] { return take(take(tensor.descriptor(), subject).info(), subject); };
    const auto quantized = [&] { return take(take(tensor.descriptor(), subject).quantization(), subject).present != 0; };
    if (plan.dequantize && quantized()) {
        tensor = take(tensor.dequantize(*plan.dequantize, work), subject, failed);
        result.done.push_back(fmt::format("dequantized to {}", hurray::type_name(*plan.dequantize)));
    }
    if (plan.layout && facts().layout != plan.layout->layout) {
        const std::string obstacle = plan.layout->obstacle(facts());
        if (obstacle.empty()) {
            tensor = transcoded(tensor, *plan.layout, facts(), work, subject);
            result.done.push_back(fmt::format("laid out {}", plan.layout->text()));
        } else {
            result.left.push_back(fmt::format("layout kept: {}", obstacle));
        }
    }
    if (plan.quantize) {
        const std::string obstacle = plan.quantize->obstacle(facts(), quantized());
        if (obstacle.empty()) {
            tensor = take(tensor.quantize(plan.quantize->spec_for(facts()), work), subject, failed);
            result.done.push_back(fmt::format("quantized, {}", hurray::scheme_name(plan.quantize->spec.scheme)));
        } else {
            result.left.push_back(fmt::format("not quantized: {}", obstacle));
        }
    }
    return result;
}

}  // namespace cli
