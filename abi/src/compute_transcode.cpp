// Tensors in other layouts. (format: memory layout)
#include "abi/src/api/annotations.hpp"
#include "abi/src/api/compute.hpp"
#include "abi/src/api/handles.hpp"
#include "abi/src/internal/barrier.hpp"
#include "abi/src/internal/descriptor_fields.hpp"
#include "abi/src/internal/foreign.hpp"
#include "abi/src/internal/objects.hpp"
#include "abi/src/internal/work.hpp"
#include "core/hurray/transcode/transcode.hpp"

using namespace hurray;
using namespace hurray::abi;

namespace {

Result<HurrayTranscodeSpec> read_spec(const HurrayTranscodeSpec* spec) {
    auto given = read_sized_struct(spec, sizeof(HurrayTranscodeSpec), "spec");
    if (!given) return given;
    if ((given->flags & ~HURRAY_TRANSCODE_SEQUENCE) != 0) {
        return fail(Status::invalid_argument, Error::no_offset, "spec->flags: unknown bits 0x%x", given->flags);
    }
    if (given->reserved[0] != 0 || given->reserved[1] != 0 || given->reserved[2] != 0 || given->reserved2 != 0) {
        return fail(Status::invalid_argument, Error::no_offset, "spec->reserved: expected 0");
    }
    return given;
}

}  // namespace

/// Makes a new tensor with the same elements, bit for bit, in another layout: dense, sparse (COO, CSR, CSC, CSF) or, as a source
/// only, block-paged. Padding is 0, sections stay; of a quantized tensor the scales and zero points are shared or copied. The
/// unit of progress is bytes of the elements.
/// @param spec layout, alignment, sequence
/// @param fields a builder of that layout, of the tensor's rank: the layout's fields that were set in it are wanted (strides,
///     tiles, Morton bits, CSF's order of dimensions); nothing else of it matters. Null: those that will do, for layouts
///     other than strided and tiled
/// @param options null: no limit and no reports
/// @owner caller; independent of `tensor`, whose memory the result may share
/// @errors UNSUPPORTED: a pair of layouts that docs/transcode.md does not list, an opaque descriptor, memory that the CPU cannot
///     read; INVALID_ARGUMENT: spec, fields; INVALID_LAYOUT: a dynamic dimension, fields that the layout refuses;
///     LIMIT_EXCEEDED; OUT_OF_MEMORY; CANCELLED
/// @thread one thread at a time
/// @since 4
/// @spec format: memory layout
HURRAY_API HurrayStatus hurray_tensor_transcode(HG_IN const HurrayTensor* tensor, HG_IN const HurrayTranscodeSpec* spec,
                                                HG_IN_OPT const HurrayDescriptorBuilder* fields,
                                                HG_IN_OPT const HurrayWorkOptions* options,
                                                HG_OUT_OWNED(hurray_tensor_destroy) HurrayTensor** out_tensor,
                                                HG_ERROR HurrayError* error) noexcept {
    if (out_tensor != nullptr) *out_tensor = nullptr;
    HURRAY_REQUIRE_EXCHANGE(tensor, error);
    HURRAY_REQUIRE(spec, error);
    if (fields != nullptr) HURRAY_REQUIRE_HANDLE(fields, error);
    HURRAY_REQUIRE(out_tensor, error);
    return guarded(error, [&]() -> Result<void> {
        CallersWork work;
        if (auto read = work.read(options); !read) return read;
        auto given = read_spec(spec);
        if (!given) return std::unexpected(given.error());
        TranscodeSpec chosen;
        chosen.layout = given->layout;
        chosen.alignment = given->alignment;
        if ((given->flags & HURRAY_TRANSCODE_SEQUENCE) != 0) {
            chosen.sequence = given->sequence;
        } else if (given->sequence != 0) {
            return fail(Status::invalid_argument, Error::no_offset, "spec->sequence: expected 0 without HURRAY_TRANSCODE_SEQUENCE");
        }
        std::vector<TiledLevel> levels;
        if (fields != nullptr) {
            if (fields->layout != given->layout) {
                return fail(Status::invalid_argument, Error::no_offset, "fields: expected a builder of layout %02X, it is of %02X",
                            given->layout, fields->layout);
            }
            levels = levels_of(*fields);
            chosen.strides = fields->strides;
            chosen.tiled = levels;
            chosen.morton_bits = fields->morton_bits;
            chosen.mode_order = fields->mode_order;
        }
        auto local = LocalTensor::of(tensor);
        if (!local) return std::unexpected(local.error());
        auto result = transcode(shared_tensor(**local), chosen, work.options());
        if (!result) return work.failure(result.error());
        auto handle = make_tensor(std::move(*result));
        if (!handle) return std::unexpected(handle.error());
        *out_tensor = *handle;
        return {};
    });
}
