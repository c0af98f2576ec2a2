using System;
using Hurray.Interop;

namespace Hurray;

/// <summary>What a file says about one of its tensors, without touching its data. Plain memory of .NET: stays when the file is
/// closed.</summary>
public sealed class TensorFileEntry
{
    private readonly byte[] _name;
    private readonly ulong[] _shape;

    internal unsafe TensorFileEntry(in NativeFileTensorInfo info)
    {
        _name = Names.Copy(info.Name, info.NameLength);
        _shape = new ReadOnlySpan<ulong>(info.Shape, (int)info.Rank).ToArray();
        Name = Names.Decode(_name);
        ElementType = (ElementType)info.ElementType;
        Layout = (Layout)info.Layout;
        Bits = (int)info.Bits;
        FileOffset = info.FileOffset;
        ByteSize = info.ByteSize;
    }

    /// <summary>The name; may hold NUL and any other character.</summary>
    public string Name { get; }

    /// <summary>The name as UTF-8.</summary>
    public ReadOnlySpan<byte> NameUtf8 => _name;

    /// <summary>Type of the elements.</summary>
    public ElementType ElementType { get; }

    /// <summary>How the elements lie.</summary>
    public Layout Layout { get; }

    /// <summary>Bits of one element, as the tensor will have them.</summary>
    public int Bits { get; }

    /// <summary>Size of every dimension.</summary>
    public ReadOnlySpan<ulong> Shape => _shape;

    /// <summary>Offset of the data in the file, in bytes.</summary>
    public ulong FileOffset { get; }

    /// <summary>Bytes that the data takes in the file.</summary>
    public ulong ByteSize { get; }
}
