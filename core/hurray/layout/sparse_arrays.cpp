#include "core/hurray/layout/sparse_arrays.hpp"

#include "core/hurray/layout/compressed.hpp"
#include "core/hurray/layout/coo.hpp"
#include "core/hurray/layout/csf.hpp"

namespace hurray {
namespace sparse_fault {
namespace {

using ull = unsigned long long;

}  // namespace

std::unexpected<Error> coo_bounds(const CooArrays& arrays, std::uint64_t entry, std::uint32_t dimension,
                                  std::uint64_t got) {
    return fail(Status::invalid_layout, (entry * arrays.shape.size() + dimension) * 8,
                "buffer %u (indices): entry %llu, dimension %u: expected less than shape[%u] = %llu, got %llu",
                coo_buffer::indices, static_cast<ull>(entry), dimension, dimension,
                static_cast<ull>(arrays.shape[dimension]), static_cast<ull>(got));
}

std::unexpected<Error> coo_order(const CooArrays& arrays, std::uint64_t entry, std::uint32_t dimension) {
    const std::uint64_t at = entry * arrays.shape.size() + dimension;
    return fail(Status::invalid_layout, at * 8,
                "buffer %u (indices): entry %llu, dimension %u: expected at least the %llu of entry %llu since is_sorted "
                "is 1, got %llu",
                coo_buffer::indices, static_cast<ull>(entry), dimension,
                static_cast<ull>(arrays.indices[at - arrays.shape.size()]), static_cast<ull>(entry - 1),
                static_cast<ull>(arrays.indices[at]));
}

std::unexpected<Error> coo_duplicate(const CooArrays& arrays, std::uint64_t entry, std::uint64_t earlier) {
    return fail(Status::invalid_layout, entry * arrays.shape.size() * 8,
                "buffer %u (indices): entry %llu: expected an index of its own, got that of entry %llu",
                coo_buffer::indices, static_cast<ull>(entry), static_cast<ull>(earlier));
}

std::unexpected<Error> pointer(const CompressedArrays& arrays, std::uint64_t entry, std::uint64_t before,
                               std::uint64_t got) {
    const char* name = compressed_pointers_name(arrays.layout);
    const auto at = static_cast<ull>(entry);
    if (entry == 0) {
        return fail(Status::invalid_layout, 0, "buffer %u (%s): entry 0: expected 0, got %llu",
                    compressed_buffer::pointers, name, static_cast<ull>(got));
    }
    if (got < before) {
        return fail(Status::invalid_layout, entry * 8, "buffer %u (%s): entry %llu: expected at least entry %llu = %llu, got %llu",
                    compressed_buffer::pointers, name, at, at - 1, static_cast<ull>(before), static_cast<ull>(got));
    }
    return fail(Status::invalid_layout, entry * 8, "buffer %u (%s): entry %llu: expected %snnz = %llu, got %llu",
                compressed_buffer::pointers, name, at, entry == arrays.slices ? "" : "at most ",
                static_cast<ull>(arrays.nnz), static_cast<ull>(got));
}

std::unexpected<Error> compressed_index(const CompressedArrays& arrays, std::uint64_t entry, std::uint64_t got) {
    const char* name = compressed_indices_name(arrays.layout);
    if (got >= arrays.minor_size) {
        return fail(Status::invalid_layout, entry * 8,
                    "buffer %u (%s): entry %llu: expected less than shape[%u] = %llu, got %llu",
                    compressed_buffer::indices, name, static_cast<ull>(entry), 1 - arrays.major,
                    static_cast<ull>(arrays.minor_size), static_cast<ull>(got));
    }
    return fail(Status::invalid_layout, entry * 8,
                "buffer %u (%s): entry %llu: expected more than entry %llu = %llu of the same %s, got %llu",
                compressed_buffer::indices, name, static_cast<ull>(entry), static_cast<ull>(entry - 1),
                static_cast<ull>(arrays.indices[entry - 1]), arrays.major == 0 ? "row" : "column",
                static_cast<ull>(got));
}

std::unexpected<Error> position(const CsfArrays& arrays, std::uint32_t level, std::uint64_t entry,
                                std::uint64_t before, std::uint64_t got) {
    const std::uint32_t buffer = csf_buffer::positions(level);
    const auto at = static_cast<ull>(entry);
    if (entry == 0) {
        return fail(Status::invalid_layout, 0, "buffer %u (pos_%u): entry 0: expected 0, got %llu", buffer, level,
                    static_cast<ull>(got));
    }
    if (got < before) {
        return fail(Status::invalid_layout, entry * 8,
                    "buffer %u (pos_%u): entry %llu: expected at least entry %llu = %llu, got %llu", buffer, level, at,
                    at - 1, static_cast<ull>(before), static_cast<ull>(got));
    }
    const CsfArrays::Level& here = arrays.levels[level];
    return fail(Status::invalid_layout, entry * 8,
                "buffer %u (pos_%u): entry %llu: expected %sthe %llu nodes of the level, got %llu", buffer, level, at,
                entry + 1 == here.positions.size() ? "" : "at most ", static_cast<ull>(here.coordinates.size()),
                static_cast<ull>(got));
}

std::unexpected<Error> coordinate(const CsfArrays& arrays, std::uint32_t level, std::uint64_t node, std::uint64_t got) {
    const std::uint32_t buffer = csf_buffer::coordinates(level);
    const CsfArrays::Level& here = arrays.levels[level];
    if (got >= here.size) {
        return fail(Status::invalid_layout, node * 8,
                    "buffer %u (crd_%u): entry %llu: expected less than shape[%llu] = %llu, got %llu", buffer, level,
                    static_cast<ull>(node), static_cast<ull>(here.dimension), static_cast<ull>(here.size),
                    static_cast<ull>(got));
    }
    return fail(Status::invalid_layout, node * 8,
                "buffer %u (crd_%u): entry %llu: expected more than entry %llu = %llu below the same node, got %llu",
                buffer, level, static_cast<ull>(node), static_cast<ull>(node - 1),
                static_cast<ull>(here.coordinates[node - 1]), static_cast<ull>(got));
}

}  // namespace sparse_fault

Result<void> check_csf_ends(const CsfArrays& arrays) {
    for (std::uint32_t level = 0; level < arrays.rank; ++level) {
        const IndexArray& positions = arrays.levels[level].positions;
        const std::uint64_t nodes = arrays.levels[level].coordinates.size();
        if (positions[0] != 0) return sparse_fault::position(arrays, level, 0, 0, positions[0]);
        const std::uint64_t last = positions.size() - 1;
        // Of an empty level above the first is the last.
        if (last != 0 && positions[last] != nodes) return sparse_fault::position(arrays, level, last, 0, positions[last]);
    }
    return {};
}

}  // namespace hurray
