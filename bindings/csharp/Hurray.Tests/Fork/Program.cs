// Forks below the runtime, as a native library of a program might, and ends in the child what it inherited. .NET itself does not
// survive a fork: the child runs nothing that was not compiled before, collects nothing, and leaves without the runtime.
using System;
using System.Runtime;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Hurray;

unsafe
{
    nint libc = NativeLibrary.Load("libc.so.6");
    var fork = (delegate* unmanaged<int>)NativeLibrary.GetExport(libc, "fork");
    var pipe = (delegate* unmanaged<int*, int>)NativeLibrary.GetExport(libc, "pipe");
    var write = (delegate* unmanaged<int, void*, nuint, nint>)NativeLibrary.GetExport(libc, "write");
    var read = (delegate* unmanaged<int, void*, nuint, nint>)NativeLibrary.GetExport(libc, "read");
    var wait = (delegate* unmanaged<int, int*, int, int>)NativeLibrary.GetExport(libc, "waitpid");
    var alarm = (delegate* unmanaged<uint, uint>)NativeLibrary.GetExport(libc, "alarm");
    var leave = (delegate* unmanaged<int, void>)NativeLibrary.GetExport(libc, "_exit");

    HurrayRuntime.ReleaseFailed += _ => ++Counts.Failed;
    // Compiles what the child will run.
    Inherited warm = Make();
    Forget();
    warm.End();
    int released = Counts.CalledBack;
    Inherited inherited = Make();
    Forget();
    Counts.CalledBack = 0;
    GC.TryStartNoGCRegion(1 << 20);

    int* ends = stackalloc int[2];
    if (pipe(ends) != 0)
    {
        throw new InvalidOperationException("no pipe");
    }

    ulong* told = stackalloc ulong[3];
    int child = fork();
    if (child == 0)
    {
        // A child that waits for a thread that is not there is killed, and the parent sees it.
        alarm(30);
        told[1] = inherited.End();
        told[0] = (ulong)Counts.CalledBack;
        told[2] = (ulong)Counts.Failed;
        write(ends[1], told, 3 * sizeof(ulong));
        leave(0);
    }

    int status = -1;
    if (child < 0 || wait(child, &status, 0) != child)
    {
        throw new InvalidOperationException("no child");
    }

    if (status == 0 && read(ends[0], told, 3 * sizeof(ulong)) != 3 * sizeof(ulong))
    {
        status = -2;
    }

    Console.WriteLine($"child: {told[0]} called back, {told[1]} drained, {told[2]} failed; ended with {status}");
    // The parent's are its own: all of them end here, once.
    inherited.End();
    Console.WriteLine($"parent: {Counts.CalledBack} called back");
    return Counts.CalledBack == released && Counts.Failed == 0 ? 0 : 1;
}

static Inherited Make()
{
    static void Told() => ++Counts.CalledBack;
    Tensor lent = Tensor.FromMemory<int>(new int[3], [3], new DenseOptions { Released = Told });
    using Tensor moved = Tensor.FromMemory<int>(new int[3], [3], new DenseOptions { Released = Told });
    moved.Export(out BufferList list, out TensorContext context);
    TensorBuffer consented = TensorBuffer.FromMemory<byte>(new byte[1], Told);
    consented.AllowReleaseOnAnyThread();
    return new Inherited(
        lent, list, context, new TensorContext([], new object(), Told), consented, Tensor.Allocate(ElementType.Int8, [100]),
        lent.ShareBuffer(0), TensorBuffer.FromMemory<byte>(new byte[1], Told));
}

// Leaves a release on the queue, for whoever drains it next: the parent, not the child.
static void Forget()
{
    Lose();
    GC.Collect();
    GC.WaitForPendingFinalizers();
}

[MethodImpl(MethodImplOptions.NoInlining)]
static void Lose() => _ = Tensor.FromMemory<int>(new int[1], [], new DenseOptions { Released = () => ++Counts.CalledBack });

internal static class Counts
{
    public static int CalledBack;
    public static int Failed;
}

internal sealed class Inherited(params IDisposable[] open)
{
    public ulong End()
    {
        ulong drained = HurrayRuntime.Drain();
        foreach (IDisposable one in open)
        {
            one.Dispose();
        }

        return drained + HurrayRuntime.Drain();
    }
}
