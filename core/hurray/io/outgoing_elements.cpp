#include "core/hurray/io/outgoing_elements.hpp"

#include <algorithm>
#include <vector>

#include "core/hurray/host_memory.hpp"
#include "core/hurray/io/bool_bytes.hpp"
#include "core/hurray/io/quoted.hpp"
#include "core/hurray/layout/dense_view.hpp"

namespace hurray {
namespace {

using ull = unsigned long long;

// Elements that pass through the buffer at once; a multiple of 8, so that bits end at a byte.
constexpr std::uint64_t elements_at_once = 64 * 1024;

}  // namespace

std::unexpected<Error> of_tensor(std::string_view name, const Error& error) {
    return fail(error.code, error.offset, "tensor %s: %s", Quoted(name).c_str(), error.message);
}

Result<void> check_sections(const char* format, std::string_view name, const Descriptor& descriptor,
                            std::uint32_t held) {
    struct Section {
        std::uint32_t flag;
        const char* what;
    };
    constexpr Section sections[] = {
        {descriptor_flag::quantization, "quantization"},
        {descriptor_flag::shard, "a shard's place"},
        {descriptor_flag::composite_member, "a member of a composite"},
    };
    for (const Section& section : sections) {
        if ((descriptor.flags() & ~held & section.flag) == 0) continue;
        return fail(Status::unsupported, Error::no_offset, "tensor %s: a %s file cannot hold %s", Quoted(name).c_str(),
                    format, section.what);
    }
    return {};
}

Result<void> check_outgoing_buffers(std::string_view name, const Tensor& tensor) {
    if (auto checked = check_host_buffers(tensor); !checked) return of_tensor(name, checked.error());
    std::uint64_t start = tensor.descriptor.byte_offset();
    const bool empty = tensor.descriptor.element_count().value_or(0) == 0;
    if (const auto view = dense_view(tensor.descriptor)) start -= view->bytes_below;
    const std::uint32_t prefix = tensor.buffers.front().prefix;
    if (!empty && start < prefix) {
        return fail(Status::invalid_argument, Error::no_offset,
                    "tensor %s: byte_offset: elements start %llu bytes into the buffer, whose first %u bytes are not "
                    "its own",
                    Quoted(name).c_str(), static_cast<ull>(start), prefix);
    }
    return {};
}

Result<void> gather_outgoing(const StridedElements& elements, const TakeBytes& take, std::uint64_t& copied_bytes) {
    const std::uint32_t bits = elements.bits;
    const bool unpack = bits == 1;
    RowMajorGather gather(elements);
    const auto at_once = static_cast<std::size_t>(std::min(elements_at_once, gather.remaining()));
    std::vector<std::byte> gathered((at_once * bits + 7) / 8);
    std::vector<std::byte> bytes(unpack ? at_once : 0);
    while (gather.remaining() != 0) {
        const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(at_once, gather.remaining()));
        gather.next(gathered, count);
        std::span<const std::byte> out = std::span(gathered).first((count * bits + 7) / 8);
        if (unpack) {
            unpack_bool_bits(out, std::span(bytes).first(count));
            out = std::span(bytes).first(count);
        }
        copied_bytes += out.size();
        if (auto done = take(out); !done) return done;
    }
    return {};
}

}  // namespace hurray
