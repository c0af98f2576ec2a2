#include "wire_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <string_view>

#include "exit.hpp"
#include "output.hpp"
#include "table.hpp"
#include "text.hpp"

namespace cli {
namespace {

// Walks over the bytes; each field takes the next ones.
class Walk {
  public:
    explicit Walk(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

    std::uint64_t at() const { return at_; }
    std::uint64_t left() const { return bytes_.size() - at_; }
    std::vector<WireField> take() && { return std::move(fields_); }

    std::uint64_t number(std::string name, int width, const std::function<std::string(std::uint64_t)>& meaning = nullptr) {
        const std::uint64_t value = peek(width);
        std::string text = fmt::format("{}", value);
        if (meaning) {
            const std::string words = meaning(value);
            if (!words.empty()) text += fmt::format(" ({})", words);
        }
        put(std::move(name), static_cast<std::uint64_t>(width), std::move(text));
        return value;
    }
    void signed_number(std::string name, int width) {
        const std::uint64_t raw = peek(width);
        const int unused = 64 - 8 * width;
        put(std::move(name), static_cast<std::uint64_t>(width),
            fmt::format("{}", static_cast<std::int64_t>(raw << unused) >> unused));
    }
    void float32(std::string name) {
        put(std::move(name), 4, fmt::format("{}", std::bit_cast<float>(static_cast<std::uint32_t>(peek(4)))));
    }
    void float64(std::string name) { put(std::move(name), 8, fmt::format("{}", std::bit_cast<double>(peek(8)))); }
    void reserved(std::uint64_t length) {
        if (length != 0) put("reserved", length, "0");
    }
    void rest(std::string name, std::uint64_t length) {
        if (length != 0) put(std::move(name), std::min(length, left()), count_text(length, "byte"));
    }
    void put(std::string name, std::uint64_t length, std::string value) {
        fields_.push_back({at_, length, std::move(name), std::move(value)});
        at_ += length;
    }

  private:
    std::uint64_t peek(int width) const {
        std::uint64_t value = 0;
        for (int i = 0; i < width && at_ + static_cast<std::uint64_t>(i) < bytes_.size(); ++i) {
            value |= static_cast<std::uint64_t>(bytes_[at_ + static_cast<std::uint64_t>(i)]) << (8 * i);
        }
        return value;
    }

    std::span<const std::uint8_t> bytes_;
    std::uint64_t at_ = 0;
    std::vector<WireField> fields_;
};

std::string flags_text(std::uint64_t flags) {
    constexpr const char* names[] = {"quantization", "shard", "extension_type", "statistics", "composite_member"};
    std::string text;
    for (std::size_t i = 0; i < std::size(names); ++i) {
        if ((flags >> i & 1) != 0) text += fmt::format("{}{}", text.empty() ? "" : ", ", names[i]);
    }
    return text;
}

std::string type_text(std::uint64_t tag) { return hurray::type_name(static_cast<std::uint8_t>(tag)); }
std::string layout_text(std::uint64_t tag) { return hurray::layout_name(static_cast<std::uint8_t>(tag)); }
std::string scheme_text(std::uint64_t tag) { return hurray::scheme_name(static_cast<std::uint8_t>(tag)); }
std::string device_text(std::uint64_t tag) { return hurray::device_name(static_cast<std::uint8_t>(tag)); }
std::string sync_text(std::uint64_t tag) {
    constexpr const char* names[] = {"producer_synced", "event", "consumer_stream"};
    return tag < 3 ? names[tag] : "";
}
std::string memory_text(std::uint64_t tag) {
    constexpr const char* names[] = {"standard", "host_pinned", "unified", "peer"};
    return tag < 4 ? names[tag] : tag >= 0xF0 ? "private" : "";
}
std::string rule_text(std::uint64_t tag) {
    constexpr const char* names[] = {"", "partition", "overlay", "group"};
    return tag < 4 ? names[tag] : "private";
}
std::string combine_text(std::uint64_t tag) {
    constexpr const char* names[] = {"none", "replace", "add"};
    return tag < 3 ? names[tag] : "";
}
std::string role_text(std::uint64_t tag) { return tag == 1 ? "base" : tag == 0 ? "correction" : ""; }
std::string kv_text(std::uint64_t tag) {
    constexpr const char* names[] = {"key", "value", "other"};
    return tag < 3 ? names[tag] : "";
}
std::string dimension_text(std::uint64_t value) { return value == HURRAY_DIMENSION_DYNAMIC ? "dynamic" : ""; }
std::string none_text(std::uint64_t value) { return value == HURRAY_NO_BUFFER ? "none" : ""; }

void tile_level(Walk& walk, hurray::DescriptorRef descriptor, std::uint32_t level, std::uint32_t count) {
    if (level == count) return;
    const HurrayTileLevel tile = take(descriptor.tile_level(level), "descriptor");
    const std::string prefix = count == 1 ? "" : fmt::format("level {} ", level);
    for (std::uint32_t i = 0; i < tile.rank; ++i) walk.number(fmt::format("{}tile_shape[{}]", prefix, i), 8);
    walk.number(prefix + "outer_layout", 1, layout_text);
    walk.number(prefix + "inner_layout", 1, layout_text);
    walk.reserved(2);
    for (std::uint32_t i = 0; tile.outer_strides != nullptr && i < tile.rank; ++i) {
        walk.signed_number(fmt::format("{}outer_strides[{}]", prefix, i), 8);
    }
    for (std::uint32_t i = 0; tile.inner_strides != nullptr && i < tile.rank; ++i) {
        walk.signed_number(fmt::format("{}inner_strides[{}]", prefix, i), 8);
    }
    tile_level(walk, descriptor, level + 1, count);
}

void layout_fields(Walk& walk, hurray::DescriptorRef descriptor) {
    const HurrayLayoutFields layout = take(descriptor.layout_fields(), "descriptor");
    const auto each = [&](const char* name, int width, bool with_sign = false) {
        for (std::uint32_t i = 0; i < layout.rank; ++i) {
            std::string full = fmt::format("{}[{}]", name, i);
            if (with_sign) walk.signed_number(std::move(full), width);
            else walk.number(std::move(full), width);
        }
    };
    switch (layout.layout) {
        case HURRAY_LAYOUT_STRIDED: each("strides", 8, true); break;
        case HURRAY_LAYOUT_TILED: tile_level(walk, descriptor, 0, layout.tile_level_count); break;
        case HURRAY_LAYOUT_MORTON: each("morton_bits", 4); break;
        case HURRAY_LAYOUT_COO:
            walk.number("nnz", 8);
            walk.number("is_sorted", 1);
            walk.reserved(7);
            break;
        case HURRAY_LAYOUT_CSR:
        case HURRAY_LAYOUT_CSC:
            walk.number("nnz", 8);
            walk.reserved(8);
            break;
        case HURRAY_LAYOUT_CSF:
            walk.number("nnz", 8);
            each("mode_order", 4);
            walk.reserved(8);
            break;
        case HURRAY_LAYOUT_BLOCK_PAGED:
            walk.number("page_size", 4);
            walk.number("num_pages", 8);
            walk.number("paged_axis", 4);
            walk.number("num_seqs", 4);
            walk.number("kv_role", 1, kv_text);
            walk.number("layer_index", 4, none_text);
            walk.number("block_table_index_type", 1, [](std::uint64_t type) { return type == 0 ? "uint32" : "uint64"; });
            walk.reserved(6);
            break;
        case HURRAY_LAYOUT_COMPOSITE:
            walk.number("composition_rule", 1, rule_text);
            walk.number("combine_op", 1, combine_text);
            walk.reserved(2);
            walk.number("member_count", 4);
            break;
        case HURRAY_LAYOUT_HILBERT:
            walk.number("hilbert_order", 4);
            walk.number("hilbert_rank", 4);
            break;
        default:
            if (!hurray::is_private_tag(layout.layout)) break;
            walk.number("extension_layout_id", 8);
            walk.number("extension_data_length", 4);
            walk.rest("extension_data", layout.private_length);
    }
}

void buffer_table(Walk& walk, std::uint32_t count) {
    walk.number("buffer_count", 1);
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::string prefix = fmt::format("buffers[{}].", i);
        walk.number(prefix + "byte_size", 8, [](std::uint64_t bytes) { return bytes < 1024 ? "" : size_text(bytes); });
        walk.number(prefix + "alignment", 4);
        walk.number(prefix + "device_tag", 1, device_text);
        walk.number(prefix + "sync_mode", 1, sync_text);
        walk.number(prefix + "memory_class", 1, memory_text);
        walk.reserved(1);
    }
}

void quantization(Walk& walk, const HurrayQuantization& section) {
    if (section.present == 0) return;
    walk.number("quantization_length", 4);
    const std::uint64_t end = walk.at() + section.payload_length;
    walk.number("scheme_tag", 1, scheme_text);
    walk.number("scheme_version", 1);
    walk.number("quantization flags", 2,
                [](std::uint64_t flags) { return (flags & HURRAY_QUANTIZATION_SYMMETRIC) != 0 ? "symmetric" : ""; });
    const std::uint8_t scheme = section.scheme;
    const bool blocks =
        scheme == HURRAY_SCHEME_PER_BLOCK_AFFINE || scheme == HURRAY_SCHEME_NF4 || scheme == HURRAY_SCHEME_MXFP;
    const bool arrays = scheme == HURRAY_SCHEME_PER_CHANNEL_AFFINE || scheme == HURRAY_SCHEME_PER_BLOCK_AFFINE;
    if (scheme == HURRAY_SCHEME_PER_TENSOR_AFFINE) {
        walk.float32("scale");
        walk.signed_number("zero_point", 4);
    }
    if (blocks || arrays) walk.number("axis", 4);
    if (blocks) walk.number("block_size", 4);
    if (blocks || arrays) walk.number("scale_buffer_index", 4);
    if (arrays) {
        walk.number("zero_point_buffer_index", 4, none_text);
        walk.number("scale_type_tag", 1, type_text);
    }
    const bool known = blocks || arrays || scheme == HURRAY_SCHEME_PER_TENSOR_AFFINE;
    walk.rest(known ? "reserved" : "scheme's own fields", end - walk.at());
}

void sections(Walk& walk, hurray::DescriptorRef descriptor, const HurrayDescriptorInfo& info) {
    quantization(walk, take(descriptor.quantization(), "descriptor"));
    if (info.parent_shape != nullptr) {
        for (std::uint32_t i = 0; i < info.rank; ++i) walk.number(fmt::format("parent_shape[{}]", i), 8);
        for (std::uint32_t i = 0; i < info.rank; ++i) walk.number(fmt::format("shard_offset[{}]", i), 8);
    }
    if (take(descriptor.statistics(), "descriptor").present != 0) {
        walk.number("computed_mask", 4);
        walk.reserved(4);
        walk.number("nnz", 8);
        for (const char* name : {"sparsity_ratio", "value_min", "value_max", "value_abs_max", "value_mean", "value_stddev"}) {
            walk.float64(name);
        }
        for (const char* name : {"nm_n", "nm_m", "has_nan", "has_inf"}) walk.number(name, 1);
        walk.reserved(4);
    }
    if (take(descriptor.extension_type(), "descriptor").present != 0) {
        walk.number("bit_width", 4);
        for (const char* name : {"packing_factor", "is_float", "is_signed", "sign_bits", "exponent_bits", "mantissa_bits"}) {
            walk.number(name, 1);
        }
        walk.reserved(2);
        walk.number("exponent_bias", 4);
        walk.number("type has_nan", 1);
        walk.number("type has_inf", 1);
        walk.reserved(2);
    }
    if (take(descriptor.composite_member(), "descriptor").present != 0) {
        walk.number("member_role", 1, role_text);
        walk.reserved(15);
    }
}

}  // namespace

std::vector<WireField> wire_fields(hurray::DescriptorRef descriptor, std::span<const std::uint8_t> bytes) {
    const HurrayDescriptorInfo info = take(descriptor.info(), "descriptor");
    Walk walk(bytes.first(static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), info.descriptor_length))));
    walk.put("magic", 4, "\"HRRY\"");
    walk.number("version_major", 1);
    walk.number("version_minor", 1);
    walk.number("descriptor_length", 4);
    walk.number("flags", 4, flags_text);
    walk.number("type_tag", 1, type_text);
    walk.number("layout_tag", 1, layout_text);
    walk.number("rank", 4);
    for (std::uint32_t i = 0; i < info.rank; ++i) walk.number(fmt::format("shape[{}]", i), 8, dimension_text);
    walk.number("byte_offset", 8);
    if ((info.reading & HURRAY_DESCRIPTOR_UNREAD) == 0) {
        layout_fields(walk, descriptor);
        buffer_table(walk, info.buffer_count);
        sections(walk, descriptor, info);
    }
    walk.rest("not read: of a later version, or of an unknown layout", walk.left());
    return std::move(walk).take();
}

