#include "memory_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <compare>
#include <vector>

#include "../shared/text.hpp"
#include "html.hpp"

namespace cli::report {
namespace {

constexpr double margin = 24;
// Of the longer side of the grid, about.
constexpr double side = 240;

// Within a buffer. A number of bits could be beyond 64 bits.
struct Address {
    std::uint64_t byte = 0;
    std::uint32_t bit = 0;
    auto operator<=>(const Address&) const = default;
};

// Whether no more than `bits` are between the starts of two elements, of which the second one comes later.
bool follows(const Address& first, const Address& second, std::uint64_t bits) {
    return second.byte - first.byte <= bits / 8 + 1 && 8 * (second.byte - first.byte) + second.bit - first.bit <= bits;
}

struct Cell {
    std::uint64_t row = 0;
    std::uint64_t column = 0;
    bool present = false;
    Address address = {};
    std::uint64_t page = 0;
    std::size_t place = 0;
};

// What the grid shows: elements [0, ..., row * row_step, column * column_step].
struct Grid {
    std::uint64_t rows = 1;
    std::uint64_t columns = 1;
    std::uint64_t row_step = 1;
    std::uint64_t column_step = 1;
    // Lines between tiles or pages, in cells; 0 for none.
    std::uint64_t row_tile = 0;
    std::uint64_t column_tile = 0;
    bool paged = false;
    std::vector<Cell> cells;
};

std::uint64_t corner_of(std::uint8_t layout) {
    switch (layout) {
        case HURRAY_LAYOUT_MORTON:
        case HURRAY_LAYOUT_HILBERT:
            return 16;
        case HURRAY_LAYOUT_COO:
        case HURRAY_LAYOUT_CSR:
        case HURRAY_LAYOUT_CSC:
        case HURRAY_LAYOUT_CSF:
            return 16;
        default:
            return 8;
    }
}

// Two tiles, of which each is 8 cells at most.
void fit_to_tile(std::uint64_t tile, std::uint64_t size, std::uint64_t& count, std::uint64_t& step,
                 std::uint64_t& line) {
    if (tile == 0) return;
    step = tile <= 8 ? 1 : (tile + 7) / 8;
    line = tile <= 8 ? tile : tile % step == 0 ? tile / step : 0;
    const std::uint64_t wanted = line != 0 ? (tile <= 2 ? 4 : 2) * line : 16;
    count = std::min(wanted, (size + step - 1) / step);
}

bool read_cell(const hurray::Tensor& tensor, hurray::Span<const std::uint64_t> index, Cell& cell) {
    const auto address = tensor.element_address(index);
    if (!address) return false;
    cell.present = address->present != 0;
    cell.address = {address->byte_offset, address->bit_offset};
    return true;
}

std::optional<Grid> dense_or_sparse(const hurray::Tensor& tensor, const HurrayDescriptorInfo& info,
                                    hurray::DescriptorRef descriptor) {
    Grid grid;
    const auto shape = shape_of(info);
    const std::size_t rank = shape.size();
    const std::uint64_t corner = corner_of(info.layout);
    if (rank >= 1) grid.columns = std::min(shape[rank - 1], corner);
    if (rank >= 2) grid.rows = std::min(shape[rank - 2], corner);
    if (info.layout == HURRAY_LAYOUT_TILED) {
        const auto tile = descriptor.tile_level(0);
        if (!tile || tile->rank != rank) return std::nullopt;
        fit_to_tile(tile->tile_shape[rank - 1], shape[rank - 1], grid.columns, grid.column_step, grid.column_tile);
        if (rank >= 2)
            fit_to_tile(tile->tile_shape[rank - 2], shape[rank - 2], grid.rows, grid.row_step, grid.row_tile);
    }
    std::vector<std::uint64_t> index(rank, 0);
    for (std::uint64_t row = 0; row < grid.rows; ++row) {
        for (std::uint64_t column = 0; column < grid.columns; ++column) {
            if (rank >= 1) index[rank - 1] = column * grid.column_step;
            if (rank >= 2) index[rank - 2] = row * grid.row_step;
            Cell cell{.row = row, .column = column};
            if (!read_cell(tensor, index, cell)) return std::nullopt;
            grid.cells.push_back(cell);
        }
    }
    return grid;
}

// Sequences by tokens; the first element of each slot stands for it.
std::optional<Grid> paged(const hurray::Tensor& tensor, const HurrayDescriptorInfo& info,
                          const HurrayLayoutFields& layout) {
    if (info.rank != 3 || layout.page_size == 0) return std::nullopt;
    Grid grid;
    grid.paged = true;
    grid.rows = 0;
    grid.columns = 0;
    grid.column_tile = layout.page_size;
    std::uint64_t page_bits = 0;
    if (__builtin_mul_overflow(std::uint64_t{layout.page_size} * info.bits, info.shape[1], &page_bits) ||
        __builtin_mul_overflow(page_bits, info.shape[2], &page_bits) || page_bits < 8) {
        return std::nullopt;
    }
    for (std::uint64_t sequence = 0; sequence < std::min<std::uint64_t>(layout.num_seqs, 8); ++sequence) {
        for (std::uint64_t token = 0; token < 24; ++token) {
            const std::uint64_t index[] = {sequence, token, 0, 0};
            Cell cell{.row = sequence, .column = token};
            if (!read_cell(tensor, index, cell)) break;
            cell.page = cell.address.byte / (page_bits / 8);
            grid.columns = std::max(grid.columns, token + 1);
            grid.cells.push_back(cell);
        }
        grid.rows = sequence + 1;
    }
    if (grid.cells.empty()) return std::nullopt;
    return grid;
}

struct Point {
    double x;
    double y;
};
Point middle_of(const Cell& at, double cell) {
    return {margin + (static_cast<double>(at.column) + 0.5) * cell,
            margin + (static_cast<double>(at.row) + 0.5) * cell};
}

// Steps to the next element of memory are drawn through, others are dashed: there is something else between.
std::string path_of(const std::vector<const Cell*>& order, std::uint64_t bits, bool scaled, double cell) {
    std::string steps;
    std::string jumps;
    bool stepping = false;
    for (std::size_t i = 1; i < order.size(); ++i) {
        const Point from = middle_of(*order[i - 1], cell);
        const Point to = middle_of(*order[i], cell);
        const bool next = scaled || follows(order[i - 1]->address, order[i]->address, bits);
        if (next) {
            if (!stepping) steps += fmt::format("M{} {}", place(from.x), place(from.y));
            steps += fmt::format("L{} {}", place(to.x), place(to.y));
        } else {
            jumps += fmt::format("M{} {}L{} {}", place(from.x), place(from.y), place(to.x), place(to.y));
        }
        stepping = next;
    }
    std::string svg;
    if (!jumps.empty()) svg += fmt::format("<path class=\"jump\" d=\"{}\"/>", jumps);
    if (!steps.empty()) svg += fmt::format("<path class=\"way\" d=\"{}\"/>", steps);
    return svg;
}

std::string ends_of(const std::vector<const Cell*>& order, double cell) {
    const Point first = middle_of(*order.front(), cell);
    std::string svg = fmt::format("<circle class=\"start\" cx=\"{}\" cy=\"{}\" r=\"{}\"/>", place(first.x),
                                  place(first.y), place(std::min(5.0, cell / 3.5)));
    if (order.size() < 2) return svg;
    const Point last = middle_of(*order.back(), cell);
    const Point before = middle_of(*order[order.size() - 2], cell);
    const double angle = std::atan2(last.y - before.y, last.x - before.x);
    const auto corner = [&](double turn, double length) {
        return fmt::format("{},{}", place(last.x + length * std::cos(angle + turn)),
                           place(last.y + length * std::sin(angle + turn)));
    };
    const double size = std::min(7.0, cell / 2.4);
    return svg + fmt::format("<polygon class=\"end\" points=\"{} {} {}\"/>", corner(0, size), corner(2.5, size),
                             corner(-2.5, size));
}

std::string draw(Grid& grid, std::uint64_t bits) {
    std::vector<const Cell*> order;
    for (const Cell& at : grid.cells) {
        if (at.present) order.push_back(&at);
    }
    std::ranges::stable_sort(order, {}, &Cell::address);
    for (std::size_t i = 0; i < order.size(); ++i)
        grid.cells[static_cast<std::size_t>(order[i] - grid.cells.data())].place = i;

    const double cell = std::clamp(side / static_cast<double>(std::max(grid.rows, grid.columns)), 15.0, 26.0);
    const double width = 2 * margin + static_cast<double>(grid.columns) * cell;
    const double height = 2 * margin + static_cast<double>(grid.rows) * cell;
    std::string svg = fmt::format("viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\">", place(width), place(height));
    for (const Cell& at : grid.cells) {
        // Cells get stronger along the way.
        const double share =
            order.size() < 2 ? 0 : static_cast<double>(at.place) / static_cast<double>(order.size() - 1);
        svg += fmt::format("<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"",
                           at.present ? "cell" : "cell gone", place(margin + static_cast<double>(at.column) * cell + 1),
                           place(margin + static_cast<double>(at.row) * cell + 1), place(cell - 2), place(cell - 2));
        if (at.present)
            svg += fmt::format(" fill-opacity=\"{}\" data-order=\"{}\"", place(0.1 + 0.5 * share), at.place);
        svg +=
            fmt::format(" data-row=\"{}\" data-column=\"{}\"/>", at.row * grid.row_step, at.column * grid.column_step);
    }
    const auto line = [&](double x1, double y1, double x2, double y2) {
        svg += fmt::format("<line class=\"edge\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>", place(x1), place(y1),
                           place(x2), place(y2));
    };
    for (std::uint64_t i = grid.column_tile; grid.column_tile != 0 && i < grid.columns; i += grid.column_tile) {
        const double x = margin + static_cast<double>(i) * cell;
        line(x, margin, x, height - margin);
    }
    for (std::uint64_t i = grid.row_tile; grid.row_tile != 0 && i < grid.rows; i += grid.row_tile) {
        const double y = margin + static_cast<double>(i) * cell;
        line(margin, y, width - margin, y);
    }
    if (!order.empty())
        svg +=
            path_of(order, bits, grid.row_step > 1 || grid.column_step > 1 || grid.paged, cell) + ends_of(order, cell);
    if (grid.paged) {
        for (const Cell& at : grid.cells) {
            if (at.column % grid.column_tile != 0) continue;
            svg += fmt::format("<text class=\"page\" x=\"{}\" y=\"{}\">{}</text>",
                               place(margin + static_cast<double>(at.column) * cell + 3),
                               place(margin + static_cast<double>(at.row) * cell + 9), at.page);
        }
    }
    // Where the corner of the indices is, and what goes on.
    const auto label = [&](double x, double y, std::string_view anchor, std::uint64_t number) {
        svg += fmt::format("<text class=\"tick\" x=\"{}\" y=\"{}\" text-anchor=\"{}\">{}</text>", place(x), place(y),
                           anchor, number);
    };
    label(margin + cell / 2, margin - 7, "middle", 0);
    if (grid.columns > 1) {
        label(margin + (static_cast<double>(grid.columns) - 0.5) * cell, margin - 7, "middle",
              (grid.columns - 1) * grid.column_step);
    }
    if (grid.rows > 1) {
        label(margin - 6, margin + cell / 2 + 4, "end", 0);
        label(margin - 6, margin + (static_cast<double>(grid.rows) - 0.5) * cell + 4, "end",
              (grid.rows - 1) * grid.row_step);
    }
    return svg + "</svg>";
}

std::string words_of(const Grid& grid, const HurrayDescriptorInfo& info) {
    std::size_t present = 0;
    std::size_t shared = 0;
    std::vector<Address> places;
    for (const Cell& at : grid.cells) {
        if (at.present) places.push_back(at.address);
    }
    present = places.size();
    std::ranges::sort(places);
    shared = present - static_cast<std::size_t>(std::ranges::unique(places).begin() - places.begin());
    std::string words;
    if (grid.paged) {
        words =
            fmt::format("{} (down) by token (across); numbers are pages of the pool, the way goes from slot to slot",
                        grid.rows == 1 ? "Sequence" : "Sequences");
    } else if (info.rank == 0) {
        words = "A single element";
    } else if (grid.row_step > 1 || grid.column_step > 1) {
        words =
            fmt::format("The first {} by {} elements; each cell stands for {} by {} of them", grid.rows * grid.row_step,
                        grid.columns * grid.column_step, grid.row_step, grid.column_step);
    } else if (info.rank == 1) {
        words = fmt::format("The first {}", count_text(grid.columns, "element"));
    } else {
        words = fmt::format("The first {} by {} elements{}", grid.rows, grid.columns,
                            info.rank > 2 ? " of the last two dimensions, at index 0 of the others" : "");
    }
    if (present < grid.cells.size()) words += fmt::format("; {} of {} are stored", present, grid.cells.size());
    if (shared != 0) words += fmt::format("; {} share their memory with others", shared);
    return words + ".";
}

}  // namespace

std::optional<OrderPicture> order_picture(const hurray::Tensor& tensor) {
    const auto descriptor = tensor.descriptor();
    if (!descriptor) return std::nullopt;
    const auto info = descriptor->info();
    const auto layout = descriptor->layout_fields();
    if (!info || !layout || info->element_count == 0 || info->element_count == HURRAY_DIMENSION_DYNAMIC)
        return std::nullopt;
    auto grid = info->layout == HURRAY_LAYOUT_BLOCK_PAGED ? paged(tensor, *info, *layout)
                                                          : dense_or_sparse(tensor, *info, *descriptor);
    if (!grid) return std::nullopt;
    return OrderPicture{draw(*grid, info->bits), words_of(*grid, *info), grid->columns > 18};
}

}  // namespace cli::report
