// The fields of a quantization section, whatever the scheme. (format: quantization)
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace hurray {

class Descriptor;

/// The schemes that the format defines.
namespace scheme_tag {
inline constexpr std::uint8_t per_tensor_affine = 0x01;
inline constexpr std::uint8_t per_channel_affine = 0x02;
inline constexpr std::uint8_t per_block_affine = 0x03;
inline constexpr std::uint8_t nf4 = 0x04;
inline constexpr std::uint8_t mxfp = 0x05;
/// The first and the last of the private tags.
inline constexpr std::uint8_t private_first = 0xF0;
inline constexpr std::uint8_t private_last = 0xFE;
}  // namespace scheme_tag

/// Private schemes are agreed upon outside the format.
constexpr bool is_private_scheme(std::uint8_t tag) noexcept {
    return tag >= scheme_tag::private_first && tag <= scheme_tag::private_last;
}

/// The index that stands for no buffer.
inline constexpr std::uint32_t no_buffer = 0xFFFFFFFF;

/// How the elements of a tensor are quantized. Fields that the scheme does not have keep the values given here.
struct QuantizationFields {
    /// flags: all zero points are 0, and there is no array of them.
    static constexpr std::uint16_t symmetric_flag = 1;

    std::uint8_t scheme = 0;
    std::uint8_t version = 1;
    std::uint16_t flags = 0;
    /// Type tag of the elements of the array of scales.
    std::uint8_t scale_type = 0x03;
    /// The one scale and zero point of the per-tensor scheme.
    float scale = 0;
    std::int32_t zero_point = 0;
    /// The dimension along which channels or blocks follow each other.
    std::uint32_t axis = 0;
    /// Elements of a block along the axis.
    std::uint32_t block_size = 0;
    /// Entries of the buffer table. When both are the same the scales come first in it.
    std::uint32_t scale_buffer = no_buffer;
    std::uint32_t zero_point_buffer = no_buffer;
    /// Zero bytes that the writer put behind the fields.
    std::uint32_t padding = 0;
    /// What follows the first 4 bytes of a private scheme. Belongs to the descriptor that it was read from.
    std::span<const std::byte> private_data = {};

    [[nodiscard]] bool symmetric() const noexcept { return (flags & symmetric_flag) != 0; }
};

/// The quantization section of a decoded descriptor; nothing when it has none. private_data lies in the descriptor.
///
/// Thread rule: any thread.
std::optional<QuantizationFields> quantization_fields(const Descriptor& descriptor) noexcept;

}  // namespace hurray
