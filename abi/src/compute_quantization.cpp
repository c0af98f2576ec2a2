// Quantization: from stored elements to numbers, and back. (format: quantization)
#include "abi/src/api/annotations.hpp"
#include "abi/src/api/compute.hpp"
#include "abi/src/api/handles.hpp"
#include "abi/src/internal/barrier.hpp"
#include "abi/src/internal/foreign.hpp"
#include "abi/src/internal/objects.hpp"
#include "abi/src/internal/work.hpp"
#include "core/hurray/quantization/dequantize.hpp"
#include "core/hurray/quantization/quantize.hpp"

using namespace hurray;
using namespace hurray::abi;

namespace {

Result<QuantizeSpec> read_spec(const HurrayQuantizeSpec* spec) {
    auto given = read_sized_struct(spec, sizeof(HurrayQuantizeSpec), "spec");
    if (!given) return std::unexpected(given.error());
    if (given->symmetric > 1) {
        return fail(Status::invalid_argument, Error::no_offset, "spec->symmetric: expected 0 or 1, got %u", given->symmetric);
    }
    return QuantizeSpec{.scheme = given->scheme,
                        .storage_type = given->storage_type,
                        .scale_type = given->scale_type,
                        .symmetric = given->symmetric != 0,
                        .axis = given->axis,
                        .block_size = given->block_size};
}

}  // namespace

/// Makes a new tensor of the numbers that quantized elements stand for. Each is worked out in float32, as the format says,
/// and then rounded once to the target type.
/// Dense tensors become row-major, column-major ones stay so; sparse and block-paged ones keep their layout and share all
/// buffers but the values. Quantization and statistics sections go, others stay. The unit of progress is elements.
/// @param element_type HURRAY_TYPE_FLOAT16, HURRAY_TYPE_BFLOAT16, HURRAY_TYPE_FLOAT32 or HURRAY_TYPE_FLOAT64
/// @param options null: no limit and no reports
/// @owner caller; independent of `tensor`, whose memory a result may share
/// @errors INVALID_ARGUMENT: not quantized, another type; UNSUPPORTED: a private scheme, an opaque descriptor, memory that the
///     CPU cannot read; INVALID_LAYOUT: a dynamic dimension; INVALID_QUANTIZATION: a scale or zero point that the scheme
///     forbids; INVALID_SYNC_MODE: not PRODUCER_SYNCED; LIMIT_EXCEEDED; OUT_OF_MEMORY; CANCELLED
/// @thread one thread at a time
/// @since 4
/// @spec format: quantization
HURRAY_API HurrayStatus hurray_tensor_dequantize(HG_IN const HurrayTensor* tensor, uint8_t element_type,
                                                 HG_IN_OPT const HurrayWorkOptions* options,
                                                 HG_OUT_OWNED(hurray_tensor_destroy) HurrayTensor** out_tensor,
                                                 HG_ERROR HurrayError* error) noexcept {
    if (out_tensor != nullptr) *out_tensor = nullptr;
    HURRAY_REQUIRE_EXCHANGE(tensor, error);
    HURRAY_REQUIRE(out_tensor, error);
    return guarded(error, [&]() -> Result<void> {
        CallersWork work;
        if (auto read = work.read(options); !read) return read;
        auto local = LocalTensor::of(tensor);
        if (!local) return std::unexpected(local.error());
        auto result = dequantize(shared_tensor(**local), element_type, work.options());
        if (!result) return work.failure(result.error());
        auto handle = make_tensor(std::move(*result));
        if (!handle) return std::unexpected(handle.error());
        *out_tensor = *handle;
        return {};
    });
}

/// Makes a new quantized tensor of a dense one: row-major, its buffers the stored elements, the scales, and the zero points
/// where there are any. Scales are those that the numbers of the tensor, channel or block need. Shard and composite member
/// sections stay, statistics go. The unit of progress is elements.
/// @param tensor float16, bfloat16, float32 or float64 in any dense layout
/// @param spec scheme and types
/// @param options null: no limit and no reports
/// @owner caller; independent of `tensor`
/// @errors INVALID_ARGUMENT: a field of `spec`, or an element that has no place in it (NaN, infinite, too large), whose index
///     the message has; INVALID_TYPE; UNSUPPORTED: not dense, quantized already, memory that the CPU cannot read;
///     INVALID_LAYOUT: a dynamic dimension; INVALID_SYNC_MODE: not PRODUCER_SYNCED; LIMIT_EXCEEDED; OUT_OF_MEMORY; CANCELLED
/// @thread one thread at a time
/// @since 4
/// @spec format: quantization
HURRAY_API HurrayStatus hurray_tensor_quantize(HG_IN const HurrayTensor* tensor, HG_IN const HurrayQuantizeSpec* spec,
                                               HG_IN_OPT const HurrayWorkOptions* options,
                                               HG_OUT_OWNED(hurray_tensor_destroy) HurrayTensor** out_tensor,
                                               HG_ERROR HurrayError* error) noexcept {
    if (out_tensor != nullptr) *out_tensor = nullptr;
    HURRAY_REQUIRE_EXCHANGE(tensor, error);
    HURRAY_REQUIRE(spec, error);
    HURRAY_REQUIRE(out_tensor, error);
    return guarded(error, [&]() -> Result<void> {
        CallersWork work;
        if (auto read = work.read(options); !read) return read;
        auto chosen = read_spec(spec);
        if (!chosen) return std::unexpected(chosen.error());
        auto local = LocalTensor::of(tensor);
        if (!local) return std::unexpected(local.error());
        auto result = quantize(shared_tensor(**local), *chosen, work.options());
        if (!result) return work.failure(result.error());
        auto handle = make_tensor(std::move(*result));
        if (!handle) return std::unexpected(handle.error());
        *out_tensor = *handle;
        return {};
    });
}
