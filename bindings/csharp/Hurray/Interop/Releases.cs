using System;
using System.Collections.Concurrent;
using System.Threading;

namespace Hurray.Interop;

/// <summary>What the collector's thread ended but may not release: it waits here for the next thread that creates or closes
/// something, or that drains it.</summary>
internal static unsafe class Releases
{
    private static readonly ConcurrentQueue<(HurrayHandle Handle, nint Pointer)> Postponed = new();
    private static readonly ConcurrentQueue<Exception> Failures = new();
    private static readonly object Gate = new();
    private static ReleaseQueueHandle? s_queue;
    private static int s_deferred;
    private static int s_unloading;

    /// <summary>The binding's queue; lives as long as the process.</summary>
    public static ReleaseQueueHandle Queue
    {
        get
        {
            ReleaseQueueHandle? queue = Volatile.Read(ref s_queue);
            return queue ?? CreateQueue();
        }
    }

    /// <summary>The assembly is being unloaded: nobody will create or close anything any more, so that what the collector ends it
    /// releases itself.</summary>
    public static bool Unloading => Volatile.Read(ref s_unloading) != 0;

    /// <summary>The unload starts: releases what waits.</summary>
    public static void StartUnload()
    {
        Volatile.Write(ref s_unloading, 1);
        Drain();
    }

    /// <summary>A finalizer has put something on the queue.</summary>
    public static void NoteDeferred() => Volatile.Write(ref s_deferred, 1);

    /// <summary>A finalizer leaves a handle that has no deferred end.</summary>
    public static void Postpone(HurrayHandle handle, nint pointer)
    {
        Postponed.Enqueue((handle, pointer));
        NoteDeferred();
    }

    /// <summary>A finalizer met a failure, which listeners hear of on a thread of theirs.</summary>
    public static void Postpone(Exception failure) => Failures.Enqueue(failure);

    /// <summary>Releases what waits, if a finalizer of this binding has left anything: costs nothing otherwise.</summary>
    public static void Poll()
    {
        if (Volatile.Read(ref s_deferred) != 0)
        {
            Drain();
        }
    }

    /// <summary>Releases what waits, on this thread, and tells how much that was.</summary>
    public static ulong Drain()
    {
        Volatile.Write(ref s_deferred, 0);
        ulong ended = 0;
        while (Postponed.TryDequeue(out (HurrayHandle Handle, nint Pointer) left))
        {
            left.Handle.EndPostponed(left.Pointer);
            ++ended;
        }

        while (Failures.TryDequeue(out Exception? failure))
        {
            Callbacks.Report(failure);
        }

        NativeError error;
        Native.Check(NativeMethods.ReleaseQueueDrain(Queue, ulong.MaxValue, out ulong released, &error), &error);
        return ended + released;
    }

    /// <summary>How many releases wait.</summary>
    public static ulong Pending()
    {
        NativeError error;
        Native.Check(NativeMethods.ReleaseQueuePending(Queue, out ulong pending, &error), &error);
        return pending + (ulong)Postponed.Count;
    }

    private static ReleaseQueueHandle CreateQueue()
    {
        lock (Gate)
        {
            if (s_queue is null)
            {
                NativeError error;
                Native.Check(NativeMethods.ReleaseQueueNew(out ReleaseQueueHandle made, &error), &error);
                Volatile.Write(ref s_queue, made);
            }

            return s_queue;
        }
    }
}
