//! The fields of the layouts. (format: memory layout)

const std = @import("std");
const abi = @import("hurray_abi");
const diagnostics_ = @import("diagnostics.zig");
const library = @import("library.zig");
const rankOf = @import("shape.zig").rankOf;

const Diagnostics = diagnostics_.Diagnostics;
const Error = diagnostics_.Error;
const Layout = abi.constants.Layout;

/// One level of tiles: element i lies in tile i / tile_shape of the level's grid, at i mod tile_shape in it. The slices
/// have one number a dimension.
pub const TileLevel = struct {
    /// Sizes of a tile, in elements.
    tile_shape: []const u64,
    /// Order of the tiles: row-major, column-major or strided.
    outer_layout: Layout = .row_major,
    /// Order inside a tile: likewise, or tiled, then the next level says it.
    inner_layout: Layout = .row_major,
    /// In tiles, of a strided outer layout.
    outer_strides: ?[]const i64 = null,
    /// In elements, of a strided inner layout.
    inner_strides: ?[]const i64 = null,
};

/// The levels of tiles.
pub const Tiles = struct {
    storage: [abi.constants.max_tile_levels]TileLevel = undefined,
    count: usize = 0,

    /// The levels, the outermost first.
    pub fn levels(self: *const Tiles) []const TileLevel {
        return self.storage[0..self.count];
    }

    /// Tiles of these levels, the outermost first. Errors: HurrayInvalidLayout: more than 8 levels.
    pub fn of(all: []const TileLevel, diagnostics: ?*Diagnostics) Error!Tiles {
        if (all.len > abi.constants.max_tile_levels) return tooManyLevels(all.len, diagnostics);
        var tiles: Tiles = .{ .count = all.len };
        @memcpy(tiles.storage[0..all.len], all);
        return tiles;
    }

    fn tooManyLevels(count: usize, diagnostics: ?*Diagnostics) Error {
        return diagnostics_.fail(
            diagnostics,
            .invalid_layout,
            error.HurrayInvalidLayout,
            "tiles: expected at most {d} levels, got {d}",
            .{ abi.constants.max_tile_levels, count },
        );
    }
};

/// The fields of a layout; `none` for row-major and column-major, which have none, and for one that is not known. Slices
/// that were read belong to the descriptor and live as long as it does.
pub const LayoutFields = union(enum) {
    none,
    /// A step for each dimension, in elements.
    strided: []const i64,
    tiled: Tiles,
    /// Bits of each index in the Morton code, one number a dimension.
    morton: []const u64,
    /// The order: every dimension's size is 2^order.
    hilbert: u32,
    /// Buffers: values, indices.
    coo: struct { nnz: u64, is_sorted: bool },
    /// The number of stored elements. Buffers: values, column indices, row pointers.
    csr: u64,
    /// The number of stored elements. Buffers: values, row indices, column pointers.
    csc: u64,
    /// Buffers: values, then positions and coordinates of each level; mode_order has the dimensions in their order.
    csf: struct { nnz: u64, mode_order: []const u64 },
    block_paged: BlockPaged,
    /// The head of a composite, whose members follow it in a stream or file.
    composite: struct {
        rule: abi.constants.CompositionRule,
        combine_op: abi.constants.CombineOp = .none,
        member_count: u32,
    },
    /// A layout upon which writer and reader have agreed; its tag is the descriptor's layout.
    private: struct { id: u64, data: []const u8 },

    /// Pages of tokens. Buffers: page pool, block table, sequence pointers.
    pub const BlockPaged = struct {
        /// Tokens of a page.
        page_size: u32,
        /// Pages in the pool.
        num_pages: u64,
        /// The dimension that is cut into pages.
        paged_axis: u32 = 0,
        num_seqs: u32,
        kv_role: abi.constants.KvRole = .other,
        /// Number of the layer; null when it is not said.
        layer_index: ?u32 = null,
        /// Type of the page numbers in the block table.
        index_type: abi.constants.TableIndex = .uint32,
    };

    fn fit(self: LayoutFields, layout: Layout) bool {
        return switch (self) {
            .none => layout == .row_major or layout == .col_major,
            .private => isPrivate(layout),
            inline else => |_, tag| layout == @field(Layout, @tagName(tag)),
        };
    }
};

