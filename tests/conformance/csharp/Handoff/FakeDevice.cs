using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using System.Text;

namespace Hurray.Conformance;

/// <summary>The pretended device of ../device/fake_device.h: it keeps books of what producers and consumers do, and judges
/// it.</summary>
internal sealed unsafe partial class FakeDevice : IDisposable
{
    public const Device Tag = Device.Cuda;

    private readonly nint _device = New();

    public static ulong CurrentThread => CurrentThreadId();

    public static ulong StrayCalls => Strays();

    public IReadOnlyList<string> Log
    {
        get
        {
            var lines = new List<string>();
            for (ulong i = 0; i < LogLength(_device); ++i)
            {
                ulong line = i;
                lines.Add(Text((text, capacity) => LogLine(_device, line, (byte*)text, capacity)));
            }

            return lines;
        }
    }

    public IReadOnlyList<Violation> Violations
    {
        get
        {
            var all = new List<Violation>();
            for (ulong i = 0; i < ViolationCount(_device); ++i)
            {
                all.Add(ViolationKind(_device, i));
            }

            return all;
        }
    }

    public ulong EventsOutstanding => OutstandingEvents(_device);

    public ulong MemoryOutstanding => OutstandingMemory(_device);

    public static string NameOf(Violation kind) => Marshal.PtrToStringUTF8((nint)ViolationName(kind))!;

    public DeviceStream Stream(string name) => new(NewStream(_device, name), Tag);

    public nint Event() => NewEvent(_device);

    public nint Memory(ulong byteSize) => NewMemory(_device, byteSize);

    public Violation Record(nint @event, DeviceStream stream) => RecordEvent(_device, @event, stream.Handle);

    public Violation Wait(DeviceStream stream, DeviceEvent @event) => StreamWaitEvent(_device, stream.Handle, @event.Handle);

    public Violation Wait(DeviceStream stream, DeviceStream other) => StreamWaitStream(_device, stream.Handle, other.Handle);

    public Violation HostWait(DeviceStream stream) => HostWaitStream(_device, stream.Handle);

    public Violation HostWait(DeviceEvent @event) => HostWaitEvent(_device, @event.Handle);

    public Violation Read(DeviceStream stream, nint data) => StreamRead(_device, stream.Handle, data);

    public Violation Write(DeviceStream stream, nint data) => StreamWrite(_device, stream.Handle, data);

    public Violation HostRead(nint data) => HostReads(_device, data);

    public Violation Begin(nint data, SyncMode mode, nint what) => HandoffBegin(_device, data, (byte)mode, what);

    public Violation Returned(nint data, SyncMode mode, nint what) => HandoffReturned(_device, data, (byte)mode, what);

    public Violation Failed(nint data, SyncMode mode, nint what) => HandoffFailed(_device, data, (byte)mode, what);

    public void ReleaseEvent(nint @event) => EventRelease(@event, _device);

    public void ReleaseMemory(nint data) => MemoryRelease(data, _device);

    public ulong Releases(nint @event) => EventReleases(_device, @event);

    public ulong ReleaseThread(nint @event) => EventReleaseThread(_device, @event);

    public ulong MemoryReleaseCount(nint data) => MemoryReleases(_device, data);

    public ulong MemoryThread(nint data) => MemoryReleaseThread(_device, data);

    public void Mark(string text) => LogMark(_device, text);

    public string Message(int violation) =>
        Text((text, capacity) => ViolationMessage(_device, (ulong)violation, (byte*)text, capacity));

    public void ForgetViolations() => ClearViolations(_device);

    public Violation Finish() => FinishDevice(_device);

    public void Dispose() => Destroy(_device);

    private static string Text(Func<nint, ulong, ulong> copy)
    {
        var text = new byte[copy(0, 0) + 1];
        fixed (byte* at = text)
        {
            copy((nint)at, (ulong)text.Length);
        }

        return Encoding.ASCII.GetString(text.AsSpan(0, text.Length - 1));
    }

    [LibraryImport(Libraries.Device, EntryPoint = "fake_device_new")]
    private static partial nint New();

    [LibraryImport(Libraries.Device, EntryPoint = "fake_device_destroy")]
    private static partial void Destroy(nint device);

    [LibraryImport(Libraries.Device, EntryPoint = "fake_device_finish")]
    private static partial Violation FinishDevice(nint device);

    [LibraryImport(Libraries.Device, EntryPoint = "fake_stream_new", StringMarshalling = StringMarshalling.Utf8)]
    private static partial nint NewStream(nint device, string name);

    [LibraryImport(Libraries.Device, EntryPoint = "fake_event_new")]
    private static partial nint NewEvent(nint device);

