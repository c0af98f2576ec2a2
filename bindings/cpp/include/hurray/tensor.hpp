// Tensors: a descriptor and its buffers as one handle; their views, elements, copies and exchange.
#ifndef HURRAY_TENSOR_HPP_
#define HURRAY_TENSOR_HPP_

#include <complex>
#include <cstdint>
#include <utility>

#include "hurray/buffer.hpp"
#include "hurray/descriptor.hpp"
#include "hurray/dlpack.hpp"
#include "hurray/view.hpp"
#include "hurray/work.hpp"

namespace hurray {

/// Carries the encoded descriptor of a tensor and what keeps its memory alive.
class TensorContext
    : public UniqueHandle<HurrayTensorContext, hurray_tensor_context_destroy, hurray_tensor_context_destroy_deferred> {
  public:
    using UniqueHandle::address;
    using UniqueHandle::UniqueHandle;

    /// A context without an owner: the buffers keep their memory alive themselves.
    static Result<TensorContext> create(Span<const std::uint8_t> descriptor) noexcept {
        return create(descriptor, nullptr, nullptr);
    }
    /// `release` (a callable that takes nothing) runs exactly once, when the context ends, or, once a tensor was imported from it,
    /// when the last handle that needs the memory goes; after a failure it does not run.
    template <typename Release>
    static Result<TensorContext> create(Span<const std::uint8_t> descriptor, Release&& release) noexcept {
        auto box = detail::box(std::forward<Release>(release));
        if (!box) return detail::out_of_memory();
        auto context = create(descriptor, static_cast<void*>(box.get()), decltype(box)::element_type::run_owner);
        if (context) (void)box.release();
        return context;
    }
    /// Version of the C ABI of the build that made the context.
    Result<std::uint32_t> abi_version() const noexcept {
        std::uint32_t version = 0;
        const auto done =
            detail::outcome(hurray_tensor_context_abi_version(get(), &version), "hurray_tensor_context_abi_version");
        if (!done) return done.error();
        return version;
    }
    /// Whether the copy of the library that made the context vouches for `version` and for its own.
    Result<bool> supports(std::uint32_t version = HURRAY_C_ABI_VERSION) const noexcept {
        const auto supported = detail::get<std::uint8_t>(hurray_tensor_context_supports,
                                                         static_cast<const HurrayTensorContext*>(get()), version);
        if (!supported) return supported.error();
        return *supported != 0;
    }
    /// Where a deferred release of the owner waits; before a tensor is imported.
    Result<void> set_release_queue(const ReleaseQueue& queue) noexcept {
        return detail::call(hurray_tensor_context_set_release_queue, get(),
                            static_cast<const HurrayReleaseQueue*>(queue.get()));
    }
    /// The encoded descriptor; belongs to the context.
    Result<Span<const std::uint8_t>> descriptor() const noexcept {
        const std::uint8_t* bytes = nullptr;
        std::uint64_t length = 0;
        const auto done = detail::outcome(hurray_tensor_context_descriptor(get(), &bytes, &length),
                                          "hurray_tensor_context_descriptor");
        if (!done) return done.error();
        return Span<const std::uint8_t>(bytes, static_cast<std::size_t>(length));
    }

  private:
    static Result<TensorContext> create(Span<const std::uint8_t> descriptor, void* owner,
                                        HurrayOwnerReleaseFn release) noexcept {
        HurrayTensorContext* context = nullptr;
        const auto status = hurray_tensor_context_new(HURRAY_C_ABI_VERSION, descriptor.data(), descriptor.size(), owner,
                                                      release, &context);
        if (auto done = detail::outcome(status, "hurray_tensor_context_new"); !done) return done.error();
        return TensorContext(context);
    }
};

/// Type, layout and shape of a dense tensor over memory of the caller.
struct DenseSpec {
    /// HURRAY_TYPE_ value.
    std::uint8_t element_type = 0;
    /// One value a dimension.
    Span<const std::uint64_t> shape;
    /// Empty: row-major; else strides in elements.
    Span<const std::int64_t> strides = {};
    /// Nobody writes to the memory.
    bool read_only = false;
    /// Of element (0, ..., 0) from the start of the memory.
    std::uint64_t byte_offset = 0;
    /// Where a deferred release waits; null: the process's default queue.
    const ReleaseQueue* queue = nullptr;
};

/// What travels between runtimes.
struct ExportedTensor;

/// A descriptor and its buffers as one handle.
class Tensor : public UniqueHandle<HurrayTensor, hurray_tensor_destroy, hurray_tensor_destroy_deferred> {
  public:
    using UniqueHandle::UniqueHandle;

