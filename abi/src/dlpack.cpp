// DLPack: dense tensors of the host to and from other packages of the process, without copying.
#include "abi/src/api/dlpack.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>

#include "abi/src/api/annotations.hpp"
#include "abi/src/api/tags.hpp"
#include "abi/src/api/tensor.hpp"
#include "abi/src/internal/barrier.hpp"
#include "abi/src/internal/dlpack_types.hpp"
#include "abi/src/internal/exchange.hpp"
#include "abi/src/internal/host_tensor.hpp"
#include "abi/src/internal/objects.hpp"

using namespace hurray;
using namespace hurray::abi;

namespace {

// --- Export ----------------------------------------------------------------------------------------------

// What stands behind a managed tensor: a share of ours, of whatever copy of the library, and the geometry that DLPack reads.
template <typename Managed>
struct Exported {
    Managed managed{};
    HurrayTensor* share = nullptr;
    std::array<std::int64_t, HURRAY_MAX_RANK> shape{};
    std::array<std::int64_t, HURRAY_MAX_RANK> strides{};

    Exported() = default;
    Exported(const Exported&) = delete;
    Exported& operator=(const Exported&) = delete;
    // The consumer ends it on a thread that the creator of the memory may not have consented to.
    ~Exported() { (void)hurray_tensor_destroy_deferred(&share, nullptr); }
};

template <typename Managed>
void end_exported(void* self) noexcept {
    delete static_cast<Exported<Managed>*>(static_cast<Managed*>(self)->manager_ctx);
}

// Adds what the consumer's DLPack must be to the type.
Result<const DlpackType*> exportable_type(const HurrayView& view, std::uint32_t minor) {
    if (view.device != HURRAY_DEVICE_CPU) {
        return fail(Status::unsupported, Error::no_offset,
                    "tensor: in memory of device %u; DLPack needs the number of the device, which a tensor does not have", view.device);
    }
    if ((view.flags & HURRAY_VIEW_QUANTIZED) != 0) {
        return fail(Status::unsupported, Error::no_offset, "tensor: quantized, which DLPack cannot say; dequantize it first");
    }
    const DlpackType* type = dlpack_type_of(view.element_type);
    if (type == nullptr) {
        return fail(Status::unsupported, Error::no_offset, "tensor: DLPack has no elements like those of type 0x%02x", view.element_type);
    }
    if (type->since_minor > minor) {
        return fail(Status::unsupported, Error::no_offset, "tensor: DLPack has elements of type 0x%02x since version 1.%u, the consumer knows 1.%u",
                    view.element_type, type->since_minor, minor);
    }
    return type;
}

template <typename Managed>
Result<std::unique_ptr<Exported<Managed>>> export_tensor(const HurrayTensor* tensor, const HurrayView& view, const DlpackType& type) {
    auto exported = std::make_unique<Exported<Managed>>();
    HurrayError cause{};
    if (const HurrayStatus status = hurray_tensor_share(tensor, &exported->share, &cause); status != HURRAY_OK) {
        return fail(static_cast<Status>(status), Error::no_offset, "%s", cause.message);
    }
    std::copy_n(view.shape, view.rank, exported->shape.begin());
    if (view.strides != nullptr) {
        std::copy_n(view.strides, view.rank, exported->strides.begin());
    } else {
        // An empty tensor's strides are never used, and its sizes need not fit together.
        std::int64_t stride = 1;
        for (std::size_t i = view.rank; i-- > 0;) {
            exported->strides[i] = stride;
            if (view.element_count != 0) stride *= view.shape[i];
        }
    }
    HurrayDlpackTensor& out = exported->managed.dl_tensor;
    out.data = view.data;
    out.device_type = dlpack_cpu;
    out.ndim = view.rank;
    out.dtype_code = type.code;
    out.dtype_bits = type.bits;
    out.dtype_lanes = 1;
    out.shape = exported->shape.data();
    out.strides = exported->strides.data();
    exported->managed.manager_ctx = exported.get();
    exported->managed.deleter = &end_exported<Managed>;
    return exported;
}

Result<HurrayView> view_of(const HurrayTensor* tensor) {
    HurrayView view{};
    view.struct_size = sizeof view;
    HurrayError cause{};
    if (const HurrayStatus status = hurray_tensor_view(tensor, &view, &cause); status != HURRAY_OK) {
        return fail(static_cast<Status>(status), Error::no_offset, "%s", cause.message);
    }
    return view;
}

// --- Import ----------------------------------------------------------------------------------------------

template <typename Managed>
void end_taken(void*, void* managed) {
    auto* self = static_cast<Managed*>(managed);
    self->deleter(self);
}

// Where the elements lie, from the lowest to the end of the highest, and what hurray_tensor_from_host is told of them.
struct Taken {
    HurrayDenseSpec spec{};
    std::array<std::uint64_t, HURRAY_MAX_RANK> shape{};
    std::array<std::int64_t, HURRAY_MAX_RANK> strides{};
    void* lowest = nullptr;
    std::uint64_t byte_size = 0;
};

Result<const DlpackType*> type_of_dlpack(const HurrayDlpackTensor& tensor) {
    if (tensor.device_type != dlpack_cpu && tensor.device_type != dlpack_cuda_host && tensor.device_type != dlpack_rocm_host) {
        return fail(Status::unsupported, Error::no_offset, "dl_tensor.device_type: expected memory of the host (1, 3 or 11), got %d",
                    tensor.device_type);
    }
    if (tensor.dtype_lanes != 1) {
        return fail(Status::unsupported, Error::no_offset, "dl_tensor.dtype: expected 1 lane, got %u", tensor.dtype_lanes);
    }
    if (tensor.dtype_code == dlpack_bool) {
        return fail(Status::unsupported, Error::no_offset,
                    "dl_tensor.dtype: booleans of %u bits each, the format has a bit each: pack a copy", tensor.dtype_bits);
    }
    const DlpackType* type = dlpack_type_of(tensor.dtype_code, tensor.dtype_bits);
    if (type == nullptr) {
        return fail(Status::invalid_type, Error::no_offset, "dl_tensor.dtype: no element type for code %u of %u bits", tensor.dtype_code,
                    tensor.dtype_bits);
    }
    return type;
}

std::unexpected<Error> beyond_memory(const char* what) {
    return fail(Status::invalid_layout, Error::no_offset, "dl_tensor.%s: the elements reach further than memory does", what);
}

Result<void> read_geometry(const HurrayDlpackTensor& tensor, std::uint64_t item_size, Taken& out) {
    if (tensor.ndim < 0 || tensor.ndim > static_cast<std::int32_t>(HURRAY_MAX_RANK)) {
        return fail(Status::invalid_layout, Error::no_offset, "dl_tensor.ndim: expected 0 to %u, got %d", HURRAY_MAX_RANK, tensor.ndim);
    }
    const auto rank = static_cast<std::size_t>(tensor.ndim);
    if (rank != 0 && tensor.shape == nullptr) {
        return fail(Status::null_pointer, Error::no_offset, "dl_tensor.shape: is null, expected %zu sizes", rank);
    }
    bool empty = false;
    for (std::size_t i = 0; i < rank; ++i) {
        if (tensor.shape[i] < 0) {
            return fail(Status::invalid_layout, Error::no_offset, "dl_tensor.shape[%zu]: expected at least 0, got %lld", i,
                        static_cast<long long>(tensor.shape[i]));
        }
        out.shape[i] = static_cast<std::uint64_t>(tensor.shape[i]);
        empty = empty || out.shape[i] == 0;
    }
    // Elements below and above element (0, ..., 0).
    std::int64_t below = 0;
    std::int64_t above = 0;
    std::int64_t dense = 1;
    bool row_major = true;
    for (std::size_t i = rank; i-- > 0;) {
        // Of size 1, and in an empty tensor, a stride is never used.
        const bool used = !empty && out.shape[i] > 1;
        const std::int64_t stride = tensor.strides == nullptr || !used ? dense : tensor.strides[i];
        out.strides[i] = stride;
        row_major = row_major && stride == dense;
        if (!used) continue;
        std::int64_t reach = 0;
        if (__builtin_mul_overflow(stride, tensor.shape[i] - 1, &reach) ||
            __builtin_add_overflow(reach < 0 ? below : above, reach, reach < 0 ? &below : &above) ||
            __builtin_mul_overflow(dense, tensor.shape[i], &dense)) {
            return beyond_memory("strides");
        }
    }
    out.spec.rank = static_cast<std::uint32_t>(rank);
    out.spec.shape = out.shape.data();
    out.spec.layout = row_major ? HURRAY_LAYOUT_ROW_MAJOR : HURRAY_LAYOUT_STRIDED;
    out.spec.strides = row_major ? nullptr : out.strides.data();
    if (empty) return {};

    if (tensor.data == nullptr) return fail(Status::null_pointer, Error::no_offset, "dl_tensor.data: is null, and there are elements");
    std::uintptr_t first = 0;
    if (__builtin_add_overflow(reinterpret_cast<std::uintptr_t>(tensor.data), tensor.byte_offset, &first)) return beyond_memory("byte_offset");
    std::uint64_t below_bytes = 0;
    std::uint64_t above_bytes = 0;
    if (__builtin_mul_overflow(0 - static_cast<std::uint64_t>(below), item_size, &below_bytes) ||
        __builtin_mul_overflow(static_cast<std::uint64_t>(above) + 1, item_size, &above_bytes) || below_bytes > first ||
        above_bytes - 1 > std::numeric_limits<std::uintptr_t>::max() - first ||
        __builtin_add_overflow(below_bytes, above_bytes, &out.byte_size)) {
        return beyond_memory("strides");
    }
    out.lowest = reinterpret_cast<void*>(first - below_bytes);
    out.spec.byte_offset = below_bytes;
    return {};
}

template <typename Managed>
HurrayStatus take(Managed* managed, bool read_only, const HurrayReleaseQueue* queue, HurrayTensor** out_tensor, HurrayError* error) {
    return guarded(error, [&]() -> Result<void> {
        const auto type = type_of_dlpack(managed->dl_tensor);
        if (!type) return std::unexpected(type.error());
        Taken taken;
        taken.spec.struct_size = sizeof taken.spec;
        taken.spec.element_type = (*type)->element_type;
        taken.spec.read_only = read_only ? 1 : 0;
        if (auto read = read_geometry(managed->dl_tensor, (*type)->bits / 8, taken); !read) return read;
        const auto release = managed->deleter == nullptr ? nullptr : &end_taken<Managed>;
        auto tensor = make_host_tensor(taken.spec, taken.lowest, taken.byte_size, release, managed, queue);
        if (!tensor) return std::unexpected(tensor.error());
        *out_tensor = *tensor;
        return {};
    });
}

}  // namespace

