//! What a descriptor says of its tensor besides shape and layout. (format: sections)

const abi = @import("hurray_abi");
const diagnostics_ = @import("diagnostics.zig");
const library = @import("library.zig");
const slice = @import("layout_fields.zig").slice;

const Diagnostics = diagnostics_.Diagnostics;
const Error = diagnostics_.Error;
const Scheme = abi.constants.Scheme;

/// How the elements are quantized. Numbers of buffers are entries of the buffer table. (format: quantization)
pub const Quantization = struct {
    scheme: union(enum) {
        /// One scale, finite and not 0, and zero point: value = scale * (q - zero_point).
        per_tensor_affine: struct { scale: f32, zero_point: i32 = 0 },
        /// A scale, and a zero point, for each index of an axis.
        per_channel_affine: struct { axis: u32, parameters: Parameters },
        /// A scale, and a zero point, for each block along an axis; block_size is a power of 2.
        per_block_affine: struct { axis: u32, block_size: u32, parameters: Parameters },
        /// 4-bit quantiles of the normal distribution, times the largest magnitude of the block.
        nf4: Blocks,
        /// Small floating-point numbers with an exponent that a block shares.
        mxfp: Blocks,
        /// A scheme upon which writer and reader have agreed, or one that a permissive reader does not know; data is what
        /// follows its first 4 bytes.
        private: struct { tag: Scheme, flags: u16 = 0, data: []const u8 = &.{} },
    },
    version: u8 = 1,
    /// Zero bytes that the writer put behind the fields.
    padding: u32 = 0,

    pub const Parameters = struct {
        scale_buffer: u32,
        /// That of the scales when the zero points follow there; null when all are 0.
        zero_point_buffer: ?u32 = null,
        scale_type: abi.constants.ElementType = .float32,
    };

    pub const Blocks = struct { axis: u32, block_size: u32, scale_buffer: u32 };
};

/// What the writer says about the values, dequantized ones where they are quantized. Nobody may rely on it; what `computed`
/// does not name has no meaning. (format: statistics)
pub const Statistics = struct {
    computed: abi.constants.StatisticsFlags,
    /// Elements other than 0.
    nnz: u64 = 0,
    /// Fraction of elements that are 0.
    sparsity_ratio: f64 = 0,
    value_min: f64 = 0,
    value_max: f64 = 0,
    value_abs_max: f64 = 0,
    value_mean: f64 = 0,
    /// Of the whole population.
    value_stddev: f64 = 0,
    /// At most nm_n of each nm_m elements that follow one another are not 0.
    nm_n: u8 = 0,
    nm_m: u8 = 0,
    has_nan: bool = false,
    has_inf: bool = false,

    /// Statistics as the library has them.
    pub fn fromRaw(raw: abi.c.HurrayStatistics) Statistics {
        return .{
            .computed = @bitCast(raw.computed_mask),
            .nnz = raw.nnz,
            .sparsity_ratio = raw.sparsity_ratio,
            .value_min = raw.value_min,
            .value_max = raw.value_max,
            .value_abs_max = raw.value_abs_max,
            .value_mean = raw.value_mean,
            .value_stddev = raw.value_stddev,
            .nm_n = raw.nm_n,
            .nm_m = raw.nm_m,
            .has_nan = raw.has_nan != 0,
            .has_inf = raw.has_inf != 0,
        };
    }
};

/// What a private element type is; fields of floating-point types are 0 for integers. (format: extension type)
pub const ExtensionType = struct {
    /// 1, 2, 4, or a multiple of 8.
    bit_width: u32,
    is_float: bool = false,
    is_signed: bool = false,
    sign_bits: u8 = 0,
    exponent_bits: u8 = 0,
    mantissa_bits: u8 = 0,
    exponent_bias: u32 = 0,
    has_nan: bool = false,
    has_inf: bool = false,

    /// Elements in a byte; 1 for types of whole bytes.
    pub fn packingFactor(self: ExtensionType) u8 {
        return if (self.bit_width > 0 and self.bit_width < 8) @intCast(8 / self.bit_width) else 1;
    }
};

