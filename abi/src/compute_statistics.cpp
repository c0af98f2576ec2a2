// Statistics of elements. (format: statistics)
#include "abi/src/api/annotations.hpp"
#include "abi/src/api/compute.hpp"
#include "abi/src/api/descriptor_fields.hpp"
#include "abi/src/api/handles.hpp"
#include "abi/src/internal/barrier.hpp"
#include "abi/src/internal/descriptor_fields.hpp"
#include "abi/src/internal/foreign.hpp"
#include "abi/src/internal/objects.hpp"
#include "abi/src/internal/work.hpp"
#include "core/hurray/statistics/statistics.hpp"

using namespace hurray;
using namespace hurray::abi;

/// Works out the statistics that a mask asks for, in one pass over the elements: dequantized where they are quantized, and of a
/// sparse tensor with those that are not stored. What has no answer for these elements is left out of computed_mask. The struct
/// can be given to hurray_descriptor_builder_set_statistics as it is. The unit of progress is bytes of stored elements.
/// @param mask HURRAY_STATISTICS_ bits
/// @param options null: no limit and no reports
/// @errors INVALID_ARGUMENT: other bits in `mask`, options; UNSUPPORTED: range or moments of complex numbers and of float128,
///     composite heads, private layouts, opaque descriptors, memory that the CPU cannot read; INVALID_TYPE: a pattern that is no
///     element; INVALID_LAYOUT: a dynamic dimension, index arrays that break a rule; INVALID_SYNC_MODE: not
///     PRODUCER_SYNCED; those of hurray_tensor_dequantize; LIMIT_EXCEEDED; OUT_OF_MEMORY; CANCELLED
/// @thread one thread at a time
/// @since 4
/// @spec format: statistics
HURRAY_API HurrayStatus hurray_tensor_statistics(HG_IN const HurrayTensor* tensor, uint32_t mask,
                                                 HG_IN_OPT const HurrayWorkOptions* options,
                                                 HG_OUT HurrayStatistics* out_statistics,
                                                 HG_ERROR HurrayError* error) noexcept {
    if (out_statistics != nullptr) clear_sized_struct(out_statistics);
    HURRAY_REQUIRE_EXCHANGE(tensor, error);
    HURRAY_REQUIRE(out_statistics, error);
    return guarded(error, [&]() -> Result<void> {
        CallersWork work;
        if (auto read = work.read(options); !read) return read;
        auto local = LocalTensor::of(tensor);
        if (!local) return std::unexpected(local.error());
        auto computed = compute_statistics(core_tensor(**local), mask, work.options());
        if (!computed) return work.failure(computed.error());
        return fill_sized_struct(out_statistics, statistics_of(*computed), sizeof(HurrayStatistics), "out_statistics");
    });
}
