#include "table.hpp"

#include <algorithm>
#include <numeric>

#include "output.hpp"
#include "text.hpp"

namespace cli {
namespace {

constexpr std::size_t gap = 2;
constexpr std::size_t least = 8;

std::string padded(const std::string& text, std::size_t width, bool right) {
    const std::size_t used = columns_of(text);
    const std::string space(width > used ? width - used : 0, ' ');
    return right ? space + text : text + space;
}

}  // namespace

std::vector<std::size_t> Table::widths() const {
    std::vector<std::size_t> result;
    for (const Column& column : columns_) result.push_back(columns_of(column.heading));
    for (const auto& row : rows_) {
        for (std::size_t i = 0; i < row.size(); ++i) result[i] = std::max(result[i], columns_of(row[i]));
    }
    const std::size_t available = output_width();
    if (available == 0) return result;
    const auto total = [&] { return std::accumulate(result.begin(), result.end(), gap * (result.size() - 1)); };
    // The widest of those that may shrink gives way, until all fit or none can give more.
    while (total() > available) {
        std::size_t widest = result.size();
        for (std::size_t i = 0; i < result.size(); ++i) {
            if (!columns_[i].shrinks || result[i] <= least) continue;
            if (widest == result.size() || result[i] > result[widest]) widest = i;
        }
        if (widest == result.size()) break;
        const std::size_t excess = total() - available;
        result[widest] -= std::min(excess, std::max<std::size_t>(1, (result[widest] - least) / 4));
    }
    return result;
}

void Table::print() const {
    const auto width = widths();
    const auto line = [&](const std::vector<std::string>& cells, bool heading) {
        std::string text;
        for (std::size_t i = 0; i < cells.size(); ++i) {
            const bool last = i + 1 == cells.size();
            const std::string shown = columns_[i].shrinks ? shortened(cells[i], width[i]) : cells[i];
            const std::string cell = last && !columns_[i].right ? shown : padded(shown, width[i], columns_[i].right);
            text += coloured(heading ? Colour::bold : columns_[i].colour, cell);
            if (!last) text += std::string(gap, ' ');
        }
        while (!text.empty() && text.back() == ' ') text.pop_back();
        standard_output().write(text + "\n");
    };
    std::vector<std::string> headings;
    for (const Column& column : columns_) headings.push_back(column.heading);
    line(headings, true);
    for (const auto& row : rows_) line(row, false);
}

}  // namespace cli
