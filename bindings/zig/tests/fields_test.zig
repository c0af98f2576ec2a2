//! Every layout and section: built, read, refused, and on its way as a tensor.

const std = @import("std");
const hurray = @import("hurray");
const support = @import("support.zig");

const gpa = support.gpa;
const expect = std.testing.expect;
const expectEqual = std.testing.expectEqual;
const expectEqualDeep = std.testing.expectEqualDeep;
const expectEqualSlices = std.testing.expectEqualSlices;

/// A descriptor, but for its sections.
const Spec = struct {
    fields: hurray.LayoutFields = .none,
    layout: hurray.Layout = .row_major,
    element_type: hurray.ElementType = .float32,
    shape: []const u64,
    sizes: []const u64,
    byte_offset: u64 = 0,

    fn builder(self: Spec, diagnostics: ?*hurray.Diagnostics) !hurray.DescriptorBuilder {
        var made = try hurray.DescriptorBuilder.init(self.element_type, self.layout, self.shape, diagnostics);
        errdefer made.deinit();
        try made.setByteOffset(self.byte_offset, diagnostics);
        for (self.sizes) |size| try made.addBuffer(.{ .byte_size = size }, diagnostics);
        return made;
    }

    fn build(self: Spec, diagnostics: ?*hurray.Diagnostics) hurray.Error!hurray.Descriptor {
        var made = try self.builder(diagnostics);
        defer made.deinit();
        try made.setLayoutFields(self.fields, diagnostics);
        return made.build(diagnostics);
    }
};

const matrix: Spec = .{ .shape = &.{ 4, 4 }, .sizes = &.{64} };

fn tiles(levels: []const hurray.TileLevel) hurray.LayoutFields {
    return .{ .tiled = hurray.Tiles.of(levels, null) catch unreachable };
}

const tiles_in_tiles: []const hurray.TileLevel = &.{
    .{ .tile_shape = &.{ 4, 4 }, .outer_layout = .col_major, .inner_layout = .tiled },
    .{
        .tile_shape = &.{ 2, 2 },
        .outer_layout = .strided,
        .inner_layout = .strided,
        .outer_strides = &.{ 2, 1 },
        .inner_strides = &.{ 1, 2 },
    },
};

/// Tensors of the layouts that have fields; the strided one comes first.
fn laidOut() [12]Spec {
    return .{
        .{ .layout = .strided, .fields = .{ .strided = &.{ -4, 0 } }, .shape = &.{ 2, 3 }, .sizes = &.{20}, .byte_offset = 16 },
        .{ .layout = .tiled, .fields = tiles(&.{.{ .tile_shape = &.{ 2, 2 } }}), .shape = &.{ 4, 4 }, .sizes = &.{64} },
        .{ .layout = .tiled, .fields = tiles(tiles_in_tiles), .shape = &.{ 8, 4 }, .sizes = &.{128} },
        .{ .layout = .morton, .fields = .{ .morton = &.{ 2, 2 } }, .shape = &.{ 4, 3 }, .sizes = &.{64} },
        .{ .layout = .hilbert, .fields = .{ .hilbert = 2 }, .shape = &.{ 4, 4 }, .sizes = &.{64} },
        .{ .layout = .coo, .fields = .{ .coo = .{ .nnz = 3, .is_sorted = false } }, .shape = &.{ 4, 5 }, .sizes = &.{ 12, 48 } },
        .{ .layout = .coo, .fields = .{ .coo = .{ .nnz = 3, .is_sorted = true } }, .shape = &.{ 4, 5 }, .sizes = &.{ 12, 48 } },
        .{ .layout = .csr, .fields = .{ .csr = 3 }, .shape = &.{ 4, 5 }, .sizes = &.{ 12, 24, 40 } },
        .{ .layout = .csc, .fields = .{ .csc = 3 }, .shape = &.{ 4, 5 }, .sizes = &.{ 12, 24, 48 } },
        .{
            .layout = .csf,
            .fields = .{ .csf = .{ .nnz = 1, .mode_order = &.{ 2, 0, 1 } } },
            .shape = &.{ 2, 3, 4 },
            .sizes = &.{ 4, 16, 8, 16, 8, 16, 8 },
        },
        .{
            .layout = .block_paged,
            .fields = .{ .block_paged = .{
                .page_size = 2,
                .num_pages = 3,
                .num_seqs = 1,
                .kv_role = .value,
                .layer_index = 7,
                .index_type = .uint64,
            } },
            .shape = &.{ 5, 2, 4 },
            .sizes = &.{ 192, 24, 16 },
        },
        .{
            .layout = .composite,
            .fields = .{ .composite = .{ .rule = .overlay, .combine_op = .add, .member_count = 2 } },
            .shape = &.{ 4, 4 },
            .sizes = &.{},
        },
    };
}

