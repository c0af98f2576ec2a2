#include "core/hurray/quantization/quantize.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <vector>

#include "core/hurray/base/checked.hpp"
#include "core/hurray/base/endian.hpp"
#include "core/hurray/descriptor/builder.hpp"
#include "core/hurray/descriptor/composite_member_section.hpp"
#include "core/hurray/host_memory.hpp"
#include "core/hurray/quantization/number_reader.hpp"
#include "core/hurray/quantization/scheme.hpp"
#include "core/hurray/quantization/scheme_types.hpp"
#include "core/hurray/quantization/steps.hpp"
#include "core/hurray/types/element_type.hpp"
#include "core/hurray/values/packing.hpp"

namespace hurray {
namespace {

using namespace quantization_detail;
using ull = unsigned long long;

bool has(std::span<const std::uint8_t> tags, std::uint8_t tag) {
    return std::ranges::find(tags, tag) != tags.end();
}

/// A tensor as three dimensions: those in front of the axis, the axis, and those behind it.
struct Sizes {
    std::uint64_t outer = 1;
    std::uint64_t axis = 1;
    std::uint64_t inner = 1;
    /// Elements of a block along the axis, 0 without blocks; blocks along the axis, and their elements.
    std::uint64_t block = 0;
    std::uint64_t blocks = 0;
    std::uint64_t stored_axis = 1;
};

/// What was found out of spec and tensor.
struct Plan {
    QuantizationFields fields;
    Sizes sizes;
    std::uint64_t entries = 1;
    std::uint32_t scale_width = 0;
};

Result<void> check_tensor(const Descriptor& descriptor) {
    if (descriptor.is_opaque()) {
        return fail(Status::unsupported, Error::no_offset,
                    "descriptor: opaque (of an unknown type, layout or scheme), its data has no known meaning");
    }
    if ((descriptor.flags() & descriptor_flag::quantization) != 0) {
        return fail(Status::unsupported, Error::no_offset, "tensor: expected one that is not quantized already");
    }
    const std::uint8_t type = descriptor.element_type();
    if (type < 0x01 || type > 0x04) {
        return fail(Status::invalid_type, Error::no_offset,
                    "type_tag: expected float16, bfloat16, float32 or float64 (01 to 04), got %02X", type);
    }
    return {};
}

template <typename... Arguments>
std::unexpected<Error> refuse(const char* format, Arguments... arguments) {
    return fail(Status::invalid_argument, Error::no_offset, format, arguments...);
}

Result<void> check_axis(const QuantizeSpec& spec, const QuantizationScheme& scheme, const Descriptor& descriptor) {
    if (!scheme.has(SchemeField::axis)) {
        if (spec.axis != 0) return refuse("axis: scheme %s has none, expected 0, got %u", scheme.name, spec.axis);
    } else if (spec.axis >= descriptor.rank()) {
        return refuse("axis: expected less than the rank %u, got %u", descriptor.rank(), spec.axis);
    }
    if (!scheme.has_blocks()) {
        if (spec.block_size == 0) return {};
        return refuse("block_size: scheme %s has none, expected 0, got %u", scheme.name, spec.block_size);
    }
    if (!std::has_single_bit(spec.block_size) || spec.block_size < scheme.least_block ||
        spec.block_size > scheme.largest_block) {
        return refuse("block_size: scheme %s expects a power of two from %u to %u, got %u", scheme.name,
                      scheme.least_block, scheme.largest_block, spec.block_size);
    }
    const std::uint64_t size = descriptor.shape()[spec.axis];
    if (scheme.whole_blocks_only && (size == 0 || size % spec.block_size != 0)) {
        return refuse("block_size: scheme %s expects shape[%u] = %llu to be a positive multiple of it, got %u",
                      scheme.name, spec.axis, static_cast<ull>(size), spec.block_size);
    }
    if (size != 0 && spec.block_size > size) {
        return refuse("block_size: expected at most shape[%u] = %llu, got %u", spec.axis, static_cast<ull>(size),
                      spec.block_size);
    }
    return {};
}

Result<Plan> plan_of(const QuantizeSpec& spec, const Descriptor& descriptor) {
    const QuantizationScheme* scheme = find_scheme(spec.scheme);
    if (scheme == nullptr) return refuse("scheme: expected one of the format's (01 to 05), got %02X", spec.scheme);
    if (!has(scheme->storage_types, spec.storage_type)) {
        return refuse("storage_type: scheme %s expects %s, got type %02X", scheme->name, scheme->storage_type_names,
                      spec.storage_type);
    }
    Plan plan;
    const std::uint8_t usual = scheme->scale_types.empty() ? scheme_types::float32
                               : has(scheme->scale_types, scheme_types::float32)
                                   ? scheme_types::float32
                                   : scheme->scale_types.front();
    const std::uint8_t scale_type = spec.scale_type == 0 ? usual : spec.scale_type;
    if (scale_type != usual && !has(scheme->scale_types, scale_type)) {
        return refuse("scale_type: scheme %s does not take type %02X", scheme->name, spec.scale_type);
    }
    const bool affine = spec.scheme != scheme_tag::nf4 && spec.scheme != scheme_tag::mxfp;
    if (spec.symmetric && !affine) return refuse("symmetric: expected for an affine scheme, got %s", scheme->name);
    if (auto valid = check_axis(spec, *scheme, descriptor); !valid) return std::unexpected(valid.error());

    plan.fields.scheme = spec.scheme;
    plan.fields.scale_type = scale_type;
    plan.scale_width = find_element_type(scale_type)->group_bytes;
    Sizes& sizes = plan.sizes;
    const auto shape = descriptor.shape();
    if (!scheme->has(SchemeField::axis)) {
        sizes.inner = descriptor.element_count().value_or(0);
        return plan;
    }
    plan.fields.axis = spec.axis;
    plan.fields.scale_buffer = 1;
    if (affine) {
        plan.fields.flags = spec.symmetric ? QuantizationFields::symmetric_flag : 0;
        if (!spec.symmetric) plan.fields.zero_point_buffer = 2;
    }
    // Products of a tensor without elements may be beyond 64 bits.
    const bool empty = std::ranges::find(shape, std::uint64_t{0}) != shape.end();
    for (std::size_t k = 0; k < shape.size() && !empty; ++k) {
        (k < spec.axis ? sizes.outer : k == spec.axis ? sizes.axis : sizes.inner) *= shape[k];
    }
    if (empty) sizes.outer = 0;
    sizes.stored_axis = sizes.axis;
    plan.entries = shape[spec.axis];
    if (scheme->has_blocks()) {
        plan.fields.block_size = spec.block_size;
        sizes.block = spec.block_size;
        sizes.blocks = sizes.axis / sizes.block + (sizes.axis % sizes.block != 0 ? 1 : 0);
        const auto stored = checked_mul(sizes.blocks, sizes.block);
        if (!stored) return fail(Status::limit_exceeded, Error::no_offset, "block_size: whole blocks are too large");
        sizes.stored_axis = *stored;
        plan.entries = sizes.outer * sizes.inner * sizes.blocks;
    }
    return plan;
}

/// The memory of the result.
struct Buffers {
    Buffer codes;
    std::optional<Buffer> scales;
    std::optional<Buffer> zeros;
};

class Quantizer {
  public:
    Quantizer(const Plan& plan, const Steps& steps, const StoredValues& stored, NumberReader& reader, Buffers& buffers,
              Work& work)
        : plan_(plan),
          sizes_(plan.sizes),
          steps_(steps),
          bits_(bits_of(stored.codes)),
          reader_(reader),
          buffers_(buffers),
          work_(work),
          numbers_(NumberReader::piece) {}

