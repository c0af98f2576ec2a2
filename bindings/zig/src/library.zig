//! Finds the library, checks its version, and holds its functions.
//!
//! The build says what the module hurray_link is: either a shared library, opened at run time, or one that is linked with the
//! program. In both, the first thing that is called in it is the function that tells the version.

const builtin = @import("builtin");
const std = @import("std");
const abi = @import("hurray_abi");
const link = @import("hurray_link");
const diagnostics_ = @import("diagnostics.zig");
const guard = @import("guard.zig");

const Diagnostics = diagnostics_.Diagnostics;
const Error = diagnostics_.Error;

/// The version of the C ABI that this package was built for.
pub const built_for_version = abi.constants.c_abi_version;

/// The functions of the library. Nothing may be called before `ensure` succeeded once; whoever has a handle knows that
/// it did.
pub var table: abi.Table = undefined;

/// The queue on which releases of memory that this package lent to the library wait when a collector's thread of another
/// runtime dropped the last share. Lives as long as the process.
var queue: ?*abi.c.HurrayReleaseQueue = null;

/// Whether the library is open, `table` complete, and `queue` there.
var loaded: std.atomic.Value(bool) = .init(false);
/// Whether the library is open and `table` complete; guarded by `loading`.
var opened = false;
var loading: std.atomic.Mutex = .unlocked;

/// Makes sure that the library is there; every constructor begins with it. A failure is not remembered.
pub inline fn ensure(diagnostics: ?*Diagnostics) Error!void {
    if (loaded.load(.acquire)) return;
    return load(null, diagnostics);
}

/// Loads the library from a file, or, for null, from the one that the environment variable HURRAY_LIBRARY names, or else
/// from what the system finds as libhurray.so.1. Where the build linked the library with the program, that one is used and no
/// other. A program that has no special wish need not call this. Any thread.
///
/// Errors: HurrayLibraryNotFound; HurrayVersionMismatch, with both numbers in the report; HurrayInvalidArgument when a
/// path is given and a library is loaded already, or linked.
pub fn load(path: ?[:0]const u8, diagnostics: ?*Diagnostics) Error!void {
    while (!loading.tryLock()) std.Thread.yield() catch {};
    defer loading.unlock();
    if (opened) {
        if (path != null) return diagnostics_.fail(diagnostics, .invalid_argument, error.HurrayInvalidArgument, "path: a library is loaded already", .{});
        if (loaded.load(.acquire)) return;
    } else {
        try open(path, diagnostics);
        // Without memory for it a fork's child would only not get a queue of its own.
        if (builtin.os.tag != .windows) _ = std.c.pthread_atfork(null, null, beginChild);
        opened = true;
    }
    queue = null;
    try diagnostics_.check(table.release_queue_new(&queue, diagnostics_.reportOf(diagnostics)));
    loaded.store(true, .release);
}

/// The child of a fork has one thread, and of what it inherited it may only end the handles: locks that other threads held
/// are made anew, and the next use makes a queue for what the child lends itself.
fn beginChild() callconv(.c) void {
    loading = .unlocked;
    loaded.store(false, .monotonic);
    guard.beginChild();
}

fn open(path: ?[:0]const u8, diagnostics: ?*Diagnostics) Error!void {
    if (link.linked and path != null) {
        return diagnostics_.fail(diagnostics, .invalid_argument, error.HurrayInvalidArgument, "path: the library is linked with this program", .{});
    }
    var reason: []const u8 = "";
    const opened_library = link.Library.open(path, &reason) orelse
        return diagnostics_.fail(diagnostics, .not_found, error.HurrayLibraryNotFound, "cannot load the library: {s}", .{reason});
    errdefer opened_library.close();
    try checkVersion(opened_library, diagnostics);
    if (table.resolve(opened_library)) |missing| {
        return diagnostics_.fail(diagnostics, .version_mismatch, error.HurrayVersionMismatch, "the library has no {s}: {s}", .{ missing, opened_library.name });
    }
}

fn checkVersion(file: link.Library, diagnostics: ?*Diagnostics) Error!void {
    const symbol = abi.Table.prefix ++ abi.Table.version_function;
    const version: @FieldType(abi.Table, abi.Table.version_function) = @ptrCast(@alignCast(file.find(symbol) orelse
        return diagnostics_.fail(
            diagnostics,
            .version_mismatch,
            error.HurrayVersionMismatch,
            "expected a library of version {d} of the C ABI, this one has no {s}: {s}",
            .{ built_for_version, symbol, file.name },
        )));
    const found = version();
    if (found == built_for_version) return;
    if (file.find(abi.Table.prefix ++ "c_abi_supports")) |address| {
        const supports: @FieldType(abi.Table, "c_abi_supports") = @ptrCast(@alignCast(address));
        if (supports(built_for_version) == 1) return;
    }
    return diagnostics_.failVersions(
        diagnostics,
        .{ .built_for = built_for_version, .found = found },
        "this package was built for version {d} of the C ABI, the library has version {d}: {s}",
        .{ built_for_version, found, file.name },
    );
}

