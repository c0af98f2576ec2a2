using System;
using System.Threading;

namespace Hurray.Interop;

/// <summary>Lets one call at a time into an object that the library gives to one thread at a time. A second one is told, instead of
/// doing damage: blocked receiving and sending beside it is too near at hand to be left to the documentation.</summary>
internal sealed class Turnstile
{
    private int _taken;

    /// <summary>Enters; whoever disposes the turn leaves.</summary>
    /// <exception cref="InvalidOperationException">Somebody is in: another thread, or a callback of this one.</exception>
    public Turn Enter(object entered)
    {
        if (Interlocked.Exchange(ref _taken, 1) != 0)
        {
            throw new InvalidOperationException(
                $"{entered.GetType()}: another call is in it: it is for one thread at a time, and not for callbacks of its own calls");
        }

        return new Turn(this);
    }

    internal readonly ref struct Turn(Turnstile entered)
    {
        public void Dispose() => Volatile.Write(ref entered._taken, 0);
    }
}