    /// Takes the list over, on success only.
    static Result<Tensor> create(DescriptorRef descriptor, BufferList& list) noexcept {
        return detail::make<Tensor>(hurray_tensor_new, descriptor.get(), list.address());
    }
    /// Takes the list over, on success only.
    static Result<Tensor> create(DescriptorRef descriptor, BufferList&& list) noexcept {
        return create(descriptor, list);
    }

    /// Over memory of the caller, of any alignment; see Buffer::from_pointer for `release`.
    template <typename Release>
    static Result<Tensor> from_host(const DenseSpec& spec, void* data, std::uint64_t byte_size,
                                    Release&& release) noexcept {
        auto raw = detail::sized<HurrayDenseSpec>();
        raw.element_type = spec.element_type;
        raw.layout = spec.strides.empty() ? HURRAY_LAYOUT_ROW_MAJOR : HURRAY_LAYOUT_STRIDED;
        raw.read_only = spec.read_only ? 1 : 0;
        raw.rank = static_cast<std::uint32_t>(spec.shape.size());
        raw.shape = spec.shape.data();
        raw.strides = spec.strides.empty() ? nullptr : spec.strides.data();
        raw.byte_offset = spec.byte_offset;
        if (!spec.strides.empty() && spec.strides.size() != spec.shape.size()) {
            return Error(HURRAY_ERR_INVALID_ARGUMENT, "shape and strides have different lengths");
        }
        auto box = detail::box(std::forward<Release>(release));
        if (!box) return detail::out_of_memory();
        auto tensor =
            detail::make<Tensor>(hurray_tensor_from_host, &raw, data, byte_size, decltype(box)::element_type::run,
                                 static_cast<void*>(box.get()),
                                 static_cast<const HurrayReleaseQueue*>(spec.queue ? spec.queue->get() : nullptr));
        if (tensor) (void)box.release();
        return tensor;
    }
    /// A row-major tensor of a container's elements (such as a std::vector), which the tensor then owns.
    template <typename Container, typename = std::enable_if_t<std::is_rvalue_reference_v<Container&&>>>
    static Result<Tensor> from_container(Container&& elements, Span<const std::uint64_t> shape) {
        using T = std::remove_cv_t<std::remove_reference_t<decltype(*std::data(elements))>>;
        static_assert(type_tag_of<T> != 0, "no element type is held by this C++ type");
        auto kept = std::make_unique<std::decay_t<Container>>(std::move(elements));
        void* const data = std::data(*kept);
        const std::uint64_t byte_size = std::uint64_t{std::size(*kept)} * sizeof(T);
        DenseSpec spec;
        spec.element_type = type_tag_of<T>;
        spec.shape = shape;
        return from_host(spec, data, byte_size, [owner = std::move(kept)] {});
    }

    /// Takes over a pair that another runtime exported, both on success only. `flags`: HURRAY_DECODE_ bits.
    static Result<Tensor> import(BufferList& list, TensorContext& context, std::uint32_t flags = 0) noexcept {
        auto options = detail::sized<HurrayDecodeOptions>();
        options.flags = flags;
        return detail::make<Tensor>(hurray_tensor_import_options, list.address(), context.address(),
                                    static_cast<const HurrayDecodeOptions*>(&options));
    }
    /// A list and a context that share the memory; the tensor stays as it is.
    Result<ExportedTensor> export_pair() const noexcept;