fn expectFields(expected: hurray.LayoutFields, got: hurray.LayoutFields) !void {
    switch (expected) {
        // What lies behind the last level has no meaning.
        .tiled => |levels| try expectEqualDeep(levels.levels(), got.tiled.levels()),
        else => try expectEqualDeep(expected, got),
    }
}

/// What another reader gets of a descriptor.
fn travel(descriptor: *const hurray.Descriptor, options: hurray.DecodeOptions) !hurray.Descriptor {
    const bytes = try descriptor.encodeAlloc(gpa, null);
    defer gpa.free(bytes);
    return .decodeOptions(bytes, options, null);
}

test "fields of every layout are built and read" {
    const baseline = try support.Baseline.begin();
    for (laidOut()) |spec| {
        var built = try spec.build(null);
        defer built.deinit();
        var decoded = try travel(&built, .{});
        defer decoded.deinit();
        for ([_]*const hurray.Descriptor{ &built, &decoded }) |descriptor| {
            try expectFields(spec.fields, try descriptor.layoutFields(null));
            const info = try descriptor.info(null);
            try expectEqual(spec.layout, info.layout);
            try expectEqual(spec.byte_offset, info.byte_offset);
            try expectEqual(spec.sizes.len, info.buffer_count);
            try expect(!info.is_opaque and !info.is_unread and info.trailing.len == 0);
        }
    }
    try baseline.expectSame();
}

test "a block-paged tensor may belong to no layer" {
    var spec = laidOut()[10];
    spec.fields.block_paged.layer_index = null;
    var built = try spec.build(null);
    defer built.deinit();
    try expectEqual(null, (try built.layoutFields(null)).block_paged.layer_index);
}

test "row-major and column-major have no fields" {
    for ([_]hurray.Layout{ .row_major, .col_major }) |layout| {
        var spec = matrix;
        spec.layout = layout;
        var built = try spec.build(null);
        defer built.deinit();
        try expectEqual(hurray.LayoutFields.none, try built.layoutFields(null));
    }
}

