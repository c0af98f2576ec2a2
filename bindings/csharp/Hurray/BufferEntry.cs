using System;
using System.Buffers.Binary;
using Hurray.Interop;

namespace Hurray;

/// <summary>An entry of a descriptor's buffer table. (format: buffer table)</summary>
/// <param name="ByteSize">Length in bytes.</param>
/// <param name="Alignment">A power of two, at least 64 unless the buffer is empty.</param>
/// <param name="Device">Where the memory lies.</param>
/// <param name="SyncMode">How a consumer learns that the bytes are there.</param>
/// <param name="MemoryClass">What kind of memory of the device it is.</param>
public readonly record struct BufferEntry(
    ulong ByteSize,
    uint Alignment = 64,
    Device Device = Device.Cpu,
    SyncMode SyncMode = SyncMode.ProducerSynced,
    MemoryClass MemoryClass = MemoryClass.Standard)
{
    internal static unsafe BufferEntry From(in NativeBufferHandleBytes native)
    {
        fixed (byte* bytes = native.Bytes)
        {
            return From(new ReadOnlySpan<byte>(bytes, 16));
        }
    }

    internal static BufferEntry From(ReadOnlySpan<byte> bytes) => new(
        BinaryPrimitives.ReadUInt64LittleEndian(bytes),
        BinaryPrimitives.ReadUInt32LittleEndian(bytes[8..]),
        (Device)bytes[12],
        (SyncMode)bytes[13],
        (MemoryClass)bytes[14]);

    internal unsafe NativeBufferHandleBytes ToNative()
    {
        NativeBufferHandleBytes native = default;
        var bytes = new Span<byte>(native.Bytes, 16);
        BinaryPrimitives.WriteUInt64LittleEndian(bytes, ByteSize);
        BinaryPrimitives.WriteUInt32LittleEndian(bytes[8..], Alignment);
        bytes[12] = (byte)Device;
        bytes[13] = (byte)SyncMode;
        bytes[14] = (byte)MemoryClass;
        return native;
    }
}
