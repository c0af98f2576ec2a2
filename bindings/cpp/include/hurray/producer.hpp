// Producers: what makes tensors that are ready for work on a consumer's stream.
#ifndef HURRAY_PRODUCER_HPP_
#define HURRAY_PRODUCER_HPP_

#include <memory>
#include <utility>

#include "hurray/handoff.hpp"

namespace hurray {

/// Asks its consumer for a stream before it exports a tensor. Moves, never copies; its release runs exactly once.
class Producer {
  public:
    Producer() noexcept : raw_{} {}
    /// Takes over what another runtime made.
    explicit Producer(const HurrayProducer& raw) noexcept : raw_(raw) {}
    /// `make` takes the consumer's stream (a DeviceHandle; null: none) and returns a Result<ExportedTensor>: its buffers are
    /// ordered on that stream before it returns.
    template <typename Make>
    static Result<Producer> create(Make&& make) noexcept {
        auto call = detail::own<Result<ExportedTensor>(DeviceHandle)>(std::forward<Make>(make));
        if (!call) return detail::out_of_memory();
        auto raw = detail::sized<HurrayProducer>();
        raw.abi_version = HURRAY_C_ABI_VERSION;
        raw.context = call.release();
        raw.export_tensor = &Producer::export_tensor;
        raw.release = &Producer::drop;
        return Producer(raw);
    }
    Producer(Producer&& other) noexcept : raw_(other.release()) {}
    Producer& operator=(Producer&& other) noexcept {
        if (this != &other) {
            reset();
            raw_ = other.release();
        }
        return *this;
    }
    ~Producer() { reset(); }

    /// A tensor that is ready for work on the stream.
    Result<Tensor> request(DeviceHandle stream = {}) const noexcept { return hurray::request(raw_, stream); }
    explicit operator bool() const noexcept { return raw_.export_tensor != nullptr; }
    /// For calls of the C API; stays owned.
    const HurrayProducer& get() const noexcept { return raw_; }
    /// Gives the struct away, for another runtime: whoever has it ends it with hurray_producer_release.
    [[nodiscard]] HurrayProducer release() noexcept { return std::exchange(raw_, HurrayProducer{}); }
    /// Releases what the producer keeps.
    void reset() noexcept {
        if (raw_.export_tensor != nullptr) (void)detail::call(hurray_producer_release, &raw_);
        raw_ = HurrayProducer{};
    }

  private:
    using Call = detail::OwnedCall<Result<ExportedTensor>(DeviceHandle)>;

    static HurrayStatus export_tensor(void* context, void* stream, std::uint8_t device, HurrayBufferList** list,
                                      HurrayTensorContext** out_context, HurrayError* error) noexcept {
        HURRAY_HPP_TRY_ {
            auto pair = (*static_cast<Call*>(context))({stream, device});
            if (!pair) return tell(pair.error(), error);
            *list = pair->list.release();
            *out_context = pair->context.release();
            return HURRAY_OK;
        }
        HURRAY_HPP_CATCH_ALL_ {
            return tell(detail::threw(), error);
        }
    }
    static HurrayStatus tell(const Error& what, HurrayError* error) noexcept {
        if (error != nullptr) *error = what.raw();
        return what.code();
    }
    static void drop(void* context) noexcept { delete static_cast<Call*>(context); }

    HurrayProducer raw_;
};

}  // namespace hurray

#endif  // HURRAY_PRODUCER_HPP_
