//! Work on all elements of a tensor. Nothing here changes its input: results are new tensors of the caller's, which may share
//! memory with it. Work runs on the calling thread. All of it wants memory that the CPU can read and that no device is still
//! writing: else HurrayUnsupported or HurrayInvalidSyncMode; and all of it may end with HurrayLimitExceeded, HurrayOutOfMemory or
//! HurrayCancelled.

const abi = @import("hurray_abi");
const diagnostics_ = @import("diagnostics.zig");
const elements = @import("elements.zig");
const library = @import("library.zig");
const sections = @import("sections.zig");
const DescriptorBuilder = @import("descriptor_builder.zig").DescriptorBuilder;
const Tensor = @import("tensor.zig").Tensor;
const Work = @import("work.zig").Work;

const Complex = @import("std").math.Complex(f64);
const Diagnostics = diagnostics_.Diagnostics;
const ElementType = abi.constants.ElementType;
const Error = diagnostics_.Error;

/// Where an element is; null for one of a sparse tensor that is not stored, and therefore 0. Of dense tensors no memory is
/// read, so that it may be anywhere. `index` has one value a dimension; of a block-paged tensor three, or four: sequence, token in
/// it, head, element.
///
/// Errors: HurrayInvalidArgument: another number of values; HurrayIndexOutOfBounds; HurrayUnsupported: a composite head, a private
/// layout; HurrayInvalidLayout: a dynamic dimension, index arrays that lead to nowhere. (format: element address computation)
pub fn elementAddress(self: *const Tensor, index: []const u64, diagnostics: ?*Diagnostics) Error!?elements.ElementAddress {
    return elements.address(library.table.tensor_element_address, try self.handle.get(diagnostics), index, diagnostics);
}

/// An element as a number, rounded to nearest where float64 cannot hold it; of a quantized tensor the number that is stored.
///
/// Errors: those of `elementAddress`; HurrayUnsupported: complex types, private types without defined numbers;
/// HurrayInvalidType: a pattern that is no element.
pub fn elementFloat64(self: *const Tensor, index: []const u64, diagnostics: ?*Diagnostics) Error!f64 {
    return elements.number(f64, library.table.tensor_element_float64, try self.handle.get(diagnostics), index, diagnostics);
}

/// An element as a complex number; of real types with the imaginary part 0. Errors: as `elementFloat64`.
pub fn elementComplex128(self: *const Tensor, index: []const u64, diagnostics: ?*Diagnostics) Error!Complex {
    return elements.complex128(library.table.tensor_element_complex128, try self.handle.get(diagnostics), index, diagnostics);
}

/// The bits of an element as they are stored; all 0 for one of a sparse tensor that is not. Errors: those of `elementAddress`;
/// HurrayUnsupported: more than 128 bits.
pub fn elementBits(self: *const Tensor, index: []const u64, diagnostics: ?*Diagnostics) Error!elements.ElementBits {
    return elements.bits(library.table.tensor_element_bits, try self.handle.get(diagnostics), index, diagnostics);
}

/// The number that a quantized element stands for, worked out in float32 as the format says.
///
/// Errors: those of `elementAddress` and `dequantize`. (format: quantization)
pub fn elementDequantized(self: *const Tensor, index: []const u64, diagnostics: ?*Diagnostics) Error!f64 {
    return elements.number(f64, library.table.tensor_element_dequantized, try self.handle.get(diagnostics), index, diagnostics);
}

/// The layout that `transcode` makes.
pub const TranscodeOptions = struct {
    /// Of the new buffers, in bytes, a power of 2 of at least 64; 0 means 64.
    alignment: u32 = 0,
    /// A builder of that layout and of the tensor's rank, whose layout fields are wanted: strides, tiles, Morton bits, the order of
    /// dimensions of CSF. Null: those that will do, for layouts other than strided and tiled.
    fields: ?*const DescriptorBuilder = null,
    /// Of a block-paged tensor the one sequence; null: all of them, one after the other.
    sequence: ?u32 = null,
    /// Of a block-paged tensor: the tokens of each sequence. Empty: not known, and for other layouts.
    token_counts: []const u64 = &.{},
    /// Limits and reports. The unit of progress is bytes of the elements; from dense to sparse and back elements, between sparse
    /// layouts entries.
    work: Work = .{},
};

/// A new tensor with the same elements, bit for bit, in another layout: dense, sparse (COO, CSR, CSC, CSF) or, as a source only,
/// block-paged. Padding is 0, sections stay; of a quantized tensor the scales and zero points are shared or copied.
///
/// Errors: HurrayUnsupported: a pair of layouts that docs/transcode.md does not list; HurrayInvalidArgument: options;
/// HurrayInvalidLayout: a dynamic dimension, fields that the layout refuses. (format: memory layout)
pub fn transcode(
    self: *const Tensor,
    layout: abi.constants.Layout,
    options: TranscodeOptions,
    diagnostics: ?*Diagnostics,
) Error!Tensor {
    const flags: abi.constants.TranscodeFlags = .{ .sequence = options.sequence != null };
    const spec: abi.c.HurrayTranscodeSpec = .{
        .struct_size = @sizeOf(abi.c.HurrayTranscodeSpec),
        .flags = @bitCast(flags),
        .layout = @intFromEnum(layout),
        .alignment = options.alignment,
        .sequence = options.sequence orelse 0,
        .token_counts = if (options.token_counts.len == 0) null else options.token_counts.ptr,
        .token_counts_length = options.token_counts.len,
    };
    const fields = if (options.fields) |builder| try builder.handle.get(diagnostics) else null;
    return result(library.table.tensor_transcode, self, .{ &spec, fields }, &options.work, diagnostics);
}

