// The index arrays of the sparse layouts as they lie in memory, and what can be wrong with what is in them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/hurray/base/endian.hpp"
#include "core/hurray/base/error.hpp"
#include "core/hurray/descriptor/descriptor.hpp"

namespace hurray {

/// Numbers of 64 bits in a buffer, at any address. Whoever reads one knows that it is there.
class IndexArray {
  public:
    IndexArray() noexcept = default;
    IndexArray(const std::byte* data, std::uint64_t size) noexcept : data_(data), size_(size) {}

    [[nodiscard]] std::uint64_t operator[](std::uint64_t i) const noexcept {
        return load_le<std::uint64_t>(data_ + 8 * i);
    }
    [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

  private:
    const std::byte* data_ = nullptr;
    std::uint64_t size_ = 0;
};

/// COO: entry i has the index indices[i * rank], ..., indices[i * rank + rank - 1].
struct CooArrays {
    std::span<const std::uint64_t> shape;
    std::uint64_t nnz;
    bool is_sorted;
    IndexArray indices;
};

/// CSR and CSC: the entries of slice s of the major dimension are pointers[s] to pointers[s + 1] - 1, with the other
/// index in `indices`.
struct CompressedArrays {
    std::uint8_t layout;
    std::uint32_t major;
    std::uint64_t nnz;
    std::uint64_t slices;
    std::uint64_t minor_size;
    IndexArray indices;
    IndexArray pointers;
};

/// CSF: the nodes of a level below node p of the level above are positions[p] to positions[p + 1] - 1.
struct CsfArrays {
    struct Level {
        std::uint64_t dimension;
        /// Coordinates are less than this.
        std::uint64_t size;
        IndexArray positions;
        /// One a node.
        IndexArray coordinates;
    };
    std::uint32_t rank;
    std::array<Level, max_rank> levels;
};

/// What data is refused with: invalid_layout, the offset being that of the entry in its buffer, and a message with the
/// buffer, the entry and what was expected.
namespace sparse_fault {

/// An index that is not within the shape.
[[gnu::cold, gnu::noinline]] std::unexpected<Error> coo_bounds(const CooArrays& arrays, std::uint64_t entry,
                                                               std::uint32_t dimension, std::uint64_t got);
/// A sorted entry that does not follow the one before it.
[[gnu::cold, gnu::noinline]] std::unexpected<Error> coo_order(const CooArrays& arrays, std::uint64_t entry,
                                                              std::uint32_t dimension);
/// Two entries with the same index.
[[gnu::cold, gnu::noinline]] std::unexpected<Error> coo_duplicate(const CooArrays& arrays, std::uint64_t entry,
                                                                  std::uint64_t earlier);
/// A pointer that is not one of the entries, or below the one before it.
[[gnu::cold, gnu::noinline]] std::unexpected<Error> pointer(const CompressedArrays& arrays, std::uint64_t entry,
                                                            std::uint64_t before, std::uint64_t got);
/// The index of an entry that is not within the shape, or does not follow the one before it in its slice.
[[gnu::cold, gnu::noinline]] std::unexpected<Error> compressed_index(const CompressedArrays& arrays,
                                                                     std::uint64_t entry, std::uint64_t got);
/// A position that is not one of the nodes, or below the one before it.
[[gnu::cold, gnu::noinline]] std::unexpected<Error> position(const CsfArrays& arrays, std::uint32_t level,
                                                             std::uint64_t entry, std::uint64_t before,
                                                             std::uint64_t got);
/// A coordinate that is not within the shape, or does not follow the one before it below the same node.
[[gnu::cold, gnu::noinline]] std::unexpected<Error> coordinate(const CsfArrays& arrays, std::uint32_t level,
                                                               std::uint64_t node, std::uint64_t got);

}  // namespace sparse_fault

/// That the first position of each level is 0 and the last one the number of its nodes.
Result<void> check_csf_ends(const CsfArrays& arrays);

}  // namespace hurray
