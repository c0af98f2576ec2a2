#include "abi/src/internal/tensor_source.hpp"

#include <utility>

#include "abi/src/internal/callback_io.hpp"
#include "abi/src/internal/exchange.hpp"
#include "abi/src/internal/foreign.hpp"
#include "abi/src/internal/objects.hpp"
#include "abi/src/internal/release.hpp"

namespace hurray::abi {
namespace {

// Ends a tensor handle, of whichever copy of the library, together with the last share of the memory behind it.
class TensorOwner final : public Storage {
public:
    explicit TensorOwner(bool& clean) noexcept : clean_(clean) {}
    /// From now on the handle is ended with this object; before that, nothing is.
    void own(HurrayTensor* tensor) noexcept { tensor_ = tensor; }

private:
    ~TensorOwner() override = default;
    bool dispose() noexcept override {
        HurrayTensor* tensor = tensor_;
        bool& clean = clean_;
        delete this;
        if (tensor == nullptr) return true;
        const bool ended = hurray_tensor_destroy(&tensor) == HURRAY_OK;
        clean = clean && ended;
        return ended;
    }

    HurrayTensor* tensor_ = nullptr;
    bool& clean_;
};

Result<Tensor> make_tensor_with(HurrayTensorSourceFn make, void* context, bool& clean) {
    auto* owner = new TensorOwner(clean);
    const Ref<Storage> held = Ref<Storage>::adopt(owner);
    HurrayTensor* made = nullptr;
    HurrayStatus status = HURRAY_OK;
    if (!run_callback("source callback", [&] { status = make(context, &made); })) return callback_threw("source");
    // What a callback that failed leaves in the variable is not ours to end.
    if (status != HURRAY_OK) return callback_failed("source", status);
    if (made == nullptr) {
        return fail(Status::null_pointer, Error::no_offset, "source callback: it succeeded without a tensor");
    }
    if (origin_of(made) == Origin::invalid) return invalid_handle("source callback", "a live tensor");
    owner->own(made);
    const auto local = LocalTensor::of(made);
    if (!local) return std::unexpected(local.error());
    Tensor tensor = core_tensor(**local);
    // The handle keeps the memory of all of them, and what its context came with.
    for (Buffer& buffer : tensor.buffers) buffer.storage = held;
    return tensor;
}

}  // namespace

TensorSource tensor_source(HurrayTensorSourceFn make, void* context, bool& clean) {
    return [make, context, &clean] { return make_tensor_with(make, context, clean); };
}

}  // namespace hurray::abi
