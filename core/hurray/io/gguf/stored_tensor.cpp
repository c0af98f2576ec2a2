#include "core/hurray/io/gguf/stored_tensor.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include "core/hurray/base/checked.hpp"
#include "core/hurray/base/endian.hpp"
#include "core/hurray/io/gguf/exact_blocks.hpp"
#include "core/hurray/io/gguf/gguf_writer.hpp"
#include "core/hurray/io/gguf/raw_scheme.hpp"
#include "core/hurray/io/outgoing_elements.hpp"
#include "core/hurray/io/quoted.hpp"
#include "core/hurray/layout/dense_view.hpp"
#include "core/hurray/quantization/parameter_arrays.hpp"
#include "core/hurray/quantization/parameter_check.hpp"
#include "core/hurray/types/element_type.hpp"
#include "core/hurray/values/convert.hpp"

namespace hurray {
namespace {

using namespace gguf_blocks;
using quantization_detail::ParameterArrays;
using ull = unsigned long long;

constexpr std::uint8_t float16_tag = 0x01;
constexpr std::uint8_t uint8_tag = 0x11;
constexpr std::uint8_t int4_tag = 0x48;
constexpr std::uint8_t uint4_tag = 0x49;

// Blocks that pass through the buffer at once.
constexpr std::uint64_t blocks_at_once = 16 * 1024;

std::unexpected<Error> unsupported(std::string_view name, const char* what) {
    return fail(Status::unsupported, Error::no_offset, "tensor %s: %s", Quoted(name).c_str(), what);
}

// Code 8 is 0 to ggml's Q4_0; so it is in uint4 with that zero point.
std::int32_t zero_point_of(const Descriptor& descriptor) noexcept {
    return descriptor.element_type() == uint4_tag ? 8 : 0;
}

Result<const GgufType*> exact_type(std::string_view name, const Descriptor& descriptor,
                                   const QuantizationFields& fields) {
    const std::uint8_t element = descriptor.element_type();
    const GgufType* type = nullptr;
    if (fields.scheme == scheme_tag::per_block_affine) {
        if (element == 0x10) type = find_gguf_type(gguf_number::q8_0);
        if (element == int4_tag || element == uint4_tag) type = find_gguf_type(gguf_number::q4_0);
    } else if (fields.scheme == scheme_tag::mxfp && element == 0x43) {
        type = find_gguf_type(gguf_number::mxfp4);
    }
    if (type == nullptr) {
        return unsupported(
            name,
            "GGUF cannot hold this quantization; it has per_block_affine of int8, int4 and uint4, and mxfp "
            "of float4_e2m1");
    }
    if (fields.block_size != exact_block)
        return unsupported(name, "GGUF has blocks of 32 elements only for this scheme");
    if (fields.axis + 1 != descriptor.rank()) return unsupported(name, "GGUF has blocks along the last dimension only");
    if (descriptor.shape().back() % exact_block != 0) {
        return unsupported(name, "its last dimension is no whole number of blocks of 32, as GGUF demands");
    }
    if (fields.symmetric() && zero_point_of(descriptor) != 0) {
        return unsupported(name, "GGUF's Q4_0 has the zero point 8 for uint4, but the scheme is symmetric");
    }
    const auto view = dense_view(descriptor);
    if (!view) return of_tensor(name, view.error());
    if (!view->contiguous) return unsupported(name, "blocks that are not row-major");
    return type;
}

// Sets the dimensions, and checks that a reader's arithmetic does not overflow, even when the tensor is empty.
Result<void> set_size(std::string_view name, const Descriptor& descriptor, StoredTensor& stored) {
    const GgufType& type = *stored.type;
    stored.dimensions.assign(descriptor.shape().rbegin(), descriptor.shape().rend());
    if (stored.raw) stored.dimensions.front() = stored.dimensions.front() / type.block_bytes * type.block_elements;
    std::uint64_t elements = 1;
    bool empty = false;
    for (const std::uint64_t dimension : stored.dimensions) {
        empty = empty || dimension == 0;
        const auto next = checked_mul(elements, std::max<std::uint64_t>(dimension, 1));
        if (!next || *next > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) / 8) {
            return unsupported(name, "the product of its dimensions is 2^60 or more");
        }
        elements = *next;
    }
    stored.byte_size = empty ? 0 : elements / type.block_elements * type.block_bytes;
    return {};
}

// A scale as float16, if it is one.
bool half_scale(const ParameterArrays& arrays, std::uint64_t entry, std::byte* out) noexcept {
    if (arrays.scale_type() == float16_tag) {
        store_le(out, static_cast<std::uint16_t>(arrays.scale_bits(entry)));
        return true;
    }
    const float scale = arrays.scale(entry);
    static const auto format = number_format(float16_tag);
    float back = 0;
    const std::span<std::byte> bytes(out, 2);
    if (!from_float32(*format, {&scale, 1}, bytes, 0) || !to_float32(*format, bytes, 0, {&back, 1})) return false;
    return std::bit_cast<std::uint32_t>(back) == std::bit_cast<std::uint32_t>(scale);
}

Result<void> check_parameters(std::string_view name, const Tensor& tensor, const StoredTensor& stored) {
    if (auto checked = check_quantization_parameters(tensor); !checked) return of_tensor(name, checked.error());
    if (stored.type->scheme_tag != scheme_tag::per_block_affine) return {};
    const auto arrays = ParameterArrays::make(tensor, *quantization_fields(tensor.descriptor));
    if (!arrays) return of_tensor(name, arrays.error());
    const std::int32_t zero = zero_point_of(tensor.descriptor);
    for (std::uint64_t i = 0; i < arrays->entries(); ++i) {
        std::array<std::byte, 2> scale;
        if (arrays->scale_type() != float16_tag && !half_scale(*arrays, i, scale.data())) {
            return fail(Status::unsupported, Error::no_offset,
                        "tensor %s: scale %llu is no float16, which the scales of %s are", Quoted(name).c_str(),
                        static_cast<ull>(i), std::string(stored.type->name).c_str());
        }
        if (arrays->has_zeros() && arrays->zero(i) != zero) {
            return fail(Status::unsupported, Error::no_offset, "tensor %s: zero point %llu is %d, but %s has %d",
                        Quoted(name).c_str(), static_cast<ull>(i), arrays->zero(i),
                        std::string(stored.type->name).c_str(), zero);
        }
    }
    return {};
}

Result<void> write_blocks(const Tensor& tensor, const StoredTensor& stored, ByteSink& sink,
                          std::uint64_t& copied_bytes) {
    const GgufType& type = *stored.type;
    const ExactForm form = exact_form(type);
    const auto arrays = ParameterArrays::make(tensor, *quantization_fields(tensor.descriptor));
    if (!arrays) return std::unexpected(arrays.error());
    const bool exponent = type.scheme_tag == scheme_tag::mxfp;
    const auto code_form = tensor.descriptor.element_type() == uint4_tag ? CodeForm::offset : CodeForm::as_stored;
    const std::byte* codes = tensor.buffers.front().data + tensor.descriptor.byte_offset();
    const std::uint64_t blocks = stored.byte_size / type.block_bytes;
    std::vector<std::byte> out(static_cast<std::size_t>(std::min(blocks, blocks_at_once) * type.block_bytes));
    for (std::uint64_t first = 0; first < blocks; first += blocks_at_once) {
        const std::uint64_t count = std::min(blocks_at_once, blocks - first);
        for (std::uint64_t i = 0; i < count; ++i) {
            std::array<std::byte, 2> scale;
            if (exponent) {
                scale[0] = static_cast<std::byte>(arrays->scale_bits(first + i));
            } else {
                half_scale(*arrays, first + i, scale.data());  // check_stored has seen that it can
            }
            pack_exact(type, code_form, codes + (first + i) * form.code_bytes, scale.data(),
                       out.data() + i * type.block_bytes);
        }
        const auto bytes = std::span(out).first(static_cast<std::size_t>(count * type.block_bytes));
        if (auto written = sink.write(bytes); !written) return written;
        copied_bytes += bytes.size();
    }
    return {};
}

Result<void> write_gathered(const Tensor& tensor, ByteSink& sink, std::uint64_t& copied_bytes) {
    const Descriptor& descriptor = tensor.descriptor;
    std::vector<std::int64_t> strides(descriptor.rank());
    if (auto done = dense_strides(descriptor, strides); !done) return done;
    const std::byte* origin = tensor.buffers.front().data + descriptor.byte_offset();
    const std::uint32_t bits = find_element_type(descriptor.element_type())->bits;
    const auto take = [&](std::span<const std::byte> piece) { return sink.write(piece); };
    return gather_outgoing({origin, bits, descriptor.shape(), strides}, take, copied_bytes);
}

}  // namespace

