#include "core/hurray/layout/contiguous.hpp"

namespace hurray {
Result<void> check_contiguous_buffer_size(const LayoutContext& context, std::uint32_t index, std::uint64_t byte_size) {
    using ull = unsigned long long;
    const std::uint64_t byte_offset = context.descriptor.byte_offset();
    if (index == 0 && !contiguous_elements_fit(context.type, context.element_count, byte_offset, byte_size)) {
        return fail(Status::invalid_layout, context.handle_at(0),
                    "buffer 0: byte_size: expected room for %llu elements of %s from byte_offset %llu, got %llu",
                    static_cast<ull>(context.element_count), context.type.name, static_cast<ull>(byte_offset),
                    static_cast<ull>(byte_size));
    }
    return {};
}

Result<void> check_single_buffer(const LayoutContext& context) {
    return check_own_buffer_count(context, 1, "a dense layout");
}

const LayoutCodec contiguous_codec = {nullptr, nullptr, nullptr, check_single_buffer,
                                      check_contiguous_buffer_size};

}  // namespace hurray