/// Exports a dense tensor of host memory as a DLManagedTensorVersioned of DLPack 1, without copying: cast the result.
/// It shares the memory; the tensor stays as it is. DLPack has no sub-byte types as the format packs them, no booleans of
/// a bit, no float128, no quantization and no layouts without strides.
/// @param minor the newest minor version of DLPack 1 that the consumer knows: 8-bit floats came with 1
/// @param out_managed its data pointer has the byte offset applied; it always has strides
/// @owner the caller, or whoever it hands the result to: ended once, by its own deleter, on any thread. The deleter ends the
///     share as hurray_tensor_destroy_deferred does
/// @errors UNSUPPORTED: DLPack cannot say what the tensor is, or not in that version; OUT_OF_MEMORY
/// @thread one thread at a time
/// @since 4
HURRAY_API HurrayStatus hurray_tensor_to_dlpack(HG_IN const HurrayTensor* tensor, uint32_t minor,
                                                HG_OUT HurrayDlpackVersioned** out_managed, HG_ERROR HurrayError* error) noexcept {
    if (out_managed != nullptr) *out_managed = nullptr;
    HURRAY_REQUIRE_EXCHANGE(tensor, error);
    HURRAY_REQUIRE(out_managed, error);
    return guarded(error, [&]() -> Result<void> {
        const auto view = view_of(tensor);
        if (!view) return std::unexpected(view.error());
        const auto type = exportable_type(*view, minor);
        if (!type) return std::unexpected(type.error());
        auto exported = export_tensor<HurrayDlpackVersioned>(tensor, *view, **type);
        if (!exported) return std::unexpected(exported.error());
        HurrayDlpackVersioned& managed = (*exported)->managed;
        managed.version_major = dlpack_major;
        managed.version_minor = std::min(minor, dlpack_minor);
        managed.flags = (view->flags & HURRAY_VIEW_READ_ONLY) != 0 ? HURRAY_DLPACK_READ_ONLY : 0;
        *out_managed = &exported->release()->managed;
        return {};
    });
}