test "wrong fields are refused where they are" {
    const baseline = try support.Baseline.begin();
    const cases = [_]struct { hurray.Layout, hurray.LayoutFields, []const u64, []const u64 }{
        .{ .hilbert, .{ .hilbert = 3 }, &.{ 4, 4 }, &.{64} },
        .{ .morton, .{ .morton = &.{ 2, 1 } }, &.{ 4, 4 }, &.{64} },
        .{ .morton, .{ .morton = &.{2} }, &.{ 4, 4 }, &.{64} },
        .{ .strided, .{ .strided = &.{1} }, &.{ 4, 4 }, &.{64} },
        .{ .tiled, tiles(&.{}), &.{ 4, 4 }, &.{64} },
        .{ .tiled, tiles(&.{.{ .tile_shape = &.{ 0, 2 } }}), &.{ 4, 4 }, &.{64} },
        .{ .tiled, tiles(&.{.{ .tile_shape = &.{ 2, 2, 2 } }}), &.{ 4, 4 }, &.{64} },
        .{ .coo, .{ .coo = .{ .nnz = std.math.maxInt(u64), .is_sorted = true } }, &.{ 4, 5 }, &.{ 12, 48 } },
        .{ .csr, .{ .csr = 3 }, &.{ 4, 5, 6 }, &.{ 12, 24, 40 } },
        .{ .csf, .{ .csf = .{ .nnz = 1, .mode_order = &.{ 0, 1, 1 } } }, &.{ 2, 3, 4 }, &.{ 4, 16, 8, 16, 8, 16, 8 } },
        .{ .block_paged, .{ .block_paged = .{ .page_size = 0, .num_pages = 3, .num_seqs = 1 } }, &.{ 5, 2, 4 }, &.{ 192, 24, 16 } },
    };
    for (cases) |case| {
        const spec: Spec = .{ .layout = case[0], .fields = case[1], .shape = case[2], .sizes = case[3] };
        var diagnostics: hurray.Diagnostics = .{};
        errdefer std.debug.print("{any}: {f}\n", .{ case, &diagnostics });
        try support.expectFailure(error.HurrayInvalidLayout, .invalid_layout, "", spec.build(&diagnostics), &diagnostics);
        try expect(diagnostics.offset() != null);
    }
    var diagnostics: hurray.Diagnostics = .{};
    const head: Spec = .{
        .layout = .composite,
        .fields = .{ .composite = .{ .rule = @enumFromInt(99), .member_count = 1 } },
        .shape = &.{ 4, 4 },
        .sizes = &.{},
    };
    try support.expectFailure(error.HurrayInvalidComposite, .invalid_composite, "", head.build(&diagnostics), &diagnostics);
    try baseline.expectSame();
}

test "fields of another layout, and tiles that cannot be, are refused before they are built" {
    var diagnostics: hurray.Diagnostics = .{};
    const csr = laidOut()[7];
    var builder = try csr.builder(null);
    defer builder.deinit();
    for ([_]hurray.LayoutFields{ .{ .csc = 3 }, .{ .private = .{ .id = 1, .data = "" } }, .none, tiles(tiles_in_tiles) }) |fields| {
        try support.expectFailure(error.HurrayInvalidArgument, .invalid_argument, "layout fields", builder.setLayoutFields(fields, &diagnostics), &diagnostics);
    }
    try builder.setLayoutFields(csr.fields, null);
    var built = try builder.build(null);
    built.deinit();

    const nine: [9]hurray.TileLevel = @splat(.{ .tile_shape = &.{ 1, 1 }, .inner_layout = .tiled });
    try support.expectFailure(error.HurrayInvalidLayout, .invalid_layout, "8", hurray.Tiles.of(&nine, &diagnostics), &diagnostics);
    try expectEqual(8, (try hurray.Tiles.of(nine[0..8], null)).levels().len);
    var spec = matrix;
    spec.layout = .tiled;
    spec.fields = tiles(&.{.{ .tile_shape = &.{ 2, 2 }, .outer_layout = .strided, .outer_strides = &.{1} }});
    try support.expectFailure(error.HurrayInvalidArgument, .invalid_argument, "2 strides", spec.build(&diagnostics), &diagnostics);
}

test "a private layout needs agreement" {
    const baseline = try support.Baseline.begin();
    const spec: Spec = .{
        .layout = @enumFromInt(0xF3),
        .fields = .{ .private = .{ .id = (1 << 63) + 1, .data = "any bytes\x00" } },
        .element_type = .int8,
        .shape = &.{5},
        .sizes = &.{5},
    };
    var diagnostics: hurray.Diagnostics = .{};
    try support.expectFailure(error.HurrayInvalidLayout, .invalid_layout, "", spec.build(&diagnostics), &diagnostics);
    {
        var builder = try spec.builder(null);
        defer builder.deinit();
        try builder.allowPrivateTags(null);
        try builder.setLayoutFields(spec.fields, null);
        var built = try builder.build(null);
        defer built.deinit();
        try std.testing.expectError(error.HurrayInvalidLayout, travel(&built, .{}));
        var read = try travel(&built, .{ .private_tags = true });
        defer read.deinit();
        try expectFields(spec.fields, try read.layoutFields(null));
        // A reader that may keep it, but was not told what it is.
        var kept = try travel(&built, .{ .permissive = true });
        defer kept.deinit();
        const info = try kept.info(null);
        try expect(info.is_opaque and !info.is_unread);
        try expectFields(spec.fields, try kept.layoutFields(null));
    }
    try baseline.expectSame();
}

