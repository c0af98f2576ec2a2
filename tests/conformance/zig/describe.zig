//! A descriptor as the JSON object of the golden manifests, every field read through the binding.

const std = @import("std");
const hurray = @import("hurray");

const Stringify = std.json.Stringify;

/// What stands on the wire where there is none.
const no_buffer = std.math.maxInt(u32);
const no_layer = std.math.maxInt(u32);

pub fn write(json: *Stringify, descriptor: *const hurray.Descriptor, input_length: u64, diagnostics: *hurray.Diagnostics) !void {
    const info = try descriptor.info(diagnostics);
    try json.beginObject();
    try field(json, "version_major", info.version_major);
    try field(json, "version_minor", info.version_minor);
    try field(json, "descriptor_length", info.descriptor_length);
    try field(json, "trailing_bytes", input_length - info.descriptor_length);
    try field(json, "flags", info.flags);
    try field(json, "type", nameOf(info.element_type, "private"));
    try field(json, "type_tag", @intFromEnum(info.element_type));
    try field(json, "layout", nameOf(info.layout, "private_extension"));
    try field(json, "layout_tag", @intFromEnum(info.layout));
    try field(json, "rank", info.rank());
    try field(json, "shape", info.shape);
    try field(json, "byte_offset", info.byte_offset);
    try json.objectField("layout_fields");
    try writeLayout(json, try descriptor.layoutFields(diagnostics), info.rank());
    try json.objectField("buffers");
    try json.beginArray();
    for (0..info.buffer_count) |i| try writeBuffer(json, try descriptor.bufferEntry(@intCast(i), diagnostics));
    try json.endArray();
    try json.objectField("quantization");
    try writeQuantization(json, try descriptor.quantization(diagnostics), try descriptor.quantizationPayload(diagnostics));
    // The names of the fields are those of the manifests.
    try field(json, "shard", info.shard);
    try json.objectField("statistics");
    try writeStatistics(json, try descriptor.statistics(diagnostics));
    try json.objectField("extension_type");
    try writeExtension(json, try descriptor.extensionType(diagnostics));
    try json.objectField("composite_member");
    if (try descriptor.memberRole(diagnostics)) |role| {
        try json.write(.{ .member_role = @intFromEnum(role) });
    } else {
        try json.write(null);
    }
    try json.endObject();
}

fn field(json: *Stringify, name: []const u8, value: anytype) !void {
    try json.objectField(name);
    try json.write(value);
}

/// The name of a tag, and what the manifests call tags without one.
fn nameOf(tag: anytype, private: []const u8) []const u8 {
    const value = @intFromEnum(tag);
    return std.enums.tagName(@TypeOf(tag), tag) orelse if (value >= 0xF0 and value <= 0xFE) private else "unknown";
}

fn hexField(json: *Stringify, name: []const u8, bytes: []const u8) !void {
    try json.objectField(name);
    try json.print("\"{x}\"", .{bytes});
}

/// A floating-point field twice: as a number, where it is finite, and as its bits.
fn floatField(json: *Stringify, comptime name: []const u8, value: anytype) !void {
    const Bits = @Int(.unsigned, @bitSizeOf(@TypeOf(value)));
    try json.objectField(name);
    // With an exponent: a float stays one for readers that tell 1 from 1.0, and large ones stay short.
    if (std.math.isFinite(value)) try json.print("{e}", .{@as(f64, value)}) else try json.write(null);
    const bits: [@sizeOf(Bits)]u8 = @bitCast(std.mem.nativeToBig(Bits, @bitCast(value)));
    try hexField(json, name ++ "_bits", &bits);
}

fn writeBuffer(json: *Stringify, entry: hurray.BufferEntry) !void {
    try json.write(.{
        .byte_size = entry.byte_size,
        .alignment = entry.alignment,
        .device_tag = @intFromEnum(entry.device),
        .sync_mode = @intFromEnum(entry.sync_mode),
        .memory_class = @intFromEnum(entry.memory_class),
    });
}

fn writeLayout(json: *Stringify, fields: hurray.LayoutFields, rank: usize) !void {
    switch (fields) {
        .tiled => |tiles| return writeTiles(json, tiles.levels()),
        .none => {
            try json.beginObject();
            try json.endObject();
        },
        .strided => |strides| try json.write(.{ .strides = strides }),
        .morton => |bits| try json.write(.{ .morton_bits = bits }),
        .hilbert => |order| try json.write(.{ .hilbert_order = order, .hilbert_rank = rank }),
        // The names of their fields are those of the manifests.
        inline .coo, .csf => |named| try json.write(named),
        .csr, .csc => |nnz| try json.write(.{ .nnz = nnz }),
        .block_paged => |paged| try json.write(.{
            .page_size = paged.page_size,
            .num_pages = paged.num_pages,
            .paged_axis = paged.paged_axis,
            .num_seqs = paged.num_seqs,
            .kv_role = @intFromEnum(paged.kv_role),
            .layer_index = paged.layer_index orelse no_layer,
            .block_table_index_type = @intFromEnum(paged.index_type),
        }),
        .composite => |head| try json.write(.{
            .composition_rule = @intFromEnum(head.rule),
            .combine_op = @intFromEnum(head.combine_op),
            .member_count = head.member_count,
        }),
        .private => |private| {
            try json.beginObject();
            try field(json, "extension_layout_id", private.id);
            try field(json, "extension_data_length", private.data.len);
            try hexField(json, "extension_data_hex", private.data);
            try json.endObject();
        },
    }
}

