using System;
using System.Runtime.InteropServices;
using System.Threading;

namespace Hurray.Interop;

/// <summary>A file of .NET that is kept open for a reader or writer of the library.</summary>
internal sealed class HeldFile : IDisposable
{
    private SafeHandle? _file;

    public HeldFile(SafeHandle file)
    {
        ArgumentNullException.ThrowIfNull(file);
        bool held = false;
        file.DangerousAddRef(ref held);
        _file = file;
        Descriptor = checked((int)file.DangerousGetHandle());
    }

    public int Descriptor { get; }

    public void Dispose() => Interlocked.Exchange(ref _file, null)?.DangerousRelease();
}