const QuantizedSpec = struct { section: hurray.Quantization, spec: Spec };

/// Tensors of each scheme.
const quantized = [_]QuantizedSpec{
    .{
        .section = .{ .scheme = .{ .per_tensor_affine = .{ .scale = 0.25, .zero_point = -3 } } },
        .spec = .{ .element_type = .int8, .shape = &.{ 4, 8 }, .sizes = &.{32} },
    },
    .{
        .section = .{ .scheme = .{ .per_channel_affine = .{ .axis = 1, .parameters = .{ .scale_buffer = 1, .zero_point_buffer = 2 } } } },
        .spec = .{ .element_type = .int8, .shape = &.{ 4, 8 }, .sizes = &.{ 32, 32, 32 } },
    },
    .{
        .section = .{ .scheme = .{ .per_channel_affine = .{ .axis = 0, .parameters = .{ .scale_buffer = 1, .zero_point_buffer = 1 } } } },
        .spec = .{ .element_type = .int8, .shape = &.{ 4, 8 }, .sizes = &.{ 32, 32 } },
    },
    .{
        .section = .{ .scheme = .{ .per_block_affine = .{
            .axis = 1,
            .block_size = 4,
            .parameters = .{ .scale_buffer = 1, .scale_type = .float16 },
        } } },
        .spec = .{ .element_type = .uint4, .shape = &.{ 4, 8 }, .sizes = &.{ 16, 16 } },
    },
    .{
        .section = .{ .scheme = .{ .nf4 = .{ .axis = 1, .block_size = 8, .scale_buffer = 1 } } },
        .spec = .{ .element_type = .uint4, .shape = &.{ 4, 8 }, .sizes = &.{ 16, 16 } },
    },
    .{
        .section = .{ .scheme = .{ .mxfp = .{ .axis = 1, .block_size = 16, .scale_buffer = 1 } } },
        .spec = .{ .element_type = .float8_e4m3, .shape = &.{ 4, 16 }, .sizes = &.{ 64, 4 } },
    },
};

fn buildQuantized(case: QuantizedSpec, private_tags: bool, diagnostics: ?*hurray.Diagnostics) hurray.Error!hurray.Descriptor {
    var builder = try case.spec.builder(diagnostics);
    defer builder.deinit();
    if (private_tags) try builder.allowPrivateTags(diagnostics);
    try builder.setQuantization(case.section, diagnostics);
    return builder.build(diagnostics);
}

test "every scheme is built and read" {
    const baseline = try support.Baseline.begin();
    for (quantized) |case| {
        var built = try buildQuantized(case, false, null);
        defer built.deinit();
        var decoded = try travel(&built, .{});
        defer decoded.deinit();
        try expectEqualDeep(case.section, (try decoded.quantization(null)).?);
        try expectEqual(1, (try decoded.info(null)).flags);
        const bytes = try decoded.encodeAlloc(gpa, null);
        defer gpa.free(bytes);
        const payload = try decoded.quantizationPayload(null);
        try expect(payload.len >= 16 and std.mem.indexOf(u8, bytes, payload) != null);
    }
    try baseline.expectSame();
}

test "a wrong scheme is refused where it is" {
    const baseline = try support.Baseline.begin();
    const cases = [_]QuantizedSpec{
        .{ .section = .{ .scheme = .{ .per_tensor_affine = .{ .scale = 0 } } }, .spec = quantized[0].spec },
        .{ .section = .{ .scheme = .{ .per_tensor_affine = .{ .scale = std.math.nan(f32) } } }, .spec = quantized[0].spec },
        .{ .section = .{ .scheme = .{ .per_tensor_affine = .{ .scale = 1, .zero_point = 128 } } }, .spec = quantized[0].spec },
        .{ .section = .{ .scheme = .{ .nf4 = .{ .axis = 2, .block_size = 8, .scale_buffer = 1 } } }, .spec = quantized[4].spec },
        .{ .section = .{ .scheme = .{ .nf4 = .{ .axis = 1, .block_size = 8, .scale_buffer = 2 } } }, .spec = quantized[4].spec },
        .{ .section = .{ .scheme = .{ .private = .{ .tag = @enumFromInt(0xF1) } } }, .spec = quantized[0].spec },
    };
    for (cases) |case| {
        var diagnostics: hurray.Diagnostics = .{};
        try support.expectFailure(error.HurrayInvalidQuantization, .invalid_quantization, "", buildQuantized(case, false, &diagnostics), &diagnostics);
        try expect(diagnostics.offset() != null);
    }
    try baseline.expectSame();
}

