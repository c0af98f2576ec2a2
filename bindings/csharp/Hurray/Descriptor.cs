using System;
using System.Collections.Generic;
using Hurray.Interop;

namespace Hurray;

/// <summary>A decoded, validated tensor descriptor: what the bytes of a tensor are. (format: tensor descriptor)</summary>
/// <remarks>Immutable and plain memory of .NET: nothing to close, and any number of threads may read it.</remarks>
public sealed class Descriptor
{
    private readonly byte[] _encoded;
    private readonly ulong[] _shape;
    private readonly long[]? _strides;
    private readonly ulong[]? _parentShape;
    private readonly ulong[]? _shardOffset;
    private readonly BufferEntry[] _buffers;
    private readonly byte[] _trailing;
    private readonly byte[] _quantizationPayload = [];

    internal unsafe Descriptor(DescriptorHandle handle)
    {
        NativeError error;
        var info = NativeDescriptorInfo.Sized;
        Native.Check(NativeMethods.DescriptorInfo(handle, ref info, &error), &error);
        int rank = (int)info.Rank;
        VersionMajor = info.VersionMajor;
        VersionMinor = info.VersionMinor;
        Flags = info.Flags;
        ElementType = (ElementType)info.ElementType;
        Layout = (Layout)info.Layout;
        Bits = (int)info.Bits;
        ByteOffset = info.ByteOffset;
        ElementCount = info.ElementCount == ShapeLimit.DimensionDynamic ? null : info.ElementCount;
        _shape = new ReadOnlySpan<ulong>(info.Shape, rank).ToArray();
        _strides = info.Strides == null ? null : new ReadOnlySpan<long>(info.Strides, rank).ToArray();
        _parentShape = info.ParentShape == null ? null : new ReadOnlySpan<ulong>(info.ParentShape, rank).ToArray();
        _shardOffset = info.ShardOffset == null ? null : new ReadOnlySpan<ulong>(info.ShardOffset, rank).ToArray();
        Reading = (DescriptorFlags)info.Reading;
        _trailing = new ReadOnlySpan<byte>(info.Trailing, Native.Length(info.TrailingLength, "trailing")).ToArray();
        if (Layout is not (Layout.RowMajor or Layout.ColMajor))
        {
            LayoutFields = LayoutInterop.Read(handle);
        }

        // Most descriptors have no section, and then nothing more is asked.
        const SectionFlags ReadHere = SectionFlags.Quantization | SectionFlags.Statistics | SectionFlags.ExtensionType
            | SectionFlags.CompositeMember;
        if (((SectionFlags)Flags & ReadHere) != 0)
        {
            Quantization = SectionInterop.ReadQuantization(handle, out _quantizationPayload);
            Statistics = SectionInterop.ReadStatistics(handle);
            ExtensionType = SectionInterop.ReadExtensionType(handle);
            MemberRole = SectionInterop.ReadMemberRole(handle);
        }

        _buffers = new BufferEntry[info.BufferCount];
        for (int i = 0; i < _buffers.Length; ++i)
        {
            Native.Check(
                NativeMethods.DescriptorBuffer(handle, (uint)i, out NativeBufferHandleBytes entry, &error), &error);
            _buffers[i] = BufferEntry.From(entry);
        }

        _encoded = new byte[Native.Length(info.DescriptorLength, "descriptor")];
        Native.Check(
            NativeMethods.DescriptorEncode(handle, _encoded, (ulong)_encoded.Length, out _, &error), &error);
        GC.KeepAlive(handle);
    }

    /// <summary>Major version of the format.</summary>
    public int VersionMajor { get; }

    /// <summary>Minor version of the format.</summary>
    public int VersionMinor { get; }

    /// <summary>Flag bits of the fixed header. (format: fixed header)</summary>
    public uint Flags { get; }

    /// <summary>Type of the elements.</summary>
    public ElementType ElementType { get; }

    /// <summary>How the elements lie in the buffers.</summary>
    public Layout Layout { get; }

    /// <summary>Bits of one element; 0 when the element type is not known.</summary>
    public int Bits { get; }

    /// <summary>Number of dimensions, 0 to <see cref="ShapeLimit.MaxRank"/>.</summary>
    public int Rank => _shape.Length;

    /// <summary>Size of every dimension; <see cref="ShapeLimit.DimensionDynamic"/> where it is not known.</summary>
    public ReadOnlySpan<ulong> Shape => _shape;

    /// <summary>Strides in elements of the strided layout; empty for every other one.</summary>
    public ReadOnlySpan<long> Strides => _strides;

    /// <summary>Offset of element (0, ..., 0) in buffer 0, in bytes.</summary>
    public ulong ByteOffset { get; }

    /// <summary>Product of the shape; null where a dimension is dynamic.</summary>
    public ulong? ElementCount { get; }

    /// <summary>The fields of the layout; null for row-major and column-major, which have none.</summary>
    public LayoutFields? LayoutFields { get; }

    /// <summary>How the elements are quantized; null when they are not.</summary>
    public Quantization? Quantization { get; }