void print_hex_rows(std::span<const std::uint8_t> bytes, std::uint64_t first_offset) {
    for (std::size_t at = 0; at < bytes.size(); at += 16) {
        const auto row = bytes.subspan(at, std::min<std::size_t>(16, bytes.size() - at));
        std::string digits;
        std::string characters;
        for (std::size_t i = 0; i < row.size(); ++i) {
            digits += fmt::format("{:02x}{}", row[i], i == 7 ? "  " : " ");
            characters += row[i] >= 0x20 && row[i] < 0x7F ? static_cast<char>(row[i]) : '.';
        }
        print("{}  {:<49} {}\n", coloured(Colour::dim, fmt::format("{:08x}", first_offset + at)), digits,
              coloured(Colour::dim, characters));
    }
}

void print_annotated(const std::vector<WireField>& fields, std::span<const std::uint8_t> bytes) {
    Table table({{"OFFSET", true, Colour::dim}, {"BYTES", false, Colour::cyan}, {"FIELD"}, {"VALUE", false, Colour::none, true}});
    for (const WireField& field : fields) {
        constexpr std::uint64_t most = 8;
        const auto part = bytes.subspan(static_cast<std::size_t>(field.offset),
                                        static_cast<std::size_t>(std::min(field.length, most)));
        std::string digits;
        for (const std::uint8_t byte : part) digits += fmt::format("{:02x} ", byte);
        if (field.length > most) digits += "...";
        table.add({fmt::format("{}", field.offset), digits, field.name, field.value});
    }
    table.print();
}

}  // namespace cli