test "a private scheme needs agreement" {
    const case: QuantizedSpec = .{
        .section = .{ .scheme = .{ .private = .{ .tag = @enumFromInt(0xF1), .flags = 5, .data = "data" } } },
        .spec = .{ .element_type = .int8, .shape = &.{4}, .sizes = &.{4} },
    };
    var built = try buildQuantized(case, true, null);
    defer built.deinit();
    try std.testing.expectError(error.HurrayInvalidQuantization, travel(&built, .{}));
    var read = try travel(&built, .{ .private_tags = true });
    defer read.deinit();
    try expectEqualDeep(case.section, (try read.quantization(null)).?);
}

test "statistics keep what is not finite" {
    const infinity = std.math.inf(f64);
    const section: hurray.Statistics = .{
        .computed = .{ .nnz = true, .range = true, .nm_sparsity = true },
        .nnz = 9,
        .value_min = -infinity,
        .value_max = infinity,
        .value_abs_max = infinity,
        // A NaN of a payload of its own, in a field that was not computed.
        .value_mean = @bitCast(@as(u64, 0x7FF4_0000_DEAD_BEEF)),
        .value_stddev = 2.5,
        .nm_n = 2,
        .nm_m = 4,
        .has_inf = true,
    };
    var builder = try matrix.builder(null);
    defer builder.deinit();
    try builder.setStatistics(section, null);
    var built = try builder.build(null);
    defer built.deinit();
    var decoded = try travel(&built, .{});
    defer decoded.deinit();
    const got = (try decoded.statistics(null)).?;
    inline for (@typeInfo(hurray.Statistics).@"struct".fields) |member| {
        if (member.type == f64) {
            try expectEqual(@as(u64, @bitCast(@field(section, member.name))), @as(u64, @bitCast(@field(got, member.name))));
        } else {
            try expectEqual(@field(section, member.name), @field(got, member.name));
        }
    }
    var wrong = section;
    wrong.nm_n = 5;
    try builder.setStatistics(wrong, null);
    var diagnostics: hurray.Diagnostics = .{};
    try support.expectFailure(error.HurrayInvalidLayout, .invalid_layout, "", builder.build(&diagnostics), &diagnostics);
}

test "a private type describes itself" {
    const number: hurray.ExtensionType = .{
        .bit_width = 4,
        .is_float = true,
        .sign_bits = 1,
        .exponent_bits = 2,
        .mantissa_bits = 1,
        .exponent_bias = 1,
    };
    const spec: Spec = .{ .element_type = @enumFromInt(0xF0), .shape = &.{5}, .sizes = &.{3} };
    var diagnostics: hurray.Diagnostics = .{};
    try support.expectFailure(error.HurrayInvalidType, .invalid_type, "", spec.build(&diagnostics), &diagnostics);
    var builder = try spec.builder(null);
    defer builder.deinit();
    try builder.setExtensionType(number, null);
    var built = try builder.build(null);
    defer built.deinit();
    var decoded = try travel(&built, .{});
    defer decoded.deinit();
    try expectEqual(number, (try decoded.extensionType(null)).?);
    try expectEqual(2, number.packingFactor());
    try expectEqual(4, (try decoded.info(null)).bits);
    try expectEqual(1, (hurray.ExtensionType{ .bit_width = 24 }).packingFactor());
}

