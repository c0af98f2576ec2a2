// Fuzz target: any bytes given to the descriptor decoder, and what is accepted given to everything that reads it.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "core/hurray/descriptor/builder.hpp"
#include "core/hurray/descriptor/codec.hpp"
#include "core/hurray/descriptor/composite_member_section.hpp"
#include "core/hurray/descriptor/extension_type_section.hpp"
#include "core/hurray/descriptor/statistics_section.hpp"
#include "core/hurray/layout/address.hpp"
#include "core/hurray/layout/block_paged.hpp"
#include "core/hurray/layout/compressed.hpp"
#include "core/hurray/layout/coo.hpp"
#include "core/hurray/layout/csf.hpp"
#include "core/hurray/layout/composite.hpp"
#include "core/hurray/layout/dense_view.hpp"
#include "core/hurray/layout/gather.hpp"
#include "core/hurray/layout/hilbert.hpp"
#include "core/hurray/layout/morton.hpp"
#include "core/hurray/layout/private_layout.hpp"
#include "core/hurray/layout/storage_order.hpp"
#include "core/hurray/layout/tiled.hpp"
#include "core/hurray/quantization/fields.hpp"
#include "core/hurray/types/element_type.hpp"
#include "tests/fuzz/check.hpp"

namespace {

using namespace hurray;

// Data that is made up for a descriptor: more would only cost time.
constexpr std::uint64_t most_data = 1 << 16;
// Elements that are looked at one by one.
constexpr std::uint64_t most_elements = 1 << 10;

using fuzz::require;

void check_error(const Error& error, std::size_t size) {
    require(error.code != Status::ok && error.code != Status::internal, "an error has a code for its cause");
    require(error.offset <= size, "an error's offset lies in the input");
    require(std::memchr(error.message, 0, sizeof error.message) != nullptr && error.message[0] != 0,
            "an error has a message");
}

std::vector<std::byte> encoded(const Descriptor& descriptor) {
    std::vector<std::byte> bytes(descriptor.encoded_length());
    const auto length = encode(descriptor, bytes);
    require(length && *length == bytes.size(), "every descriptor is encoded");
    return bytes;
}

void check_encoding(const Descriptor& descriptor, const std::uint8_t* data, std::size_t size) {
    require(descriptor.encoded_length() <= size, "no more was read than there is");
    require(std::memcmp(encoded(descriptor).data(), data, descriptor.encoded_length()) == 0, "it encodes to what it was");
}

// What a builder makes is a descriptor that decodes and encodes to the same bytes.
void check_built(const Descriptor& built) {
    const auto bytes = encoded(built);
    const auto decoded = decode(bytes, {.private_tags = PrivateTags::allow});
    require(decoded.has_value(), "what was built is decoded");
    require(encoded(*decoded) == bytes, "and encodes to the same bytes");
}

// Whether a builder has nothing to change: writers make version 1.0, and flags of statistics that are 0 or 1.
bool is_as_written(const Descriptor& descriptor) {
    const auto statistics = descriptor.section_words(descriptor_flag::statistics);
    // The last word: nm_n, nm_m, has_nan, has_inf.
    constexpr std::uint64_t other_bits = 0xFEFEULL << 16;
    return descriptor.version_minor() == 0 && (statistics.empty() || (statistics.back() & other_bits) == 0);
}

void set_layout_fields(DescriptorBuilder& builder, const Descriptor& descriptor) {
    switch (descriptor.layout()) {
        case layout_tag::row_major:
        case layout_tag::col_major:
            return;
        case layout_tag::strided:
            builder.set_strides(descriptor.strides());
            return;
        case layout_tag::tiled:
            builder.set_tiled(tiled_levels(descriptor).levels());
            return;
        case layout_tag::morton: {
            const auto bits = morton_bits(descriptor);
            builder.set_morton_bits(std::vector<std::uint32_t>(bits.begin(), bits.end()));
            return;
        }
        case layout_tag::composite:
            builder.set_composite(composite_fields(descriptor));
            return;
        case layout_tag::hilbert:
            builder.set_hilbert(hilbert_fields(descriptor).order);
            return;
        case layout_tag::coo:
            builder.set_coo(coo_fields(descriptor));
            return;
        case layout_tag::csr:
        case layout_tag::csc:
            builder.set_compressed(compressed_fields(descriptor).nnz);
            return;
        case layout_tag::csf: {
            const CsfFields fields = csf_fields(descriptor);
            builder.set_csf(fields.nnz, std::vector<std::uint32_t>(fields.mode_order.begin(), fields.mode_order.end()));
            return;
        }
        case layout_tag::block_paged:
            builder.set_block_paged(block_paged_fields(descriptor));
            return;
        default:
            require(is_private_layout(descriptor.layout()), "every layout is known here");
            builder.set_private_layout(private_layout_fields(descriptor));
            return;
    }
}

void check_builder(const Descriptor& descriptor) {
    DescriptorBuilder builder(descriptor.element_type(), descriptor.layout(), descriptor.shape());
    builder.set_byte_offset(descriptor.byte_offset());
    set_layout_fields(builder, descriptor);
    if (descriptor.has_shard()) builder.set_shard(descriptor.parent_shape(), descriptor.shard_offset());
    if (const auto fields = quantization_fields(descriptor)) builder.set_quantization(*fields);
    if (const auto fields = statistics_fields(descriptor)) builder.set_statistics(*fields);
    if (const auto fields = extension_type_fields(descriptor)) builder.set_extension_type(*fields);
    if (const auto fields = composite_member_fields(descriptor)) builder.set_composite_member(fields->role);
    for (const BufferHandle& buffer : descriptor.buffers())
        require(builder.add_buffer(buffer).has_value(), "the table fits");
    const bool misfit = find_tile_misfit(tiled_levels(descriptor).levels()).has_value();
    const auto built = builder.build(PrivateTags::allow);
    require(built.has_value() != misfit, "what decode accepts the builder accepts, but misfits");
    if (!built) return;
    check_built(*built);
    if (is_as_written(descriptor)) require(encoded(*built) == encoded(descriptor), "the builder makes the same bytes");
}

// Nobody touches the data of a tensor with a tag that is not known.
void check_opaque(const Descriptor& descriptor) {
    require(!has_dense_view(descriptor), "no view");
    require(!AddressMap::make(descriptor).has_value(), "no places of elements");
    require(!descriptor.is_unread() || (descriptor.buffers().empty() && !descriptor.has_shard()), "nothing read");
}

void check_elements(const Descriptor& descriptor) {
    if (!has_dense_view(descriptor)) return;
    const auto extent = dense_extent_bytes(descriptor);
    require(extent.has_value(), "a dense tensor has an extent");
    const auto view = dense_view(descriptor);
    if (!view) return;
    require(view->byte_size == *extent && view->bytes_below <= view->byte_offset, "the view starts in the buffer");
    require(view->byte_offset - view->bytes_below + view->byte_size <= descriptor.buffers()[0].byte_size,
            "the view ends in the buffer");
    const auto packed = packed_byte_size(descriptor.element_type(), view->element_count);
    if (!packed || *packed > most_data || descriptor.buffers()[0].byte_size > most_data) return;
    const std::vector<std::byte> buffer(descriptor.buffers()[0].byte_size, std::byte{0x5A});
    std::vector<std::byte> out(*packed);
    require(gather_row_major(descriptor, buffer, out).has_value(), "every element is read");
}

// Every element has a place in the buffer, and is met once.
void check_places(const Descriptor& descriptor) {
    const auto map = AddressMap::make(descriptor);
    if (!map) {
        require(map.error().code == Status::unsupported || map.error().code == Status::limit_exceeded ||
                    (map.error().code == Status::invalid_layout && descriptor.is_dynamic()),
                "elements of a dense tensor have places");
        return;
    }
    if (map->element_count() > most_elements) return;
    std::uint64_t met = 0;
    for_each_in_storage_order(*map, [&](std::int64_t offset, std::span<const std::uint64_t> index) {
        const auto checked = map->checked_offset(index);
        require(checked.has_value() && *checked == offset, "an element is where it is met");
        // No bit of an element is beyond 2^63, whatever the size of the buffer.
        const std::uint64_t end = map->bit_of(offset) + map->element_bits();
        require(end / 8 + (end % 8 != 0 ? 1 : 0) <= descriptor.buffers()[0].byte_size, "in the buffer");
        ++met;
    });
    require(met == map->element_count(), "all elements are met");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    // The caller's memory may have bytes to spare behind the input; a copy has none.
    const std::unique_ptr<std::byte[]> copy(new std::byte[size]);
    if (size != 0) std::memcpy(copy.get(), data, size);
    const std::span<const std::byte> bytes(copy.get(), size);
    const auto length = peek_length(bytes);
    for (const Mode mode : {Mode::strict, Mode::permissive}) {
        for (const PrivateTags private_tags : {PrivateTags::refuse, PrivateTags::allow}) {
            const auto decoded = decode(bytes, {.private_tags = private_tags, .mode = mode});
            if (!decoded) {
                check_error(decoded.error(), size);
                continue;
            }
            require(length && *length == decoded->encoded_length(), "peeking gives the length");
            check_encoding(*decoded, data, size);
            if (decoded->is_opaque()) {
                require(mode == Mode::permissive, "a strict reader knows what it takes");
                check_opaque(*decoded);
                continue;
            }
            check_builder(*decoded);
            check_elements(*decoded);
            check_places(*decoded);
        }
    }
    return 0;
}