    /// What the whole tensor shares, when it is one.
    [[nodiscard]] const Shared& shared() const noexcept { return shared_; }

    Result<void> run() {
        if (reader_.count() == 0) {
            // Channels have scales even where they have no elements.
            for (std::uint64_t entry = 0; plan_.fields.scale_buffer != no_buffer && entry < plan_.entries; ++entry) {
                if (auto made = share(Range{}, entry); !made) return std::unexpected(made.error());
            }
            return {};
        }
        if (sizes_.block == 0) return sizes_.axis == 1 && plan_.entries == 1 ? whole() : channels();
        if (sizes_.inner == 1 && sizes_.block <= piece) return short_blocks();
        return blocks();
    }

  private:
    static constexpr std::uint64_t piece = NumberReader::piece;

    // The next numbers in row-major order, `count` of them at most a piece.
    Result<std::span<const double>> read(std::uint64_t first, std::uint64_t count) {
        const auto numbers = std::span(numbers_).first(static_cast<std::size_t>(count));
        if (auto read = reader_.read(first, numbers); !read) return std::unexpected(read.error());
        if (steps_.refuses_negative()) {
            const auto negative = std::ranges::find_if(numbers, [](double number) { return number < 0; });
            if (negative != numbers.end()) {
                const std::uint64_t index = first + static_cast<std::uint64_t>(negative - numbers.begin());
                return fail(Status::invalid_argument, Error::no_offset,
                            "element %llu: expected no negative number for symmetric steps of an unsigned type, got "
                            "%.9g",
                            static_cast<ull>(index), *negative);
            }
        }
        if (!work_.advance(count)) return work_.cancelled();
        return numbers;
    }

