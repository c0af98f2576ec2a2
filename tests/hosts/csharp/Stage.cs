using System;
using System.Linq;
using System.Runtime.InteropServices;

namespace Hurray.Hosts;

/// <summary>The stage of CoreCLR: what the host calls.</summary>
public static unsafe class Stage
{
    // Always null, which the compilers do not know.
    private static volatile int[]? s_nothing = Environment.ProcessId == 0 ? [] : null;

    /// <summary>Takes list and context over, and puts others in their place.</summary>
    [UnmanagedCallersOnly]
    public static int Pass(nint* list, nint* context, double* sum)
    {
        try
        {
            Fault();
            using Tensor tensor = Tensor.Import(ref *list, ref *context);
            using (TensorView<float> view = tensor.Pin<float>())
            {
                foreach (float element in view.Span)
                {
                    *sum += element;
                }
            }

            HandOn(tensor, list, context);
            return 0;
        }
        catch (HurrayException e)
        {
            Console.Error.WriteLine(e);
            return 1;
        }
    }

    /// <summary>A tensor over an array of .NET.</summary>
    [UnmanagedCallersOnly]
    public static int Make(nint* list, nint* context)
    {
        try
        {
            using Tensor tensor = Tensor.FromArray(Enumerable.Range(0, 12).Select(i => (float)i).ToArray(), 3, 4);
            HandOn(tensor, list, context);
            return 0;
        }
        catch (HurrayException e)
        {
            Console.Error.WriteLine(e);
            return 1;
        }
    }

    /// <summary>Collects garbage, and runs the releases that wait.</summary>
    [UnmanagedCallersOnly]
    public static void Settle()
    {
        GC.Collect();
        GC.WaitForPendingFinalizers();
        HurrayRuntime.Drain();
    }

    // A null reference is a SIGSEGV that CoreCLR must get, whoever else has a handler.
    private static void Fault()
    {
        try
        {
            Console.Error.WriteLine($"null has {s_nothing!.Length} elements");
        }
        catch (NullReferenceException)
        {
            return;
        }

        throw new HurrayException(HurrayStatus.Internal, "no NullReferenceException");
    }

    private static void HandOn(Tensor tensor, nint* list, nint* context)
    {
        tensor.Export(out BufferList buffers, out TensorContext described);
        *list = buffers.Detach();
        *context = described.Detach();
    }
}
