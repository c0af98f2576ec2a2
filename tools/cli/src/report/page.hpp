// The page: what was gathered of a file, as one document that needs nothing else.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "../shared/input.hpp"
#include "detail.hpp"
#include "treemap.hpp"

namespace cli::report {

/// Tensors of one type and scheme.
struct Kind {
    std::string name;
    std::uint64_t tensors = 0;
    std::uint64_t elements = 0;
    std::uint64_t bytes = 0;
};

/// Costs of all tensors that could be quantized.
struct WholeCost {
    double bits = 0;
    double signal = 0;
    double noise = 0;
    double largest = 0;
    std::uint64_t tensors = 0;
    std::uint64_t elements = 0;
};

class Page {
  public:
    /// `detail_limit`: as the user gave it; `in_order`: details are those of the first tensors, not of the largest.
    Page(const Input& input, std::uint64_t detail_limit, bool in_order, bool filtered);

    /// Every tensor, in order.
    void add(const Facts& facts, const std::string& name);
    /// Those looked at closely, in the order of the page.
    void add_detail(const Facts& facts, const Detail& detail);
    /// The picture of a tensor's memory order, where there is one. Before its detail.
    void add_order(const Facts& facts, const hurray::Tensor& tensor);
    /// Whether a layout has no picture yet.
    bool wants_order(const Facts& facts) const;

    std::string finish();

  private:
    struct Order {
        std::string layout;
        OrderPicture picture;
        std::string names;
        std::uint64_t tensors = 0;
    };

    std::string summary() const;
    std::string metadata() const;
    std::string kinds_table() const;
    std::string bytes_section();
    std::string orders() const;
    std::string whole_costs() const;
    std::string table() const;
    std::string details() const;

    const Input& input_;
    std::uint64_t detail_limit_;
    bool in_order_;
    bool filtered_;
    std::uint64_t tensors_ = 0;
    std::uint64_t bytes_ = 0;
    std::uint64_t elements_ = 0;
    bool elements_known_ = true;
    std::vector<Kind> kinds_;
    std::map<std::string, std::uint32_t> kind_numbers_;
    std::vector<std::uint32_t> colour_of_;
    NameTree tree_;
    std::vector<Facts> rows_;
    std::map<std::uint64_t, std::string> sparklines_;
    std::set<std::uint64_t> detailed_;
    std::vector<std::string> detail_html_;
    std::vector<Order> orders_;
    std::map<std::string, std::size_t> order_numbers_;
    std::map<std::uint64_t, std::size_t> order_of_;
    std::vector<WholeCost> whole_;
    std::uint64_t costed_ = 0;
    std::uint64_t costed_elements_ = 0;
    std::uint64_t costed_bytes_ = 0;
};

}  // namespace cli::report
