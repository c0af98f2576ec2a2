#include "core/hurray/layout/sparse_check.hpp"

#include <algorithm>

namespace hurray {
namespace {

using ull = unsigned long long;

}  // namespace

Result<void> check_sparse_start(const WireReader& in, const DescriptorAssembler& out) {
    const Descriptor& descriptor = out.descriptor();
    if (descriptor.byte_offset() != 0) {
        return fail(Status::invalid_layout, in.offset() - 8, "byte_offset: expected 0 for a sparse layout, got %llu",
                    static_cast<ull>(descriptor.byte_offset()));
    }
    if (!in.has(8)) return truncated_field("nnz", in.offset(), 8, in.remaining());
    const std::uint64_t nnz = load_le<std::uint64_t>(in.here());
    if (nnz > most_entries(out)) {
        return fail(Status::invalid_layout, in.offset(),
                    "nnz: expected at most the %llu elements of the shape, got %llu",
                    static_cast<ull>(most_entries(out)), static_cast<ull>(nnz));
    }
    return {};
}

Result<void> check_reserved_bytes(const WireReader& in, std::uint32_t at, std::uint32_t size, const char* field) {
    const std::uint32_t present = std::min(size, in.remaining() - at);
    for (std::uint32_t i = 0; i < present; ++i) {
        const std::byte value = in.here()[at + i];
        if (value == std::byte{0}) continue;
        return fail(Status::invalid_layout, in.offset() + at, "%s: expected 00, got %02X in byte %u", field,
                    static_cast<unsigned>(value), i);
    }
    if (present < size) return truncated_field(field, in.offset() + at, size, present);
    return {};
}

Result<void> values_size_fault(const LayoutContext& context, std::uint64_t nnz, std::uint64_t byte_size) {
    return fail(Status::invalid_layout, context.handle_at(0),
                "buffer 0 (values): byte_size: expected room for %llu elements of %s, got %llu", static_cast<ull>(nnz),
                context.type.name, static_cast<ull>(byte_size));
}

Result<void> index_size_fault(const LayoutContext& context, std::uint32_t index, std::uint64_t entries,
                              const char* name, std::uint64_t byte_size) {
    return fail(Status::invalid_layout, context.handle_at(index),
                "buffer %u (%s): byte_size: expected room for %s%llu entries of 8 bytes, got %llu", index, name,
                entries == ~std::uint64_t{0} ? "at least " : "", static_cast<ull>(entries),
                static_cast<ull>(byte_size));
}

}  // namespace hurray
