#include "core/hurray/layout/layout.hpp"

#include <array>

#include "core/hurray/layout/contiguous.hpp"
#include "core/hurray/layout/strided.hpp"

namespace hurray {
namespace {

constexpr std::uint8_t any = max_rank;

// A scalar is row-major only, hence the least ranks of 1.
constexpr Layout layouts[] = {
    {layout_tag::row_major, "row_major", 0, any, &contiguous_codec},
    {layout_tag::col_major, "col_major", 1, any, &contiguous_codec},
    {layout_tag::strided, "strided", 1, any, &strided_codec},
    {layout_tag::tiled, "tiled", 1, any, nullptr},
    {layout_tag::morton, "morton", 1, any, nullptr},
    {layout_tag::coo, "coo", 1, any, nullptr},
    {layout_tag::csr, "csr", 2, 2, nullptr},
    {layout_tag::csc, "csc", 2, 2, nullptr},
    {layout_tag::csf, "csf", 3, any, nullptr},
    {layout_tag::block_paged, "block_paged", 3, 3, nullptr},
    {layout_tag::composite, "composite", 1, any, nullptr},
    {layout_tag::hilbert, "hilbert", 2, any, nullptr},
    {layout_tag::private_first, "private_extension", 1, any, nullptr},
};

// Row of each tag, counted from 1; 0 for tags without one.
constexpr auto row_of_tag = [] {
    std::array<std::uint8_t, 256> rows{};
    for (std::uint8_t i = 0; i < std::size(layouts); ++i) rows[layouts[i].tag] = static_cast<std::uint8_t>(i + 1);
    for (int tag = layout_tag::private_first; tag <= layout_tag::private_last; ++tag) {
        rows[static_cast<std::size_t>(tag)] = rows[layout_tag::private_first];
    }
    return rows;
}();

}  // namespace

const Layout* find_layout(std::uint8_t tag) noexcept {
    const std::uint8_t row = row_of_tag[tag];
    return row == 0 ? nullptr : &layouts[row - 1];
}

}  // namespace hurray
