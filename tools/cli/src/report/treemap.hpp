// Where the bytes are: rectangles as large as the tensors, in those of the groups that their names put them in.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace cli::report {

/// Tensors as a tree: a name is cut at dots and slashes.
class NameTree {
  public:
    struct Node {
        /// Part of the name, as it is in the file.
        std::string part;
        std::uint64_t bytes = 0;
        std::uint64_t tensors = 0;
        /// Place in the input, of the tensor or of the first one in the group.
        std::uint64_t index = 0;
        /// Of a tensor: its kind, and what is said of it (escaped).
        std::uint32_t kind = 0;
        std::string words;
        bool is_tensor = false;
        std::map<std::string, std::unique_ptr<Node>, std::less<>> groups;
        std::vector<std::unique_ptr<Node>> leaves;
    };

    void add(std::string_view name, std::uint64_t index, std::uint64_t bytes, std::uint32_t kind, std::string words);
    /// Puts groups with a single member together with it. Once, at the end.
    void finish();
    const Node& root() const { return root_; }

  private:
    Node root_;
};

/// Colours of which each has a class c0, c1, ...; the last one is for whatever is left.
inline constexpr std::uint32_t colours = 10;

/// The drawing. Tensors that would be too many or too small are one rectangle a group. `colour_of`: the colour of each
/// kind; `detailed`: tensors that have an element #t<index> on the page.
std::string treemap_svg(const NameTree& tree, const std::vector<std::uint32_t>& colour_of,
                        const std::set<std::uint64_t>& detailed);

}  // namespace cli::report
