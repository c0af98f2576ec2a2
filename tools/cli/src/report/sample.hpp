// What histograms and quantization errors are made of: all elements of a tensor, or whole rows spread evenly over it.
#pragma once

#include <cstdint>
#include <vector>

#include "values.hpp"

namespace cli::report {

/// A matrix whose rows are those of the tensor: dimension 0 by all others, or pieces of rows where these are too long.
struct Sample {
    std::uint64_t rows = 0;
    std::uint64_t columns = 0;
    std::vector<double> values;
    /// Elements of the tensor.
    std::uint64_t total = 0;
    bool complete = false;
    /// The rows of the matrix are pieces of `columns` elements.
    bool pieces = false;
};

/// At most `most` elements. Where each element is a call of the library, at most 2^16.
hurray::Result<Sample> sample_of(const Values& values, std::uint64_t most);

}  // namespace cli::report