    // Calls use(numbers, how many came before) for all numbers from `first` on.
    template <typename Use>
    Result<void> for_pieces(std::uint64_t first, std::uint64_t count, Use&& use) {
        for (std::uint64_t done = 0; done < count; done += piece) {
            const auto numbers = read(first + done, std::min(piece, count - done));
            if (!numbers) return std::unexpected(numbers.error());
            use(*numbers, done);
        }
        return {};
    }

    void store_code(std::uint64_t place, double number, const Shared& shared) {
        values_detail::put_bits(buffers_.codes.data, place, bits_, steps_.code(number, shared));
    }

    Result<Shared> share(const Range& range, std::uint64_t entry) {
        auto shared = steps_.share(range);
        if (!shared) {
            const Error& error = shared.error();
            return fail(error.code, Error::no_offset, "scale %llu: %s", static_cast<ull>(entry), error.message);
        }
        if (buffers_.scales) {
            std::byte* at = buffers_.scales->data + entry * plan_.scale_width;
            for (std::uint32_t i = 0; i < plan_.scale_width; ++i) {
                at[i] = static_cast<std::byte>(shared->scale_bits >> (8 * i) & 0xFF);
            }
        }
        if (buffers_.zeros) {
            store_le(buffers_.zeros->data + entry * 4, static_cast<std::uint32_t>(shared->zero));
        }
        return shared;
    }

    Result<void> whole() {
        Range range;
        auto done = for_pieces(0, reader_.count(), [&](std::span<const double> numbers, std::uint64_t) {
            for (const double number : numbers) range.add(number);
        });
        if (!done) return done;
        const auto shared = share(range, 0);
        if (!shared) return std::unexpected(shared.error());
        shared_ = *shared;
        return for_pieces(0, reader_.count(), [&](std::span<const double> numbers, std::uint64_t before) {
            for (std::size_t i = 0; i < numbers.size(); ++i) store_code(before + i, numbers[i], shared_);
        });
    }

    Result<void> channels() {
        std::vector<Range> ranges(static_cast<std::size_t>(sizes_.axis));
        const auto channel = [&](std::uint64_t element) { return element / sizes_.inner % sizes_.axis; };
        auto done = for_pieces(0, reader_.count(), [&](std::span<const double> numbers, std::uint64_t before) {
            for (std::size_t i = 0; i < numbers.size(); ++i) ranges[channel(before + i)].add(numbers[i]);
        });
        if (!done) return done;
        std::vector<Shared> shared(ranges.size());
        for (std::uint64_t c = 0; c < shared.size(); ++c) {
            const auto made = share(ranges[c], c);
            if (!made) return std::unexpected(made.error());
            shared[c] = *made;
        }
        return for_pieces(0, reader_.count(), [&](std::span<const double> numbers, std::uint64_t before) {
            for (std::size_t i = 0; i < numbers.size(); ++i) {
                store_code(before + i, numbers[i], shared[channel(before + i)]);
            }
        });
    }

