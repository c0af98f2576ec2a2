using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;
using Xunit;

namespace Hurray.Tests;

public class LifetimeTests : LeakChecked
{
    [Fact]
    public void Closing_twice_is_a_no_op_and_use_after_close_a_typed_error()
    {
        Tensor tensor = Tensor.FromArray(new[] { 1, 2 });
        tensor.Export(out BufferList list, out TensorContext context);
        TensorBuffer buffer = tensor.ShareBuffer(0);
        TensorStreamWriter writer = TensorStreamWriter.ToMemory();
        TensorStreamReader reader = TensorStreamReader.FromMemory(ReadOnlyMemory<byte>.Empty);
        IDisposable[] all = [tensor, list, context, buffer, writer, reader];
        foreach (IDisposable one in all)
        {
            one.Dispose();
            one.Dispose();
        }

        Action[] uses =
        [
            () => _ = tensor.Shape, () => _ = tensor.Descriptor, () => tensor.Share(), () => tensor.ShareBuffer(0), () => tensor.Copy(),
            () => tensor.Pin<int>(), () => tensor.PinStrided<int>(), () => tensor.PinPacked(), () => tensor.Export(out _, out _),
            () => _ = list.Count, () => list.Share(0), () => list.Detach(), () => list.Push(buffer),
            () => _ = context.AbiVersion, () => context.ReadDescriptor(), () => context.Detach(),
            () => _ = buffer.ByteSize, () => _ = buffer.Entry, () => buffer.Share(), () => buffer.Slice(0, 0), () => buffer.Pin(),
            () => buffer.SetReadOnly(), () => buffer.Detach(),
            () => writer.Write(tensor), () => writer.Take(), () => reader.Read(),
            () => Tensor.Import(list, context),
        ];
        Assert.All(uses, use => Assert.Throws<ObjectDisposedException>(use));
    }

    [Fact]
    public void What_was_read_before_the_close_is_not_given_out_after_it()
    {
        Tensor tensor = Tensor.FromArray(new[] { 1, 2 });
        _ = tensor.Shape;
        _ = tensor.Descriptor;
        tensor.Dispose();
        Assert.Throws<ObjectDisposedException>(() => _ = tensor.Shape);
        Assert.Throws<ObjectDisposedException>(() => _ = tensor.Descriptor);
    }

    [Fact]
    public void Collector_ends_what_nobody_closed_and_releases_on_a_thread_of_the_users()
    {
        var threads = new List<int>();
        Abandon(threads);
        GC.Collect();
        GC.WaitForPendingFinalizers();
        Assert.Empty(threads);
        Assert.Equal(3UL, HurrayRuntime.PendingReleases);
        Assert.Equal(3UL, HurrayRuntime.Drain());
        Assert.Equal(Enumerable.Repeat(Environment.CurrentManagedThreadId, 3), threads);
        Assert.Equal(0UL, HurrayRuntime.PendingReleases);
        Assert.Equal(0UL, HurrayRuntime.Drain());
    }

    [Fact]
    public void Next_creation_or_close_releases_what_the_collector_ended()
    {
        var threads = new List<int>();
        Tensor open = Tensor.FromArray(new[] { 1 });
        Abandon(threads);
        GC.Collect();
        GC.WaitForPendingFinalizers();
        Assert.Empty(threads);
        open.Dispose();
        Assert.Equal(3, threads.Count);
        Abandon(threads);
        GC.Collect();
        GC.WaitForPendingFinalizers();
        Assert.Equal(3, threads.Count);
        TensorBuffer.Allocate(1).Dispose();
        Assert.Equal(6, threads.Count);
    }

    [Fact]
    public void Memory_that_another_runtimes_collector_lets_go_is_released_by_our_next_creation()
    {
        var threads = new List<int>();
        nint foreign = TensorBuffer.FromMemory<byte>(
            new byte[64], () => threads.Add(Environment.CurrentManagedThreadId)).Detach();
        unsafe
        {
            var end = new Thread(() => Interop.NativeMethods.BufferDestroyDeferred(foreign, null));
            end.Start();
            end.Join();
        }

        Assert.Empty(threads);
        Tensor.FromArray(new[] { 1 }).Dispose();
        Assert.Equal([Environment.CurrentManagedThreadId], threads);
    }

    [Fact]
    public void Forgotten_file_writer_releases_on_a_thread_of_the_users()
    {
        var threads = new List<int>();
        string path = Path.Combine(Path.GetTempPath(), $"hurray-{Guid.NewGuid():N}");
        AbandonWriter(path, threads);
        GC.Collect();
        GC.WaitForPendingFinalizers();
        Assert.Empty(threads);
        Assert.Equal(1UL, HurrayRuntime.Drain());
        Assert.Equal([Environment.CurrentManagedThreadId], threads);
        Assert.False(File.Exists(path));
    }