    /// For another package, sharing the memory. `minor`: the newest minor version of DLPack 1 that it knows.
    Result<Dlpack> to_dlpack(std::uint32_t minor = 1) const noexcept {
        HurrayDlpackVersioned* managed = nullptr;
        const auto done = detail::call(hurray_tensor_to_dlpack, raw(), minor, &managed);
        if (!done) return done.error();
        return Dlpack(managed);
    }
    /// The same for a package that knows no version of DLPack; not of read-only memory.
    Result<DlpackUnversioned> to_dlpack_unversioned() const noexcept {
        HurrayDlpackUnversioned* managed = nullptr;
        const auto done = detail::call(hurray_tensor_to_dlpack_unversioned, raw(), &managed);
        if (!done) return done.error();
        return DlpackUnversioned(managed);
    }
    /// Takes over what another package exported, on success only. `queue`: where a deferred release waits.
    static Result<Tensor> from_dlpack(Dlpack& managed, const ReleaseQueue* queue = nullptr) noexcept {
        return take_dlpack(hurray_tensor_from_dlpack, managed, queue);
    }
    /// The same for the form before version 1.
    static Result<Tensor> from_dlpack(DlpackUnversioned& managed, const ReleaseQueue* queue = nullptr) noexcept {
        return take_dlpack(hurray_tensor_from_dlpack_unversioned, managed, queue);
    }

    /// A further handle for the same tensor.
    Result<Tensor> share() const noexcept { return detail::make<Tensor>(hurray_tensor_share, raw()); }
    /// Of dense layouts.
    Result<View> view() const noexcept {
        const auto view = detail::fill<HurrayView>(hurray_tensor_view, raw());
        if (!view) return view.error();
        return View(*view);
    }
    /// Borrowed: valid as long as the tensor.
    Result<DescriptorRef> descriptor() const noexcept {
        const auto descriptor = detail::get<const HurrayDescriptor*>(hurray_tensor_descriptor, raw());
        if (!descriptor) return descriptor.error();
        return DescriptorRef(*descriptor);
    }
    /// Borrowed: valid as long as the tensor.
    Result<BufferRef> buffer(std::uint32_t index) const noexcept {
        const auto buffer = detail::get<HurrayBuffer*>(hurray_tensor_buffer, raw(), index);
        if (!buffer) return buffer.error();
        return BufferRef(*buffer);
    }

    /// An element as a number; of a quantized tensor the stored code.
    Result<double> element(Span<const std::uint64_t> index) const noexcept {
        return detail::get<double>(hurray_tensor_element_float64, raw(), index.data(), rank_of(index));
    }
    /// The number that a quantized element stands for.
    Result<double> element_dequantized(Span<const std::uint64_t> index) const noexcept {
        return detail::get<double>(hurray_tensor_element_dequantized, raw(), index.data(), rank_of(index));
    }
    /// An element as a complex number; of real types with the imaginary part 0.
    Result<std::complex<double>> element_complex(Span<const std::uint64_t> index) const noexcept {
        double real = 0;
        double imaginary = 0;
        const auto done =
            detail::call(hurray_tensor_element_complex128, raw(), index.data(), rank_of(index), &real, &imaginary);
        if (!done) return done.error();
        return std::complex<double>(real, imaginary);
    }
    /// The bits of an element.
    Result<HurrayElementBits> element_bits(Span<const std::uint64_t> index) const noexcept {
        return detail::fill<HurrayElementBits>(hurray_tensor_element_bits, raw(), index.data(), rank_of(index));
    }
    /// Where an element lies: buffer, byte, bit.
    Result<HurrayElementAddress> element_address(Span<const std::uint64_t> index) const noexcept {
        return detail::fill<HurrayElementAddress>(hurray_tensor_element_address, raw(), index.data(), rank_of(index));
    }

