using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Threading;
using Xunit;

namespace Hurray.Tests;

/// <summary>A compacting collector that never rests, during every kind of call: memory is where it was, callbacks find what they belong
/// to, and everything is released once.</summary>
public class StormTests : LeakChecked
{
    private const int Rounds = 15;

    private static readonly Dictionary<string, Action> Calls = new()
    {
        ["wrap and view"] = () =>
        {
            int released = 0;
            using (Tensor tensor = Tensor.FromMemory<int>(Numbers(), [8], new DenseOptions { Released = () => ++released }))
            using (TensorView<int> view = tensor.Pin<int>())
            {
                Same(view.ReadOnlySpan);
                Same(view.ReadOnlyMemory.Span);
            }

            Assert.Equal(1, released);
        },
        ["strided, packed and span"] = () =>
        {
            using Tensor tensor = Tensor.FromMemory<int>(Numbers(), [2, 4], new DenseOptions { Strides = [4, 1] });
            using StridedView<int> view = tensor.PinStrided<int>();
            Same(view.ToArray());
            Assert.Equal(7, view.GetReadOnlyTensorSpan()[1, 3]);
            using Tensor bits = Tensor.FromBooleans([true, false, true], [3]);
            using PackedView packed = bits.PinPacked();
            Assert.Equal([true, false, true], packed.ToBooleans());
        },
        ["export and import"] = () =>
        {
            using Tensor tensor = Tensor.FromArray(Numbers());
            tensor.Export(out BufferList list, out TensorContext context);
            using Tensor imported = Tensor.Import(list, context);
            using Tensor share = imported.Share();
            using TensorView<int> view = share.Pin<int>();
            Same(view.ReadOnlySpan);
        },
        ["descriptors"] = () =>
        {
            Descriptor built = new DescriptorBuilder(ElementType.Int32, Layout.Coo, [8, 8]).SetLayoutFields(new CooFields(2, true))
                .AddBuffer(new BufferEntry(8, 64)).AddBuffer(new BufferEntry(32, 64)).Build();
            Assert.Equal(built.Encode(), Descriptor.Decode(built.Encoded).Encode());
        },
        ["file through streams"] = () =>
        {
            using var image = new MemoryStream();
            using (TensorFileWriter writer = TensorFileWriter.ToStream(image, new TensorFileWriterOptions(FileFormat.Hrry)))
            using (Tensor tensor = Tensor.FromArray(Numbers()))
            using (Tensor aligned = tensor.Copy())
            {
                writer.SetMetadata("key", "value");
                writer.Add("now", tensor);
                writer.Add("made later", aligned.Descriptor, () =>
                {
                    using Tensor made = Tensor.FromArray(Numbers());
                    return made.Copy();
                });
                writer.Finish();
            }

            using TensorFile file = TensorFile.FromMemory(image.ToArray());
            Assert.Equal("value", file.ReadMetadata()[0].Value);
            using Tensor read = file.GetTensor("made later");
            using TensorView<int> view = read.Pin<int>();
            Same(view.ReadOnlySpan);
        },
        ["stream through streams"] = () =>
        {
            using var pipe = new MemoryStream();
            using (TensorStreamWriter writer = TensorStreamWriter.ToStream(pipe))
            using (Tensor tensor = Tensor.FromArray(Numbers()))
            {
                writer.Write(tensor);
                writer.Write(tensor);
            }

            pipe.Position = 0;
            using TensorStreamReader reader = TensorStreamReader.FromStream(pipe);
            using (Tensor read = reader.Read()!)
            using (TensorView<int> view = read.Pin<int>())
            {
                Same(view.ReadOnlySpan);
            }

            Assert.NotNull(reader.Begin());
            var bytes = new byte[32];
            for (int at = 0; at < bytes.Length;)
            {
                at += reader.ReadData(bytes.AsSpan(at));
            }

            Same(System.Runtime.InteropServices.MemoryMarshal.Cast<byte, int>(bytes));
        },
        ["work with reports"] = () =>
        {
            int told = 0;
            using Tensor tensor = Tensor.FromArray(Enumerable.Range(0, 4096).Select(i => i / 64f).ToArray(), 64, 64);
            using Tensor stored = tensor.Quantize(
                new QuantizeOptions(Scheme.PerTensorAffine, ElementType.Int8) { Symmetric = true },
                new WorkOptions { Progress = (_, _) => ++told });
            using Tensor back = stored.Dequantize();
            using Tensor tiled = back.Transcode(Layout.Tiled, new TranscodeOptions { Fields = new TiledFields([new TileLevel([8, 8])]) });
            tiled.Validate();
            Assert.Equal(back.ReadDouble(63, 63), tiled.ReadDouble(63, 63));
            Assert.NotEqual(0, told);
        },
        ["composites"] = () =>
        {
            using Composite composite = Elements.Partition([1, 2], [3]);
            using Tensor merged = composite.Merge();
            Assert.Equal(3, merged.ReadDouble(2));
        },
        ["producer"] = () =>
        {
            using var producer = new TensorProducer(new Exporter());
            using Tensor tensor = producer.Request(null);
            using TensorView<int> view = tensor.Pin<int>();
            Same(view.ReadOnlySpan);
        },
        ["exceptions in callbacks"] = () =>
        {
            using Tensor tensor = Tensor.FromArray(new float[64]);
            HurrayException e = Refused(
                HurrayStatus.Cancelled,
                () => tensor.ComputeStatistics(
                    StatisticsFlags.Range, new WorkOptions { Progress = (_, _) => throw new InvalidDataException("no") }));
            Assert.IsType<InvalidDataException>(e.InnerException);
        },
    };

