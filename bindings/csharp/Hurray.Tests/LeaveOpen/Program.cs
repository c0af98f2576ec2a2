// Ends with everything open: lent memory and memory of the library, forgotten, waiting for a thread to release it, or in the hands of
// native code that outlives the runtime. That must not matter, and nothing may be called back.
using System;
using System.Collections.Generic;
using System.IO;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;
using Hurray;

string how = args.Length > 0 ? args[0] : "lent";
switch (how)
{
    case "lent":
        Lent();
        break;
    case "library":
        Library();
        break;
    case "exit":
        Lent();
        // From another thread, while this one waits.
        new Thread(() => Environment.Exit(0)).Start();
        Thread.Sleep(Timeout.Infinite);
        break;
    case "busy":
        Busy();
        break;
    case "late":
        Late();
        break;
    case "handler":
        Handler();
        break;
    default:
        Console.Error.WriteLine($"{how}: no such way to end");
        return 2;
}

return 0;

static void Lent()
{
    Forget();
    GC.Collect();
    GC.WaitForPendingFinalizers();
    Tensor open = Tensor.FromMemory<int>(new int[3], [3], new DenseOptions { Released = () => Told("tensor") });
    TensorView<int> view = open.Pin<int>();
    open.Export(out BufferList list, out TensorContext context);
    Held.Open =
    [
        open, view, list, context, TensorBuffer.FromMemory<byte>(new byte[1], () => Told("buffer")),
        new TensorContext([], new object(), () => Told("owner")),
    ];
    Console.WriteLine($"open: {view.Length} {list.Count} {context.AbiVersion}, waiting: {HurrayRuntime.PendingReleases > 0}");
    Forget();
    GC.Collect();
    GC.WaitForPendingFinalizers();
    Console.WriteLine($"waiting: {HurrayRuntime.PendingReleases}");
}

static void Library()
{
    Tensor allocated = Tensor.Allocate(ElementType.Float32, [1000]);
    TensorView<float> view = allocated.Pin<float>();
    TensorBuffer buffer = TensorBuffer.Allocate(4096);
    string path = Path.GetTempFileName();
    using (TensorFileWriter writer = TensorFileWriter.Create(path))
    {
        writer.Add("x", allocated);
        writer.Finish();
    }

    TensorFile file = TensorFile.Open(path);
    Tensor mapped = file.GetTensor("x");
    File.Delete(path);
    TensorStreamWriter stream = TensorStreamWriter.ToMemory();
    stream.Write(mapped);
    Console.WriteLine($"open: {view.Length} {buffer.ByteSize} {mapped.Shape[0]} {HurrayRuntime.LiveHandles().Handles > 5}");
}

// Threads that the runtime does not wait for go on making and closing tensors while it ends.
static void Busy()
{
    using var begun = new CountdownEvent(2);
    for (int i = 0; i < 2; ++i)
    {
        new Thread(() =>
        {
            for (int round = 0;; ++round)
            {
                using Tensor tensor = Tensor.FromMemory<int>(new int[8], [8], new DenseOptions { Released = () => { } });
                using Tensor share = tensor.Share();
                if (round == 100)
                {
                    begun.Signal();
                }
            }
        })
        { IsBackground = true }.Start();
    }

    begun.Wait();
    Console.WriteLine("busy");
}

// Native code owns handles of ours and ends them when the process exits, after the runtime.
static unsafe void Late()
{
    nint library = NativeLibrary.Load(HurrayRuntime.LibraryPath);
    Tensor tensor = Tensor.FromMemory<int>(new int[3], [3], new DenseOptions { Released = () => Told("tensor") });
    tensor.Export(out BufferList list, out TensorContext context);
    tensor.Dispose();
    context.Dispose();
    context = new TensorContext([], new object(), () => Told("owner"));
    TensorBuffer consented = TensorBuffer.FromMemory<byte>(new byte[1], () => Told("buffer"));
    consented.AllowReleaseOnAnyThread();

    TensorBuffer withEvent = TensorBuffer.Handoff(
        new BufferEntry(64, 64, Device.Cuda, SyncMode.Event), (void*)4096,
        new EventPayload(1, Device.Cuda, _ => Told("event")), null, () => Told("device memory"));
    var producer = new TensorProducer(new Producer());
    nint moved = Variable(0, 64);
    producer.MoveTo(moved);
    // A listener that is still there at the end: the library lets go of it before the runtime does.
    HurrayRuntime.Logged += (_, message) => Told(message);

    nint destroyed = NativeLibrary.GetExport(library, "hurray_buffer_destroy");
    List<int> registered =
    [
        AtExit(NativeLibrary.GetExport(library, "hurray_buffer_list_destroy"), Variable(list.Detach()), 0),
        AtExit(NativeLibrary.GetExport(library, "hurray_tensor_context_destroy"), Variable(context.Detach()), 0),
        AtExit(destroyed, consented.Detach(), 0),
        AtExit(destroyed, withEvent.Detach(), 0),
        AtExit(NativeLibrary.GetExport(library, "hurray_producer_release"), moved, 0),
    ];
    Console.WriteLine($"registered: {string.Join(' ', registered)}");
}

// Handlers of ProcessExit run while the runtime ends: tensors may be closed there.
static void Handler()
{
    Tensor tensor = Tensor.FromArray(new[] { 1, 2 });
    AppDomain.CurrentDomain.ProcessExit += (_, _) =>
    {
        tensor.Dispose();
        Console.WriteLine("closed");
    };
}

static void Told(string what) => Console.WriteLine($"called back: {what}");

[MethodImpl(MethodImplOptions.NoInlining)]
static void Forget() => _ = Tensor.FromMemory<int>(new int[3], [3], new DenseOptions { Released = () => Told("forgotten") });

static unsafe nint Variable(nint handle, int size = 8)
{
    // Never freed: the process ends with it.
    var variable = (nint*)NativeMemory.AllocZeroed((nuint)size);
    *variable = handle;
    return (nint)variable;
}

[DllImport("libc", EntryPoint = "__cxa_atexit")]
static extern int AtExit(nint function, nint argument, nint library);

internal sealed class Producer : ITensorProducer
{
    public TensorParts Export(DeviceStream? consumer) => default;

    public void Dispose() => Console.WriteLine("called back: producer");
}

internal static class Held
{
    // Alive to the end of the process.
    public static IDisposable[] Open = [];
}
