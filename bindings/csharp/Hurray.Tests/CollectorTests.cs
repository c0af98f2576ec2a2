using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Threading;
using Hurray.Interop;
using Xunit;

namespace Hurray.Tests;

/// <summary>The collector's thread is foreign to users: what it ends is released on another one, unless they consented.</summary>
public class CollectorTests : LeakChecked
{
    // What the collector can find, each with one callback for memory, or for an owner.
    private static readonly Dictionary<string, Action<Action>> Forgotten = new()
    {
        ["tensor"] = released => _ = Lent(released),
        ["scalar"] = released =>
            _ = Tensor.FromMemory<int>(new int[1], [], new DenseOptions { Released = released }),
        ["empty tensor"] = released =>
            _ = Tensor.FromMemory<int>(Array.Empty<int>(), [0], new DenseOptions { Released = released }),
        ["share"] = released => ThenClose(Lent(released), tensor => _ = tensor.Share()),
        ["exported pair"] = released => ThenClose(Lent(released), tensor => tensor.Export(out _, out _)),
        ["imported tensor"] = released => ThenClose(Lent(released), Reimported),
        ["buffer"] = released => _ = TensorBuffer.FromMemory<byte>(new byte[1], released),
        ["read-only buffer"] = released => _ = TensorBuffer.FromMemory<byte>(new ReadOnlyMemory<byte>(new byte[3]), released),
        ["device buffer"] = Pretended,
        ["slice"] = released => ThenClose(TensorBuffer.FromMemory<byte>(new byte[64], released), whole => _ = whole.Slice(0, 0)),
        ["buffer of a tensor"] = released => ThenClose(Lent(released), tensor => _ = tensor.ShareBuffer(0)),
        ["list"] = released => new BufferList().Push(TensorBuffer.FromMemory<byte>(new byte[1], released)),
        ["context"] = released => _ = new TensorContext([1, 2, 3], new object(), released),
        ["owner of an imported tensor"] = Owned,
        ["writer of a file"] = Written,
    };

    public static TheoryData<string> ForgottenNames => new(Forgotten.Keys);

    [Theory]
    [MemberData(nameof(ForgottenNames))]
    public void Finalizer_never_runs_a_callback_on_its_own_thread(string what)
    {
        var threads = new ConcurrentQueue<int>();
        Forgotten[what](() => threads.Enqueue(Environment.CurrentManagedThreadId));
        GC.Collect();
        GC.WaitForPendingFinalizers();
        Assert.Empty(threads);
        Assert.Equal(1UL, HurrayRuntime.PendingReleases);

        int draining = 0;
        ulong ran = 0;
        var drain = new Thread(() =>
        {
            draining = Environment.CurrentManagedThreadId;
            ran = HurrayRuntime.Drain();
        });
        drain.Start();
        drain.Join();
        Assert.Equal(1UL, ran);
        Assert.Equal([draining], threads);
        Assert.NotEqual(CollectorThread.Id, draining);
        Assert.Equal(0UL, HurrayRuntime.PendingReleases);
        Assert.Equal(0UL, HurrayRuntime.Drain());
    }

    [Fact]
    public void Next_creation_of_anything_releases_what_the_collector_ended()
    {
        string path = Path.Combine(Path.GetTempPath(), $"hurray-{Guid.NewGuid():N}");
        using (TensorFileWriter writer = TensorFileWriter.Create(path))
        {
            writer.Finish();
        }

        using Tensor open = Tensor.FromArray(new[] { 1 });
        var list = new BufferList();
        list.Push(open.ShareBuffer(0));
        Func<IDisposable>[] creations =
        [
            () => Tensor.FromArray(new[] { 1 }), () => Tensor.Allocate(ElementType.Int8, [1]),
            () => Tensor.FromBooleans([true], [1]), () => open.Copy(), () => Tensor.FromParts(open.Descriptor, list),
            () => TensorBuffer.Allocate(1), () => TensorBuffer.FromMemory<byte>(new byte[1]), Pretended,
            () => new BufferList(), () => new TensorContext([]),
            () => TensorFile.Open(path), () => TensorFileWriter.Create(path + "2"),
            () => TensorStreamWriter.ToMemory(), () => TensorStreamReader.FromMemory(ReadOnlyMemory<byte>.Empty),
        ];
        for (int i = 0; i < creations.Length; ++i)
        {
            var threads = new ConcurrentQueue<int>();
            Forget(threads);
            Assert.Empty(threads);
            using IDisposable made = creations[i]();
            Assert.Equal((i, Environment.CurrentManagedThreadId), (i, threads.FirstOrDefault()));
        }

        File.Delete(path);
    }

    [Fact]
    public void Next_close_of_anything_releases_what_the_collector_ended()
    {
        Tensor tensor = Tensor.FromArray(new[] { 1 });
        Tensor bits = Tensor.FromBooleans([true], [1]);
        tensor.Export(out BufferList list, out TensorContext context);
        IDisposable[] open =
        [
            tensor.Pin<int>(), tensor.PinStrided<int>(), bits.PinPacked(), tensor.ShareBuffer(0), list, context, tensor, bits,
            TensorStreamWriter.ToMemory(), TensorStreamReader.FromMemory(ReadOnlyMemory<byte>.Empty),
        ];
        for (int i = 0; i < open.Length; ++i)
        {
            var threads = new ConcurrentQueue<int>();
            Forget(threads);
            Assert.Empty(threads);
            open[i].Dispose();
            Assert.Equal((i, Environment.CurrentManagedThreadId), (i, threads.FirstOrDefault()));
        }
    }

