using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

namespace Hurray.Interop;

/// <summary>A producer of .NET behind the C struct: what its callbacks lead back to. The struct holds it by a GCHandle, which its
/// release frees.</summary>
internal sealed unsafe class ProducerLease
{
    private readonly ITensorProducer _producer;
    private GCHandle _self;
    private int _ended;

    public ProducerLease(ITensorProducer producer)
    {
        _producer = producer;
        _self = GCHandle.Alloc(this);
    }

    /// <summary>Makes the struct lead to this.</summary>
    public void Fill(NativeProducer* producer)
    {
        producer->Context = (void*)GCHandle.ToIntPtr(_self);
        producer->ExportTensor = &Export;
        producer->Release = &Release;
    }

    [UnmanagedCallersOnly(CallConvs = [typeof(CallConvCdecl)])]
    private static int Export(
        void* context, void* stream, byte device, nint* outList, nint* outContext, NativeError* error)
    {
        // Nothing may pass into native frames.
        try
        {
            *outList = 0;
            *outContext = 0;
            if (Callbacks.Ended)
            {
                return Native.Fail(error, HurrayStatus.Unsupported, "producer: the .NET runtime that made it has ended");
            }

            var lease = (ProducerLease)GCHandle.FromIntPtr((nint)context).Target!;
            DeviceStream? consumer = stream == null ? null : new DeviceStream((nint)stream, (Device)device);
            lease.Export(consumer, out *outList, out *outContext);
            return (int)HurrayStatus.Ok;
        }
        catch (Exception e)
        {
            return Native.Fail(error, e);
        }
    }

    [UnmanagedCallersOnly(CallConvs = [typeof(CallConvCdecl)])]
    private static void Release(void* context)
    {
        if (Callbacks.Ended)
        {
            return;
        }

        try
        {
            ((ProducerLease)GCHandle.FromIntPtr((nint)context).Target!).End();
        }
        catch (Exception e)
        {
            Callbacks.Report(e);
        }
    }

    private void Export(DeviceStream? consumer, out nint list, out nint context)
    {
        TensorParts parts = _producer.Export(consumer);
        if (parts.Buffers is null || parts.Context is null)
        {
            parts.Buffers?.Dispose();
            parts.Context?.Dispose();
            throw new HurrayException(
                HurrayStatus.NullPointer, $"producer: {_producer.GetType()} returned no {(parts.Buffers is null ? "buffers" : "context")}");
        }

        // Both or none: the one that is left must not be lost where the other is closed.
        using (parts.Buffers)
        using (parts.Context)
        {
            _ = parts.Context.Handle;
            list = parts.Buffers.Detach();
            context = parts.Context.Detach();
        }
    }

    private void End()
    {
        if (Interlocked.Exchange(ref _ended, 1) != 0)
        {
            throw new InvalidOperationException("a Hurray producer was released twice");
        }

        _self.Free();
        _producer.Dispose();
    }
}
