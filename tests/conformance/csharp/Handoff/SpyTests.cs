using System;
using System.Collections.Generic;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Hurray.Tests;
using Xunit;

namespace Hurray.Conformance;

/// <summary>Handles of another copy of the library: the version is asked for first, and what is accepted works.</summary>
public unsafe class SpyTests : LeakChecked
{
    private static int s_eventReleases;

    [Theory]
    [InlineData(1U)]
    [InlineData(3U)]
    [InlineData(5U)]
    [InlineData(uint.MaxValue)]
    public void Context_of_a_version_that_nobody_vouches_for_is_refused_before_any_other_accessor(uint version)
    {
        using var spy = new Spy(version);
        spy.Pair(out nint list, out nint context);
        (nint List, nint Context) before = (list, context);
        spy.ClearLog();
        HurrayException e = Refused(HurrayStatus.VersionMismatch, () => Tensor.Import(ref list, ref context));
        Assert.Contains($"{version}", e.Message);
        Assert.Contains($"{HurrayVersion.CAbiVersion}", e.Message);
        AssertOnlyTheVersionWasAskedFor(spy);
        // Both are still ours.
        Assert.Equal(before, (list, context));

        using BufferList buffers = BufferList.Adopt(list);
        using TensorContext described = TensorContext.Adopt(context);
        Refused(HurrayStatus.VersionMismatch, () => Tensor.Import(buffers, described));
        Refused(HurrayStatus.VersionMismatch, () => described.ReadDescriptor());
        Assert.Equal(version, described.AbiVersion);
        AssertOnlyTheVersionWasAskedFor(spy);
        buffers.Dispose();
        described.Dispose();
        AssertEnded(spy);
    }

    [Fact]
    public void Version_3_is_refused_even_when_the_copy_vouches_for_it()
    {
        // Below 4 there are no contexts.
        using var spy = new Spy(4);
        spy.Vouch(1, 5);
        spy.SetContextVersion(3);
        spy.Pair(out nint list, out nint context);
        spy.ClearLog();
        Refused(HurrayStatus.VersionMismatch, () => Tensor.Import(ref list, ref context));
        AssertOnlyTheVersionWasAskedFor(spy);
        BufferList.Adopt(list).Dispose();
        TensorContext.Adopt(context).Dispose();
        AssertEnded(spy);
    }

    [Theory]
    [InlineData(4U, 4U, 5U)]
    [InlineData(5U, 5U, 5U)]
    [InlineData(4U, 5U, 6U)]
    public void Copy_that_vouches_for_our_version_or_the_contexts_but_not_both_is_refused(
        uint lowest, uint highest, uint version)
    {
        using var spy = new Spy(5);
        spy.Vouch(lowest, highest);
        spy.SetContextVersion(version);
        spy.Pair(out nint list, out nint context);
        spy.ClearLog();
        Refused(HurrayStatus.VersionMismatch, () => Tensor.Import(ref list, ref context));
        AssertOnlyTheVersionWasAskedFor(spy);
        BufferList.Adopt(list).Dispose();
        TensorContext.Adopt(context).Dispose();
        AssertEnded(spy);
    }

    [Theory]
    [InlineData(4U, false)]
    [InlineData(4U, true)]
    [InlineData(5U, true)]
    [InlineData(9U, true)]
    public void Tensor_of_another_copy_is_read_when_the_version_is_ours_or_vouched_for(uint version, bool vouched)
    {
        using var spy = new Spy(version);
        if (vouched)
        {
            spy.Vouch(4, version);
        }

        spy.Pair(out nint list, out nint context);
        spy.ClearLog();
        using (Tensor tensor = Tensor.Import(ref list, ref context))
        {
            // The very first thing that was asked of the context.
            Assert.Equal("tensor_context_abi_version", spy.Log.First(line => line.StartsWith("tensor_context", StringComparison.Ordinal)));
            Assert.Equal((0, 0), (list, context));
            Assert.Equal([3, 4], tensor.Shape.ToArray());
            using (TensorView<float> view = tensor.Pin<float>())
            {
                Assert.Equal(Enumerable.Range(0, 12).Select(i => (float)i), view.ReadOnlySpan.ToArray());
            }

            using Tensor share = tensor.Share();
            tensor.Dispose();
            using StridedView<float> strided = share.PinStrided<float>();
            Assert.Equal(11F, strided[2, 3]);
        }

        AssertEnded(spy);
    }

    [Fact]
    public void Descriptor_of_a_vouched_context_is_given_out_after_the_version_was_asked_for()
    {
        using var spy = new Spy(5);
        spy.Vouch(4, 5);
        spy.Pair(out nint list, out nint context);
        spy.ClearLog();
        using (TensorContext described = TensorContext.Adopt(context))
        {
            Assert.True(described.Supports(HurrayVersion.CAbiVersion));
            Assert.Equal([3UL, 4UL], Descriptor.Decode(described.ReadDescriptor()).Shape.ToArray());
            Assert.Equal("tensor_context_abi_version", spy.Log.First(line => line.StartsWith("tensor_context", StringComparison.Ordinal)));
        }

        BufferList.Adopt(list).Dispose();
        AssertEnded(spy);
    }