/// A new tensor of the numbers that quantized elements stand for, of float16, bfloat16, float32 or float64. Each is worked out in
/// float32 and then rounded once. Dense tensors become row-major, column-major ones stay so; sparse and block-paged ones keep their
/// layout and share all buffers but the values. The unit of progress is elements.
///
/// Errors: HurrayInvalidArgument: not quantized, another type; HurrayUnsupported: a private scheme; HurrayInvalidLayout: a dynamic
/// dimension; HurrayInvalidQuantization: a scale or zero point that the scheme forbids. (format: quantization)
pub fn dequantize(self: *const Tensor, element_type: ElementType, work: Work, diagnostics: ?*Diagnostics) Error!Tensor {
    return result(library.table.tensor_dequantize, self, .{@intFromEnum(element_type)}, &work, diagnostics);
}

/// How `quantize` stores elements.
pub const QuantizeOptions = struct {
    /// Of the scales; null: what the scheme has.
    scale_type: ?ElementType = null,
    /// All zero points are 0, and steps reach as far down as up. Affine schemes only.
    symmetric: bool = false,
    /// The dimension along which channels or blocks follow one another; 0 for the per-tensor scheme.
    axis: u32 = 0,
    /// Elements of a block along the axis; 0 for schemes without blocks.
    block_size: u32 = 0,
    /// Limits and reports. The unit of progress is elements.
    work: Work = .{},
};

/// A new quantized tensor of a dense one of float16, bfloat16, float32 or float64: row-major, its buffers the stored elements, the
/// scales, and the zero points where there are any.
///
/// Errors: HurrayInvalidArgument: an option, or an element that has no place in the scheme (NaN, infinite, too large), whose index
/// the message has; HurrayInvalidType; HurrayUnsupported: not dense, quantized already; HurrayInvalidLayout: a dynamic dimension.
/// (format: quantization)
pub fn quantize(
    self: *const Tensor,
    scheme: abi.constants.Scheme,
    storage_type: ElementType,
    options: QuantizeOptions,
    diagnostics: ?*Diagnostics,
) Error!Tensor {
    const spec: abi.c.HurrayQuantizeSpec = .{
        .struct_size = @sizeOf(abi.c.HurrayQuantizeSpec),
        .scheme = @intFromEnum(scheme),
        .storage_type = @intFromEnum(storage_type),
        .scale_type = if (options.scale_type) |given| @intFromEnum(given) else 0,
        .symmetric = @intFromBool(options.symmetric),
        .axis = options.axis,
        .block_size = options.block_size,
    };
    return result(library.table.tensor_quantize, self, .{&spec}, &options.work, diagnostics);
}

/// Checks the tensor up to a level, each of which includes those before it. The first violation is the error, its report says where
/// it is and what was expected. The unit of progress is bytes of the buffers, about.
///
/// Errors: those of `Descriptor.decode` and `Tensor.fromParts`; on level `data` HurrayInvalidLayout: index arrays, unused bits;
/// HurrayInvalidType: a pattern that is no element; HurrayInvalidQuantization: scales, zero points, padding. (format: validity
/// constraints)
pub fn validate(self: *const Tensor, level: abi.constants.ValidationLevel, work: Work, diagnostics: ?*Diagnostics) Error!void {
    const handle = try self.handle.get(diagnostics);
    const raw = work.raw();
    return diagnostics_.check(library.table.tensor_validate(handle, @intFromEnum(level), &raw, diagnostics_.reportOf(diagnostics)));
}

/// Works out the statistics that are asked for, in one pass over the elements: dequantized where they are quantized, and of a sparse
/// tensor with those that are not stored. What has no answer for these elements is left out of `computed`. The unit of progress is
/// bytes of stored elements.
///
/// Errors: HurrayInvalidArgument: unknown bits; HurrayUnsupported: range or moments of complex numbers and of float128, composite
/// heads, private layouts; HurrayInvalidType: a pattern that is no element; HurrayInvalidLayout: a dynamic dimension, index arrays
/// that break a rule. (format: statistics)
pub fn computeStatistics(
    self: *const Tensor,
    wanted: abi.constants.StatisticsFlags,
    work: Work,
    diagnostics: ?*Diagnostics,
) Error!sections.Statistics {
    const handle = try self.handle.get(diagnostics);
    const options = work.raw();
    var raw: abi.c.HurrayStatistics = .{ .struct_size = @sizeOf(abi.c.HurrayStatistics) };
    try diagnostics_.check(library.table.tensor_statistics(handle, @bitCast(wanted), &options, &raw, diagnostics_.reportOf(diagnostics)));
    return .fromRaw(raw);
}

/// The new tensor that a function of the library makes of this one.
fn result(function: anytype, self: *const Tensor, arguments: anytype, work: *const Work, diagnostics: ?*Diagnostics) Error!Tensor {
    const handle = try self.handle.get(diagnostics);
    const options = work.raw();
    var out: ?*abi.c.HurrayTensor = null;
    const all = .{handle} ++ arguments ++ .{ &options, &out, diagnostics_.reportOf(diagnostics) };
    try diagnostics_.check(@call(.auto, function, all));
    return .{ .handle = .init(out.?) };
}
