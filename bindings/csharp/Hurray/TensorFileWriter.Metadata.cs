using System;
using Hurray.Interop;

namespace Hurray;

public sealed unsafe partial class TensorFileWriter
{
    /// <summary>Sets a metadata entry; the last value of a key counts. Which types a format has is its own: others are refused.</summary>
    /// <param name="key">The key.</param>
    /// <param name="value">The value.</param>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.InvalidArgument"/>: a text that is no UTF-8;
    /// <see cref="HurrayStatus.Unsupported"/>: the format has no metadata, or none of this type.</exception>
    /// <exception cref="ObjectDisposedException">The writer is closed.</exception>
    public void SetMetadata(string key, string value)
    {
        byte[] keyUtf8 = Names.Encode(key, nameof(key));
        byte[] valueUtf8 = Names.Encode(value, nameof(value));
        NativeError error;
        Native.Check(
            NativeMethods.FileWriterSetMetadata(
                Handle, keyUtf8, (ulong)keyUtf8.Length, valueUtf8, (ulong)valueUtf8.Length, &error),
            &error);
    }

    /// <inheritdoc cref="SetMetadata(string, string)"/>
    public void SetMetadata(string key, long value) => MetadataInterop.Set(Handle, Names.Encode(key, nameof(key)), Of(value));

    /// <inheritdoc cref="SetMetadata(string, string)"/>
    public void SetMetadata(string key, ulong value) => MetadataInterop.Set(Handle, Names.Encode(key, nameof(key)), Of(value));

    /// <inheritdoc cref="SetMetadata(string, string)"/>
    public void SetMetadata(string key, double value) => MetadataInterop.Set(Handle, Names.Encode(key, nameof(key)), Of(value));

    /// <inheritdoc cref="SetMetadata(string, string)"/>
    public void SetMetadata(string key, bool value) => MetadataInterop.Set(Handle, Names.Encode(key, nameof(key)), Of(value));

    /// <summary>Sets a metadata entry to bytes of any meaning; else as the overload for texts.</summary>
    /// <param name="key">The key.</param>
    /// <param name="value">The bytes.</param>
    public void SetMetadata(string key, byte[] value)
    {
        ArgumentNullException.ThrowIfNull(value);
        MetadataInterop.Set(Handle, Names.Encode(key, nameof(key)), value.AsSpan());
    }

    /// <summary>Sets a metadata entry to an array; else as the overload for texts.</summary>
    /// <param name="key">The key.</param>
    /// <param name="values">The values; may be empty.</param>
    public void SetMetadata(string key, string[] values)
    {
        ArgumentNullException.ThrowIfNull(values);
        var utf8 = new byte[values.Length][];
        for (int i = 0; i < values.Length; ++i)
        {
            utf8[i] = Names.Encode(values[i], $"{nameof(values)}[{i}]");
        }

        MetadataInterop.Set(Handle, Names.Encode(key, nameof(key)), MetadataType.String, utf8);
    }

    /// <inheritdoc cref="SetMetadata(string, string[])"/>
    public void SetMetadata(string key, byte[][] values)
    {
        ArgumentNullException.ThrowIfNull(values);
        foreach (byte[] value in values)
        {
            ArgumentNullException.ThrowIfNull(value, nameof(values));
        }

        MetadataInterop.Set(Handle, Names.Encode(key, nameof(key)), MetadataType.Bytes, values);
    }

    /// <inheritdoc cref="SetMetadata(string, string[])"/>
    public void SetMetadata(string key, long[] values) => Set(key, MetadataType.Int64, values, Of);

    /// <inheritdoc cref="SetMetadata(string, string[])"/>
    public void SetMetadata(string key, ulong[] values) => Set(key, MetadataType.UInt64, values, Of);

    /// <inheritdoc cref="SetMetadata(string, string[])"/>
    public void SetMetadata(string key, double[] values) => Set(key, MetadataType.Float64, values, Of);

    /// <inheritdoc cref="SetMetadata(string, string[])"/>
    public void SetMetadata(string key, bool[] values) => Set(key, MetadataType.Bool, values, Of);

    private static NativeFileMetadata Of(long value)
    {
        NativeFileMetadata made = MetadataInterop.Value(MetadataType.Int64);
        made.Int64Value = value;
        return made;
    }

    private static NativeFileMetadata Of(ulong value)
    {
        NativeFileMetadata made = MetadataInterop.Value(MetadataType.UInt64);
        made.UInt64Value = value;
        return made;
    }

    private static NativeFileMetadata Of(double value)
    {
        NativeFileMetadata made = MetadataInterop.Value(MetadataType.Float64);
        made.Float64Value = value;
        return made;
    }

    private static NativeFileMetadata Of(bool value)
    {
        NativeFileMetadata made = MetadataInterop.Value(MetadataType.Bool);
        made.Boolean = value ? (byte)1 : (byte)0;
        return made;
    }

    private void Set<T>(string key, MetadataType type, T[] values, Func<T, NativeFileMetadata> make)
    {
        ArgumentNullException.ThrowIfNull(values);
        MetadataInterop.Set(Handle, Names.Encode(key, nameof(key)), type, (ReadOnlySpan<T>)values, make);
    }
}
