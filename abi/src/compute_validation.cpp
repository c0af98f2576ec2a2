// Whether tensors keep the rules of the format. (format: all validity constraints)
#include "abi/src/api/annotations.hpp"
#include "abi/src/api/compute.hpp"
#include "abi/src/api/handles.hpp"
#include "abi/src/internal/barrier.hpp"
#include "abi/src/internal/foreign.hpp"
#include "abi/src/internal/objects.hpp"
#include "abi/src/internal/work.hpp"
#include "core/hurray/validation/validate.hpp"

using namespace hurray;
using namespace hurray::abi;

/// Checks a tensor and reports the first violation, with the field, or the buffer and the entry in it, and what was expected.
/// Each level includes those before it, and reads only what they have shown to be there. Of a composite head the descriptor
/// alone is looked at. The unit of progress is bytes of the buffers, about.
/// @param level HURRAY_VALIDATE_ value
/// @param options null: no limit and no reports
/// @errors those of hurray_descriptor_decode; from level BUFFERS on those of hurray_tensor_new; on level DATA INVALID_LAYOUT:
///     index arrays, unused bits; INVALID_TYPE: a pattern that is no element; INVALID_QUANTIZATION: scales, zero points, padding;
///     UNSUPPORTED: memory that the CPU cannot read; INVALID_SYNC_MODE: not PRODUCER_SYNCED. INVALID_ARGUMENT: level, options; LIMIT_EXCEEDED; OUT_OF_MEMORY; CANCELLED
/// @thread one thread at a time
/// @since 4
/// @spec format: validity constraints
HURRAY_API HurrayStatus hurray_tensor_validate(HG_IN const HurrayTensor* tensor, uint32_t level,
                                               HG_IN_OPT const HurrayWorkOptions* options, HG_ERROR HurrayError* error) noexcept {
    HURRAY_REQUIRE_EXCHANGE(tensor, error);
    return guarded(error, [&]() -> Result<void> {
        CallersWork work;
        if (auto read = work.read(options); !read) return read;
        if (level < HURRAY_VALIDATE_DESCRIPTOR || level > HURRAY_VALIDATE_DATA) {
            return fail(Status::invalid_argument, Error::no_offset, "level: expected %u to %u, got %u", HURRAY_VALIDATE_DESCRIPTOR,
                        HURRAY_VALIDATE_DATA, level);
        }
        auto local = LocalTensor::of(tensor);
        if (!local) return std::unexpected(local.error());
        const auto checked = validate(core_tensor(**local), static_cast<ValidationLevel>(level), work.options());
        if (!checked) return work.failure(checked.error());
        return {};
    });
}
