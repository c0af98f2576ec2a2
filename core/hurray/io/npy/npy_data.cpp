#include "core/hurray/io/npy/npy_data.hpp"

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstring>
#include <utility>
#include <vector>

#include "core/hurray/descriptor/builder.hpp"
#include "core/hurray/io/bool_bytes.hpp"
#include "core/hurray/io/quoted.hpp"

namespace hurray {
namespace {

using ull = unsigned long long;

// Bytes that are read and converted at once, while they are in the cache: a multiple of every element's size, and of 8, so
// that bits end at a byte.
constexpr std::uint64_t chunk_size = 128 * 1024;

std::unexpected<Error> cut_short(const NpyHeader& header, std::uint64_t there, const NpyOrigin& origin) {
    return fail(Status::invalid_format, origin.at(header.data_offset + there),
                "data: %llu bytes, but it ends after %llu of them", static_cast<ull>(header.data_size),
                static_cast<ull>(there));
}

template <std::unsigned_integral Number>
void reverse_bytes(std::span<std::byte> numbers) noexcept {
    for (std::size_t at = 0; at + sizeof(Number) <= numbers.size(); at += sizeof(Number)) {
        Number number;
        std::memcpy(&number, numbers.data() + at, sizeof number);
        number = std::byteswap(number);
        std::memcpy(numbers.data() + at, &number, sizeof number);
    }
}

void to_little_endian(std::span<std::byte> numbers, std::uint8_t number_bytes) noexcept {
    switch (number_bytes) {
        case 2: return reverse_bytes<std::uint16_t>(numbers);
        case 4: return reverse_bytes<std::uint32_t>(numbers);
        case 8: return reverse_bytes<std::uint64_t>(numbers);
        default: return;
    }
}

Result<Buffer> read_bools(ByteSource& source, const NpyHeader& header, const NpyOrigin& origin, std::string_view name) {
    auto buffer = allocate_buffer(header.buffer_size(), minimum_alignment, Contents::undefined);
    if (!buffer) return buffer;
    std::vector<std::byte> chunk(static_cast<std::size_t>(std::min(chunk_size, header.data_size)));
    for (std::uint64_t done = 0; done < header.data_size;) {
        const auto bools = std::span(chunk).first(
            static_cast<std::size_t>(std::min<std::uint64_t>(chunk.size(), header.data_size - done)));
        const auto count = read_fully(source, bools);
        if (!count) return std::unexpected(count.error());
        if (*count != bools.size()) return cut_short(header, done + *count, origin);
        if (const auto bad = pack_bool_bytes(bools, buffer->bytes().subspan(static_cast<std::size_t>(done / 8)))) {
            return fail(Status::invalid_format, origin.at(header.data_offset + done + *bad),
                        "tensor %s: bool %llu is the byte %u, expected 0 or 1", Quoted(name).c_str(),
                        static_cast<ull>(done + *bad), std::to_integer<unsigned>(bools[*bad]));
        }
        done += bools.size();
    }
    return buffer;
}

bool is_aligned(const std::byte* data) noexcept { return reinterpret_cast<std::uintptr_t>(data) % minimum_alignment == 0; }

}  // namespace

Result<Buffer> read_npy_data(ByteSource& source, const NpyHeader& header, const NpyOrigin& origin, std::string_view name) {
    if (header.data_size == 0) return Buffer{};
    if (header.type.is_bool()) return read_bools(source, header, origin, name);
    auto buffer = allocate_buffer(header.data_size, minimum_alignment, Contents::undefined);
    if (!buffer) return buffer;
    const auto bytes = buffer->bytes();
    // What stays as it is needs no pieces.
    const std::uint64_t step = header.type.big_endian ? chunk_size : header.data_size;
    for (std::uint64_t done = 0; done < header.data_size;) {
        const auto piece = bytes.subspan(static_cast<std::size_t>(done),
                                         static_cast<std::size_t>(std::min(step, header.data_size - done)));
        const auto count = read_fully(source, piece);
        if (!count) return std::unexpected(count.error());
        if (*count != piece.size()) return cut_short(header, done + *count, origin);
        if (header.type.big_endian) to_little_endian(piece, header.type.dtype->number_bytes);
        done += piece.size();
    }
    return buffer;
}

bool npy_data_stays(const FileBytes& bytes, std::uint64_t offset, const NpyHeader& header,
                    AlignmentPolicy alignment) noexcept {
    if (!bytes.in_place() || !header.type.is_direct()) return false;
    if (alignment != AlignmentPolicy::copy) return true;
    const auto window = bytes.window(offset, header.data_size);
    return window && is_aligned(window->bytes.data());
}

Result<Buffer> place_npy_data(const FileBytes& bytes, std::uint64_t offset, std::uint64_t size, std::string_view name,
                              AlignmentPolicy alignment) {
    if (size == 0) return Buffer{};
    auto window = bytes.window(offset, size);
    if (!window) return std::unexpected(window.error());
    if (alignment == AlignmentPolicy::require && !is_aligned(window->bytes.data())) {
        return fail(Status::misaligned, offset, "tensor %s: its data at byte %llu of the file is not aligned to %u bytes",
                    Quoted(name).c_str(), static_cast<ull>(offset), minimum_alignment);
    }
    // A mapping starts at a page, so rounding down stays in it; in front of other images nothing is touched.
    return wrap_host_memory(const_cast<std::byte*>(window->bytes.data()), size, std::move(window->storage));
}

Result<Descriptor> npy_descriptor(const NpyHeader& header, const Buffer& buffer) {
    DescriptorBuilder builder(header.type.dtype->type_tag, header.layout(), header.shape());
    builder.set_byte_offset(buffer.prefix);
    if (auto added = builder.add_buffer(buffer.handle); !added) return std::unexpected(added.error());
    return builder.build();
}

Result<Tensor> npy_tensor(const NpyHeader& header, Buffer buffer) {
    buffer.read_only = true;
    auto descriptor = npy_descriptor(header, buffer);
    if (!descriptor) return std::unexpected(descriptor.error());
    Tensor tensor{*std::move(descriptor), {}};
    tensor.buffers.push_back(std::move(buffer));
    return tensor;
}

}  // namespace hurray
