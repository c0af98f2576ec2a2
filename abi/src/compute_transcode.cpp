// Tensors in other layouts. (format: memory layout)
#include <limits>

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
    if (given->reserved[0] != 0 || given->reserved[1] != 0 || given->reserved[2] != 0) {
        return fail(Status::invalid_argument, Error::no_offset, "spec->reserved: expected 0");
    }
    if (given->reserved2 != 0) {
        return fail(Status::invalid_argument, Error::no_offset, "spec->reserved2: expected 0, got %u", given->reserved2);
    }
    if (given->token_counts == nullptr && given->token_counts_length != 0) {
        return fail(Status::null_pointer, Error::no_offset, "spec->token_counts: null, but spec->token_counts_length is %llu",
                    static_cast<unsigned long long>(given->token_counts_length));
    }
    return given;
}

}  // namespace

/// Makes a new tensor with the same elements, bit for bit, in another layout: dense, sparse (COO, CSR, CSC, CSF) or, as a source
/// only, block-paged. Padding is 0, sections stay; of a quantized tensor the scales and zero points are shared or copied. The
/// unit of progress is bytes of the elements; from dense to sparse and back it is elements, between sparse layouts entries.
/// @param spec layout, alignment, sequence, token counts
/// @param fields a builder of that layout and of the tensor's rank: the layout's fields that were set in it are wanted (strides,
///     tiles, Morton bits, CSF's order of dimensions, Hilbert's order, which must be that of the shape); nothing else of it
///     matters, nor does the nnz of sparse layouts, which the elements tell. Null: those that will do, for layouts other
///     than strided and tiled
/// @param options null: no limit and no reports
/// @owner caller; independent of `tensor`, whose memory the result may share
/// @errors UNSUPPORTED: a pair of layouts that docs/transcode.md does not list, an opaque descriptor, memory that the CPU cannot
///     read; INVALID_ARGUMENT: spec, fields; NULL_POINTER: spec->token_counts with a length; INVALID_LAYOUT: a dynamic
///     dimension, fields that the layout refuses; INVALID_SYNC_MODE: not PRODUCER_SYNCED; LIMIT_EXCEEDED; OUT_OF_MEMORY;
///     CANCELLED
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
        if (given->token_counts_length != 0) {
            // So many that no tensor has them: a span of them would be none.
            if (given->token_counts_length > std::numeric_limits<std::uint32_t>::max()) {
                return fail(Status::invalid_argument, Error::no_offset, "spec->token_counts_length: expected up to %u, got %llu",
                            std::numeric_limits<std::uint32_t>::max(),
                            static_cast<unsigned long long>(given->token_counts_length));
            }
            chosen.token_counts = {given->token_counts, static_cast<std::size_t>(given->token_counts_length)};
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
            chosen.hilbert_order = fields->hilbert_order;
        }
        auto local = LocalTensor::of(tensor);
        if (!local) return std::unexpected(local.error());
        if (const std::uint32_t rank = (**local).descriptor.value.rank(); fields != nullptr && fields->rank != rank) {
            return fail(Status::invalid_argument, Error::no_offset, "fields: expected a builder of rank %u as the tensor has, it is of %u",
                        rank, fields->rank);
        }
        auto result = transcode(shared_tensor(**local), chosen, work.options());
        if (!result) return work.failure(result.error());
        auto handle = make_tensor(std::move(*result));
        if (!handle) return std::unexpected(handle.error());
        *out_tensor = *handle;
        return {};
    });
}
