// Rows under headings, as wide as the terminal at most.
#pragma once

#include <string>
#include <vector>

#include "terminal.hpp"

namespace cli {

struct Column {
    std::string heading;
    bool right = false;
    Colour colour = Colour::none;
    /// May be shortened where the terminal is too narrow.
    bool shrinks = false;
};

class Table {
  public:
    explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
    void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
    std::size_t size() const { return rows_.size(); }
    void print() const;

  private:
    std::vector<std::size_t> widths() const;

    std::vector<Column> columns_;
    std::vector<std::vector<std::string>> rows_;
};

}  // namespace cli