    // Blocks that lie together, many of them in one piece.
    Result<void> short_blocks() {
        const std::uint64_t step = piece / sizes_.block * sizes_.block;
        for (std::uint64_t row = 0; row < sizes_.outer; ++row) {
            for (std::uint64_t first = 0; first < sizes_.axis; first += step) {
                const auto numbers = read(row * sizes_.axis + first, std::min(step, sizes_.axis - first));
                if (!numbers) return std::unexpected(numbers.error());
                for (std::uint64_t start = 0; start < numbers->size(); start += sizes_.block) {
                    const auto block = numbers->subspan(start, std::min<std::size_t>(sizes_.block, numbers->size() - start));
                    Range range;
                    for (const double number : block) range.add(number);
                    const auto shared = share(range, row * sizes_.blocks + (first + start) / sizes_.block);
                    if (!shared) return std::unexpected(shared.error());
                    const std::uint64_t place = row * sizes_.stored_axis + first + start;
                    for (std::size_t i = 0; i < block.size(); ++i) store_code(place + i, block[i], *shared);
                }
                if (!work_.advance(numbers->size())) return work_.cancelled();
            }
        }
        return {};
    }

    // Any blocks: all those that start at the same place of the axis at once.
    Result<void> blocks() {
        std::vector<Range> ranges(static_cast<std::size_t>(sizes_.inner));
        std::vector<Shared> shared(ranges.size());
        for (std::uint64_t outer = 0; outer < sizes_.outer; ++outer) {
            for (std::uint64_t b = 0; b < sizes_.blocks; ++b) {
                const std::uint64_t start = b * sizes_.block;
                const std::uint64_t rows = std::min(sizes_.block, sizes_.axis - start);
                const std::uint64_t first = (outer * sizes_.axis + start) * sizes_.inner;
                std::ranges::fill(ranges, Range{});
                auto done = for_pieces(first, rows * sizes_.inner,
                                       [&](std::span<const double> numbers, std::uint64_t before) {
                                           for (std::size_t i = 0; i < numbers.size(); ++i) {
                                               ranges[(before + i) % sizes_.inner].add(numbers[i]);
                                           }
                                       });
                if (!done) return done;
                for (std::uint64_t i = 0; i < sizes_.inner; ++i) {
                    const auto made = share(ranges[i], (outer * sizes_.inner + i) * sizes_.blocks + b);
                    if (!made) return std::unexpected(made.error());
                    shared[i] = *made;
                }
                const std::uint64_t place = (outer * sizes_.stored_axis + start) * sizes_.inner;
                done = for_pieces(first, rows * sizes_.inner,
                                  [&](std::span<const double> numbers, std::uint64_t before) {
                                      for (std::size_t i = 0; i < numbers.size(); ++i) {
                                          store_code(place + before + i, numbers[i], shared[(before + i) % sizes_.inner]);
                                      }
                                  });
                if (!done) return done;
            }
        }
        return {};
    }

