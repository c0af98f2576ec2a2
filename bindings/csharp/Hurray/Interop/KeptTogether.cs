using System;

namespace Hurray.Interop;

/// <summary>Several things that a handle keeps.</summary>
internal sealed class KeptTogether(params IDisposable[] kept) : IDisposable
{
    public void Dispose()
    {
        foreach (IDisposable one in kept)
        {
            one.Dispose();
        }
    }
}