/// Each level stands in the one around it; there are at most 8.
fn writeTiles(json: *Stringify, levels: []const hurray.TileLevel) !void {
    const level = levels[0];
    try json.beginObject();
    try field(json, "tile_shape", level.tile_shape);
    try field(json, "outer_layout", @intFromEnum(level.outer_layout));
    try field(json, "inner_layout", @intFromEnum(level.inner_layout));
    try field(json, "outer_strides", level.outer_strides orelse &.{});
    try field(json, "inner_strides", level.inner_strides orelse &.{});
    try json.objectField("inner_tiled");
    if (levels.len > 1) try writeTiles(json, levels[1..]) else try json.write(null);
    try json.endObject();
}

fn writeQuantization(json: *Stringify, section: ?hurray.Quantization, payload: []const u8) !void {
    const quantization = section orelse return json.write(null);
    try json.beginObject();
    try field(json, "quantization_length", payload.len);
    try hexField(json, "raw_hex", payload);
    try field(json, "scheme_version", quantization.version);
    switch (quantization.scheme) {
        .private => |private| try writeScheme(json, private.tag, private.flags),
        .per_tensor_affine => |tensor| {
            try writeScheme(json, .per_tensor_affine, 0);
            try floatField(json, "scale", tensor.scale);
            try field(json, "zero_point", tensor.zero_point);
        },
        .per_channel_affine => |channel| {
            try writeAffine(json, .per_channel_affine, channel.parameters);
            try field(json, "axis", channel.axis);
        },
        .per_block_affine => |block| {
            try writeAffine(json, .per_block_affine, block.parameters);
            try field(json, "axis", block.axis);
            try field(json, "block_size", block.block_size);
        },
        .nf4, .mxfp => |blocks, scheme| {
            try writeScheme(json, if (scheme == .nf4) .nf4 else .mxfp, 0);
            try field(json, "axis", blocks.axis);
            try field(json, "block_size", blocks.block_size);
            try field(json, "scale_buffer_index", blocks.scale_buffer);
        },
    }
    try json.endObject();
}

fn writeAffine(json: *Stringify, scheme: hurray.Scheme, parameters: hurray.Quantization.Parameters) !void {
    const symmetric = parameters.zero_point_buffer == null;
    try writeScheme(json, scheme, @intFromBool(symmetric));
    try field(json, "symmetric", symmetric);
    try field(json, "scale_buffer_index", parameters.scale_buffer);
    try field(json, "zero_point_buffer_index", parameters.zero_point_buffer orelse no_buffer);
    try field(json, "scale_type_tag", @intFromEnum(parameters.scale_type));
}

fn writeScheme(json: *Stringify, scheme: hurray.Scheme, flags: u16) !void {
    try field(json, "scheme_tag", @intFromEnum(scheme));
    try field(json, "scheme", nameOf(scheme, "private"));
    try field(json, "flags", flags);
}

fn writeStatistics(json: *Stringify, section: ?hurray.Statistics) !void {
    const statistics = section orelse return json.write(null);
    try json.beginObject();
    try field(json, "computed_mask", @as(u32, @bitCast(statistics.computed)));
    try field(json, "nnz", statistics.nnz);
    inline for (.{ "sparsity_ratio", "value_min", "value_max", "value_abs_max", "value_mean", "value_stddev" }) |name| {
        try floatField(json, name, @field(statistics, name));
    }
    try field(json, "nm_n", statistics.nm_n);
    try field(json, "nm_m", statistics.nm_m);
    try field(json, "has_nan", statistics.has_nan);
    try field(json, "has_inf", statistics.has_inf);
    try json.endObject();
}

fn writeExtension(json: *Stringify, section: ?hurray.ExtensionType) !void {
    const extension = section orelse return json.write(null);
    try json.beginObject();
    inline for (@typeInfo(hurray.ExtensionType).@"struct".fields) |member| {
        try field(json, member.name, @field(extension, member.name));
    }
    try field(json, "packing_factor", extension.packingFactor());
    try json.endObject();
}
