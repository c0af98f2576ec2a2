#include "descriptor_fields.hpp"

namespace driver {

DescriptorFields fields_of(const HurrayDescriptor* descriptor) {
    DescriptorFields fields{.info = sized<HurrayDescriptorInfo>(),
                            .layout = sized<HurrayLayoutFields>(),
                            .levels = {},
                            .buffers = {},
                            .quantization = sized<HurrayQuantization>(),
                            .statistics = sized<HurrayStatistics>(),
                            .extension_type = sized<HurrayExtensionType>(),
                            .member = sized<HurrayCompositeMember>()};
    call("info", hurray_descriptor_info, descriptor, &fields.info);
    call("layout fields", hurray_descriptor_layout_fields, descriptor, &fields.layout);
    for (std::uint32_t i = 0; i < fields.layout.tile_level_count; ++i) {
        fields.levels.push_back(sized<HurrayTileLevel>());
        call("tile level", hurray_descriptor_tile_level, descriptor, i, &fields.levels.back());
    }
    fields.buffers.resize(fields.info.buffer_count);
    for (std::uint32_t i = 0; i < fields.info.buffer_count; ++i) {
        call("buffer", hurray_descriptor_buffer, descriptor, i, &fields.buffers[i]);
    }
    call("quantization", hurray_descriptor_quantization, descriptor, &fields.quantization);
    call("statistics", hurray_descriptor_statistics, descriptor, &fields.statistics);
    call("extension type", hurray_descriptor_extension_type, descriptor, &fields.extension_type);
    call("composite member", hurray_descriptor_composite_member, descriptor, &fields.member);
    return fields;
}

HurrayStatus build(const DescriptorFields& fields, bool private_tags, Descriptor& out, HurrayError& error) {
    const HurrayDescriptorInfo& info = fields.info;
    const auto builder = make<Builder>("builder", hurray_descriptor_builder_new, info.element_type, info.layout, info.shape,
                                       info.rank);
    if (private_tags) call("private tags", hurray_descriptor_builder_allow_private_tags, builder.get());
    call("byte_offset", hurray_descriptor_builder_set_byte_offset, builder.get(), info.byte_offset);
    HurrayLayoutFields layout = fields.layout;
    layout.tile_level_count = layout.hilbert_rank = 0;
    call("layout fields", hurray_descriptor_builder_set_layout_fields, builder.get(), &layout);
    for (const HurrayTileLevel& level : fields.levels) {
        call("tile level", hurray_descriptor_builder_add_tile_level, builder.get(), &level);
    }
    for (const auto& buffer : fields.buffers) call("buffer", hurray_descriptor_builder_add_buffer, builder.get(), &buffer);
    if (info.parent_shape != nullptr) {
        call("shard", hurray_descriptor_builder_set_shard, builder.get(), info.parent_shape, info.shard_offset, info.rank);
    }
    if (fields.quantization.present != 0) {
        HurrayQuantization quantization = fields.quantization;
        quantization.payload = nullptr;
        quantization.payload_length = 0;
        call("quantization", hurray_descriptor_builder_set_quantization, builder.get(), &quantization);
    }
    if (fields.statistics.present != 0) {
        call("statistics", hurray_descriptor_builder_set_statistics, builder.get(), &fields.statistics);
    }
    if (fields.extension_type.present != 0) {
        call("extension type", hurray_descriptor_builder_set_extension_type, builder.get(), &fields.extension_type);
    }
    if (fields.member.present != 0) {
        call("composite member", hurray_descriptor_builder_set_composite_member, builder.get(), &fields.member);
    }
    HurrayDescriptor* built = nullptr;
    const HurrayStatus status = hurray_descriptor_builder_build(builder.get(), &built, &error);
    out.reset(built);
    return status;
}

}  // namespace driver