/// Reads a section as the library has it.
fn get(comptime Raw: type, function: anytype, handle: *const abi.c.HurrayDescriptor, diagnostics: ?*Diagnostics) Error!Raw {
    var raw: Raw = .{ .struct_size = @sizeOf(Raw) };
    try diagnostics_.check(function(handle, &raw, diagnostics_.reportOf(diagnostics)));
    return raw;
}

/// Gives a section to a builder.
fn set(function: anytype, handle: *abi.c.HurrayDescriptorBuilder, raw: anytype, diagnostics: ?*Diagnostics) Error!void {
    var sized = raw;
    sized.struct_size = @sizeOf(@TypeOf(raw));
    sized.present = 1;
    return diagnostics_.check(function(handle, &sized, diagnostics_.reportOf(diagnostics)));
}

/// The bytes of the quantization section behind its length; empty when there is none.
pub fn quantizationPayload(handle: *const abi.c.HurrayDescriptor, diagnostics: ?*Diagnostics) Error![]const u8 {
    const raw = try get(abi.c.HurrayQuantization, library.table.descriptor_quantization, handle, diagnostics);
    return slice(u8, raw.payload, raw.payload_length);
}

pub fn quantization(handle: *const abi.c.HurrayDescriptor, diagnostics: ?*Diagnostics) Error!?Quantization {
    const raw = try get(abi.c.HurrayQuantization, library.table.descriptor_quantization, handle, diagnostics);
    if (raw.present == 0) return null;
    const parameters: Quantization.Parameters = .{
        .scale_buffer = raw.scale_buffer,
        .zero_point_buffer = if (raw.zero_point_buffer == abi.constants.no_buffer) null else raw.zero_point_buffer,
        .scale_type = @enumFromInt(raw.scale_type),
    };
    const blocks: Quantization.Blocks = .{ .axis = raw.axis, .block_size = raw.block_size, .scale_buffer = raw.scale_buffer };
    return .{
        .version = raw.version,
        .padding = raw.padding,
        .scheme = switch (@as(Scheme, @enumFromInt(raw.scheme))) {
            .per_tensor_affine => .{ .per_tensor_affine = .{ .scale = raw.scale, .zero_point = raw.zero_point } },
            .per_channel_affine => .{ .per_channel_affine = .{ .axis = raw.axis, .parameters = parameters } },
            .per_block_affine => .{ .per_block_affine = .{ .axis = raw.axis, .block_size = raw.block_size, .parameters = parameters } },
            .nf4 => .{ .nf4 = blocks },
            .mxfp => .{ .mxfp = blocks },
            else => |tag| .{ .private = .{ .tag = tag, .flags = raw.flags, .data = slice(u8, raw.private_data, raw.private_length) } },
        },
    };
}

pub fn setQuantization(handle: *abi.c.HurrayDescriptorBuilder, section: Quantization, diagnostics: ?*Diagnostics) Error!void {
    var raw: abi.c.HurrayQuantization = .{
        .version = section.version,
        .padding = section.padding,
        .scale_buffer = abi.constants.no_buffer,
        .zero_point_buffer = abi.constants.no_buffer,
    };
    switch (section.scheme) {
        .private => |private| raw.scheme = @intFromEnum(private.tag),
        inline else => |_, tag| raw.scheme = @intFromEnum(@field(Scheme, @tagName(tag))),
    }
    switch (section.scheme) {
        .per_tensor_affine => |fields| {
            raw.scale = fields.scale;
            raw.zero_point = fields.zero_point;
        },
        .per_channel_affine => |fields| {
            raw.axis = fields.axis;
            setParameters(&raw, fields.parameters);
        },
        .per_block_affine => |fields| {
            raw.axis = fields.axis;
            raw.block_size = fields.block_size;
            setParameters(&raw, fields.parameters);
        },
        .nf4, .mxfp => |fields| {
            raw.axis = fields.axis;
            raw.block_size = fields.block_size;
            raw.scale_buffer = fields.scale_buffer;
        },
        .private => |fields| {
            raw.flags = fields.flags;
            raw.private_data = fields.data.ptr;
            raw.private_length = fields.data.len;
        },
    }
    return set(library.table.descriptor_builder_set_quantization, handle, raw, diagnostics);
}

