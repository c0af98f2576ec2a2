using System;
using System.Globalization;

namespace Hurray;

/// <summary>A call failed: its status code, what is wrong, and where in the input.</summary>
/// <remarks>A code that this build does not know is kept as it is: <see cref="Code"/> is then none of the named values of
/// <see cref="HurrayStatus"/>. Use after close is not reported by this type but by
/// <see cref="ObjectDisposedException"/>.</remarks>
public class HurrayException : Exception
{
    private const string OffsetStart = " [byte ";

    /// <summary>Makes an exception from a code and a message as the library reports them.</summary>
    /// <param name="code">The status code, known or not.</param>
    /// <param name="message">What is wrong; a trailing " [byte N]" becomes <see cref="ByteOffset"/>.</param>
    /// <param name="inner">The exception that led to this one.</param>
    public HurrayException(HurrayStatus code, string message, Exception? inner = null)
        : base(message, inner)
    {
        Code = code;
        ByteOffset = ParseOffset(message);
    }

    /// <summary>The status code of the failed call.</summary>
    public HurrayStatus Code { get; }

    /// <summary>The name of the code as the C ABI has it, such as "INVALID_LAYOUT"; "UNKNOWN" for a code that this build
    /// does not know.</summary>
    public string CodeName => StatusNames.Of(Code);

    /// <summary>Offset in bytes of the fault in the descriptor, file or stream; null where the fault has no place.</summary>
    public ulong? ByteOffset { get; }

    private static ulong? ParseOffset(string message)
    {
        if (!message.EndsWith(']'))
        {
            return null;
        }

        int start = message.LastIndexOf(OffsetStart, StringComparison.Ordinal);
        if (start < 0)
        {
            return null;
        }

        ReadOnlySpan<char> digits = message.AsSpan(start + OffsetStart.Length)[..^1];
        return ulong.TryParse(digits, NumberStyles.None, CultureInfo.InvariantCulture, out ulong offset) ? offset : null;
    }
}
