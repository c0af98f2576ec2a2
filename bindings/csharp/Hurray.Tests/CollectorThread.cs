using System;
using System.Runtime.CompilerServices;

namespace Hurray.Tests;

/// <summary>The garbage collector's thread, which runs the finalizers: a probe object's tells its number.</summary>
internal static class CollectorThread
{
    private static readonly Lazy<int> Probed = new(Ask);

    public static int Id => Probed.Value;

    private static int Ask()
    {
        int[] told = new int[1];
        Forget(told);
        GC.Collect();
        GC.WaitForPendingFinalizers();
        return told[0] != 0 ? told[0] : throw new InvalidOperationException("no finalizer ran");
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Forget(int[] told) => _ = new Probe(told);

    private sealed class Probe(int[] told)
    {
        ~Probe() => told[0] = Environment.CurrentManagedThreadId;
    }
}