fn isPrivate(layout: Layout) bool {
    return @intFromEnum(layout) >= 0xF0 and @intFromEnum(layout) <= 0xFE;
}

/// Reads the fields of a descriptor's layout.
pub fn read(handle: *const abi.c.HurrayDescriptor, diagnostics: ?*Diagnostics) Error!LayoutFields {
    var raw: abi.c.HurrayLayoutFields = .{ .struct_size = @sizeOf(abi.c.HurrayLayoutFields) };
    try diagnostics_.check(library.table.descriptor_layout_fields(handle, &raw, diagnostics_.reportOf(diagnostics)));
    return switch (@as(Layout, @enumFromInt(raw.layout))) {
        .strided => .{ .strided = slice(i64, raw.strides, raw.rank) },
        .tiled => .{ .tiled = try readTiles(handle, raw.tile_level_count, diagnostics) },
        .morton => .{ .morton = slice(u64, raw.morton_bits, raw.rank) },
        .hilbert => .{ .hilbert = raw.hilbert_order },
        .coo => .{ .coo = .{ .nnz = raw.nnz, .is_sorted = raw.is_sorted != 0 } },
        .csr => .{ .csr = raw.nnz },
        .csc => .{ .csc = raw.nnz },
        .csf => .{ .csf = .{ .nnz = raw.nnz, .mode_order = slice(u64, raw.mode_order, raw.rank) } },
        .block_paged => .{ .block_paged = .{
            .page_size = raw.page_size,
            .num_pages = raw.num_pages,
            .paged_axis = raw.paged_axis,
            .num_seqs = raw.num_seqs,
            .kv_role = @enumFromInt(raw.kv_role),
            .layer_index = if (raw.layer_index == abi.constants.no_layer) null else raw.layer_index,
            .index_type = @enumFromInt(raw.index_type),
        } },
        .composite => .{ .composite = .{
            .rule = @enumFromInt(raw.composition_rule),
            .combine_op = @enumFromInt(raw.combine_op),
            .member_count = raw.member_count,
        } },
        else => |layout| if (isPrivate(layout))
            .{ .private = .{ .id = raw.private_id, .data = slice(u8, raw.private_data, raw.private_length) } }
        else
            .none,
    };
}

/// Gives the fields of its layout to a builder.
pub fn set(handle: *abi.c.HurrayDescriptorBuilder, layout: Layout, fields: LayoutFields, diagnostics: ?*Diagnostics) Error!void {
    if (!fields.fit(layout)) return diagnostics_.fail(
        diagnostics,
        .invalid_argument,
        error.HurrayInvalidArgument,
        "layout fields: those of {s} do not belong to layout {d}",
        .{ @tagName(fields), @intFromEnum(layout) },
    );
    var raw: abi.c.HurrayLayoutFields = .{ .struct_size = @sizeOf(abi.c.HurrayLayoutFields), .layout = @intFromEnum(layout) };
    switch (fields) {
        .none => return,
        .tiled => |tiles| {
            for (tiles.levels()) |level| try addLevel(handle, level, diagnostics);
            return;
        },
        .strided => |strides| {
            raw.rank = try rankOf(strides.len, diagnostics);
            raw.strides = strides.ptr;
        },
        .morton => |bits| {
            raw.rank = try rankOf(bits.len, diagnostics);
            raw.morton_bits = bits.ptr;
        },
        .hilbert => |order| raw.hilbert_order = order,
        .coo => |coo| {
            raw.nnz = coo.nnz;
            raw.is_sorted = @intFromBool(coo.is_sorted);
        },
        .csr, .csc => |nnz| raw.nnz = nnz,
        .csf => |csf| {
            raw.nnz = csf.nnz;
            raw.rank = try rankOf(csf.mode_order.len, diagnostics);
            raw.mode_order = csf.mode_order.ptr;
        },
        .block_paged => |paged| {
            raw.page_size = paged.page_size;
            raw.num_pages = paged.num_pages;
            raw.paged_axis = paged.paged_axis;
            raw.num_seqs = paged.num_seqs;
            raw.kv_role = @intFromEnum(paged.kv_role);
            raw.layer_index = paged.layer_index orelse abi.constants.no_layer;
            raw.index_type = @intFromEnum(paged.index_type);
        },
        .composite => |composite| {
            raw.composition_rule = @intFromEnum(composite.rule);
            raw.combine_op = @intFromEnum(composite.combine_op);
            raw.member_count = composite.member_count;
        },
        .private => |private| {
            raw.private_id = private.id;
            raw.private_data = private.data.ptr;
            raw.private_length = private.data.len;
        },
    }
    try diagnostics_.check(library.table.descriptor_builder_set_layout_fields(handle, &raw, diagnostics_.reportOf(diagnostics)));
}

