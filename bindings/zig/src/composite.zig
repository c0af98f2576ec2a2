//! Composites: a head and the tensors that it is made of. (format: composite)

const abi = @import("hurray_abi");
const descriptor_ = @import("descriptor.zig");
const diagnostics_ = @import("diagnostics.zig");
const layout_fields = @import("layout_fields.zig");
const library = @import("library.zig");
const Handle = @import("handle.zig").Handle;
const Tensor = @import("tensor.zig").Tensor;

const Diagnostics = diagnostics_.Diagnostics;
const Error = diagnostics_.Error;

/// A composite of the caller's, complete and checked; it shares the memory of its members. Threads: used by one at a time.
pub const Composite = struct {
    handle: Handle(abi.c.HurrayComposite, "composite_destroy", "composite"),

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

        pub fn deinit(self: *Member) void {
            switch (self.*) {
                inline else => |*given| given.deinit(),
            }
        }
    };

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
        if (tensor) |given| return .{ .tensor = .{ .handle = .init(given) } };
        return .{ .composite = .{ .handle = .init(composite.?) } };
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
