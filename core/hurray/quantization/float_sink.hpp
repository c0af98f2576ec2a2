// Where dequantized numbers go: one after the other into the memory of the result, as numbers of its type.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "core/hurray/quantization/kernels.hpp"
#include "core/hurray/values/convert.hpp"

namespace hurray::quantization_detail {

/// Takes pieces of at most `piece` numbers: the kernels write straight into the result where that can be, otherwise by
/// way of memory that stays in the nearest cache.
///
/// Refers to the result. Thread rule: one thread at a time.
class FloatSink {
  public:
    static constexpr std::size_t piece = 4096;

    /// @param format of float16, bfloat16, float32 or float64
    /// @param out all bytes of the result
    FloatSink(const Kernels& kernels, const NumberFormat& format, std::span<std::byte> out) noexcept
        : kernels_(kernels),
          format_(format),
          out_(out),
          is_float32_(format.tag == 0x03),
          aligned_(reinterpret_cast<std::uintptr_t>(out.data()) % alignof(float) == 0),
          streams_(is_float32_ && aligned_ && out.size() >= more_than_caches) {}
    FloatSink(const FloatSink&) = delete;
    FloatSink& operator=(const FloatSink&) = delete;

    /// Where the next numbers are to be written.
    [[nodiscard]] float* room() noexcept {
        return is_float32_ && aligned_ && !streams_ ? reinterpret_cast<float*>(out_.data()) + done_ : staged_.data();
    }
    /// Takes over what was written to room().
    /// @param count at most `piece`, and no more than there is room for in the result
    void take(std::size_t count) noexcept {
        if (streams_) {
            kernels_.stream(staged_.data(), reinterpret_cast<float*>(out_.data()) + done_, count);
        } else if (!is_float32_) {
            // Every float32 has a place in these types: nothing is refused.
            static_cast<void>(from_float32(format_, std::span(staged_).first(count), out_, done_));
        } else if (!aligned_ && count != 0) {
            std::memcpy(out_.data() + done_ * sizeof(float), staged_.data(), count * sizeof(float));
        }
        done_ += count;
    }

  private:
    // From here on the result does not stay in any cache, and writing past them saves reading its old contents.
    static constexpr std::size_t more_than_caches = std::size_t{32} << 20;

    const Kernels& kernels_;
    const NumberFormat& format_;
    std::span<std::byte> out_;
    std::uint64_t done_ = 0;
    bool is_float32_;
    bool aligned_;
    bool streams_;
    alignas(64) std::array<float, piece> staged_;
};

}  // namespace hurray::quantization_detail