test "members of an overlay have a role" {
    for ([_]hurray.MemberRole{ .base, .correction }) |role| {
        var builder = try matrix.builder(null);
        defer builder.deinit();
        try builder.setMemberRole(role, null);
        var built = try builder.build(null);
        defer built.deinit();
        var decoded = try travel(&built, .{});
        defer decoded.deinit();
        try expectEqual(role, (try decoded.memberRole(null)).?);
    }
}

test "without sections there is none" {
    var built = try matrix.build(null);
    defer built.deinit();
    try expectEqual(null, try built.quantization(null));
    try expectEqual(0, (try built.quantizationPayload(null)).len);
    try expectEqual(null, try built.statistics(null));
    try expectEqual(null, try built.extensionType(null));
    try expectEqual(null, try built.memberRole(null));
    const info = try built.info(null);
    try expectEqual(0, info.flags);
    try expectEqual(null, info.shard);
}

test "a permissive reader keeps what it does not know" {
    const baseline = try support.Baseline.begin();
    var built = try matrix.build(null);
    const bytes = try built.encodeAlloc(gpa, null);
    defer gpa.free(bytes);
    built.deinit();
    bytes[15] = 0x7F;
    var diagnostics: hurray.Diagnostics = .{};
    try support.expectFailure(error.HurrayInvalidLayout, .invalid_layout, "", hurray.Descriptor.decode(bytes, &diagnostics), &diagnostics);
    var unread = try hurray.Descriptor.decodeOptions(bytes, .{ .permissive = true }, null);
    defer unread.deinit();
    const info = try unread.info(null);
    try expect(info.is_opaque and info.is_unread);
    try expectEqual(0x7F, @intFromEnum(info.layout));
    try expectEqual(0, info.buffer_count);
    try expectEqual(hurray.LayoutFields.none, try unread.layoutFields(null));
    // Behind the header, the shape and byte_offset.
    try expectEqualSlices(u8, bytes[20 + 16 + 8 ..], info.trailing);
    const again = try unread.encodeAlloc(gpa, null);
    defer gpa.free(again);
    try expectEqualSlices(u8, bytes, again);

    bytes[14] = 0x3F;
    bytes[15] = 0x01;
    var unknown = try hurray.Descriptor.decodeOptions(bytes, .{ .permissive = true }, null);
    defer unknown.deinit();
    const read = try unknown.info(null);
    try expect(read.is_opaque and !read.is_unread);
    try expectEqual(0x3F, @intFromEnum(read.element_type));
    try expectEqual(0, read.bits);
    try expectEqual(1, read.buffer_count);

    unread.deinit();
    unknown.deinit();
    try baseline.expectSame();
}

test "a reader may limit the length" {
    var built = try matrix.build(null);
    defer built.deinit();
    const length = (try built.info(null)).descriptor_length;
    try std.testing.expectError(error.HurrayLimitExceeded, travel(&built, .{ .max_length = length - 1 }));
    var read = try travel(&built, .{ .max_length = length });
    read.deinit();
}

test "damaged descriptors of every layout are read or refused, and leak nothing" {
    const baseline = try support.Baseline.begin();
    var random: std.Random.DefaultPrng = .init(11);
    var refused: usize = 0;
    for (laidOut()) |spec| {
        var built = try spec.build(null);
        defer built.deinit();
        const bytes = try built.encodeAlloc(gpa, null);
        defer gpa.free(bytes);
        const damaged = try gpa.dupe(u8, bytes);
        defer gpa.free(damaged);
        for (0..2000) |_| {
            @memcpy(damaged, bytes);
            for (0..random.random().intRangeAtMost(usize, 1, 3)) |_| {
                damaged[random.random().intRangeLessThan(usize, 10, bytes.len)] = random.random().int(u8);
            }
            var diagnostics: hurray.Diagnostics = .{};
            if (hurray.Descriptor.decodeOptions(damaged, .{ .permissive = true, .private_tags = true }, &diagnostics)) |decoded| {
                var descriptor = decoded;
                defer descriptor.deinit();
                // Whatever the tags are: the fields can be read.
                _ = try descriptor.info(&diagnostics);
                _ = try descriptor.layoutFields(&diagnostics);
                _ = try descriptor.quantization(&diagnostics);
                _ = try descriptor.statistics(&diagnostics);
                _ = try descriptor.extensionType(&diagnostics);
                _ = try descriptor.memberRole(&diagnostics);
            } else |err| {
                refused += 1;
                try expect(err != error.HurrayInternalPanic and err != error.HurrayInternal and err != error.HurrayUnknownStatus);
                try expect(diagnostics.message().len > 0);
            }
        }
    }
    try expect(refused > 2000);
    try baseline.expectSame();
}

