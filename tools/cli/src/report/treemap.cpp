#include "treemap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "../shared/text.hpp"
#include "html.hpp"

namespace cli::report {
namespace {

// Names of strangers may have a million dots.
constexpr std::size_t most_levels = 12;
// What a browser draws without delay.
constexpr std::size_t most_rectangles = 3000;

constexpr double width = 1200;
constexpr double height = 560;
constexpr double heading = 18;
constexpr double padding = 2;

struct Rectangle {
    double x = 0;
    double y = 0;
    double w = 0;
    double h = 0;
};

// What is drawn: a tensor, a group, or what is left of a group.
struct Tile {
    std::string label;
    std::string words;
    std::uint64_t bytes = 0;
    std::uint64_t tensors = 0;
    std::uint32_t colour = 0;
    // The tensor; -1 for others.
    std::int64_t index = -1;
    // In which those of the same size follow one another.
    std::uint64_t order = 0;
    Rectangle at;
    std::vector<Tile> inside;
};

// Squarified treemap (Bruls, Huizing and van Wijk): rows along the shorter side, as long as that makes their worst
// rectangle more of a square. `tiles` are sorted, largest first.
void squarify(std::vector<Tile>& tiles, Rectangle room) {
    double total = 0;
    for (const Tile& tile : tiles) total += static_cast<double>(tile.bytes);
    if (total <= 0 || room.w <= 0 || room.h <= 0) return;
    const double scale = room.w * room.h / total;
    std::size_t first = 0;
    while (first < tiles.size()) {
        const double side = std::min(room.w, room.h);
        double area = 0;
        double worst = 0;
        std::size_t last = first;
        while (last < tiles.size()) {
            const double next = static_cast<double>(tiles[last].bytes) * scale;
            const double largest = static_cast<double>(tiles[first].bytes) * scale;
            const double sum = area + next;
            const double ratio = std::max(side * side * largest / (sum * sum), sum * sum / (side * side * next));
            if (last > first && ratio > worst) break;
            area = sum;
            worst = ratio;
            ++last;
        }
        const double thickness = area / side;
        double along = 0;
        for (std::size_t i = first; i < last; ++i) {
            const double length = static_cast<double>(tiles[i].bytes) * scale / thickness;
            tiles[i].at = room.w >= room.h ? Rectangle{room.x, room.y + along, thickness, length}
                                           : Rectangle{room.x + along, room.y, length, thickness};
            along += length;
        }
        if (room.w >= room.h)
            room = {room.x + thickness, room.y, room.w - thickness, room.h};
        else
            room = {room.x, room.y + thickness, room.w, room.h - thickness};
        first = last;
    }
}

bool has_heading(const Rectangle& at) {
    return at.w > 44 && at.h > 2.2 * heading;
}

void arrange(Tile& tile, bool root) {
    if (tile.inside.empty()) return;
    Rectangle room = tile.at;
    if (!root) {
        const double top = has_heading(room) ? heading : padding;
        room = {room.x + padding, room.y + top, room.w - 2 * padding, room.h - top - padding};
    }
    squarify(tile.inside, room);
    for (Tile& inner : tile.inside) arrange(inner, false);
}

Tile tile_of(const NameTree::Node& node, std::uint64_t least, const std::string& label,
             const std::vector<std::uint32_t>& colour_of) {
    Tile tile;
    tile.label = label;
    tile.words = node.words;
    tile.bytes = node.bytes;
    tile.tensors = node.tensors;
    tile.order = node.index;
    if (node.is_tensor) {
        tile.colour = colour_of[node.kind];
        tile.index = static_cast<std::int64_t>(node.index);
        return tile;
    }
    Tile rest;
    const auto take = [&](const NameTree::Node& inner) {
        if (inner.bytes == 0) return;
        if (inner.bytes >= least) {
            tile.inside.push_back(tile_of(inner, least, shown(inner.part, 120), colour_of));
        } else {
            rest.bytes += inner.bytes;
            rest.tensors += inner.tensors;
        }
    };
    for (const auto& [part, group] : node.groups) take(*group);
    for (const auto& leaf : node.leaves) take(*leaf);
    if (rest.bytes != 0) {
        rest.label = fmt::format("{} small", grouped(rest.tensors));
        rest.colour = colours - 1;
        rest.order = std::numeric_limits<std::uint64_t>::max();
        tile.inside.push_back(std::move(rest));
    }
    std::ranges::sort(tile.inside, [](const Tile& a, const Tile& b) {
        return a.bytes != b.bytes ? a.bytes > b.bytes : a.order < b.order;
    });
    return tile;
}

void sizes_of(const NameTree::Node& node, std::vector<std::uint64_t>& sizes) {
    if (node.is_tensor && node.bytes != 0) sizes.push_back(node.bytes);
    for (const auto& [part, group] : node.groups) sizes_of(*group, sizes);
    for (const auto& leaf : node.leaves) sizes_of(*leaf, sizes);
}

// Of what a label of the given room shows; about 6.4 units a character of 11 units.
std::string fitting(const std::string& label, double room) {
    const auto columns = room < 12 ? std::size_t{0} : static_cast<std::size_t>(room / 6.4);
    // An entity is one character, and is not to be cut.
    std::string text;
    std::size_t count = 0;
    for (std::size_t i = 0; i < label.size();) {
        std::size_t length = 1;
        if (label[i] == '&')
            length = label.find(';', i) - i + 1;
        else
            while (i + length < label.size() && (label[i + length] & 0xC0) == 0x80) ++length;
        if (++count > columns) return columns < 3 ? "" : text + "…";
        if (count < columns || i + length >= label.size()) text.append(label, i, length);
        i += length;
    }
    return text;
}

void draw(const Tile& tile, std::uint64_t total, bool root, const std::set<std::uint64_t>& detailed,
          std::uint64_t& number, std::string& svg) {
    const bool group = !tile.inside.empty();
    const bool rest = !group && tile.index < 0;
    const double percent =
        100 * static_cast<double>(tile.bytes) / static_cast<double>(std::max<std::uint64_t>(total, 1));
    std::string words = tile.words;
    if (root)
        words = "all tensors";
    else if (words.empty())
        words = tile.label + (group ? ": " : " tensors: ") + (group ? count_text(tile.tensors, "tensor") : "together");
    svg += fmt::format("<g id=\"m{}\" class=\"{}\" data-bytes=\"{}\" data-label=\"{}\"", number++,
                       group  ? "group"
                       : rest ? "leaf rest"
                              : "leaf",
                       tile.bytes, tile.label);
    if (tile.index >= 0 && detailed.contains(static_cast<std::uint64_t>(tile.index))) {
        svg += fmt::format(" data-tensor=\"t{}\"", tile.index);
    }
    svg += fmt::format("><title>{}, {} ({:.1f}%)</title>", words, size_text(tile.bytes), percent);
    svg += fmt::format("<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>",
                       group ? "frame" : fmt::format("c{}", tile.colour), place(tile.at.x), place(tile.at.y),
                       place(std::max(tile.at.w, 0.0)), place(std::max(tile.at.h, 0.0)));
    if (!root) {
        // The script fills labels anew when it zooms: those that do not fit now are there, too.
        const bool fits = group ? has_heading(tile.at) : tile.at.w > 24 && tile.at.h > 14;
        svg += fmt::format("<text x=\"{}\" y=\"{}\">{}</text>", place(tile.at.x + 4), place(tile.at.y + 13),
                           fits ? fitting(tile.label, tile.at.w - 8) : "");
    }
    for (const Tile& inner : tile.inside) draw(inner, total, false, detailed, number, svg);
    svg += "</g>\n";
}

void put_together(NameTree::Node& node) {
    for (auto& [part, group] : node.groups) put_together(*group);
    for (auto& [part, group] : node.groups) {
        const bool one_group = group->groups.size() == 1 && group->leaves.empty();
        const bool one_leaf = group->groups.empty() && group->leaves.size() == 1;
        if (!one_group && !one_leaf) continue;
        auto inner = one_group ? std::move(group->groups.begin()->second) : std::move(group->leaves.front());
        inner->part = group->part + inner->part;
        // Stays where it is: only what is looked at from outside is the part.
        group = std::move(inner);
    }
}

}  // namespace

void NameTree::add(std::string_view name, std::uint64_t index, std::uint64_t bytes, std::uint32_t kind,
                   std::string words) {
    Node* node = &root_;
    node->bytes += bytes;
    ++node->tensors;
    for (std::size_t level = 0; level < most_levels; ++level) {
        const std::size_t at = name.find_first_of("./");
        if (at == std::string_view::npos) break;
        // The separator is a part of the part: "a.b" and "a/b" are in two groups.
        const std::string_view part = name.substr(0, at + 1);
        auto found = node->groups.find(part);
        if (found == node->groups.end()) {
            found = node->groups.emplace(std::string(part), std::make_unique<Node>()).first;
            found->second->part = part;
            found->second->index = index;
        }
        node = found->second.get();
        node->bytes += bytes;
        ++node->tensors;
        name.remove_prefix(at + 1);
    }
    auto leaf = std::make_unique<Node>();
    leaf->part = name;
    leaf->bytes = bytes;
    leaf->tensors = 1;
    leaf->index = index;
    leaf->kind = kind;
    leaf->words = std::move(words);
    leaf->is_tensor = true;
    node->leaves.push_back(std::move(leaf));
}

void NameTree::finish() {
    put_together(root_);
}

std::string treemap_svg(const NameTree& tree, const std::vector<std::uint32_t>& colour_of,
                        const std::set<std::uint64_t>& detailed) {
    std::vector<std::uint64_t> sizes;
    sizes_of(tree.root(), sizes);
    std::uint64_t least = 1;
    if (sizes.size() > most_rectangles) {
        std::ranges::nth_element(sizes, sizes.begin() + most_rectangles, std::ranges::greater{});
        // Groups of smaller ones may be as large: they are drawn as groups of what is left, and there may be many of
        // them.
        least = std::max(sizes[most_rectangles] + 1, tree.root().bytes / most_rectangles);
    }
    Tile all = tile_of(tree.root(), least, "all tensors", colour_of);
    all.at = {0, 0, width, height};
    arrange(all, true);
    std::string svg = fmt::format(
        "<svg id=\"treemap\" viewBox=\"0 0 {} {}\" role=\"group\" aria-labelledby=\"treemap-name\">"
        "<title id=\"treemap-name\">Treemap: areas are bytes</title>\n",
        place(width), place(height));
    std::uint64_t number = 0;
    draw(all, all.bytes, true, detailed, number, svg);
    return svg + "</svg>\n";
}

}  // namespace cli::report
