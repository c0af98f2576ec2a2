// Ends with everything open, some of it forgotten and some of it waiting for a thread to release it: that must not matter.
using System;
using System.Runtime.CompilerServices;
using Hurray;

Forget();
GC.Collect();
GC.WaitForPendingFinalizers();
Tensor open = Tensor.FromMemory<int>(new int[3], [3], new DenseOptions { Released = () => Console.WriteLine("released at exit") });
TensorView<int> view = open.Pin<int>();
open.Export(out BufferList list, out TensorContext context);
Console.WriteLine($"open: {view.Length} {list.Count} {context.AbiVersion}, waiting: {HurrayRuntime.PendingReleases > 0}");
Forget();
GC.Collect();
GC.WaitForPendingFinalizers();
Console.WriteLine($"waiting: {HurrayRuntime.PendingReleases}");

[MethodImpl(MethodImplOptions.NoInlining)]
static void Forget() => _ = Tensor.FromArray(new int[3]);