test "fields are not read after the end" {
    var built = try laidOut()[7].build(null);
    built.deinit();
    var diagnostics: hurray.Diagnostics = .{};
    inline for (.{ "layoutFields", "quantization", "quantizationPayload", "statistics", "extensionType", "memberRole" }) |name| {
        try support.expectFailure(error.HurrayClosed, .invalid_handle, "", @field(hurray.Descriptor, name)(&built, &diagnostics), &diagnostics);
    }
    var builder = try matrix.builder(null);
    builder.deinit();
    try std.testing.expectError(error.HurrayClosed, builder.setLayoutFields(.none, null));
    try std.testing.expectError(error.HurrayClosed, builder.setQuantization(quantized[0].section, null));
    try std.testing.expectError(error.HurrayClosed, builder.setStatistics(.{ .computed = .{} }, null));
    try std.testing.expectError(error.HurrayClosed, builder.setExtensionType(.{ .bit_width = 8 }, null));
    try std.testing.expectError(error.HurrayClosed, builder.setMemberRole(.base, null));
    try std.testing.expectError(error.HurrayClosed, builder.allowPrivateTags(null));
}

/// A tensor whose buffers hold bytes that tell one from the other.
fn filled(descriptor: *const hurray.Descriptor) !hurray.Tensor {
    var list = try hurray.BufferList.init(null);
    defer list.deinit();
    for (0..(try descriptor.info(null)).buffer_count) |i| {
        const entry = try descriptor.bufferEntry(@intCast(i), null);
        var buffer = try hurray.Buffer.allocate(entry.byte_size, 64, null);
        defer buffer.deinit();
        @memset(try buffer.bytesMutable(null), @intCast(i + 1));
        try list.push(&buffer, null);
    }
    return .fromParts(descriptor, &list, null);
}

fn expectFilled(tensor: *const hurray.Tensor, sizes: []const u64) !void {
    try expectEqual(sizes.len, (try tensor.descriptorInfo(null)).buffer_count);
    for (sizes, 0..) |size, i| {
        var buffer = try tensor.shareBuffer(@intCast(i), null);
        defer buffer.deinit();
        const bytes = try buffer.bytes(null);
        try expectEqual(size, bytes.len);
        for (bytes) |byte| try expectEqual(i + 1, byte);
    }
}

/// Exports, imports, writes and reads a tensor; the caller owns what arrives.
fn exchange(tensor: *const hurray.Tensor) !hurray.Tensor {
    var pair = try tensor.exportPair(null);
    defer pair.deinit();
    var taken = try hurray.Tensor.import(&pair.list, &pair.context, null);
    defer taken.deinit();
    var writer = try hurray.TensorStreamWriter.toMemory(null);
    defer writer.deinit();
    try writer.write(&taken, null);
    var stream = try writer.take(null);
    defer stream.deinit();
    var reader = try hurray.TensorStreamReader.fromMemory(try stream.bytes(null), .{}, null);
    defer reader.deinit();
    return (try reader.next(null)).?;
}

test "tensors of every layout are exchanged and streamed" {
    const baseline = try support.Baseline.begin();
    for (laidOut()) |spec| {
        var built = try spec.build(null);
        defer built.deinit();
        var tensor = try filled(&built);
        defer tensor.deinit();
        var read = try exchange(&tensor);
        defer read.deinit();
        try expectFields(spec.fields, try read.layoutFields(null));
        try expectFilled(&read, spec.sizes);
    }
    try baseline.expectSame();
}

