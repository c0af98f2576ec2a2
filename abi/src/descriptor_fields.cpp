// Descriptors: the fields of layouts and sections. (format: layouts, quantization, sections)
#include "abi/src/api/annotations.hpp"
#include "abi/src/api/descriptor_fields.hpp"
#include "abi/src/api/handles.hpp"
#include "abi/src/internal/barrier.hpp"
#include "abi/src/internal/descriptor_fields.hpp"
#include "abi/src/internal/objects.hpp"

using namespace hurray;
using namespace hurray::abi;

/// Fills a struct with the fields of the descriptor's layout; one call reads them all. Fields that the layout does not have
/// are 0 or null, and of an unread descriptor (HURRAY_DESCRIPTOR_UNREAD) all but layout and rank.
/// @owner the pointers in the struct belong to `descriptor` and live as long as it does
/// @errors INVALID_ARGUMENT: struct_size is too small
/// @thread one thread at a time
/// @since 4
/// @spec format: layouts
HURRAY_API HurrayStatus hurray_descriptor_layout_fields(HG_IN const HurrayDescriptor* descriptor,
                                                        HG_OUT HurrayLayoutFields* out_fields,
                                                        HG_ERROR HurrayError* error) noexcept {
    if (out_fields != nullptr) clear_sized_struct(out_fields);
    HURRAY_REQUIRE_HANDLE(descriptor, error);
    HURRAY_REQUIRE(out_fields, error);
    return guarded(error, [&]() -> Result<void> {
        return fill_sized_struct(out_fields, layout_fields(descriptor->value), sizeof(HurrayLayoutFields), "out_fields");
    });
}

/// Fills a struct with one level of the tiled layout.
/// @param level 0 for the outermost, below HurrayLayoutFields.tile_level_count
/// @owner the pointers in the struct belong to `descriptor` and live as long as it does
/// @errors INDEX_OUT_OF_BOUNDS: there is no such level, or the layout is not tiled; INVALID_ARGUMENT: struct_size is too small
/// @thread one thread at a time
/// @since 4
/// @spec format: tiled
HURRAY_API HurrayStatus hurray_descriptor_tile_level(HG_IN const HurrayDescriptor* descriptor, uint32_t level,
                                                     HG_OUT HurrayTileLevel* out_level, HG_ERROR HurrayError* error) noexcept {
    if (out_level != nullptr) clear_sized_struct(out_level);
    HURRAY_REQUIRE_HANDLE(descriptor, error);
    HURRAY_REQUIRE(out_level, error);
    return guarded(error, [&]() -> Result<void> {
        auto fields = tile_level(descriptor->value, level);
        if (!fields) return std::unexpected(fields.error());
        return fill_sized_struct(out_level, *fields, sizeof(HurrayTileLevel), "out_level");
    });
}

/// Fills a struct with the quantization section. That there is none is no error: `present` is 0 then.
/// @owner the pointers in the struct belong to `descriptor` and live as long as it does
/// @errors INVALID_ARGUMENT: struct_size is too small
/// @thread one thread at a time
/// @since 4
/// @spec format: quantization
HURRAY_API HurrayStatus hurray_descriptor_quantization(HG_IN const HurrayDescriptor* descriptor,
                                                       HG_OUT HurrayQuantization* out_quantization,
                                                       HG_ERROR HurrayError* error) noexcept {
    if (out_quantization != nullptr) clear_sized_struct(out_quantization);
    HURRAY_REQUIRE_HANDLE(descriptor, error);
    HURRAY_REQUIRE(out_quantization, error);
    return guarded(error, [&]() -> Result<void> {
        return fill_sized_struct(out_quantization, quantization(descriptor->value), sizeof(HurrayQuantization),
                                 "out_quantization");
    });
}

