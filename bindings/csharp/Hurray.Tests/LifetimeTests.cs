using System;
using System.Collections.Concurrent;
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
        var threads = new ConcurrentDictionary<int, int>();
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
                Work((worker * Rounds) + round, released, threads);
            }
        })).ToArray();
        await Task.WhenAll(workers);
        await stop.CancelAsync();
        await storm;
        Collect();
        Assert.Equal(3 * Rounds, released.Count);
        Assert.All(released.Values, times => Assert.Equal(1, times));
        Assert.DoesNotContain(CollectorThread.Id, threads.Keys);
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
    private static void CloseForgotten(Action released, Action meanwhile)
    {
        using TensorView<int> view =
            Tensor.FromMemory<int>(new int[] { 5 }, [1], new DenseOptions { Released = released }).Pin<int>();
        meanwhile();
        Assert.Equal(5, view[0]);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Work(int id, ConcurrentDictionary<int, int> released, ConcurrentDictionary<int, int> threads)
    {
        int[] array = [id, id + 1, id + 2];
        void Released()
        {
            released.AddOrUpdate(id, 1, (_, times) => times + 1);
            threads[Environment.CurrentManagedThreadId] = 1;
        }

        Tensor tensor = Tensor.FromMemory<int>(array, [3], new DenseOptions { Released = Released });
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
