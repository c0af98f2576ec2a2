using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using Hurray.Interop;

namespace Hurray;

/// <summary>The loaded shared library: what it is, what is alive in it, and what it has to say.</summary>
/// <remarks>Every member may be called from any thread. The first call of anything in this package loads the library: the
/// file that the environment variable HURRAY_LIBRARY names, or the one that the system's loader finds. Before anything
/// else its version is asked for; another one is a <see cref="HurrayVersionException"/>.</remarks>
public static unsafe class HurrayRuntime
{
    /// <summary>A callback threw, or a handle could not be ended (<see cref="HurrayStatus.InvalidHandle"/>: somebody else
    /// destroyed it, which is noticed while <see cref="HandleChecks"/> is on). There is no caller left to throw it to: it is
    /// reported here, on the thread that ran the callback or ended the handle, and never on the collector's unless a release
    /// was allowed there.</summary>
    public static event Action<Exception>? ReleaseFailed
    {
        add => Callbacks.Failed += value;
        remove => Callbacks.Failed -= value;
    }

    /// <summary>The library caught an exception (<see cref="HurrayStatus.InternalPanic"/>) or found one of its invariants broken
    /// (<see cref="HurrayStatus.Internal"/>): code and message, which <see cref="Diagnostics"/> keeps as well. Called on the
    /// thread where it happened, under a lock of the library: a listener must not add or remove listeners. A process has
    /// one log callback: the first listener takes its place, the last one clears it.</summary>
    public static event Action<HurrayStatus, string>? Logged
    {
        add => Log.Add(value);
        remove => Log.Remove(value);
    }

    /// <summary>Version of the C ABI that the library speaks.</summary>
    public static uint AbiVersion => Info().CAbiVersion;

    /// <summary>What identifies the build of the library.</summary>
    public static string BuildId => Text(Info().BuildId);

    /// <summary>Version of the library, such as "0.1.0".</summary>
    public static string Version => Text(Info().Version);

    /// <summary>File that the library was loaded from; empty where the system cannot tell.</summary>
    public static string LibraryPath => Text(Info().LibraryPath);

    /// <summary>Whether destroyed handles are kept and checked, so that their use is an error instead of undefined. May be
    /// changed at any time; it costs memory.</summary>
    public static bool HandleChecks
    {
        get => Info().HandleChecks != 0;
        set
        {
            NativeError error;
            Native.Check(NativeMethods.HandleChecksSet(value ? (byte)1 : (byte)0, &error), &error);
        }
    }

    /// <summary>How many releases wait for a thread that may run them: what the garbage collector found unclosed. The next
    /// creation or close of anything runs them, and so does <see cref="Drain"/>.</summary>
    public static ulong PendingReleases => Releases.Pending();

    /// <summary>Runs the releases that wait, on this thread.</summary>
    /// <returns>How many ran.</returns>
    public static ulong Drain() => Releases.Drain();

    /// <summary>The library's name for a status code, such as "INVALID_MAGIC"; "UNKNOWN" for one that it does not know.</summary>
    /// <param name="code">The code.</param>
    /// <returns>The name.</returns>
    public static string StatusName(HurrayStatus code) => Text(NativeMethods.StatusName(code));

    /// <summary>The library's name for a file format, such as "safetensors".</summary>
    /// <param name="format">The format.</param>
    /// <returns>The name.</returns>
    public static string FormatName(FileFormat format) => Text(NativeMethods.FormatName((uint)format));

    /// <summary>Whether a program that was built for a version of the C ABI may use the library.</summary>
    /// <param name="version">The version.</param>
    /// <returns>What the library says.</returns>
    public static bool Supports(uint version) => NativeMethods.CAbiSupports(version) == 1;

    /// <summary>Counts what is alive in the library, over the whole process.</summary>
    /// <param name="kind">The kind of handles; <see cref="HandleKind.Any"/> sums all.</param>
    /// <returns>The handles, and the bytes that they stand for. The two are not taken at one instant while other threads
    /// work.</returns>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.InvalidArgument"/>: no such kind.</exception>
    public static (ulong Handles, ulong Bytes) LiveHandles(HandleKind kind = HandleKind.Any)
    {
        NativeError error;
        Native.Check(NativeMethods.LiveHandles((uint)kind, out ulong handles, out ulong bytes, &error), &error);
        return (handles, bytes);
    }

    /// <summary>The last messages (at most 32) of exceptions that were caught in the library and of invariants that broke
    /// there, oldest first.</summary>
    /// <returns>Code and message of each.</returns>
    public static IReadOnlyList<(HurrayStatus Code, string Message)> Diagnostics()
    {
        var all = new List<(HurrayStatus, string)>();
        NativeError error;
        for (uint index = 0;; ++index)
        {
            HurrayStatus status = NativeMethods.DiagnosticsRead(index, out NativeError kept, &error);
            if (status == HurrayStatus.IndexOutOfBounds)
            {
                return all;
            }

            Native.Check(status, &error);
            all.Add(((HurrayStatus)kept.Code, Text(kept.Message)));
        }
    }

    private static NativeRuntimeInfo Info()
    {
        NativeError error;
        var info = NativeRuntimeInfo.Sized;
        Native.Check(NativeMethods.RuntimeInfo(ref info, &error), &error);
        return info;
    }

    private static string Text(byte* text) => Marshal.PtrToStringUTF8((nint)text) ?? "";
}