    [LibraryImport(Libraries.Device, EntryPoint = "fake_event_record")]
    private static partial Violation RecordEvent(nint device, nint @event, nint stream);

    [LibraryImport(Libraries.Device, EntryPoint = "fake_stream_wait_event")]
    private static partial Violation StreamWaitEvent(nint device, nint stream, nint @event);

    [LibraryImport(Libraries.Device, EntryPoint = "fake_stream_wait_stream")]
    private static partial Violation StreamWaitStream(nint device, nint stream, nint other);

    [LibraryImport(Libraries.Device, EntryPoint = "fake_host_wait_stream")]
    private static partial Violation HostWaitStream(nint device, nint stream);

    [LibraryImport(Libraries.Device, EntryPoint = "fake_host_wait_event")]
    private static partial Violation HostWaitEvent(nint device, nint @event);

    [LibraryImport(Libraries.Device, EntryPoint = "fake_memory_new")]
    private static partial nint NewMemory(nint device, ulong byteSize);

    [LibraryImport(Libraries.Device, EntryPoint = "fake_stream_read")]
    private static partial Violation StreamRead(nint device, nint stream, nint data);

    [LibraryImport(Libraries.Device, EntryPoint = "fake_stream_write")]
    private static partial Violation StreamWrite(nint device, nint stream, nint data);

    [LibraryImport(Libraries.Device, EntryPoint = "fake_host_read")]
    private static partial Violation HostReads(nint device, nint data);

    [LibraryImport(Libraries.Device, EntryPoint = "fake_handoff_begin")]
    private static partial Violation HandoffBegin(nint device, nint data, byte mode, nint what);

    [LibraryImport(Libraries.Device, EntryPoint = "fake_handoff_returned")]
    private static partial Violation HandoffReturned(nint device, nint data, byte mode, nint what);

    [LibraryImport(Libraries.Device, EntryPoint = "fake_handoff_failed")]
    private static partial Violation HandoffFailed(nint device, nint data, byte mode, nint what);

    [LibraryImport(Libraries.Device, EntryPoint = "fake_event_release")]
    private static partial void EventRelease(nint @event, nint device);

    [LibraryImport(Libraries.Device, EntryPoint = "fake_memory_release")]
    private static partial void MemoryRelease(nint data, nint device);

    [LibraryImport(Libraries.Device, EntryPoint = "fake_stray_calls")]
    private static partial ulong Strays();

    [LibraryImport(Libraries.Device, EntryPoint = "fake_event_release_count")]
    private static partial ulong EventReleases(nint device, nint @event);

    [LibraryImport(Libraries.Device, EntryPoint = "fake_memory_release_count")]
    private static partial ulong MemoryReleases(nint device, nint data);

    [LibraryImport(Libraries.Device, EntryPoint = "fake_event_release_thread")]
    private static partial ulong EventReleaseThread(nint device, nint @event);

    [LibraryImport(Libraries.Device, EntryPoint = "fake_memory_release_thread")]
    private static partial ulong MemoryReleaseThread(nint device, nint data);

    [LibraryImport(Libraries.Device, EntryPoint = "fake_current_thread")]
    private static partial ulong CurrentThreadId();

    [LibraryImport(Libraries.Device, EntryPoint = "fake_events_outstanding")]
    private static partial ulong OutstandingEvents(nint device);

    [LibraryImport(Libraries.Device, EntryPoint = "fake_memory_outstanding")]
    private static partial ulong OutstandingMemory(nint device);

    [LibraryImport(Libraries.Device, EntryPoint = "fake_violation_count")]
    private static partial ulong ViolationCount(nint device);

    [LibraryImport(Libraries.Device, EntryPoint = "fake_violation_kind")]
    private static partial Violation ViolationKind(nint device, ulong index);

    [LibraryImport(Libraries.Device, EntryPoint = "fake_violation_message_copy")]
    private static partial ulong ViolationMessage(nint device, ulong index, byte* text, ulong capacity);

    [LibraryImport(Libraries.Device, EntryPoint = "fake_violation_name")]
    private static partial byte* ViolationName(Violation kind);

    [LibraryImport(Libraries.Device, EntryPoint = "fake_violations_clear")]
    private static partial void ClearViolations(nint device);

    [LibraryImport(Libraries.Device, EntryPoint = "fake_log_mark", StringMarshalling = StringMarshalling.Utf8)]
    private static partial void LogMark(nint device, string text);

    [LibraryImport(Libraries.Device, EntryPoint = "fake_log_length")]
    private static partial ulong LogLength(nint device);

    [LibraryImport(Libraries.Device, EntryPoint = "fake_log_line_copy")]
    private static partial ulong LogLine(nint device, ulong index, byte* text, ulong capacity);
}
