//! Composites: a head and the tensors that it is made of. (format: composite)

const std = @import("std");
const abi = @import("hurray_abi");
const descriptor_ = @import("descriptor.zig");
const diagnostics_ = @import("diagnostics.zig");
const elements = @import("elements.zig");
const layout_fields = @import("layout_fields.zig");
const library = @import("library.zig");
const Handle = @import("handle.zig").Handle;
const Tensor = @import("tensor.zig").Tensor;
const Work = @import("work.zig").Work;

const Diagnostics = diagnostics_.Diagnostics;
const Error = diagnostics_.Error;

/// A composite of the caller's, complete and checked; it shares the memory of its members. Threads: used by one at a time.
pub const Composite = struct {
    handle: Handle(abi.c.HurrayComposite, "composite_destroy", "composite"),

    /// What the members make of the head.
    pub const Info = struct {
        /// Members of the head, not of those inside of them.
        member_count: u32,
        /// The head and, at all levels, the members.
        descriptor_count: u64,
        /// Heads on the longest way down, this one included.
        depth: u32,
        rule: abi.constants.CompositionRule,
        combine_op: abi.constants.CombineOp,
        /// Whether there is a number at each index of the head.
        has_elements: bool,
    };

    /// A member, which the caller owns.
    pub const Member = union(enum) {
        tensor: Tensor,
        composite: Composite,

        /// The one of both that is there.
        pub fn fromRaw(tensor: ?*abi.c.HurrayTensor, composite: ?*abi.c.HurrayComposite) ?Member {
            if (tensor) |given| return .{ .tensor = .{ .handle = .init(given) } };
            return .{ .composite = .{ .handle = .init(composite orelse return null) } };
        }

        /// Ends what it is.
        pub fn deinit(self: *Member) void {
            switch (self.*) {
                inline else => |*given| given.deinit(),
            }
        }
    };

    /// Facts about the composite.
    pub fn info(self: *const Composite, diagnostics: ?*Diagnostics) Error!Info {
        const handle = try self.handle.get(diagnostics);
        var raw: abi.c.HurrayCompositeInfo = .{ .struct_size = @sizeOf(abi.c.HurrayCompositeInfo) };
        try diagnostics_.check(library.table.composite_info(handle, &raw, diagnostics_.reportOf(diagnostics)));
        return .{
            .member_count = raw.member_count,
            .descriptor_count = raw.descriptor_count,
            .depth = raw.depth,
            .rule = @enumFromInt(raw.composition_rule),
            .combine_op = @enumFromInt(raw.combine_op),
            .has_elements = raw.has_elements != 0,
        };
    }

    /// Shape and type of the whole. Slices in it live as long as the composite.
    pub fn head(self: *const Composite, diagnostics: ?*Diagnostics) Error!descriptor_.DescriptorInfo {
        return descriptor_.infoOf(try self.borrowHead(diagnostics), diagnostics);
    }

    /// The fields of the head's layout. Slices in them live as long as the composite.
    pub fn layoutFields(self: *const Composite, diagnostics: ?*Diagnostics) Error!layout_fields.LayoutFields {
        return layout_fields.read(try self.borrowHead(diagnostics), diagnostics);
    }

    /// A member, which shares the composite's memory and may outlive it. Errors: HurrayIndexOutOfBounds.
    pub fn member(self: *const Composite, index: u32, diagnostics: ?*Diagnostics) Error!Member {
        const handle = try self.handle.get(diagnostics);
        var tensor: ?*abi.c.HurrayTensor = null;
        var composite: ?*abi.c.HurrayComposite = null;
        try diagnostics_.check(library.table.composite_member(handle, index, &tensor, &composite, diagnostics_.reportOf(diagnostics)));
        return Member.fromRaw(tensor, composite).?;
    }

    /// The number of the member of a partition that an element lies in; no data is touched.
    ///
    /// Errors: HurrayInvalidArgument: not one value a dimension; HurrayIndexOutOfBounds; HurrayUnsupported: no partition.
    pub fn memberAt(self: *const Composite, index: []const u64, diagnostics: ?*Diagnostics) Error!u32 {
        return elements.number(u32, library.table.composite_member_at, try self.handle.get(diagnostics), index, diagnostics);
    }

    /// An element of a partition or an overlay as a number: that of the member in which it lies, dequantized where that is
    /// quantized; of overlays the last correction that has it, or the sum of all.
    ///
    /// Errors: as `memberAt`; HurrayUnsupported: a group, a private rule, a complex type, sums that are not defined, memory that
    /// the CPU cannot read; HurrayInvalidSyncMode; those of reading members that are sparse or quantized.
    pub fn elementFloat64(self: *const Composite, index: []const u64, diagnostics: ?*Diagnostics) Error!f64 {
        return elements.number(f64, library.table.composite_element_float64, try self.handle.get(diagnostics), index, diagnostics);
    }

    /// As `elementFloat64`, as a complex number; of real types with the imaginary part 0.
    pub fn elementComplex128(self: *const Composite, index: []const u64, diagnostics: ?*Diagnostics) Error!std.math.Complex(f64) {
        return elements.complex128(library.table.composite_element_complex128, try self.handle.get(diagnostics), index, diagnostics);
    }

    /// As `elementFloat64`, as the bits of the head's type. Errors also: HurrayUnsupported: more than 128 bits.
    pub fn elementBits(self: *const Composite, index: []const u64, diagnostics: ?*Diagnostics) Error!elements.ElementBits {
        return elements.bits(library.table.composite_element_bits, try self.handle.get(diagnostics), index, diagnostics);
    }

    /// Copies all elements of a partition or an overlay into one new tensor of the head's shape and type, row-major, which the
    /// caller owns. Quantized members are dequantized, corrections applied in their order. The unit of progress is bytes put in
    /// place.
    ///
    /// Errors: HurrayUnsupported: as `elementFloat64`; HurrayInvalidLayout: index arrays that break a rule; HurrayInvalidSyncMode;
    /// those of `Tensor.dequantize`; HurrayLimitExceeded; HurrayOutOfMemory; HurrayCancelled.
    pub fn merged(self: *const Composite, work: Work, diagnostics: ?*Diagnostics) Error!Tensor {
        const handle = try self.handle.get(diagnostics);
        const options = work.raw();
        var out: ?*abi.c.HurrayTensor = null;
        try diagnostics_.check(library.table.composite_merged(handle, &options, &out, diagnostics_.reportOf(diagnostics)));
        return .{ .handle = .init(out.?) };
    }

    /// Ends the composite; the last share of its memory releases it on this thread. A second end is a no-op.
    pub fn deinit(self: *Composite) void {
        self.handle.deinit();
    }

    /// Ends the composite on a thread that must not run release callbacks: they wait on a queue.
    pub fn deinitDeferred(self: *Composite) void {
        self.handle.deinitDeferred();
    }

    fn borrowHead(self: *const Composite, diagnostics: ?*Diagnostics) Error!*const abi.c.HurrayDescriptor {
        const handle = try self.handle.get(diagnostics);
        var borrowed: ?*const abi.c.HurrayDescriptor = null;
        try diagnostics_.check(library.table.composite_head(handle, &borrowed, diagnostics_.reportOf(diagnostics)));
        return borrowed.?;
    }

    /// Collects the members of a composite; `build` checks them all. Threads: used by one at a time.
    pub const Builder = struct {
        handle: Handle(abi.c.HurrayCompositeBuilder, "composite_builder_destroy", "composite builder"),

        /// Starts a composite; the head, of layout `composite`, is copied.
        pub fn init(head_: *const descriptor_.Descriptor, diagnostics: ?*Diagnostics) Error!Builder {
            const described = try head_.handle.get(diagnostics);
            var out: ?*abi.c.HurrayCompositeBuilder = null;
            try diagnostics_.check(library.table.composite_builder_new(described, &out, diagnostics_.reportOf(diagnostics)));
            return .{ .handle = .init(out.?) };
        }

        /// Appends a tensor, which is shared and may be ended at once.
        pub fn addTensor(self: *Builder, tensor: *const Tensor, diagnostics: ?*Diagnostics) Error!void {
            const handle = try self.handle.get(diagnostics);
            const added = try tensor.handle.get(diagnostics);
            try diagnostics_.check(library.table.composite_builder_add_tensor(handle, added, diagnostics_.reportOf(diagnostics)));
        }

        /// Appends a composite, which is shared and may be ended at once.
        pub fn addComposite(self: *Builder, composite: *const Composite, diagnostics: ?*Diagnostics) Error!void {
            const handle = try self.handle.get(diagnostics);
            const added = try composite.handle.get(diagnostics);
            try diagnostics_.check(library.table.composite_builder_add_composite(handle, added, diagnostics_.reportOf(diagnostics)));
        }

        /// Checks the members against the head and makes the composite, which the caller owns. Errors: HurrayInvalidComposite.
        pub fn build(self: *const Builder, diagnostics: ?*Diagnostics) Error!Composite {
            const handle = try self.handle.get(diagnostics);
            var out: ?*abi.c.HurrayComposite = null;
            try diagnostics_.check(library.table.composite_builder_build(handle, &out, diagnostics_.reportOf(diagnostics)));
            return .{ .handle = .init(out.?) };
        }

        /// Ends the builder. A second end is a no-op.
        pub fn deinit(self: *Builder) void {
            self.handle.deinit();
        }
    };
};