    [Fact]
    public void View_that_nobody_closed_keeps_the_memory()
    {
        int released = 0;
        (ulong Handles, ulong Bytes) before = HurrayRuntime.LiveHandles();
        CloseForgotten(() => ++released, () =>
        {
            Collect();
            Assert.Equal(0, released);
            Assert.NotEqual(before, HurrayRuntime.LiveHandles());
        });
        Collect();
        Assert.Equal(1, released);
        Assert.Equal(before, HurrayRuntime.LiveHandles());
    }

    [Fact]
    public async Task Storm_of_collections_releases_everything_once()
    {
        const int Rounds = 300;
        var released = new ConcurrentDictionary<int, int>();
        using var stop = new CancellationTokenSource();
        Task storm = Task.Run(() =>
        {
            while (!stop.IsCancellationRequested)
            {
                GC.Collect(GC.MaxGeneration, GCCollectionMode.Forced, blocking: true, compacting: true);
            }
        });
        Task[] workers = Enumerable.Range(0, 3).Select(worker => Task.Run(() =>
        {
            for (int round = 0; round < Rounds; ++round)
            {
                Work((worker * Rounds) + round, released);
            }
        })).ToArray();
        await Task.WhenAll(workers);
        await stop.CancelAsync();
        await storm;
        Collect();
        Assert.Equal(3 * Rounds, released.Count);
        Assert.All(released.Values, times => Assert.Equal(1, times));
    }

    [Fact]
    public void Shares_are_used_and_closed_by_many_threads()
    {
        int released = 0;
        Tensor tensor = Tensor.FromMemory<int>(
            Enumerable.Range(0, 1000).ToArray(), [1000], new DenseOptions { Released = () => Interlocked.Increment(ref released) });
        Tensor[] shares = Enumerable.Range(0, 8).Select(_ => tensor.Share()).ToArray();
        tensor.Dispose();
        Parallel.ForEach(shares, share =>
        {
            using (share)
            {
                for (int i = 0; i < 50; ++i)
                {
                    using Tensor further = share.Share();
                    using TensorView<int> view = further.Pin<int>();
                    Assert.Equal(999, view[999]);
                }
            }
        });
        Assert.Equal(1, released);
    }

    [Fact]
    public async Task Close_while_others_read_waits_for_them()
    {
        for (int round = 0; round < 50; ++round)
        {
            int released = 0;
            Tensor tensor = Tensor.FromMemory<int>(
                new[] { 1, 2, 3 }, [3], new DenseOptions { Released = () => Interlocked.Increment(ref released) });
            using var begin = new Barrier(3);
            Task[] readers = Enumerable.Range(0, 2).Select(_ => Task.Run(() =>
            {
                begin.SignalAndWait();
                try
                {
                    using TensorView<int> view = tensor.Pin<int>();
                    Assert.Equal(0, Volatile.Read(ref released));
                    Assert.Equal(3, view[2]);
                }
                catch (ObjectDisposedException)
                {
                    // Came too late: typed, and no crash.
                }
            })).ToArray();
            begin.SignalAndWait();
            tensor.Dispose();
            await Task.WhenAll(readers);
            Assert.Equal(1, released);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Abandon(List<int> threads)
    {
        void Released() => threads.Add(Environment.CurrentManagedThreadId);
        _ = Tensor.FromMemory<int>(new int[1], [1], new DenseOptions { Released = Released });
        _ = TensorBuffer.FromMemory<byte>(new byte[1], Released);
        _ = new TensorContext([], null, Released);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void AbandonWriter(string path, List<int> threads)
    {
        TensorFileWriter writer = TensorFileWriter.Create(path);
        using Tensor tensor = Tensor.FromMemory<int>(
            new int[1], [1], new DenseOptions { Released = () => threads.Add(Environment.CurrentManagedThreadId) });
        writer.Add("x", tensor);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void CloseForgotten(Action released, Action meanwhile)
    {
        using TensorView<int> view =
            Tensor.FromMemory<int>(new int[] { 5 }, [1], new DenseOptions { Released = released }).Pin<int>();
        meanwhile();
        Assert.Equal(5, view[0]);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Work(int id, ConcurrentDictionary<int, int> released)
    {
        int[] array = [id, id + 1, id + 2];
        Tensor tensor = Tensor.FromMemory<int>(
            array, [3], new DenseOptions { Released = () => released.AddOrUpdate(id, 1, (_, times) => times + 1) });
        tensor.Export(out BufferList list, out TensorContext context);
        // Some are closed, some left to the collector.
        if (id % 3 == 0)
        {
            tensor.Dispose();
        }

        Tensor imported = Tensor.Import(list, context);
        using (TensorView<int> view = imported.Pin<int>())
        {
            Assert.Equal(array, view.ReadOnlySpan.ToArray());
        }

        Tensor share = imported.Share();
        if (id % 2 == 0)
        {
            imported.Dispose();
            share.Dispose();
        }
    }
}