fn setParameters(raw: *abi.c.HurrayQuantization, parameters: Quantization.Parameters) void {
    raw.scale_buffer = parameters.scale_buffer;
    raw.zero_point_buffer = parameters.zero_point_buffer orelse abi.constants.no_buffer;
    raw.scale_type = @intFromEnum(parameters.scale_type);
    const flags: abi.constants.QuantizationFlags = .{ .symmetric = parameters.zero_point_buffer == null };
    raw.flags = @bitCast(flags);
}

pub fn statistics(handle: *const abi.c.HurrayDescriptor, diagnostics: ?*Diagnostics) Error!?Statistics {
    const raw = try get(abi.c.HurrayStatistics, library.table.descriptor_statistics, handle, diagnostics);
    return if (raw.present == 0) null else .fromRaw(raw);
}

pub fn setStatistics(handle: *abi.c.HurrayDescriptorBuilder, section: Statistics, diagnostics: ?*Diagnostics) Error!void {
    const raw: abi.c.HurrayStatistics = .{
        .computed_mask = @bitCast(section.computed),
        .nnz = section.nnz,
        .sparsity_ratio = section.sparsity_ratio,
        .value_min = section.value_min,
        .value_max = section.value_max,
        .value_abs_max = section.value_abs_max,
        .value_mean = section.value_mean,
        .value_stddev = section.value_stddev,
        .nm_n = section.nm_n,
        .nm_m = section.nm_m,
        .has_nan = @intFromBool(section.has_nan),
        .has_inf = @intFromBool(section.has_inf),
    };
    return set(library.table.descriptor_builder_set_statistics, handle, raw, diagnostics);
}

pub fn extensionType(handle: *const abi.c.HurrayDescriptor, diagnostics: ?*Diagnostics) Error!?ExtensionType {
    const raw = try get(abi.c.HurrayExtensionType, library.table.descriptor_extension_type, handle, diagnostics);
    if (raw.present == 0) return null;
    return .{
        .bit_width = raw.bit_width,
        .is_float = raw.is_float != 0,
        .is_signed = raw.is_signed != 0,
        .sign_bits = raw.sign_bits,
        .exponent_bits = raw.exponent_bits,
        .mantissa_bits = raw.mantissa_bits,
        .exponent_bias = raw.exponent_bias,
        .has_nan = raw.has_nan != 0,
        .has_inf = raw.has_inf != 0,
    };
}

pub fn setExtensionType(handle: *abi.c.HurrayDescriptorBuilder, section: ExtensionType, diagnostics: ?*Diagnostics) Error!void {
    const raw: abi.c.HurrayExtensionType = .{
        .bit_width = section.bit_width,
        .packing_factor = section.packingFactor(),
        .is_float = @intFromBool(section.is_float),
        .is_signed = @intFromBool(section.is_signed),
        .sign_bits = section.sign_bits,
        .exponent_bits = section.exponent_bits,
        .mantissa_bits = section.mantissa_bits,
        .exponent_bias = section.exponent_bias,
        .has_nan = @intFromBool(section.has_nan),
        .has_inf = @intFromBool(section.has_inf),
    };
    return set(library.table.descriptor_builder_set_extension_type, handle, raw, diagnostics);
}

pub fn memberRole(handle: *const abi.c.HurrayDescriptor, diagnostics: ?*Diagnostics) Error!?abi.constants.MemberRole {
    const raw = try get(abi.c.HurrayCompositeMember, library.table.descriptor_composite_member, handle, diagnostics);
    return if (raw.present == 0) null else @enumFromInt(raw.member_role);
}

pub fn setMemberRole(handle: *abi.c.HurrayDescriptorBuilder, role: abi.constants.MemberRole, diagnostics: ?*Diagnostics) Error!void {
    const raw: abi.c.HurrayCompositeMember = .{
        .member_role = @intFromEnum(role),
    };
    return set(library.table.descriptor_builder_set_composite_member, handle, raw, diagnostics);
}
