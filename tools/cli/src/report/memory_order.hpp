// A picture of the order in which a tensor's elements lie in memory.
#pragma once

#include <hurray.hpp>
#include <optional>
#include <string>

namespace cli::report {

struct OrderPicture {
    /// The drawing, without a name of its own: pictures that are alike are equal.
    std::string svg;
    /// What it shows, in words.
    std::string words;
    /// Much wider than high.
    bool wide = false;
};

/// Asks the library where the elements of a corner are, and draws the way through them. Nothing for tensors whose
/// elements have no addresses: composites, private layouts, dynamic or empty shapes.
std::optional<OrderPicture> order_picture(const hurray::Tensor& tensor);

}  // namespace cli::report