/// Fills a struct with the statistics section. That there is none is no error: `present` is 0 then.
/// @errors INVALID_ARGUMENT: struct_size is too small
/// @thread one thread at a time
/// @since 4
/// @spec format: statistics
HURRAY_API HurrayStatus hurray_descriptor_statistics(HG_IN const HurrayDescriptor* descriptor,
                                                     HG_OUT HurrayStatistics* out_statistics,
                                                     HG_ERROR HurrayError* error) noexcept {
    if (out_statistics != nullptr) clear_sized_struct(out_statistics);
    HURRAY_REQUIRE_HANDLE(descriptor, error);
    HURRAY_REQUIRE(out_statistics, error);
    return guarded(error, [&]() -> Result<void> {
        return fill_sized_struct(out_statistics, statistics(descriptor->value), sizeof(HurrayStatistics), "out_statistics");
    });
}

/// Fills a struct with the extension type section, which describes a private element type. That there is none is no error:
/// `present` is 0 then.
/// @errors INVALID_ARGUMENT: struct_size is too small
/// @thread one thread at a time
/// @since 4
/// @spec format: extension type
HURRAY_API HurrayStatus hurray_descriptor_extension_type(HG_IN const HurrayDescriptor* descriptor,
                                                         HG_OUT HurrayExtensionType* out_type,
                                                         HG_ERROR HurrayError* error) noexcept {
    if (out_type != nullptr) clear_sized_struct(out_type);
    HURRAY_REQUIRE_HANDLE(descriptor, error);
    HURRAY_REQUIRE(out_type, error);
    return guarded(error, [&]() -> Result<void> {
        return fill_sized_struct(out_type, extension_type(descriptor->value), sizeof(HurrayExtensionType), "out_type");
    });
}

/// Fills a struct with the composite member section. That there is none is no error: `present` is 0 then.
/// @errors INVALID_ARGUMENT: struct_size is too small
/// @thread one thread at a time
/// @since 4
/// @spec format: composite member
HURRAY_API HurrayStatus hurray_descriptor_composite_member(HG_IN const HurrayDescriptor* descriptor,
                                                           HG_OUT HurrayCompositeMember* out_member,
                                                           HG_ERROR HurrayError* error) noexcept {
    if (out_member != nullptr) clear_sized_struct(out_member);
    HURRAY_REQUIRE_HANDLE(descriptor, error);
    HURRAY_REQUIRE(out_member, error);
    return guarded(error, [&]() -> Result<void> {
        return fill_sized_struct(out_member, composite_member(descriptor->value), sizeof(HurrayCompositeMember), "out_member");
    });
}

/// Sets the fields of the builder's layout. Other fields of the struct are not looked at, which is why those of another
/// descriptor can be passed on; layouts without fields have nothing to set. The levels of tiles are added one by one, see
/// hurray_descriptor_builder_add_tile_level.
/// @param fields arrays are copied
/// @errors INVALID_ARGUMENT: `layout` is not the builder's, or a value that the field has no room for; NULL_POINTER: an array
///     of the layout; LIMIT_EXCEEDED: more than 16 MiB of private data. All else is checked by hurray_descriptor_builder_build
/// @thread one thread at a time
/// @since 4
/// @spec format: layouts
HURRAY_API HurrayStatus hurray_descriptor_builder_set_layout_fields(HG_INOUT HurrayDescriptorBuilder* builder,
                                                                    HG_IN const HurrayLayoutFields* fields,
                                                                    HG_ERROR HurrayError* error) noexcept {
    HURRAY_REQUIRE_HANDLE(builder, error);
    HURRAY_REQUIRE(fields, error);
    return guarded(error, [&]() -> Result<void> { return set_layout_fields(*builder, fields); });
}

/// Adds a level to the tiles of the tiled layout, the outermost first.
/// @param level arrays are copied
/// @errors INVALID_ARGUMENT: rank is above HURRAY_MAX_RANK; INVALID_LAYOUT: there are HURRAY_MAX_TILE_LEVELS already;
///     NULL_POINTER: an array that must be there. All else is checked by hurray_descriptor_builder_build
/// @thread one thread at a time
/// @since 4
/// @spec format: tiled
HURRAY_API HurrayStatus hurray_descriptor_builder_add_tile_level(HG_INOUT HurrayDescriptorBuilder* builder,
                                                                 HG_IN const HurrayTileLevel* level,
                                                                 HG_ERROR HurrayError* error) noexcept {
    HURRAY_REQUIRE_HANDLE(builder, error);
    HURRAY_REQUIRE(level, error);
    return guarded(error, [&]() -> Result<void> { return add_tile_level(*builder, level); });
}

