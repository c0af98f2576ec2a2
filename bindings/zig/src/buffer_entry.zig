//! Entries of a descriptor's buffer table.

const std = @import("std");
const abi = @import("hurray_abi");

/// What a descriptor says about one of its buffers: the 16-byte buffer handle. (format: buffer table)
pub const BufferEntry = struct {
    /// Length in bytes.
    byte_size: u64,
    /// A power of two; at least 64 when the buffer is not empty.
    alignment: u32 = 64,
    device: abi.constants.Device = .cpu,
    sync_mode: abi.constants.SyncMode = .producer_synced,
    memory_class: abi.constants.MemoryClass = .standard,

    pub fn fromBytes(bytes: *const [16]u8) BufferEntry {
        return .{
            .byte_size = std.mem.readInt(u64, bytes[0..8], .little),
            .alignment = std.mem.readInt(u32, bytes[8..12], .little),
            .device = @enumFromInt(bytes[12]),
            .sync_mode = @enumFromInt(bytes[13]),
            .memory_class = @enumFromInt(bytes[14]),
        };
    }

    pub fn toBytes(self: BufferEntry) [16]u8 {
        var bytes: [16]u8 = undefined;
        std.mem.writeInt(u64, bytes[0..8], self.byte_size, .little);
        std.mem.writeInt(u32, bytes[8..12], self.alignment, .little);
        bytes[12] = @intFromEnum(self.device);
        bytes[13] = @intFromEnum(self.sync_mode);
        bytes[14] = @intFromEnum(self.memory_class);
        bytes[15] = 0;
        return bytes;
    }
};
