// How the elements of one dense layout are brought into another: the blocks that both layouts are cut into.
//
// In most pairs of layouts the places of both are sums over the digits of the indices, if the units of these are chosen
// well: the sizes of the tiles and the powers of two of Morton codes, of both. The lowest digits make up a block. All
// blocks look the same then, so that where their elements come from and go to is written down once.
#pragma once

#include <cstdint>
#include <vector>

#include "core/hurray/layout/address.hpp"

namespace hurray::transcode_detail {

/// A digit of an index: steps of `unit`, each `from` elements apart in the one tensor and `to` in the other.
struct Digit {
    std::uint64_t unit;
    std::int64_t from;
    std::int64_t to;
    std::uint32_t dimension;
};

/// A dimension as both tensors see it; several that follow one another in both are one.
struct BlockDimension {
    std::uint64_t size = 0;
    /// Of a whole block.
    std::uint64_t length = 1;
    /// The digits within a block, the coarsest first.
    std::vector<Digit> digits;
    /// The dimension of the tensors. Of use where the places are not sums over digits.
    std::uint32_t tensor_dimension = 0;
};

struct Blocks {
    std::vector<BlockDimension> dimensions;
    /// The loops over the blocks, the slowest first. Steps within a dimension go from coarse to fine.
    std::vector<Digit> loops;
    /// Whether all places are sums over the digits. If not, the strides of digits are guesses.
    bool regular = true;
    /// The dimension in which `run` elements lie one after the other in both tensors, and a block has that many of them
    /// at a time; the number of dimensions for none.
    std::uint32_t run_dimension = 0;
    std::uint64_t run = 1;
};

/// Cuts two separable tensors of the same shape, which has elements, and the same type into blocks.
Blocks make_blocks(const AddressMap& from, const AddressMap& to);

/// The units of the digits of dimension k in which a tensor is linear, in any order.
void add_units(const AddressMap& map, std::uint32_t k, std::vector<std::uint64_t>& units);

}  // namespace hurray::transcode_detail