/// Says how the elements are quantized. The buffers with scales and zero points are added as others are.
/// @param quantization `present` must be 1; fields that the scheme does not have are not looked at; private data is copied
/// @errors INVALID_ARGUMENT: `present` is not 1; NULL_POINTER; LIMIT_EXCEEDED: more than 16 MiB of padding and private data.
///     All else is checked by hurray_descriptor_builder_build
/// @thread one thread at a time
/// @since 4
/// @spec format: quantization
HURRAY_API HurrayStatus hurray_descriptor_builder_set_quantization(HG_INOUT HurrayDescriptorBuilder* builder,
                                                                   HG_IN const HurrayQuantization* quantization,
                                                                   HG_ERROR HurrayError* error) noexcept {
    HURRAY_REQUIRE_HANDLE(builder, error);
    HURRAY_REQUIRE(quantization, error);
    return guarded(error, [&]() -> Result<void> { return set_quantization(*builder, quantization); });
}

/// Sets the statistics of the elements.
/// @param statistics `present` must be 1
/// @errors INVALID_ARGUMENT: `present` is not 1, or another such field is neither 0 nor 1. All else is checked by
///     hurray_descriptor_builder_build
/// @thread one thread at a time
/// @since 4
/// @spec format: statistics
HURRAY_API HurrayStatus hurray_descriptor_builder_set_statistics(HG_INOUT HurrayDescriptorBuilder* builder,
                                                                 HG_IN const HurrayStatistics* statistics,
                                                                 HG_ERROR HurrayError* error) noexcept {
    HURRAY_REQUIRE_HANDLE(builder, error);
    HURRAY_REQUIRE(statistics, error);
    return guarded(error, [&]() -> Result<void> { return set_statistics(*builder, statistics); });
}

/// Describes the private element type.
/// @param type `present` must be 1
/// @errors INVALID_ARGUMENT: `present` is not 1, or another such field is neither 0 nor 1. All else is checked by
///     hurray_descriptor_builder_build
/// @thread one thread at a time
/// @since 4
/// @spec format: extension type
HURRAY_API HurrayStatus hurray_descriptor_builder_set_extension_type(HG_INOUT HurrayDescriptorBuilder* builder,
                                                                     HG_IN const HurrayExtensionType* type,
                                                                     HG_ERROR HurrayError* error) noexcept {
    HURRAY_REQUIRE_HANDLE(builder, error);
    HURRAY_REQUIRE(type, error);
    return guarded(error, [&]() -> Result<void> { return set_extension_type(*builder, type); });
}

/// Makes the tensor a member of an overlay.
/// @param member `present` must be 1
/// @errors INVALID_ARGUMENT: `present` is not 1. All else is checked by hurray_descriptor_builder_build
/// @thread one thread at a time
/// @since 4
/// @spec format: composite member
HURRAY_API HurrayStatus hurray_descriptor_builder_set_composite_member(HG_INOUT HurrayDescriptorBuilder* builder,
                                                                       HG_IN const HurrayCompositeMember* member,
                                                                       HG_ERROR HurrayError* error) noexcept {
    HURRAY_REQUIRE_HANDLE(builder, error);
    HURRAY_REQUIRE(member, error);
    return guarded(error, [&]() -> Result<void> { return set_composite_member(*builder, member); });
}

/// Allows private layouts, quantization schemes, devices and memory classes in what is built, as HURRAY_DECODE_PRIVATE_TAGS
/// does for a reader. For devices and memory classes: before hurray_descriptor_builder_add_buffer.
/// @thread one thread at a time
/// @since 4
HURRAY_API HurrayStatus hurray_descriptor_builder_allow_private_tags(HG_INOUT HurrayDescriptorBuilder* builder,
                                                                     HG_ERROR HurrayError* error) noexcept {
    HURRAY_REQUIRE_HANDLE(builder, error);
    builder->private_tags = PrivateTags::allow;
    return succeed(error);
}
