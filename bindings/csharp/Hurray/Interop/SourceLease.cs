using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Hurray.Interop;

/// <summary>Makes a tensor that a file writer was announced.</summary>
internal sealed unsafe class SourceLease : CallbackLease
{
    private readonly Func<Tensor> _make;

    public SourceLease(Func<Tensor> make, CallbackLease owner)
        : base(owner) => _make = make;

    public static delegate* unmanaged[Cdecl]<void*, nint*, int> MakeFn => &Make;

    [UnmanagedCallersOnly(CallConvs = [typeof(CallConvCdecl)])]
    private static int Make(void* context, nint* outTensor)
    {
        *outTensor = 0;
        if (Callbacks.Ended)
        {
            return (int)HurrayStatus.Unsupported;
        }

        var lease = From<SourceLease>(context);
        try
        {
            using Tensor made = lease._make()
                ?? throw new HurrayException(HurrayStatus.NullPointer, "source: it gave no tensor");
            // The library destroys what it gets; views of the tensor that was made may still be open.
            *outTensor = made.Share().Handle.Detach();
            return (int)HurrayStatus.Ok;
        }
        catch (Exception e)
        {
            return lease.Caught(e);
        }
    }
}
