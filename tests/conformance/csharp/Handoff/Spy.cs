using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using System.Text;

namespace Hurray.Conformance;

/// <summary>A pretended other copy of the library, of ../device/stranger.h: its handles work, and each call of one of its
/// functions is a line of its log. What nobody may read cannot be read.</summary>
internal sealed unsafe partial class Spy : IDisposable
{
    private readonly nint _spy;

    public Spy(uint version)
    {
        _spy = New(version);
        if (_spy == 0)
        {
            throw new InvalidOperationException("no spy");
        }
    }

    public ulong LiveHandles => Live(_spy);

    public ulong Misuses => MisuseCount(_spy);

    /// <summary>Calls that went past the question for the version.</summary>
    public ulong AccessorCalls => Accessors(_spy);

    public IReadOnlyList<string> Log
    {
        get
        {
            var lines = new List<string>();
            for (ulong i = 0; i < LogLength(_spy); ++i)
            {
                var text = new byte[LogLine(_spy, i, null, 0) + 1];
                fixed (byte* at = text)
                {
                    LogLine(_spy, i, at, (ulong)text.Length);
                }

                lines.Add(Encoding.ASCII.GetString(text.AsSpan(0, text.Length - 1)));
            }

            return lines;
        }
    }

    public void Vouch(uint lowest, uint highest) => VouchFor(_spy, lowest, highest);

    public void SetContextVersion(uint version) => ContextVersion(_spy, version);

    public void Answer(string function, HurrayStatus status)
    {
        if (AnswerWith(_spy, function, (int)status) == 0)
        {
            throw new ArgumentException($"the spy has no function {function}", nameof(function));
        }
    }

    public void Pair(out nint list, out nint context) => NewPair(_spy, out list, out context);

    public void EventPair(
        nint handle, delegate* unmanaged[Cdecl]<void*, void*, void> release, void* releaseContext, out nint list, out nint context) =>
        NewEventPair(_spy, handle, (nint)release, releaseContext, out list, out context);

    public void StreamPair(nint stream, out nint list, out nint context) => NewStreamPair(_spy, stream, out list, out context);

    public nint Handle(HandleKind kind) => NewHandle(_spy, (uint)kind);

    public void ClearLog() => LogClear(_spy);

    public void Dispose() => Destroy(_spy);

    [LibraryImport(Libraries.Stranger, EntryPoint = "spy_new")]
    private static partial nint New(uint version);

    [LibraryImport(Libraries.Stranger, EntryPoint = "spy_destroy")]
    private static partial void Destroy(nint spy);

    [LibraryImport(Libraries.Stranger, EntryPoint = "spy_vouch")]
    private static partial void VouchFor(nint spy, uint lowest, uint highest);

    [LibraryImport(Libraries.Stranger, EntryPoint = "spy_set_context_version")]
    private static partial void ContextVersion(nint spy, uint version);

    [LibraryImport(Libraries.Stranger, EntryPoint = "spy_answer", StringMarshalling = StringMarshalling.Utf8)]
    private static partial byte AnswerWith(nint spy, string function, int status);

    [LibraryImport(Libraries.Stranger, EntryPoint = "spy_pair_new")]
    private static partial void NewPair(nint spy, out nint list, out nint context);

    [LibraryImport(Libraries.Stranger, EntryPoint = "spy_event_pair_new")]
    private static partial void NewEventPair(
        nint spy, nint syncHandle, nint release, void* releaseContext, out nint list, out nint context);

    [LibraryImport(Libraries.Stranger, EntryPoint = "spy_stream_pair_new")]
    private static partial void NewStreamPair(nint spy, nint stream, out nint list, out nint context);

    [LibraryImport(Libraries.Stranger, EntryPoint = "spy_handle_new")]
    private static partial nint NewHandle(nint spy, uint kind);

    [LibraryImport(Libraries.Stranger, EntryPoint = "spy_live_handles")]
    private static partial ulong Live(nint spy);

    [LibraryImport(Libraries.Stranger, EntryPoint = "spy_misuses")]
    private static partial ulong MisuseCount(nint spy);

    [LibraryImport(Libraries.Stranger, EntryPoint = "spy_accessor_calls")]
    private static partial ulong Accessors(nint spy);

    [LibraryImport(Libraries.Stranger, EntryPoint = "spy_log_length")]
    private static partial ulong LogLength(nint spy);

    [LibraryImport(Libraries.Stranger, EntryPoint = "spy_log_line_copy")]
    private static partial ulong LogLine(nint spy, ulong index, byte* text, ulong capacity);

    [LibraryImport(Libraries.Stranger, EntryPoint = "spy_log_clear")]
    private static partial void LogClear(nint spy);
}
