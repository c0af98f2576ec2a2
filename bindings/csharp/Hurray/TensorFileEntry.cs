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
        Scheme = info.Scheme == 0 ? null : (Scheme)info.Scheme;
        StoredType = Names.Decode(Names.Copy(info.StoredType, info.StoredTypeLength));
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

    /// <summary>Its quantization scheme, as the tensor will have it, or the number of one that is not known; null: none.</summary>
    public Scheme? Scheme { get; }

    /// <summary>The format's own word for the type ("F32", "Q4_K", "&lt;f4"); empty for .hrry.</summary>
    public string StoredType { get; }

    /// <summary>Size of every dimension.</summary>
    public ReadOnlySpan<ulong> Shape => _shape;

    /// <summary>Offset of the data in the file, in bytes.</summary>
    public ulong FileOffset { get; }

    /// <summary>Bytes that the data takes in the file.</summary>
    public ulong ByteSize { get; }
}
