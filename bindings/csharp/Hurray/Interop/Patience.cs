using System;
using System.Threading;

namespace Hurray.Interop;

/// <summary>How long a call waits: in slices, between which it looks whether it was cancelled or its object closed. The library waits
/// without an eye on either.</summary>
internal readonly struct Patience
{
    // Long enough to cost nothing, short enough for whoever closes or cancels.
    private const long SliceMs = 50;

    private readonly long _end;

    /// <summary>Starts to wait.</summary>
    /// <exception cref="ArgumentOutOfRangeException">Negative, and not <see cref="Timeout.InfiniteTimeSpan"/>.</exception>
    public Patience(TimeSpan timeout)
    {
        Check(timeout, nameof(timeout));
        // Rounded up: a time that is not 0 waits.
        double milliseconds = Math.Ceiling(timeout.TotalMilliseconds);
        _end = timeout == Timeout.InfiniteTimeSpan ? long.MaxValue : Environment.TickCount64 + (long)milliseconds;
    }

    /// <summary>Whether the time is up.</summary>
    public bool IsOver => Left <= 0;

    /// <summary>Milliseconds of the next wait; 0 where there is no time left.</summary>
    public int Slice => (int)Math.Clamp(Left, 0, SliceMs);

    private long Left => _end == long.MaxValue ? long.MaxValue : _end - Environment.TickCount64;

    /// <summary>A time is 0 or more, or without an end.</summary>
    public static void Check(TimeSpan timeout, string parameter)
    {
        if (timeout < TimeSpan.Zero && timeout != Timeout.InfiniteTimeSpan)
        {
            throw new ArgumentOutOfRangeException(parameter, timeout, "expected 0 or more, or Timeout.InfiniteTimeSpan");
        }
    }
}