/// Exports a tensor as hurray_tensor_to_dlpack does, in the form before version 1 (DLManagedTensor), for consumers that know
/// no other.
/// @param out_managed as in hurray_tensor_to_dlpack
/// @owner as in hurray_tensor_to_dlpack
/// @errors as hurray_tensor_to_dlpack; UNSUPPORTED: the memory is read-only, which this form cannot say
/// @thread one thread at a time
/// @since 4
HURRAY_API HurrayStatus hurray_tensor_to_dlpack_unversioned(HG_IN const HurrayTensor* tensor, HG_OUT HurrayDlpackUnversioned** out_managed,
                                                            HG_ERROR HurrayError* error) noexcept {
    if (out_managed != nullptr) *out_managed = nullptr;
    HURRAY_REQUIRE_EXCHANGE(tensor, error);
    HURRAY_REQUIRE(out_managed, error);
    return guarded(error, [&]() -> Result<void> {
        const auto view = view_of(tensor);
        if (!view) return std::unexpected(view.error());
        if ((view->flags & HURRAY_VIEW_READ_ONLY) != 0) {
            return fail(Status::unsupported, Error::no_offset,
                        "tensor: read-only, which DLPack before version 1 cannot say; export version 1, or a copy");
        }
        const auto type = exportable_type(*view, 0);
        if (!type) return std::unexpected(type.error());
        auto exported = export_tensor<HurrayDlpackUnversioned>(tensor, *view, **type);
        if (!exported) return std::unexpected(exported.error());
        *out_managed = &exported->release()->managed;
        return {};
    });
}

