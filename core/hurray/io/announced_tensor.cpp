#include "core/hurray/io/announced_tensor.hpp"

#include <algorithm>

#include "core/hurray/io/quoted.hpp"

namespace hurray {
namespace {

using ull = unsigned long long;

std::unexpected<Error> other_field(std::string_view name, const char* field, std::uint64_t announced, std::uint64_t made) {
    return fail(Status::invalid_argument, Error::no_offset, "tensor %s: its source made %s %llu, announced was %llu",
                Quoted(name).c_str(), field, static_cast<ull>(made), static_cast<ull>(announced));
}

/// Whether the sizes are the same but for a prefix of less than 64 bytes, which is on one side only.
bool same_size(std::uint64_t announced, const BufferHandle& made, std::uint32_t prefix, std::uint64_t announced_offset) {
    if (made.byte_size == announced || made.byte_size - prefix == announced) return true;
    const std::uint64_t own_prefix = announced_offset % minimum_alignment;
    return prefix == 0 && announced >= own_prefix && made.byte_size == announced - own_prefix;
}

}  // namespace

Result<Tensor> make_announced(std::string_view name, const Descriptor& announced, const TensorSource& source) {
    if (!source) return fail(Status::invalid_argument, Error::no_offset, "tensor %s: it has no source", Quoted(name).c_str());
    auto made = source();
    if (!made) return made;
    const Descriptor& descriptor = made->descriptor;
    if (descriptor.element_type() != announced.element_type()) {
        return other_field(name, "the element type", announced.element_type(), descriptor.element_type());
    }
    if (descriptor.layout() != announced.layout()) {
        return other_field(name, "the layout", announced.layout(), descriptor.layout());
    }
    if (descriptor.rank() != announced.rank()) return other_field(name, "the rank", announced.rank(), descriptor.rank());
    const auto differs = std::ranges::mismatch(descriptor.shape(), announced.shape());
    if (differs.in1 != descriptor.shape().end()) {
        return other_field(name, "a dimension of", *differs.in2, *differs.in1);
    }
    // Statistics say nothing that the data does not.
    constexpr std::uint32_t compared = all_section_flags & ~descriptor_flag::statistics;
    if ((descriptor.flags() & compared) != (announced.flags() & compared)) {
        return other_field(name, "sections (flags)", announced.flags() & compared, descriptor.flags() & compared);
    }
    if (descriptor.buffers().size() != announced.buffers().size() || made->buffers.size() != announced.buffers().size()) {
        return other_field(name, "buffers:", announced.buffers().size(), made->buffers.size());
    }
    for (std::size_t i = 0; i < made->buffers.size(); ++i) {
        const BufferHandle& handle = descriptor.buffers()[i];
        const std::uint32_t prefix = std::min<std::uint64_t>(made->buffers[i].prefix, handle.byte_size);
        const std::uint64_t offset = i == 0 ? announced.byte_offset() : 0;
        if (!same_size(announced.buffers()[i].byte_size, handle, prefix, offset)) {
            return other_field(name, "a buffer of bytes:", announced.buffers()[i].byte_size, handle.byte_size);
        }
    }
    return made;
}

}  // namespace hurray
