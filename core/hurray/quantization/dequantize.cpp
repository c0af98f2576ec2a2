#include "core/hurray/quantization/dequantize.hpp"

#include <algorithm>
#include <memory>

#include "core/hurray/base/checked.hpp"
#include "core/hurray/base/endian.hpp"
#include "core/hurray/descriptor/builder.hpp"
#include "core/hurray/descriptor/composite_member_section.hpp"
#include "core/hurray/host_memory.hpp"
#include "core/hurray/layout/block_paged.hpp"
#include "core/hurray/layout/layout.hpp"
#include "core/hurray/quantization/dequantizer.hpp"
#include "core/hurray/quantization/entry_map.hpp"
#include "core/hurray/quantization/parameter_check.hpp"
#include "core/hurray/quantization/scalar_kernels.hpp"
#include "core/hurray/quantization/scheme.hpp"
#include "core/hurray/types/element_type.hpp"

namespace hurray {
namespace {

using namespace quantization_detail;
using ull = unsigned long long;

enum class Kind : std::uint8_t { dense, sparse, paged };

Result<Kind> kind_of(const Descriptor& descriptor) {
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
        default: {
            const Layout* layout = find_layout(descriptor.layout());
            return fail(Status::unsupported, Error::no_offset,
                        "layout: expected a dense, sparse or block-paged one, got %s",
                        layout == nullptr ? "an unknown one" : layout->name);
        }
    }
}

/// What is known of a tensor before its data is touched.
struct Source {
    QuantizationFields fields;
    Kind kind;
    StoredValues stored;
    /// Elements that become numbers.
    std::uint64_t count;
};

// The number of values of a sparse tensor: the first word of each of these layouts.
std::uint64_t nnz_of(const Descriptor& descriptor) noexcept {
    return descriptor.layout_words().empty() ? 0 : descriptor.layout_words()[0];
}

Result<Source> source_of(const Descriptor& descriptor) {
    if (descriptor.is_opaque()) {
        return fail(Status::unsupported, Error::no_offset,
                    "descriptor: opaque (of an unknown type, layout or scheme), its data has no known meaning");
    }
    const auto fields = quantization_fields(descriptor);
    if (!fields) {
        return fail(Status::invalid_argument, Error::no_offset,
                    "tensor: expected a quantized one, this one has no quantization section");
    }
    if (find_scheme(fields->scheme) == nullptr) {
        return fail(Status::unsupported, Error::no_offset, "scheme: expected one of the format's, got %02X",
                    fields->scheme);
    }
    const auto kind = kind_of(descriptor);
    if (!kind) return std::unexpected(kind.error());
    const auto stored = StoredValues::make(fields->scheme, descriptor.element_type());
    if (!stored) return std::unexpected(stored.error());
    Source source{.fields = *fields, .kind = *kind, .stored = *stored, .count = 0};
    if (source.kind == Kind::paged) {
        // The number of tokens may be dynamic: the pool says how many slots there are.
        const BlockPagedFields paged = block_paged_fields(descriptor);
        std::optional<std::uint64_t> count = checked_mul(paged.num_pages, paged.page_size);
        for (const std::uint64_t size : descriptor.shape().subspan(1)) {
            if (size == dynamic_dimension) {
                return fail(Status::invalid_layout, Error::no_offset, "shape: expected heads and dim to be known");
            }
            count = count ? checked_mul(*count, size) : count;
        }
        if (!count) {
            return fail(Status::limit_exceeded, Error::no_offset, "page_pool: more than 2^64-1 elements");
        }
        source.count = *count;
        return source;
    }
    const auto elements = descriptor.element_count();
    if (!elements) return std::unexpected(elements.error());
    source.count = source.kind == Kind::sparse ? nnz_of(descriptor) : *elements;
    return source;
}

Result<NumberFormat> target_format(std::uint8_t target_type) {
    if (target_type < 0x01 || target_type > 0x04) {
        return fail(Status::invalid_argument, Error::no_offset,
                    "target_type: expected float16, bfloat16, float32 or float64 (01 to 04), got %02X", target_type);
    }
    return number_format(target_type);
}

Result<void> check_buffers(const Tensor& tensor) {
    if (auto readable = check_host_buffers(tensor); !readable) return readable;
    return check_quantization_parameters(tensor);
}

// All checks that need no target were done.
Result<void> run(const Kernels& kernels, const Tensor& tensor, const Source& source, const NumberFormat& format,
                 std::span<std::byte> out, Work& work) {
    const auto arrays = ParameterArrays::make(tensor, source.fields);
    if (!arrays) return std::unexpected(arrays.error());
    struct Machine {
        FloatSink sink;
        Dequantizer dequantizer;
        Machine(const Kernels& set, const NumberFormat& number, std::span<std::byte> memory, const Source& from,
                const ParameterArrays& parameters, Work& account)
            : sink(set, number, memory), dequantizer(set, from.stored, parameters, sink, account) {}
    };
    // Too large for small stacks.
    const auto machine = std::make_unique<Machine>(kernels, format, out, source, *arrays, work);
    Result<bool> goes_on = true;
    switch (source.kind) {
        case Kind::dense:
            goes_on = dequantize_dense(tensor, source.fields, machine->dequantizer, work);
            break;
        case Kind::paged:
            goes_on = dequantize_paged(tensor, source.fields, machine->dequantizer, work);
            break;
        case Kind::sparse:
            goes_on = dequantize_sparse(tensor, source.fields, machine->dequantizer);
            break;
    }
    if (!goes_on) return std::unexpected(goes_on.error());
    if (!*goes_on) return work.cancelled();
    return work.finish();
}

Result<Descriptor> result_descriptor(const Tensor& tensor, const Source& source, std::uint8_t target_type,
                                     std::span<const Buffer> buffers) {
    const Descriptor& from = tensor.descriptor;
    const bool keeps_layout = source.kind != Kind::dense || from.layout() == layout_tag::col_major;
    DescriptorBuilder builder(target_type, keeps_layout ? from.layout() : layout_tag::row_major, from.shape());
    if (source.kind != Kind::dense) builder.set_layout_of(from);
    if (from.has_shard()) builder.set_shard(from.parent_shape(), from.shard_offset());
    if (const auto member = composite_member_fields(from)) builder.set_composite_member(member->role);
    for (const Buffer& buffer : buffers) {
        if (auto added = builder.add_buffer(buffer.handle); !added) return std::unexpected(added.error());
    }
    return builder.build();
}

}  // namespace