    [Theory]
    [InlineData(3U)]
    [InlineData(5U)]
    public void Producer_that_exports_such_a_context_is_refused_and_everything_is_ended(uint version)
    {
        using var spy = new Spy(version);
        using (var producer = new TensorProducer(new FromSpy(spy)))
        {
            HurrayException e = Refused(HurrayStatus.VersionMismatch, () => producer.Request());
            Assert.Contains($"{version}", e.Message);
        }

        Assert.DoesNotContain("tensor_context_descriptor", spy.Log);
        AssertEnded(spy);
    }

    [Fact]
    public void Producer_may_export_tensors_of_another_copy()
    {
        using var spy = new Spy(4);
        using (var producer = new TensorProducer(new FromSpy(spy)))
        using (Tensor tensor = producer.Request())
        using (TensorView<float> view = tensor.Pin<float>())
        {
            Assert.Equal(11F, view[11]);
        }

        AssertEnded(spy);
    }

    [Fact]
    public void Event_of_another_copy_is_read_and_released_once()
    {
        using var spy = new Spy(4);
        s_eventReleases = 0;
        int context = 0;
        spy.EventPair(0x7E, &CountEvent, &context, out nint list, out nint described);
        using (Tensor tensor = Tensor.Import(ref list, ref described))
        {
            BufferSync sync = tensor.SyncOf(0);
            Assert.Equal(SyncMode.Event, sync.Mode);
            Assert.Equal(new DeviceEvent(0x7E, Device.Cuda), sync.Event);
            Refused(HurrayStatus.Unsupported, () => tensor.Pin<float>());
            sync.ReleaseEvent();
            Assert.Equal(1, s_eventReleases);
            Refused(HurrayStatus.InvalidHandle, sync.ReleaseEvent);
        }

        Assert.Equal(1, s_eventReleases);
        AssertEnded(spy);

        // Nobody asks for it: the end of the tensor releases it.
        spy.EventPair(0x7E, &CountEvent, &context, out list, out described);
        Tensor.Import(ref list, ref described).Dispose();
        Assert.Equal(2, s_eventReleases);
        AssertEnded(spy);
    }

    [Fact]
    public void Stream_of_another_copy_is_read()
    {
        using var spy = new Spy(4);
        spy.StreamPair(0x57, out nint list, out nint context);
        using (Tensor tensor = Tensor.Import(ref list, ref context))
        {
            Assert.Equal(new DeviceStream(0x57, Device.Cuda), tensor.SyncOf(0).Stream);
            Refused(HurrayStatus.SyncModeMismatch, () => _ = tensor.SyncOf(0).Event);
        }

        AssertEnded(spy);
    }

    [Fact]
    public void Collector_leaves_handles_of_another_copy_to_its_deferred_functions()
    {
        using var spy = new Spy(4);
        Forget(spy);
        spy.ClearLog();
        GC.Collect();
        GC.WaitForPendingFinalizers();
        IReadOnlyList<string> log = spy.Log;
        Assert.Contains("buffer_list_destroy_deferred", log);
        Assert.DoesNotContain("buffer_list_destroy", log);
        Assert.DoesNotContain("tensor_context_destroy", log);
        AssertEnded(spy);
    }

    [Theory]
    [InlineData("buffer_list_len", HurrayStatus.Internal)]
    [InlineData("buffer_info", HurrayStatus.InvalidHandle)]
    [InlineData("tensor_context_descriptor", HurrayStatus.OutOfMemory)]
    public void Failure_of_the_other_copy_is_a_typed_error_and_both_handles_stay_ours(string function, HurrayStatus status)
    {
        using var spy = new Spy(4);
        spy.Pair(out nint list, out nint context);
        spy.Answer(function, status);
        Refused(status, () => Tensor.Import(ref list, ref context));
        Assert.NotEqual(0, list);
        Assert.NotEqual(0, context);
        spy.Answer(function, HurrayStatus.Ok);
        Tensor.Import(ref list, ref context).Dispose();
        AssertEnded(spy);
    }

    private sealed class FromSpy(Spy spy) : ITensorProducer
    {
        public TensorParts Export(DeviceStream? consumer)
        {
            spy.Pair(out nint list, out nint context);
            return new TensorParts(BufferList.Adopt(list), TensorContext.Adopt(context));
        }

        public void Dispose()
        {
        }
    }

    [UnmanagedCallersOnly(CallConvs = [typeof(CallConvCdecl)])]
    private static void CountEvent(void* handle, void* context) => ++s_eventReleases;

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Forget(Spy spy)
    {
        spy.Pair(out nint list, out nint context);
        _ = BufferList.Adopt(list);
        _ = TensorContext.Adopt(context);
    }

    private static void AssertOnlyTheVersionWasAskedFor(Spy spy)
    {
        Assert.Equal(0UL, spy.AccessorCalls);
        Assert.Equal("tensor_context_abi_version", spy.Log.FirstOrDefault(line => line != "build_id"));
    }

    private static void AssertEnded(Spy spy) => Assert.Equal((0UL, 0UL), (spy.LiveHandles, spy.Misuses));
}
