#include "abi/src/internal/covered.hpp"

#include "core/hurray/layout/layout.hpp"

namespace hurray::abi {
namespace {

// Offsets in the fixed header.
constexpr std::uint64_t flags_at = 10;
constexpr std::uint64_t layout_tag_at = 15;

}  // namespace

Result<void> not_covered(const Descriptor& descriptor) noexcept {
    const std::uint32_t flags = descriptor.flags() & ~descriptor_flag::shard;
    if (flags != 0) {
        return fail(Status::unsupported, flags_at, "flags: the sections of flags %02X are not supported by this version", flags);
    }
    const Layout* layout = find_layout(descriptor.layout());
    return fail(Status::unsupported, layout_tag_at, "layout_tag: layout %s (%02X) is not supported by this version",
                layout == nullptr ? "unknown" : layout->name, descriptor.layout());
}

}  // namespace hurray::abi