    public static TheoryData<string> Kinds => new(Calls.Keys);

    [Theory]
    [MemberData(nameof(Kinds))]
    public void Collector_that_never_rests_disturbs_no_call(string kind)
    {
        using var stop = new CancellationTokenSource();
        int collections = 0;
        var storm = new Thread(() =>
        {
            while (!stop.IsCancellationRequested)
            {
                GC.Collect(GC.MaxGeneration, GCCollectionMode.Forced, blocking: true, compacting: true);
                Interlocked.Increment(ref collections);
            }
        });
        storm.Start();
        try
        {
            // Every call meets the collector, however slow the machine is.
            for (int round = 0; round < Rounds || Volatile.Read(ref collections) < Rounds; ++round)
            {
                Calls[kind]();
            }
        }
        finally
        {
            stop.Cancel();
            storm.Join();
        }
    }

    [Fact]
    public void Resident_memory_stays_flat_over_10_000_handles()
    {
        const int Handles = 10_000;
        // Each holds 64 KiB of the library's memory: kept ones would be 625 MiB.
        Cycle(Handles / 10);
        Collect();
        long before = Resident();
        Cycle(Handles);
        Collect();
        long grown = Resident() - before;
        Assert.True(grown < 64 << 20, $"{grown} bytes more after {Handles} handles");
    }

    private static void Cycle(int times)
    {
        for (int i = 0; i < times; ++i)
        {
            using Tensor tensor = Tensor.Allocate(ElementType.Float32, [1 << 14]);
            tensor.Export(out BufferList list, out TensorContext context);
            using Tensor imported = Tensor.Import(list, context);
            using TensorView<float> view = imported.Pin<float>();
            view.Span.Fill(i);
        }
    }

    // Environment.WorkingSet is that of the process as the system counts it.
    private static long Resident() => Environment.WorkingSet;

    // Small arrays in the youngest generation: those are moved.
    private static int[] Numbers() => [0, 1, 2, 3, 4, 5, 6, 7];

    private static void Same(ReadOnlySpan<int> read) => Assert.Equal(Numbers(), read.ToArray());

    private sealed class Exporter : ITensorProducer
    {
        public TensorParts Export(DeviceStream? consumer)
        {
            using Tensor tensor = Tensor.FromArray(Numbers());
            tensor.Export(out BufferList buffers, out TensorContext context);
            return new TensorParts(buffers, context);
        }

        public void Dispose()
        {
        }
    }
}
