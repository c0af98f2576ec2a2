// Patterns that are no element, and bits that no element has.
#include <algorithm>
#include <optional>

#include "core/hurray/base/checked.hpp"
#include "core/hurray/descriptor/extension_type_section.hpp"
#include "core/hurray/layout/address.hpp"
#include "core/hurray/layout/compressed.hpp"
#include "core/hurray/layout/coo.hpp"
#include "core/hurray/layout/csf.hpp"
#include "core/hurray/layout/paged_view.hpp"
#include "core/hurray/layout/storage_order.hpp"
#include "core/hurray/validation/data_check.hpp"
#include "core/hurray/validation/used_slots.hpp"

namespace hurray::validation_detail {
namespace {

using ull = unsigned long long;

constexpr std::uint8_t float8_e8m0 = 0x42;

// Entries that a sparse tensor stores; nothing for other layouts.
std::optional<std::uint64_t> stored_values(const Descriptor& descriptor) noexcept {
    switch (descriptor.layout()) {
        case layout_tag::coo:
            return coo_fields(descriptor).nnz;
        case layout_tag::csr:
        case layout_tag::csc:
            return compressed_fields(descriptor).nnz;
        case layout_tag::csf:
            return csf_fields(descriptor).nnz;
        default:
            return std::nullopt;
    }
}

bool is_valid(std::byte element) noexcept {
    return element != std::byte{0x00} && element != std::byte{0xFF};
}

std::unexpected<Error> element_fault(std::uint64_t at, std::byte element) {
    return fail(Status::invalid_type, at, "buffer 0: byte %llu: expected an element of float8_e8m0, 01 to FE, got %02X",
                static_cast<ull>(at), static_cast<unsigned>(element));
}

// Elements that follow each other.
Result<void> check_run(std::span<const std::byte> bytes, std::uint64_t first, std::uint64_t count, Work& work) {
    const auto run = bytes.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
    constexpr std::size_t piece = 1 << 16;
    for (std::size_t start = 0; start < run.size(); start += piece) {
        const auto part = run.subspan(start, std::min(piece, run.size() - start));
        std::size_t faults = 0;
        for (const std::byte element : part) faults += is_valid(element) ? 0 : 1;
        if (faults != 0) {
            const auto bad = std::ranges::find_if_not(part, is_valid);
            return element_fault(first + start + static_cast<std::uint64_t>(bad - part.begin()), *bad);
        }
        if (!work.advance(part.size())) return work.cancelled();
    }
    return {};
}

// Elements at equal distances. A stride of 0 leads to the same one again and again.
Result<void> check_steps(std::span<const std::byte> bytes, std::uint64_t first, const StorageRun& run, Work& work) {
    const auto stride = static_cast<std::uint64_t>(run.stride);
    if (stride == 1) return check_run(bytes, first, run.count, work);
    const std::uint64_t count = stride == 0 ? 1 : run.count;
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::byte element = bytes[static_cast<std::size_t>(first + i * stride)];
        if (!is_valid(element)) return element_fault(first + i * stride, element);
        if (!work.advance(1)) return work.cancelled();
    }
    return {};
}

Result<void> check_dense(const Tensor& tensor, const WorkOptions& options) {
    const auto map = AddressMap::make(tensor.descriptor);
    if (!map) return std::unexpected(map.error());
    Work work(options, map->element_count());
    const auto bytes = tensor.buffers[0].bytes();
    StorageOrder order(*map);
    StorageRun run;
    while (order.next(run)) {
        if (auto checked = check_steps(bytes, map->byte_of(run.offset), run, work); !checked) return checked;
    }
    return work.finish();
}

Result<void> check_sparse(const Tensor& tensor, std::uint64_t values, const WorkOptions& options) {
    Work work(options, values);
    if (auto checked = check_run(tensor.buffers[0].bytes(), 0, values, work); !checked) return checked;
    return work.finish();
}

Result<void> check_paged(const Tensor& tensor, const WorkOptions& options) {
    const auto view = PagedView::make(tensor);
    if (!view) return std::unexpected(view.error());
    const std::uint64_t size = view->slot_elements();
    if (size == 0) return {};
    Work work(options, view->pool().size());
    auto checked = for_each_used_run(*view, work, [&](std::uint64_t slot, std::uint64_t count) {
        return check_run(view->pool(), slot * size, count * size, work);
    });
    if (!checked) return checked;
    return work.finish();
}

// Elements from byte_offset on that the storage of a tensor has room for, the padding of tiles and curves included;
// nothing where it is not known which bits are the last ones.
Result<std::optional<std::uint64_t>> stored_elements(const Tensor& tensor) {
    const Descriptor& descriptor = tensor.descriptor;
    if (const auto values = stored_values(descriptor)) return values;
    switch (descriptor.layout()) {
        case layout_tag::block_paged: {
            const auto view = PagedView::make(tensor);
            if (!view) return std::unexpected(view.error());
            return view->slot_elements() == 0 ? 0 : view->slot_count() * view->slot_elements();
        }
        case layout_tag::row_major:
        case layout_tag::col_major:
        case layout_tag::tiled:
        case layout_tag::morton:
        case layout_tag::hilbert: {
            const auto map = AddressMap::make(descriptor);
            if (!map) return std::unexpected(map.error());
            return map->element_count() == 0 ? 0 : static_cast<std::uint64_t>(map->highest()) + 1;
        }
        default:
            return std::optional<std::uint64_t>();
    }
}

}  // namespace

Result<void> check_elements_data(const Tensor& tensor, const WorkOptions& options) {
    const Descriptor& descriptor = tensor.descriptor;
    if (descriptor.element_type() != float8_e8m0) return {};
    if (const auto values = stored_values(descriptor)) return check_sparse(tensor, *values, options);
    if (descriptor.layout() == layout_tag::block_paged) return check_paged(tensor, options);
    if (!layout_buffer_count(descriptor.layout(), descriptor.rank()) || descriptor.buffers().empty()) return {};
    return check_dense(tensor, options);
}

Result<void> check_unused_bits(const Tensor& tensor, const WorkOptions&) {
    const ElementTypeInfo type = element_type_info(tensor.descriptor);
    if (type.group_shift == 0) return {};
    const auto stored = stored_elements(tensor);
    if (!stored) return std::unexpected(stored.error());
    const std::uint64_t count = stored->value_or(0);
    const std::uint64_t in_last_group = count & ((std::uint64_t{1} << type.group_shift) - 1);
    if (in_last_group == 0) return {};
    const std::uint64_t used_bits = in_last_group * type.bits;
    const std::uint64_t group = tensor.descriptor.byte_offset() + (count >> type.group_shift) * type.group_bytes;
    const auto bytes = tensor.buffers[0].bytes();
    for (std::uint64_t i = used_bits / 8; i < type.group_bytes; ++i) {
        const std::uint64_t used = used_bits > i * 8 ? used_bits - i * 8 : 0;
        const auto byte = std::to_integer<unsigned>(bytes[static_cast<std::size_t>(group + i)]);
        if (byte >> used == 0) continue;
        return fail(Status::invalid_layout, group + i,
                    "buffer 0: byte %llu: expected 0 in bits %llu to 7, which no element of %s has, got %02X",
                    static_cast<ull>(group + i), static_cast<ull>(used), type.name, byte);
    }
    return {};
}

}  // namespace hurray::validation_detail