    /// <summary>The bytes of the quantization section behind its length; empty when there is none.</summary>
    public ReadOnlySpan<byte> QuantizationPayload => _quantizationPayload;

    /// <summary>What the writer said about the values; null when nothing.</summary>
    public Statistics? Statistics { get; }

    /// <summary>What the elements are, when their type is a private one; else null.</summary>
    public ExtensionType? ExtensionType { get; }

    /// <summary>The role of a member of an overlay; null for other tensors.</summary>
    public MemberRole? MemberRole { get; }

    /// <summary>Whether a permissive reader met a tag that it does not know: nobody may touch the data then.</summary>
    public bool IsOpaque => (Reading & DescriptorFlags.Opaque) != 0;

    /// <summary>Whether it is the layout that is not known. There are no layout fields, buffers and sections then, whatever
    /// <see cref="Flags"/> says: all of that is in <see cref="Trailing"/>.</summary>
    public bool IsUnread => (Reading & DescriptorFlags.Unread) != 0;

    /// <summary>What a later minor version put behind the sections, or what is unread; encoded again as it was.</summary>
    public ReadOnlySpan<byte> Trailing => _trailing;

    /// <summary>The buffer table.</summary>
    public IReadOnlyList<BufferEntry> Buffers => _buffers;

    /// <summary>Whether the tensor is a shard of a larger one. (format: shard)</summary>
    public bool IsShard => _parentShape is not null;

    /// <summary>Shape of the tensor of which this is a shard; empty where it is none, or of rank 0.</summary>
    public ReadOnlySpan<ulong> ParentShape => _parentShape;

    /// <summary>Offset of this shard in its parent; empty where it is none, or of rank 0.</summary>
    public ReadOnlySpan<ulong> ShardOffset => _shardOffset;

    /// <summary>The encoded descriptor. Its length is the descriptor_length of the format.</summary>
    public ReadOnlySpan<byte> Encoded => _encoded;

    /// <summary>Decodes and validates a descriptor. Bytes behind it are not looked at.</summary>
    /// <param name="bytes">The encoded descriptor; its length is <see cref="Encoded"/>'s.</param>
    /// <returns>The descriptor; nothing of <paramref name="bytes"/> is kept.</returns>
    /// <exception cref="HurrayException">The bytes are no valid descriptor: code, byte offset and expectation say
    /// why.</exception>
    public static unsafe Descriptor Decode(ReadOnlySpan<byte> bytes)
    {
        using DescriptorHandle handle = DecodeHandle(bytes);
        return new Descriptor(handle);
    }

    /// <summary>Decodes a descriptor by the options of the caller.</summary>
    /// <param name="bytes">The encoded descriptor.</param>
    /// <param name="options">What is accepted.</param>
    /// <returns>The descriptor; nothing of <paramref name="bytes"/> is kept.</returns>
    /// <exception cref="HurrayException">As for <see cref="Decode(ReadOnlySpan{byte})"/>.</exception>
    public static Descriptor Decode(ReadOnlySpan<byte> bytes, DecodeOptions options)
    {
        ArgumentNullException.ThrowIfNull(options);
        using DescriptorHandle handle = DecodeHandle(bytes, options);
        return new Descriptor(handle);
    }

    /// <summary>Length of the descriptor at the start of the bytes, from its first 20; for readers of streams.</summary>
    /// <param name="bytes">At least the fixed header.</param>
    /// <returns>The length in bytes.</returns>
    /// <exception cref="HurrayException">The fixed header is wrong or not complete.</exception>
    public static unsafe ulong PeekLength(ReadOnlySpan<byte> bytes)
    {
        NativeError error;
        Native.Check(
            NativeMethods.DescriptorPeekLength(bytes, (ulong)bytes.Length, out ulong length, &error), &error);
        return length;
    }

    /// <summary>The encoded descriptor, as an array of its own.</summary>
    /// <returns>The bytes. A descriptor of a later minor version keeps what this version does not know.</returns>
    public byte[] Encode() => _encoded.AsSpan().ToArray();

    private DescriptorFlags Reading { get; }

    // What was decoded or built once passes again; private tags were agreed upon then.
    internal DescriptorHandle ToHandle() =>
        DecodeHandle(_encoded, new DecodeOptions { PrivateTags = true, Permissive = IsOpaque, MaxLength = uint.MaxValue });

    private static unsafe DescriptorHandle DecodeHandle(ReadOnlySpan<byte> bytes)
    {
        NativeError error;
        Native.Check(
            NativeMethods.DescriptorDecode(bytes, (ulong)bytes.Length, out DescriptorHandle handle, &error), &error);
        return handle;
    }

    private static unsafe DescriptorHandle DecodeHandle(ReadOnlySpan<byte> bytes, DecodeOptions options)
    {
        NativeError error;
        NativeDecodeOptions accepted = options.ToNative();
        Native.Check(
            NativeMethods.DescriptorDecodeOptions(
                bytes, (ulong)bytes.Length, &accepted, out DescriptorHandle handle, &error),
            &error);
        return handle;
    }
}