Result<StoredTensor> store_as_gguf(std::string_view name, const Descriptor& descriptor) {
    if (descriptor.is_opaque()) return unsupported(name, "a tag that is not known here");
    auto checked = check_sections("GGUF", name, descriptor, descriptor_flag::quantization);
    if (!checked) return std::unexpected(checked.error());
    if (const auto view = dense_view(descriptor); !view) return of_tensor(name, view.error());
    if (descriptor.rank() > GgufWriter::most_dimensions) {
        return fail(Status::unsupported, Error::no_offset,
                    "tensor %s: %u dimensions, but ggml's tensors have at most %u", Quoted(name).c_str(),
                    descriptor.rank(), GgufWriter::most_dimensions);
    }
    StoredTensor stored;
    const auto fields = quantization_fields(descriptor);
    if (!fields) {
        stored.type = find_plain_gguf_type(descriptor.element_type());
        if (stored.type == nullptr) {
            const ElementTypeInfo* type = find_element_type(descriptor.element_type());
            return fail(Status::unsupported, Error::no_offset,
                        "tensor %s: GGUF cannot hold the element type %s (tag %02x)", Quoted(name).c_str(),
                        type == nullptr ? "of its own" : type->name, descriptor.element_type());
        }
    } else if (is_private_scheme(fields->scheme)) {
        stored.type = raw_type(descriptor);
        stored.raw = true;
        if (stored.type == nullptr) return unsupported(name, "GGUF cannot hold this private quantization");
        if (descriptor.element_type() != uint8_tag || descriptor.rank() == 0 ||
            descriptor.shape().back() % stored.type->block_bytes != 0) {
            return fail(Status::unsupported, Error::no_offset,
                        "tensor %s: expected rows of uint8, each a whole number of %s blocks of %u bytes",
                        Quoted(name).c_str(), std::string(stored.type->name).c_str(), stored.type->block_bytes);
        }
    } else {
        const auto type = exact_type(name, descriptor, *fields);
        if (!type) return std::unexpected(type.error());
        stored.type = *type;
    }
    if (auto sized = set_size(name, descriptor, stored); !sized) return std::unexpected(sized.error());
    return stored;
}

Result<void> check_stored(std::string_view name, const Tensor& tensor, const StoredTensor& stored) {
    if (auto checked = check_outgoing_buffers(name, tensor); !checked) return checked;
    if (stored.raw || stored.type->kind == GgufKind::plain) return {};
    const auto view = dense_view(tensor.descriptor);
    if (!view) return of_tensor(name, view.error());
    if (!view->contiguous) return unsupported(name, "blocks that are not row-major");
    return check_parameters(name, tensor, stored);
}

Result<void> write_stored(const Tensor& tensor, const StoredTensor& stored, ByteSink& sink,
                          std::uint64_t& copied_bytes) {
    if (stored.byte_size == 0) return {};
    if (!stored.raw && stored.type->kind != GgufKind::plain) return write_blocks(tensor, stored, sink, copied_bytes);
    const auto view = dense_view(tensor.descriptor);
    if (!view) return std::unexpected(view.error());
    if (!view->contiguous) {
        return write_gathered(tensor, sink, copied_bytes);
    }
    return sink.write(std::span<const std::byte>(tensor.buffers.front().data + tensor.descriptor.byte_offset(),
                                                 static_cast<std::size_t>(stored.byte_size)));
}

}  // namespace hurray
