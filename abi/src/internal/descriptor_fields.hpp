// Between the core's fields of layouts and sections and the structs that callers see.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "abi/src/api/descriptor_fields.hpp"
#include "abi/src/internal/objects.hpp"
#include "core/hurray/descriptor/codec.hpp"
#include "core/hurray/descriptor/descriptor.hpp"
#include "core/hurray/layout/tiled.hpp"

namespace hurray::abi {

/// The options of the core; null means a strict reader.
Result<DecodeOptions> decode_options(const HurrayDecodeOptions* options);

// Pointers in the structs lie in the descriptor. struct_size is not set.
HurrayLayoutFields layout_fields(const Descriptor& descriptor) noexcept;
Result<HurrayTileLevel> tile_level(const Descriptor& descriptor, std::uint32_t level) noexcept;
HurrayQuantization quantization(const Descriptor& descriptor) noexcept;
HurrayStatistics statistics(const Descriptor& descriptor) noexcept;
HurrayExtensionType extension_type(const Descriptor& descriptor) noexcept;
HurrayCompositeMember composite_member(const Descriptor& descriptor) noexcept;

/// Gives strides to a builder, which keeps them.
void set_strides(HurrayDescriptorBuilder& builder, std::span<const std::int64_t> strides);
/// The levels of tiles that a builder has; they lie in it.
std::vector<TiledLevel> levels_of(const HurrayDescriptorBuilder& builder);

// Each reads the caller's struct, whose struct_size may be anything, and leaves the builder as it was on failure.
Result<void> set_layout_fields(HurrayDescriptorBuilder& builder, const HurrayLayoutFields* fields);
Result<void> add_tile_level(HurrayDescriptorBuilder& builder, const HurrayTileLevel* level);
Result<void> set_quantization(HurrayDescriptorBuilder& builder, const HurrayQuantization* quantization);
Result<void> set_statistics(HurrayDescriptorBuilder& builder, const HurrayStatistics* statistics);
Result<void> set_extension_type(HurrayDescriptorBuilder& builder, const HurrayExtensionType* type);
Result<void> set_composite_member(HurrayDescriptorBuilder& builder, const HurrayCompositeMember* member);

/// The core's form of statistics, and of the caller's.
HurrayStatistics statistics_of(const StatisticsFields& fields) noexcept;

}  // namespace hurray::abi