fn readTiles(handle: *const abi.c.HurrayDescriptor, count: u32, diagnostics: ?*Diagnostics) Error!Tiles {
    if (count > abi.constants.max_tile_levels) return Tiles.tooManyLevels(count, diagnostics);
    var tiles: Tiles = .{ .count = count };
    for (tiles.storage[0..count], 0..) |*level, i| {
        var raw: abi.c.HurrayTileLevel = .{ .struct_size = @sizeOf(abi.c.HurrayTileLevel) };
        try diagnostics_.check(library.table.descriptor_tile_level(handle, @intCast(i), &raw, diagnostics_.reportOf(diagnostics)));
        level.* = .{
            .tile_shape = slice(u64, raw.tile_shape, raw.rank),
            .outer_layout = @enumFromInt(raw.outer_layout),
            .inner_layout = @enumFromInt(raw.inner_layout),
            .outer_strides = if (raw.outer_strides == null) null else slice(i64, raw.outer_strides, raw.rank),
            .inner_strides = if (raw.inner_strides == null) null else slice(i64, raw.inner_strides, raw.rank),
        };
    }
    return tiles;
}

fn addLevel(handle: *abi.c.HurrayDescriptorBuilder, level: TileLevel, diagnostics: ?*Diagnostics) Error!void {
    const rank = try rankOf(level.tile_shape.len, diagnostics);
    inline for (.{ level.outer_strides, level.inner_strides }) |strides| {
        if (strides != null and strides.?.len != rank) return diagnostics_.fail(
            diagnostics,
            .invalid_argument,
            error.HurrayInvalidArgument,
            "tile level: expected {d} strides, as the tile has dimensions, got {d}",
            .{ rank, strides.?.len },
        );
    }
    const raw: abi.c.HurrayTileLevel = .{
        .struct_size = @sizeOf(abi.c.HurrayTileLevel),
        .rank = rank,
        .tile_shape = level.tile_shape.ptr,
        .outer_strides = if (level.outer_strides) |strides| strides.ptr else null,
        .inner_strides = if (level.inner_strides) |strides| strides.ptr else null,
        .outer_layout = @intFromEnum(level.outer_layout),
        .inner_layout = @intFromEnum(level.inner_layout),
    };
    try diagnostics_.check(library.table.descriptor_builder_add_tile_level(handle, &raw, diagnostics_.reportOf(diagnostics)));
}

/// Memory of the library, which may be null when there is none.
pub fn slice(comptime T: type, pointer: anytype, length: u64) []const T {
    if (length == 0 or pointer == null) return &.{};
    return pointer[0..@intCast(length)];
}