/// Takes over a DLManagedTensorVersioned of another package, without copying: cast it. Its version is read first.
/// @param managed of DLPack 1, with memory of the host
/// @param queue where a deferred release waits; null: the default queue
/// @owner `managed` moves into the tensor on success: its deleter runs once, when the last handle that shares the memory goes. On
///     failure it stays the caller's and the deleter does not run
/// @errors VERSION_MISMATCH: another major version; UNSUPPORTED: memory of a device, booleans (a byte each there), vectors;
///     INVALID_TYPE; INVALID_LAYOUT: sizes or strides that lead out of memory; NULL_POINTER: no shape or data where there must be
/// @thread any
/// @since 4
HURRAY_API HurrayStatus hurray_tensor_from_dlpack(HG_CONSUMED HurrayDlpackVersioned* managed, HG_IN_OPT const HurrayReleaseQueue* queue,
                                                  HG_OUT_OWNED(hurray_tensor_destroy) HurrayTensor** out_tensor,
                                                  HG_ERROR HurrayError* error) noexcept {
    if (out_tensor != nullptr) *out_tensor = nullptr;
    HURRAY_REQUIRE(managed, error);
    HURRAY_REQUIRE(out_tensor, error);
    if (queue != nullptr) HURRAY_REQUIRE_HANDLE(queue, error);
    if (managed->version_major != dlpack_major) {
        return report(make_error(Status::version_mismatch, Error::no_offset, "managed->version: made by DLPack %u.%u, expected version %u",
                                 managed->version_major, managed->version_minor, dlpack_major),
                      error);
    }
    return take(managed, (managed->flags & HURRAY_DLPACK_READ_ONLY) != 0, queue, out_tensor, error);
}

/// Takes over a DLManagedTensor, the form before version 1, as hurray_tensor_from_dlpack does. What comes in it counts as
/// writable: it cannot say otherwise.
/// @param managed with memory of the host
/// @param queue where a deferred release waits; null: the default queue
/// @owner as in hurray_tensor_from_dlpack
/// @errors as hurray_tensor_from_dlpack, but for the version
/// @thread any
/// @since 4
HURRAY_API HurrayStatus hurray_tensor_from_dlpack_unversioned(HG_CONSUMED HurrayDlpackUnversioned* managed,
                                                              HG_IN_OPT const HurrayReleaseQueue* queue,
                                                              HG_OUT_OWNED(hurray_tensor_destroy) HurrayTensor** out_tensor,
                                                              HG_ERROR HurrayError* error) noexcept {
    if (out_tensor != nullptr) *out_tensor = nullptr;
    HURRAY_REQUIRE(managed, error);
    HURRAY_REQUIRE(out_tensor, error);
    if (queue != nullptr) HURRAY_REQUIRE_HANDLE(queue, error);
    return take(managed, false, queue, out_tensor, error);
}
