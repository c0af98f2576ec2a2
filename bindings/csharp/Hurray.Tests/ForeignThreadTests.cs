using System;
using System.Collections.Concurrent;
using System.Runtime.InteropServices;
using System.Threading;
using Xunit;

namespace Hurray.Tests;

/// <summary>Native threads that .NET has never seen run its callbacks.</summary>
public class ForeignThreadTests : LeakChecked
{
    [Fact]
    public void Release_runs_on_a_native_thread_that_ends_the_last_handle()
    {
        const int Threads = 16;
        var threads = new ConcurrentQueue<int>();
        var started = new nint[Threads];
        nint destroy = NativeLibrary.GetExport(NativeLibrary.Load(HurrayRuntime.LibraryPath), "hurray_buffer_destroy");
        for (int i = 0; i < Threads; ++i)
        {
            nint buffer = TensorBuffer.FromMemory<byte>(
                new byte[64], () => threads.Enqueue(Environment.CurrentManagedThreadId)).Detach();
            // The function itself is what the thread runs.
            Assert.Equal(0, Start(out started[i], 0, destroy, buffer));
        }

        foreach (nint thread in started)
        {
            Assert.Equal(0, Join(thread, 0));
        }

        Assert.Equal(Threads, threads.Count);
        Assert.DoesNotContain(Environment.CurrentManagedThreadId, threads);
    }

    [Fact]
    public void Exception_in_a_release_on_a_native_thread_is_reported_there_and_ends_nothing()
    {
        nint destroy = NativeLibrary.GetExport(NativeLibrary.Load(HurrayRuntime.LibraryPath), "hurray_buffer_destroy");
        nint buffer = TensorBuffer.FromMemory<byte>(new byte[64], () => throw new InvalidOperationException("no")).Detach();
        int reported = 0;
        void OnFailed(Exception e) => reported = Environment.CurrentManagedThreadId;
        HurrayRuntime.ReleaseFailed += OnFailed;
        Assert.Equal(0, Start(out nint thread, 0, destroy, buffer));
        Assert.Equal(0, Join(thread, 0));
        HurrayRuntime.ReleaseFailed -= OnFailed;
        Assert.NotEqual(0, reported);
        Assert.NotEqual(Environment.CurrentManagedThreadId, reported);
        Assert.IsType<InvalidOperationException>(TakeFailure());
    }

    [DllImport("libc", EntryPoint = "pthread_create")]
    private static extern int Start(out nint thread, nint attributes, nint run, nint argument);

    [DllImport("libc", EntryPoint = "pthread_join")]
    private static extern int Join(nint thread, nint result);
}