    /// A dense tensor in new memory: row-major, aligned, byte_offset 0. `copied`, when given, receives the bytes
    /// copied.
    Result<Tensor> copy(std::uint32_t alignment = 0, std::uint64_t* copied = nullptr) const noexcept {
        HurrayTensor* made = nullptr;
        std::uint64_t bytes = 0;
        if (auto done = detail::call(hurray_tensor_copy, raw(), alignment, &made, &bytes); !done) return done.error();
        if (copied != nullptr) *copied = bytes;
        return Tensor(made);
    }

    /// The same elements in another layout; `fields`: what the layout needs, see hurray_tensor_transcode.
    Result<Tensor> transcode(const HurrayTranscodeSpec& spec, const DescriptorBuilder* fields = nullptr,
                             const WorkOptions& options = {}) const noexcept {
        detail::Work work(options);
        return work.outcome(detail::make<Tensor>(
            hurray_tensor_transcode, raw(), &spec,
            static_cast<const HurrayDescriptorBuilder*>(fields ? fields->get() : nullptr), work.get()));
    }
    /// The same elements in another layout (HURRAY_LAYOUT_), with the defaults of that.
    Result<Tensor> transcode(std::uint8_t layout, const WorkOptions& options = {}) const noexcept {
        auto spec = detail::sized<HurrayTranscodeSpec>();
        spec.layout = layout;
        return transcode(spec, nullptr, options);
    }
    /// The numbers of a quantized tensor as float16, bfloat16, float32 or float64.
    Result<Tensor> dequantize(std::uint8_t element_type = HURRAY_TYPE_FLOAT32,
                              const WorkOptions& options = {}) const noexcept {
        detail::Work work(options);
        return work.outcome(detail::make<Tensor>(hurray_tensor_dequantize, raw(), element_type, work.get()));
    }
    /// Codes of a quantization scheme for the numbers of a float tensor.
    Result<Tensor> quantize(const HurrayQuantizeSpec& spec, const WorkOptions& options = {}) const noexcept {
        detail::Work work(options);
        return work.outcome(detail::make<Tensor>(hurray_tensor_quantize, raw(), &spec, work.get()));
    }
    /// Reports the first violation; `level`: HURRAY_VALIDATE_.
    Result<void> validate(std::uint32_t level, const WorkOptions& options = {}) const noexcept {
        detail::Work work(options);
        return work.outcome(detail::call(hurray_tensor_validate, raw(), level, work.get()));
    }
    /// `mask`: HURRAY_STATISTICS_ bits.
    Result<HurrayStatistics> statistics(std::uint32_t mask, const WorkOptions& options = {}) const noexcept {
        detail::Work work(options);
        return work.outcome(detail::fill<HurrayStatistics>(hurray_tensor_statistics, raw(), mask, work.get()));
    }

  private:
    template <typename Function, typename Managed>
    static Result<Tensor> take_dlpack(Function* function, Managed& managed, const ReleaseQueue* queue) noexcept {
        auto tensor = detail::make<Tensor>(
            function, managed.get(), static_cast<const HurrayReleaseQueue*>(queue != nullptr ? queue->get() : nullptr));
        if (tensor) (void)managed.release();
        return tensor;
    }
    const HurrayTensor* raw() const noexcept { return get(); }
    static std::uint32_t rank_of(Span<const std::uint64_t> index) noexcept {
        return static_cast<std::uint32_t>(index.size());
    }
};

struct ExportedTensor {
    /// The buffers.
    BufferList list;
    /// The descriptor, and what keeps the memory alive.
    TensorContext context;
};

inline Result<ExportedTensor> Tensor::export_pair() const noexcept {
    ExportedTensor pair;
    const auto done = detail::call(hurray_tensor_export, raw(), pair.list.address(), pair.context.address());
    if (!done) return done.error();
    return pair;
}

}  // namespace hurray

#endif  // HURRAY_TENSOR_HPP_