namespace quantization_detail {

Result<void> dequantize_with(const Kernels& kernels, const Tensor& tensor, std::uint8_t target_type,
                             std::span<std::byte> out, const WorkOptions& options) {
    const auto format = target_format(target_type);
    if (!format) return std::unexpected(format.error());
    const auto source = source_of(tensor.descriptor);
    if (!source) return std::unexpected(source.error());
    const auto size = packed_byte_size(target_type, source->count);
    if (!size) return std::unexpected(size.error());
    if (out.size() != *size) {
        return fail(Status::invalid_argument, Error::no_offset, "out: expected %llu bytes, got %zu",
                    static_cast<ull>(*size), out.size());
    }
    if (auto checked = check_buffers(tensor); !checked) return checked;
    Work work(options, source->count);
    return run(kernels, tensor, *source, *format, out, work);
}

}  // namespace quantization_detail

Result<void> dequantize_into(const Tensor& tensor, std::uint8_t target_type, std::span<std::byte> out,
                             const WorkOptions& options) {
    return dequantize_with(kernels(), tensor, target_type, out, options);
}

Result<std::uint64_t> dequantized_count(const Descriptor& descriptor) {
    const auto source = source_of(descriptor);
    if (!source) return std::unexpected(source.error());
    return source->count;
}

Result<Tensor> dequantize(const Tensor& tensor, std::uint8_t target_type, const WorkOptions& options) {
    const auto format = target_format(target_type);
    if (!format) return std::unexpected(format.error());
    const auto source = source_of(tensor.descriptor);
    if (!source) return std::unexpected(source.error());
    if (auto checked = check_buffers(tensor); !checked) return std::unexpected(checked.error());
    const auto size = packed_byte_size(target_type, source->count);
    if (!size) return std::unexpected(size.error());

    Work work(options, source->count);
    auto values = work.allocate(*size, minimum_alignment, Contents::undefined);
    if (!values) return std::unexpected(values.error());
    if (auto done = run(kernels(), tensor, *source, *format, values->bytes(), work); !done) {
        return std::unexpected(done.error());
    }
    std::vector<Buffer> buffers;
    buffers.push_back(std::move(*values));
    const auto own = layout_buffer_count(tensor.descriptor.layout(), tensor.descriptor.rank()).value_or(1);
    for (std::uint32_t i = 1; i < own; ++i) buffers.push_back(tensor.buffers[i]);
    auto descriptor = result_descriptor(tensor, *source, target_type, buffers);
    if (!descriptor) return std::unexpected(descriptor.error());
    return Tensor{std::move(*descriptor), std::move(buffers)};
}

Result<float> dequantize_element(const Tensor& tensor, std::uint64_t entry, std::uint64_t code) {
    const auto source = source_of(tensor.descriptor);
    if (!source) return std::unexpected(source.error());
    const auto arrays = ParameterArrays::make(tensor, source->fields);
    if (!arrays) return std::unexpected(arrays.error());
    if (entry >= arrays->entries()) {
        return fail(Status::index_out_of_bounds, Error::no_offset, "entry: expected less than %llu, got %llu",
                    static_cast<ull>(arrays->entries()), static_cast<ull>(entry));
    }
    if (auto valid = check_quantization_entry(source->fields, *arrays, source->stored, entry); !valid) {
        return std::unexpected(valid.error());
    }
    const float scale = arrays->scale(entry);
    const std::int32_t zero = arrays->zero(entry);
    std::byte bytes[8];
    store_le(bytes, code);
    float number = 0;
    Run run{.codes = bytes, .levels = source->stored.levels.data(), .out = &number};
    run.scales = reinterpret_cast<const std::byte*>(&scale);
    run.zeros = reinterpret_cast<const std::byte*>(&zero);
    scalar_kernels.block_kernel(source->stored.codes)(run, 1, 1);
    return number;
}

Result<std::uint64_t> quantization_entry(const Descriptor& descriptor, std::span<const std::uint64_t> index) {
    const auto source = source_of(descriptor);
    if (!source) return std::unexpected(source.error());
    const auto shape = descriptor.shape();
    if (index.size() != shape.size()) {
        return fail(Status::invalid_argument, Error::no_offset, "index: expected %zu values as the rank has, got %zu",
                    shape.size(), index.size());
    }
    for (std::size_t k = 0; k < shape.size(); ++k) {
        if (index[k] < shape[k]) continue;
        return fail(Status::index_out_of_bounds, Error::no_offset, "index[%zu]: expected less than %llu, got %llu", k,
                    static_cast<ull>(shape[k]), static_cast<ull>(index[k]));
    }
    if (source->kind == Kind::paged && find_scheme(source->fields.scheme)->has_blocks()) {
        return fail(Status::unsupported, Error::no_offset,
                    "index: the scale of an element of a block-paged tensor is that of its slot, which the index alone "
                    "does not tell");
    }
    return EntryMap(source->fields, shape)(index.data());
}

}  // namespace hurray