    [Fact]
    public void Consent_lets_the_release_run_at_once_on_the_collectors_thread()
    {
        var threads = new ConcurrentQueue<int>();
        ForgetConsented(() => threads.Enqueue(Environment.CurrentManagedThreadId));
        GC.Collect();
        GC.WaitForPendingFinalizers();
        Assert.Equal(Enumerable.Repeat(CollectorThread.Id, 4), threads);
        Assert.Equal(0UL, HurrayRuntime.PendingReleases);
        Assert.Equal(0UL, HurrayRuntime.Drain());
        Assert.Equal(4, threads.Count);
    }

    [Fact]
    public void Consent_does_not_move_an_explicit_close_to_another_thread()
    {
        var threads = new List<int>();
        Tensor.FromMemory<int>(
            new int[1], [1],
            new DenseOptions { Released = () => threads.Add(Environment.CurrentManagedThreadId), ReleaseOnAnyThread = true }).Dispose();
        Assert.Equal([Environment.CurrentManagedThreadId], threads);
    }

    [Fact]
    public void Consent_is_refused_where_there_is_nothing_to_consent_to()
    {
        using TensorBuffer own = TensorBuffer.Allocate(64);
        Refused(HurrayStatus.InvalidArgument, own.AllowReleaseOnAnyThread);
        using TensorBuffer lent = TensorBuffer.FromMemory<byte>(new byte[1]);
        using TensorBuffer share = lent.Share();
        Refused(HurrayStatus.InvalidArgument, lent.AllowReleaseOnAnyThread);
        share.Dispose();
        Assert.Throws<ObjectDisposedException>(share.AllowReleaseOnAnyThread);
    }

    [Fact]
    public void Memory_that_another_runtimes_collector_lets_go_is_released_by_our_next_creation()
    {
        var threads = new List<int>();
        nint foreign = TensorBuffer.FromMemory<byte>(
            new byte[64], () => threads.Add(Environment.CurrentManagedThreadId)).Detach();
        unsafe
        {
            var end = new Thread(() => NativeMethods.BufferDestroyDeferred(foreign, null));
            end.Start();
            end.Join();
        }

        Assert.Empty(threads);
        Tensor.FromArray(new[] { 1 }).Dispose();
        Assert.Equal([Environment.CurrentManagedThreadId], threads);
    }

    [Fact]
    public void What_the_collector_cannot_end_is_told_on_a_thread_of_the_users()
    {
        bool before = HurrayRuntime.HandleChecks;
        HurrayRuntime.HandleChecks = true;
        try
        {
            ForgetTwoOwners();
            int thread = 0;
            void OnFailed(Exception e) => thread = Environment.CurrentManagedThreadId;
            HurrayRuntime.ReleaseFailed += OnFailed;
            GC.Collect();
            GC.WaitForPendingFinalizers();
            Assert.Equal(0, thread);
            HurrayRuntime.Drain();
            HurrayRuntime.ReleaseFailed -= OnFailed;
            Assert.Equal(Environment.CurrentManagedThreadId, thread);
            Assert.Equal(HurrayStatus.InvalidHandle, Assert.IsType<HurrayException>(TakeFailure()).Code);
        }
        finally
        {
            HurrayRuntime.HandleChecks = before;
        }
    }

    private static Tensor Lent(Action released) =>
        Tensor.FromMemory<int>(new int[2], [2], new DenseOptions { Released = released });

    private static void ThenClose<T>(T open, Action<T> use)
        where T : IDisposable
    {
        using (open)
        {
            use(open);
        }
    }

    private static void Reimported(Tensor tensor)
    {
        tensor.Export(out BufferList list, out TensorContext context);
        _ = Tensor.Import(list, context);
    }

    private static void Owned(Action released)
    {
        using Tensor tensor = Tensor.Allocate(ElementType.Int32, [2]);
        tensor.Export(out BufferList list, out TensorContext own);
        own.Dispose();
        _ = Tensor.Import(list, new TensorContext(tensor.Descriptor.Encoded, new object(), released));
    }

    private static void Written(Action released)
    {
        // Never finished: nothing of it stays on disk.
        TensorFileWriter writer = TensorFileWriter.Create(Path.Combine(Path.GetTempPath(), $"hurray-{Guid.NewGuid():N}"));
        using Tensor tensor = Lent(released);
        writer.Add("x", tensor);
    }

    // Addresses of a device that is not there: nobody reads them.
    private static unsafe void Pretended(Action released) =>
        _ = TensorBuffer.FromPointer((void*)4096, 64, 64, Device.Cuda, released);

    private static unsafe TensorBuffer Pretended() => TensorBuffer.FromPointer((void*)4096, 64, 64, Device.Cuda);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Abandon(ConcurrentQueue<int> threads) =>
        _ = Lent(() => threads.Enqueue(Environment.CurrentManagedThreadId));

    private static void Forget(ConcurrentQueue<int> threads)
    {
        Abandon(threads);
        GC.Collect();
        GC.WaitForPendingFinalizers();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static unsafe void ForgetConsented(Action released)
    {
        var options = new DenseOptions { Released = released, ReleaseOnAnyThread = true };
        _ = Tensor.FromMemory<int>(new int[1], [1], options);
        // Through shares, too: consent goes with the memory.
        using Tensor tensor = Tensor.FromMemory<int>(new int[1], [], options);
        _ = tensor.Share();
        TensorBuffer buffer = TensorBuffer.FromMemory<byte>(new byte[1], released);
        buffer.AllowReleaseOnAnyThread();
        TensorBuffer device = TensorBuffer.FromPointer((void*)4096, 64, 64, Device.Cuda, released);
        device.AllowReleaseOnAnyThread();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void ForgetTwoOwners()
    {
        nint pointer = TensorBuffer.Allocate(64).Detach();
        TensorBuffer.Adopt(pointer).Dispose();
        _ = TensorBuffer.Adopt(pointer);
    }
}
