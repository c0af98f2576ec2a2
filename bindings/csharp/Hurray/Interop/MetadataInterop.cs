using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;

namespace Hurray.Interop;

/// <summary>Metadata values as values of .NET, and the other way.</summary>
internal static unsafe class MetadataInterop
{
    /// <summary>The value of an entry; arrays are read element by element.</summary>
    /// <param name="file">The file, held by the caller: what the entry leads to is the file's.</param>
    /// <param name="index">The entry's place.</param>
    /// <param name="entry">The entry.</param>
    public static object Read(FileHandle file, ulong index, in NativeFileMetadata entry) => (MetadataType)entry.Type switch
    {
        MetadataType.String => String(entry),
        MetadataType.Int64 => entry.Int64Value,
        MetadataType.UInt64 => entry.UInt64Value,
        MetadataType.Float64 => entry.Float64Value,
        MetadataType.Bool => entry.Boolean != 0,
        MetadataType.Bytes => Bytes(entry),
        MetadataType.Array => (MetadataType)entry.ElementType switch
        {
            MetadataType.String => All(file, index, entry.Count, static (in NativeFileMetadata e) => String(e)),
            MetadataType.Int64 => All(file, index, entry.Count, static (in NativeFileMetadata e) => e.Int64Value),
            MetadataType.UInt64 => All(file, index, entry.Count, static (in NativeFileMetadata e) => e.UInt64Value),
            MetadataType.Float64 => All(file, index, entry.Count, static (in NativeFileMetadata e) => e.Float64Value),
            MetadataType.Bool => All(file, index, entry.Count, static (in NativeFileMetadata e) => e.Boolean != 0),
            MetadataType.Bytes => All(file, index, entry.Count, static (in NativeFileMetadata e) => Bytes(e)),
            _ => new UnknownMetadata(entry.ElementType),
        },
        _ => new UnknownMetadata(entry.Type),
    };

    /// <summary>Sets an entry to a value without a text or bytes.</summary>
    public static void Set(FileWriterHandle writer, ReadOnlySpan<byte> key, in NativeFileMetadata value)
    {
        NativeError error;
        Native.Check(NativeMethods.FileWriterSetValue(writer, key, (ulong)key.Length, in value, &error), &error);
    }

    /// <summary>Sets an entry to bytes.</summary>
    public static void Set(FileWriterHandle writer, ReadOnlySpan<byte> key, ReadOnlySpan<byte> bytes)
    {
        fixed (byte* at = bytes)
        {
            NativeFileMetadata value = Value(MetadataType.Bytes);
            value.Value = at;
            value.ValueLength = (ulong)bytes.Length;
            Set(writer, key, value);
        }
    }

    /// <summary>Sets an entry to an array of values without a text or bytes.</summary>
    public static void Set<T>(
        FileWriterHandle writer, ReadOnlySpan<byte> key, MetadataType type, ReadOnlySpan<T> values, Func<T, NativeFileMetadata> make)
    {
        var elements = new NativeFileMetadata[values.Length];
        for (int i = 0; i < values.Length; ++i)
        {
            elements[i] = make(values[i]);
        }

        Set(writer, key, type, elements);
    }

    /// <summary>Sets an entry to an array of texts or of bytes.</summary>
    public static void Set(FileWriterHandle writer, ReadOnlySpan<byte> key, MetadataType type, IReadOnlyList<byte[]> values)
    {
        var elements = new NativeFileMetadata[values.Count];
        var pins = new GCHandle[values.Count];
        try
        {
            for (int i = 0; i < elements.Length; ++i)
            {
                pins[i] = GCHandle.Alloc(values[i], GCHandleType.Pinned);
                elements[i] = Value(type);
                elements[i].Value = (byte*)pins[i].AddrOfPinnedObject();
                elements[i].ValueLength = (ulong)values[i].Length;
            }

            Set(writer, key, type, elements);
        }
        finally
        {
            foreach (GCHandle pin in pins)
            {
                if (pin.IsAllocated)
                {
                    pin.Free();
                }
            }
        }
    }

    /// <summary>An empty value of a type.</summary>
    public static NativeFileMetadata Value(MetadataType type)
    {
        var value = NativeFileMetadata.Sized;
        value.Type = (byte)type;
        return value;
    }

    private static void Set(
        FileWriterHandle writer, ReadOnlySpan<byte> key, MetadataType type, ReadOnlySpan<NativeFileMetadata> elements)
    {
        NativeError error;
        Native.Check(
            NativeMethods.FileWriterSetArray(
                writer, key, (ulong)key.Length, (byte)type, elements, (ulong)elements.Length, &error),
            &error);
    }

    private static T[] All<T>(FileHandle file, ulong index, ulong count, Convert<T> convert)
    {
        // Not more than there is: the library has checked the count against the file.
        var all = new T[Native.Length(count, "metadata")];
        NativeError error;
        for (int i = 0; i < all.Length; ++i)
        {
            var element = NativeFileMetadata.Sized;
            Native.Check(NativeMethods.FileMetadataElement(file, index, (ulong)i, ref element, &error), &error);
            all[i] = convert(element);
        }

        return all;
    }

    private static string String(in NativeFileMetadata entry) => Names.Decode(Names.Copy(entry.Value, entry.ValueLength));

    private static byte[] Bytes(in NativeFileMetadata entry) => Names.Copy(entry.Value, entry.ValueLength);

    private delegate T Convert<T>(in NativeFileMetadata element);
}
