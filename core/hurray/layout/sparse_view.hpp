// The entries of a sparse tensor: the place of the value at an index, and all of them. (format: COO, CSR, CSC, CSF)
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>

#include "core/hurray/layout/sparse_arrays.hpp"
#include "core/hurray/layout/sparse_walk.hpp"
#include "core/hurray/tensor.hpp"

namespace hurray {

/// A sparse tensor's index arrays, of which only the sizes were looked at. Nothing outside the buffers is read, whatever
/// is in them: where that breaks the format's rules, functions fail, or what they find is any of the entries.
///
/// Refers to the tensor's descriptor and its memory. No memory is taken. Thread rule: may be read by any number of threads.
class SparseView {
  public:
    /// @param tensor COO, CSR, CSC or CSF, without a dynamic dimension, in memory that the CPU can read
    /// @errors as check_host_buffers; unsupported: another layout, an opaque descriptor; invalid_layout: a dynamic
    ///     dimension; misaligned: a buffer with a prefix, which index arrays cannot have
    static Result<SparseView> make(const Tensor& tensor);

    [[nodiscard]] std::uint8_t layout() const noexcept { return layout_; }
    [[nodiscard]] std::span<const std::uint64_t> shape() const noexcept { return shape_; }
    /// Entries that are stored.
    [[nodiscard]] std::uint64_t nnz() const noexcept { return nnz_; }
    /// The bytes of their values, packed from the first one on; there may be more.
    [[nodiscard]] std::span<const std::byte> values() const noexcept { return values_; }

    /// The position in the values of the element at an index; nothing when it is not stored, and therefore 0. Takes
    /// O(log nnz) steps for CSR, CSC and sorted COO, O(rank log nnz) for CSF, O(nnz) for unsorted COO.
    /// @param index one value a dimension
    /// @errors invalid_argument: not one value a dimension; index_out_of_bounds; invalid_layout: the arrays lead to
    ///     nowhere, or two entries of an unsorted COO tensor have this index (the offset is that of the entry at fault
    ///     in its buffer)
    [[nodiscard]] Result<std::optional<std::uint64_t>> find(std::span<const std::uint64_t> index) const;

    /// Calls `use(index, position)` for every entry in the order of storage: the index has one value a dimension and
    /// lives until `use` returns; positions ascend from 0 to nnz - 1. When `use` returns false, that ends it. Takes time
    /// linear in the sizes of the arrays; no virtual call for an entry.
    ///
    /// Checks the rules of the format on the way, before it hands out what they are about: bounds, order, pointers.
    /// Only that no two entries of an unsorted COO tensor have the same index is not looked at.
    /// @errors invalid_layout: the arrays break a rule (the offset is that of the entry at fault in its buffer)
    template <typename Use>
    Result<void> for_each(Use&& use) const {
        return for_each(use, sparse_walk::NoPace{});
    }
    /// As above, for long work.
    /// @param pace called now and then with how many entries of index arrays were read, at most those of
    ///     index_entries() in all; returns false to stop, which is no error here
    template <typename Use, typename Pace>
    Result<void> for_each(Use&& use, Pace&& pace) const {
        switch (arrays_.index()) {
            case 0:
                return sparse_walk::walk(*std::get_if<0>(&arrays_), use, pace);
            case 1:
                return sparse_walk::walk(*std::get_if<1>(&arrays_), use, pace);
            default:
                return sparse_walk::walk(*std::get_if<2>(&arrays_), use, pace);
        }
    }

    /// Numbers in all index arrays together.
    [[nodiscard]] std::uint64_t index_entries() const noexcept { return index_entries_; }

    using Arrays = std::variant<CooArrays, CompressedArrays, CsfArrays>;
    [[nodiscard]] const Arrays& arrays() const noexcept { return arrays_; }

  private:
    SparseView(const Tensor& tensor, std::uint64_t nnz);

    Arrays arrays_;
    std::span<const std::uint64_t> shape_;
    std::span<const std::byte> values_;
    std::uint64_t nnz_;
    std::uint64_t index_entries_ = 0;
    std::uint8_t layout_;
};

}  // namespace hurray
