//! What is said about a failed call: the error set, and the report beside it.

const std = @import("std");
const abi = @import("hurray_abi");

pub const Status = abi.constants.Status;

/// Every failure of this package. `HurrayX` stands for the status code HURRAY_ERR_X of the C ABI; the last few are
/// conditions that the package finds itself, before the library is asked.
pub const Error = abi.errors.StatusError || error{
    /// The object was ended by `deinit`, or moved into another one. Its report carries `Status.invalid_handle`.
    HurrayClosed,
    /// The shared library cannot be loaded. Its report carries `Status.not_found` and the loader's reason.
    HurrayLibraryNotFound,
    /// Memory that must not be written was asked for to be written. Its report carries `Status.invalid_argument`.
    HurrayReadOnly,
    /// A slice was asked for of elements that do not follow one another. Its report carries `Status.unsupported`.
    HurrayNotContiguous,
};

/// The versions of the C ABI that did not fit together.
pub const Versions = struct {
    /// The version that this package was built for.
    built_for: u32,
    /// The version that the library, or the tensor context, answered.
    found: u32,
};

/// The report of a failed call: pass the address of one as the last argument of any function, or null. After an error
/// it holds the code, what is wrong, where, and what was expected. One report may be passed to many calls; it belongs
/// to one thread at a time.
pub const Diagnostics = struct {
    report: abi.c.HurrayError = .{},
    mismatch: ?Versions = null,

    /// The status code; it may be one that this package has no name for. `.ok` before any failure.
    pub fn code(self: *const Diagnostics) Status {
        return @enumFromInt(self.report.code);
    }

    /// What is wrong, where, and what was expected; UTF-8.
    pub fn message(self: *const Diagnostics) []const u8 {
        return std.mem.sliceTo(&self.report.message, 0);
    }

    /// The place of the fault in the input, in bytes: the number in the " [byte N]" that ends the message.
    pub fn offset(self: *const Diagnostics) ?u64 {
        const text = self.message();
        if (!std.mem.endsWith(u8, text, "]")) return null;
        const mark = " [byte ";
        const start = std.mem.lastIndexOf(u8, text, mark) orelse return null;
        const digits = text[start + mark.len .. text.len - 1];
        // parseInt would let signs and underscores pass.
        for (digits) |digit| if (!std.ascii.isDigit(digit)) return null;
        return std.fmt.parseInt(u64, digits, 10) catch null;
    }

    /// Both numbers, after error.HurrayVersionMismatch of a library or of a tensor context.
    pub fn versions(self: *const Diagnostics) ?Versions {
        return if (self.code() == .version_mismatch) self.mismatch else null;
    }

    /// Writes code and message, for `{f}`.
    pub fn format(self: *const Diagnostics, writer: *std.Io.Writer) std.Io.Writer.Error!void {
        const status = self.code();
        if (std.enums.tagName(Status, status)) |name| {
            for (name) |letter| try writer.writeByte(std.ascii.toUpper(letter));
        } else {
            try writer.print("status {d}", .{self.report.code});
        }
        try writer.print(": {s}", .{self.message()});
    }
};

/// Where the library writes its report.
pub fn reportOf(diagnostics: ?*Diagnostics) ?*abi.c.HurrayError {
    const d = diagnostics orelse return null;
    d.mismatch = null;
    return &d.report;
}

/// The error of a status that the library returned together with a report.
pub fn check(status: i32) Error!void {
    if (status != 0) {
        @branchHint(.unlikely);
        return abi.errors.errorOf(status);
    }
}

/// The error of a status of a function that writes no report; `what` says what was tried.
pub fn checkSilent(status: i32, diagnostics: ?*Diagnostics, comptime what: []const u8) Error!void {
    if (status != 0) {
        @branchHint(.unlikely);
        describe(diagnostics, status, what, .{});
        return abi.errors.errorOf(status);
    }
}

/// Fills the report for a failure that this package found, and returns its error.
pub fn fail(
    diagnostics: ?*Diagnostics,
    status: Status,
    err: Error,
    comptime text: []const u8,
    arguments: anytype,
) Error {
    describe(diagnostics, @intFromEnum(status), text, arguments);
    return err;
}

/// As `fail`, for versions that do not fit together.
pub fn failVersions(
    diagnostics: ?*Diagnostics,
    versions: Versions,
    comptime text: []const u8,
    arguments: anytype,
) Error {
    describe(diagnostics, @intFromEnum(Status.version_mismatch), text, arguments);
    if (diagnostics) |d| d.mismatch = versions;
    return error.HurrayVersionMismatch;
}

/// The status that stands for an error, where it goes back through the C ABI. One that this package does not know is
/// INTERNAL_PANIC, as an exception would be.
pub fn statusOf(err: anyerror, diagnostics: *const Diagnostics) i32 {
    const own: Status = switch (err) {
        error.HurrayClosed => .invalid_handle,
        error.HurrayLibraryNotFound => .not_found,
        error.HurrayReadOnly => .invalid_argument,
        error.HurrayNotContiguous => .unsupported,
        error.OutOfMemory => .out_of_memory,
        // The report has the code that the error set has no name for.
        error.HurrayUnknownStatus => return if (diagnostics.report.code < 0) diagnostics.report.code else @intFromEnum(Status.internal_panic),
        else => {
            inline for (@typeInfo(abi.errors.StatusError).error_set.?) |known| {
                const named = @field(abi.errors.StatusError, known.name);
                if (err == named) return abi.errors.statusOf(named).?;
            }
            return @intFromEnum(Status.internal_panic);
        },
    };
    return @intFromEnum(own);
}

/// Fills the report, if there is one.
pub fn describe(diagnostics: ?*Diagnostics, status: i32, comptime text: []const u8, arguments: anytype) void {
    const d = diagnostics orelse return;
    d.* = .{};
    d.report.code = status;
    // A text that is too long is cut; the last byte stays 0.
    var writer: std.Io.Writer = .fixed(d.report.message[0 .. d.report.message.len - 1]);
    writer.print(text, arguments) catch {};
    var end = writer.end;
    while (end > 0 and !std.unicode.utf8ValidateSlice(d.report.message[0..end]) and writer.end - end < 4) end -= 1;
    @memset(d.report.message[end..], 0);
}