test "quantized tensors are exchanged and streamed" {
    const baseline = try support.Baseline.begin();
    for (quantized) |case| {
        var built = try buildQuantized(case, false, null);
        defer built.deinit();
        var tensor = try filled(&built);
        defer tensor.deinit();
        var read = try exchange(&tensor);
        defer read.deinit();
        try expectEqualDeep(case.section, (try read.quantization(null)).?);
        try expectFilled(&read, case.spec.sizes);
        try expectEqual(null, try read.statistics(null));
        try expectEqual(null, try read.extensionType(null));
        try expectEqual(null, try read.memberRole(null));
    }
    try baseline.expectSame();
}

test "private tags travel where the reader agreed" {
    const baseline = try support.Baseline.begin();
    {
        const case: QuantizedSpec = .{
            .section = .{ .scheme = .{ .private = .{ .tag = @enumFromInt(0xF1), .data = "data" } } },
            .spec = .{ .element_type = .int8, .shape = &.{4}, .sizes = &.{4} },
        };
        var built = try buildQuantized(case, true, null);
        defer built.deinit();
        var tensor = try filled(&built);
        defer tensor.deinit();
        var pair = try tensor.exportPair(null);
        defer pair.deinit();
        var diagnostics: hurray.Diagnostics = .{};
        const refused = hurray.Tensor.import(&pair.list, &pair.context, &diagnostics);
        try support.expectFailure(error.HurrayInvalidQuantization, .invalid_quantization, "", refused, &diagnostics);
        // Both stayed here.
        var taken = try hurray.Tensor.importOptions(&pair.list, &pair.context, .{ .private_tags = true }, null);
        defer taken.deinit();
        try expectEqualDeep(case.section, (try taken.quantization(null)).?);

        var writer = try hurray.TensorStreamWriter.toMemory(null);
        defer writer.deinit();
        try writer.write(&taken, null);
        var stream = try writer.take(null);
        defer stream.deinit();
        var strict = try hurray.TensorStreamReader.fromMemory(try stream.bytes(null), .{}, null);
        defer strict.deinit();
        try support.expectFailure(error.HurrayInvalidQuantization, .invalid_quantization, "", strict.next(&diagnostics), &diagnostics);
        var agreed = try hurray.TensorStreamReader.fromMemory(try stream.bytes(null), .{ .private_tags = true }, null);
        defer agreed.deinit();
        var read = (try agreed.next(null)).?;
        defer read.deinit();
        try expectEqualDeep(case.section, (try read.quantization(null)).?);
        try expectFilled(&read, case.spec.sizes);
    }
    try baseline.expectSame();
}

test "only dense tensors have views and copies" {
    const baseline = try support.Baseline.begin();
    for (laidOut(), 0..) |spec, i| {
        var built = try spec.build(null);
        defer built.deinit();
        var tensor = try filled(&built);
        defer tensor.deinit();
        if (i == 0) {
            try expectEqual(6, (try tensor.view(null)).elementCount());
            continue;
        }
        var diagnostics: hurray.Diagnostics = .{};
        try support.expectFailure(error.HurrayUnsupported, .unsupported, "", tensor.view(&diagnostics), &diagnostics);
        try support.expectFailure(error.HurrayUnsupported, .unsupported, "", tensor.copy(0, &diagnostics), &diagnostics);
    }
    try baseline.expectSame();
}

test "views say that the tensor is quantized" {
    const baseline = try support.Baseline.begin();
    {
        var plain = try matrix.build(null);
        defer plain.deinit();
        var tensor = try filled(&plain);
        defer tensor.deinit();
        try expect(!(try tensor.view(null)).isQuantized());
    }
    {
        var built = try buildQuantized(quantized[0], false, null);
        defer built.deinit();
        var tensor = try filled(&built);
        defer tensor.deinit();
        const view = try tensor.view(null);
        try expect(view.isQuantized());
        // Stored values.
        for (try view.slice(i8, null)) |value| try expectEqual(1, value);
    }
    try baseline.expectSame();
}