    const Plan& plan_;
    const Sizes& sizes_;
    const Steps& steps_;
    unsigned bits_;
    NumberReader& reader_;
    Buffers& buffers_;
    Work& work_;
    std::vector<double> numbers_;
    Shared shared_;
};

// What the quantizer takes besides the result: its pieces, and what channels or blocks side by side share.
std::uint64_t scratch_bytes(const Sizes& sizes) {
    const std::uint64_t side_by_side = sizes.block == 0 ? sizes.axis : sizes.inner;
    const std::uint64_t pieces = NumberReader::piece * 2 * sizeof(double);
    const auto shared = checked_mul(side_by_side, sizeof(Range) + sizeof(Shared));
    return checked_add(pieces, shared.value_or(~std::uint64_t{0})).value_or(~std::uint64_t{0});
}

Result<Buffers> allocate(const QuantizeSpec& spec, const Plan& plan, Work& work) {
    const Sizes& sizes = plan.sizes;
    std::optional<std::uint64_t> count = checked_mul(sizes.outer, sizes.stored_axis);
    if (count) count = checked_mul(*count, sizes.inner);
    if (!count) return fail(Status::limit_exceeded, Error::no_offset, "shape: more than 2^64-1 stored elements");
    const auto size = packed_byte_size(spec.storage_type, *count);
    if (!size) return std::unexpected(size.error());
    // Zeros: the padding of short blocks stays so.
    auto codes = work.allocate(*size);
    if (!codes) return std::unexpected(codes.error());
    Buffers buffers{.codes = std::move(*codes), .scales = {}, .zeros = {}};
    const auto add = [&](std::optional<Buffer>& to, std::uint32_t width) -> Result<void> {
        const auto bytes = checked_mul(plan.entries, width);
        if (!bytes) return fail(Status::limit_exceeded, Error::no_offset, "scales: more than 2^64-1 bytes");
        auto buffer = work.allocate(*bytes);
        if (!buffer) return std::unexpected(buffer.error());
        to = std::move(*buffer);
        return {};
    };
    if (plan.fields.scale_buffer != no_buffer) {
        if (auto added = add(buffers.scales, plan.scale_width); !added) return std::unexpected(added.error());
    }
    if (plan.fields.zero_point_buffer != no_buffer) {
        if (auto added = add(buffers.zeros, 4); !added) return std::unexpected(added.error());
    }
    if (auto reserved = work.reserve(scratch_bytes(sizes)); !reserved) return std::unexpected(reserved.error());
    return buffers;
}

}  // namespace

Result<Tensor> quantize(const Tensor& tensor, const QuantizeSpec& spec, const WorkOptions& options) {
    const Descriptor& source = tensor.descriptor;
    if (auto valid = check_tensor(source); !valid) return std::unexpected(valid.error());
    // Refuses layouts that are not dense and dynamic dimensions, before the shape is looked at.
    if (const auto map = AddressMap::make(source); !map) return std::unexpected(map.error());
    auto plan = plan_of(spec, source);
    if (!plan) return std::unexpected(plan.error());
    if (auto readable = check_host_buffers(tensor); !readable) return std::unexpected(readable.error());
    const auto stored = StoredValues::make(spec.scheme, spec.storage_type);
    if (!stored) return std::unexpected(stored.error());
    auto reader = NumberReader::make(tensor);
    if (!reader) return std::unexpected(reader.error());

    // Every element is looked at for the range and for its step.
    Work work(options, checked_mul(reader->count(), 2).value_or(~std::uint64_t{0}));
    auto buffers = allocate(spec, *plan, work);
    if (!buffers) return std::unexpected(buffers.error());
    const Steps steps(spec, *stored, plan->fields.scale_type);
    Quantizer quantizer(*plan, steps, *stored, *reader, *buffers, work);
    if (auto done = quantizer.run(); !done) return std::unexpected(done.error());
    if (auto finished = work.finish(); !finished) return std::unexpected(finished.error());

    plan->fields.scale = quantizer.shared().scale;
    plan->fields.zero_point = quantizer.shared().zero;
    DescriptorBuilder builder(spec.storage_type, layout_tag::row_major, source.shape());
    builder.set_quantization(plan->fields);
    if (source.has_shard()) builder.set_shard(source.parent_shape(), source.shard_offset());
    if (const auto member = composite_member_fields(source)) builder.set_composite_member(member->role);
    std::vector<Buffer> table;
    table.push_back(std::move(buffers->codes));
    if (buffers->scales) table.push_back(std::move(*buffers->scales));
    if (buffers->zeros) table.push_back(std::move(*buffers->zeros));
    for (const Buffer& buffer : table) {
        if (auto added = builder.add_buffer(buffer.handle); !added) return std::unexpected(added.error());
    }
    auto descriptor = builder.build();
    if (!descriptor) return std::unexpected(descriptor.error());
    return Tensor{std::move(*descriptor), std::move(table)};
}

}  // namespace hurray
