using System;
using System.Text;

namespace Hurray.Interop;

/// <summary>Text that crosses the boundary: strict, so that nothing is replaced behind the caller's back.</summary>
internal static unsafe class Names
{
    private static readonly UTF8Encoding Strict = new(encoderShouldEmitUTF8Identifier: false, throwOnInvalidBytes: true);

    /// <summary>A name or key, which may hold NUL characters.</summary>
    public static byte[] Encode(string text, string parameter)
    {
        ArgumentNullException.ThrowIfNull(text, parameter);
        try
        {
            return Strict.GetBytes(text);
        }
        catch (EncoderFallbackException e)
        {
            throw new HurrayException(
                HurrayStatus.InvalidArgument, $"{parameter}: character {e.Index} is half of a surrogate pair, which UTF-8 cannot say", e);
        }
    }

    /// <summary>What the library checked to be UTF-8.</summary>
    public static string Decode(ReadOnlySpan<byte> text)
    {
        try
        {
            return Strict.GetString(text);
        }
        catch (DecoderFallbackException e)
        {
            throw new HurrayException(HurrayStatus.InvalidFormat, $"name: byte {e.Index} is no UTF-8", e);
        }
    }

    /// <summary>Bytes of the library, copied.</summary>
    public static byte[] Copy(byte* text, ulong length) =>
        new ReadOnlySpan<byte>(text, Native.Length(length, "name")).ToArray();

    /// <summary>A path, which ends at its first NUL in C.</summary>
    public static string CheckPath(string path)
    {
        Encode(path, nameof(path));
        int nul = path.IndexOf('\0');
        return nul < 0
            ? path
            : throw new HurrayException(
                HurrayStatus.InvalidArgument, $"path: character {nul} is NUL, which no path can hold");
    }
}
