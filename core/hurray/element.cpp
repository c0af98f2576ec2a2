#include "core/hurray/element.hpp"

#include <utility>

#include "core/hurray/descriptor/extension_type_section.hpp"
#include "core/hurray/element_format.hpp"
#include "core/hurray/host_memory.hpp"
#include "core/hurray/layout/layout.hpp"
#include "core/hurray/quantization/dequantize.hpp"
#include "core/hurray/quantization/scheme.hpp"
#include "core/hurray/values/packing.hpp"

namespace hurray {
namespace {

using ull = unsigned long long;

enum class Kind { dense, sparse, paged, none };

Kind kind_of(const Descriptor& descriptor) noexcept {
    if (descriptor.is_opaque()) return Kind::none;
    switch (descriptor.layout()) {
        case layout_tag::row_major:
        case layout_tag::col_major:
        case layout_tag::strided:
        case layout_tag::tiled:
        case layout_tag::morton:
        case layout_tag::hilbert:
            return Kind::dense;
        case layout_tag::coo:
        case layout_tag::csr:
        case layout_tag::csc:
        case layout_tag::csf:
            return Kind::sparse;
        case layout_tag::block_paged:
            return Kind::paged;
        default:
            return Kind::none;
    }
}

std::unexpected<Error> no_elements(const Descriptor& descriptor) {
    const Layout* layout = find_layout(descriptor.layout());
    return fail(Status::unsupported, Error::no_offset, "layout: expected one with elements, got %s",
                descriptor.is_opaque() ? "an opaque descriptor" : layout == nullptr ? "unknown" : layout->name);
}

ElementAddress address_of_bit(std::uint64_t bit, std::uint32_t bits) noexcept {
    return {.buffer = 0, .bits = bits, .bit = static_cast<std::uint32_t>(bit % 8), .byte = bit / 8};
}

// That no element lies in the bytes before lent memory.
Result<void> check_prefix(const AddressMap& map, const Buffer& buffer) {
    if (map.element_count() == 0) return {};
    const std::uint64_t lowest = map.byte_of(map.lowest());
    if (lowest >= buffer.prefix) return {};
    return fail(Status::invalid_layout, Error::no_offset,
                "byte_offset: expected no element in the first %u bytes of buffer 0, which belong to somebody else, the "
                "lowest starts at byte %llu",
                buffer.prefix, static_cast<ull>(lowest));
}

}  // namespace

ElementReader::ElementReader(const Tensor& tensor, Place&& place)
    : tensor_(&tensor),
      type_(element_type_info(tensor.descriptor)),
      format_(element_format(tensor.descriptor)),
      place_(std::move(place)) {}

Result<ElementReader> ElementReader::make(const Tensor& tensor, std::span<const std::uint64_t> token_counts) {
    const Kind kind = kind_of(tensor.descriptor);
    if (kind == Kind::none) return no_elements(tensor.descriptor);
    if (auto checked = check_host_buffers(tensor); !checked) return std::unexpected(checked.error());
    if (kind == Kind::paged) {
        auto view = PagedView::make(tensor, token_counts);
        if (!view) return std::unexpected(view.error());
        return ElementReader(tensor, std::move(*view));
    }
    if (!token_counts.empty()) {
        return fail(Status::invalid_argument, Error::no_offset, "token_counts: expected none for layout %s",
                    find_layout(tensor.descriptor.layout())->name);
    }
    if (kind == Kind::sparse) {
        auto view = SparseView::make(tensor);
        if (!view) return std::unexpected(view.error());
        return ElementReader(tensor, *view);
    }
    auto map = AddressMap::make(tensor.descriptor);
    if (!map) return std::unexpected(map.error());
    if (auto checked = check_prefix(*map, tensor.buffers[0]); !checked) return std::unexpected(checked.error());
    return ElementReader(tensor, std::move(*map));
}

// In elements from byte_offset, which all but dense layouts have at 0.
Result<std::optional<std::int64_t>> ElementReader::offset(std::span<const std::uint64_t> index) const {
    if (const auto* map = std::get_if<AddressMap>(&place_)) {
        const auto offset = map->checked_offset(index);
        if (!offset) return std::unexpected(offset.error());
        return *offset;
    }
    if (const auto* sparse = std::get_if<SparseView>(&place_)) {
        const auto position = sparse->find(index);
        if (!position) return std::unexpected(position.error());
        if (!*position) return std::optional<std::int64_t>();
        return static_cast<std::int64_t>(**position);
    }
    const auto place = std::get<PagedView>(place_).find(index);
    if (!place) return std::unexpected(place.error());
    return static_cast<std::int64_t>(*place);
}

// Whole groups lie in the buffer, from byte_offset to both sides; of their bytes those of the element are read only.
ElementReader::Stored ElementReader::stored(std::int64_t offset) const {
    const std::int64_t group = offset >> type_.group_shift;
    const auto index = static_cast<std::uint64_t>(offset - (group << type_.group_shift));
    const std::uint64_t start =
        tensor_->descriptor.byte_offset() + static_cast<std::uint64_t>(group * std::int64_t{type_.group_bytes});
    return {tensor_->buffers[0].bytes().subspan(static_cast<std::size_t>(start), type_.group_bytes), index};
}

Result<std::optional<ElementAddress>> ElementReader::address(std::span<const std::uint64_t> index) const {
    const auto place = offset(index);
    if (!place) return std::unexpected(place.error());
    if (!*place) return std::optional<ElementAddress>();
    const std::uint64_t bit = tensor_->descriptor.byte_offset() * 8 +
                              static_cast<std::uint64_t>(**place * static_cast<std::int64_t>(type_.bits));
    return address_of_bit(bit, type_.bits);
}

Result<double> ElementReader::float64(std::span<const std::uint64_t> index) const {
    const auto place = offset(index);
    if (!place) return std::unexpected(place.error());
    if (!format_) return std::unexpected(format_.error());
    if (!*place) {
        if (format_->kind != ElementKind::complex) return 0;
        return fail(Status::unsupported, Error::no_offset, "element: expected a real type, got %s", format_->name);
    }
    const Stored element = stored(**place);
    return load_float64(*format_, element.bytes, element.index);
}

Result<std::complex<double>> ElementReader::complex128(std::span<const std::uint64_t> index) const {
    const auto place = offset(index);
    if (!place) return std::unexpected(place.error());
    if (!format_) return std::unexpected(format_.error());
    if (!*place) return std::complex<double>();
    const Stored element = stored(**place);
    return load_complex128(*format_, element.bytes, element.index);
}

Result<RawBits> ElementReader::bits(std::span<const std::uint64_t> index) const {
    const auto place = offset(index);
    if (!place) return std::unexpected(place.error());
    if (type_.bits > 128) {
        return fail(Status::unsupported, Error::no_offset, "element: expected at most 128 bits, got %u", type_.bits);
    }
    if (!*place) return RawBits{};
    const Stored element = stored(**place);
    const auto bits = values_detail::get_bits(element.bytes.data(), element.index, type_.bits);
    return RawBits{static_cast<std::uint64_t>(bits), static_cast<std::uint64_t>(bits >> 64)};
}

// Which scale and zero point an element has.
Result<std::uint64_t> ElementReader::entry(std::span<const std::uint64_t> index, std::int64_t offset) const {
    const Descriptor& descriptor = tensor_->descriptor;
    const auto* paged = std::get_if<PagedView>(&place_);
    if (paged == nullptr) return quantization_entry(descriptor, index);
    const auto fields = quantization_fields(descriptor);
    const QuantizationScheme* scheme = fields ? find_scheme(fields->scheme) : nullptr;
    if (scheme != nullptr && scheme->has_blocks()) return static_cast<std::uint64_t>(offset) / paged->slot_elements();
    // Which token it is makes no difference: channels are heads, or elements of a head.
    const std::uint64_t channel[] = {0, index[index.size() - 2], index[index.size() - 1]};
    return quantization_entry(descriptor, channel);
}

Result<float> ElementReader::dequantized(std::span<const std::uint64_t> index) const {
    if ((tensor_->descriptor.flags() & descriptor_flag::quantization) == 0) {
        return fail(Status::invalid_argument, Error::no_offset, "tensor: expected a quantized one");
    }
    const auto place = offset(index);
    if (!place) return std::unexpected(place.error());
    if (!*place) return 0;
    const auto parameters = entry(index, **place);
    if (!parameters) return std::unexpected(parameters.error());
    const Stored element = stored(**place);
    const auto code = values_detail::get_bits(element.bytes.data(), element.index, type_.bits);
    return dequantize_element(*tensor_, *parameters, static_cast<std::uint64_t>(code));
}

Result<std::optional<ElementAddress>> element_address(const Tensor& tensor, std::span<const std::uint64_t> index) {
    if (kind_of(tensor.descriptor) != Kind::dense) {
        const auto reader = ElementReader::make(tensor);
        if (!reader) return std::unexpected(reader.error());
        return reader->address(index);
    }
    const auto map = AddressMap::make(tensor.descriptor);
    if (!map) return std::unexpected(map.error());
    if (!tensor.buffers.empty()) {
        if (auto checked = check_prefix(*map, tensor.buffers[0]); !checked) return std::unexpected(checked.error());
    }
    const auto offset = map->checked_offset(index);
    if (!offset) return std::unexpected(offset.error());
    return address_of_bit(map->bit_of(*offset), element_type_info(tensor.descriptor).bits);
}

Result<double> get_float64(const Tensor& tensor, std::span<const std::uint64_t> index) {
    const auto reader = ElementReader::make(tensor);
    if (!reader) return std::unexpected(reader.error());
    return reader->float64(index);
}

Result<std::complex<double>> get_complex128(const Tensor& tensor, std::span<const std::uint64_t> index) {
    const auto reader = ElementReader::make(tensor);
    if (!reader) return std::unexpected(reader.error());
    return reader->complex128(index);
}

Result<RawBits> get_bits(const Tensor& tensor, std::span<const std::uint64_t> index) {
    const auto reader = ElementReader::make(tensor);
    if (!reader) return std::unexpected(reader.error());
    return reader->bits(index);
}

Result<float> get_dequantized(const Tensor& tensor, std::span<const std::uint64_t> index) {
    const auto reader = ElementReader::make(tensor);
    if (!reader) return std::unexpected(reader.error());
    return reader->dequantized(index);
}

}  // namespace hurray