/// Facts about the loaded library. The texts live as long as it is loaded.
pub const RuntimeInfo = struct {
    /// Version of the C ABI that the library implements.
    c_abi_version: u32,
    /// What identifies the build.
    build_id: [:0]const u8,
    /// Version of the library, such as "0.1.0".
    version: [:0]const u8,
    /// File that the library was loaded from; empty when the operating system cannot tell.
    library_path: [:0]const u8,
    /// Whether destroyed handles are kept in quarantine and checked.
    handle_checks: bool,
};

/// Reports which library is loaded. Any thread.
pub fn runtimeInfo(diagnostics: ?*Diagnostics) Error!RuntimeInfo {
    try ensure(diagnostics);
    var info: abi.c.HurrayRuntimeInfo = .{ .struct_size = @sizeOf(abi.c.HurrayRuntimeInfo) };
    try diagnostics_.check(table.runtime_info(&info, diagnostics_.reportOf(diagnostics)));
    return .{
        .c_abi_version = info.c_abi_version,
        .build_id = std.mem.span(info.build_id),
        .version = std.mem.span(info.version),
        .library_path = std.mem.span(info.library_path),
        .handle_checks = info.handle_checks != 0,
    };
}

/// Handles that are alive, and the bytes that they stand for.
pub const LiveHandles = struct { handles: u64, bytes: u64 };

/// Counts what is alive in the library, over the whole process. A program that ended all its objects reads what it read
/// at first. Any thread; the two numbers are not taken at one instant while other threads work.
pub fn liveHandles(kind: abi.constants.HandleKind, diagnostics: ?*Diagnostics) Error!LiveHandles {
    try ensure(diagnostics);
    var live: LiveHandles = undefined;
    try diagnostics_.check(table.live_handles(@intFromEnum(kind), &live.handles, &live.bytes, diagnostics_.reportOf(diagnostics)));
    return live;
}

/// Turns the library's quarantine of destroyed handles on or off. It finds faults of other users of the same library;
/// this package has a check of its own (see `Guard`). Any thread.
pub fn setHandleChecks(enabled: bool, diagnostics: ?*Diagnostics) Error!void {
    try ensure(diagnostics);
    try diagnostics_.check(table.handle_checks_set(@intFromBool(enabled), diagnostics_.reportOf(diagnostics)));
}

/// Reads one of the last 32 reports of exceptions that the library caught and of invariants of its own that broke:
/// 0 is the oldest, null is after the last. Any thread.
pub fn readDiagnostic(index: u32, diagnostics: ?*Diagnostics) Error!?Diagnostics {
    try ensure(diagnostics);
    var kept: Diagnostics = .{};
    const status = table.diagnostics_read(index, &kept.report, diagnostics_.reportOf(diagnostics));
    if (status == @intFromEnum(diagnostics_.Status.index_out_of_bounds)) {
        if (diagnostics) |d| d.* = .{};
        return null;
    }
    try diagnostics_.check(status);
    return kept;
}

/// The binding's release queue; only after `ensure`.
pub fn releaseQueue() *const abi.c.HurrayReleaseQueue {
    return queue.?;
}

/// Runs the releases that wait on the package's queue, on this thread, and returns how many ran. Releases wait there
/// only when another runtime in the process dropped the last share of this package's memory on a thread that must not
/// run callbacks. Everything that lends memory to the library does it, too. Any thread.
pub fn drainReleases(diagnostics: ?*Diagnostics) Error!u64 {
    try ensure(diagnostics);
    var released: u64 = 0;
    try diagnostics_.check(table.release_queue_drain(queue, std.math.maxInt(u64), &released, diagnostics_.reportOf(diagnostics)));
    return released;
}

/// How many releases wait on the package's queue. Any thread.
pub fn pendingReleases(diagnostics: ?*Diagnostics) Error!u64 {
    try ensure(diagnostics);
    var pending: u64 = 0;
    try diagnostics_.check(table.release_queue_pending(queue, &pending, diagnostics_.reportOf(diagnostics)));
    return pending;
}
