using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Runtime.CompilerServices;
using Xunit;

namespace Hurray.Tests;

/// <summary>Files of every format: read from paths and memory, written to paths and streams, with typed metadata.</summary>
public class FormatTests : LeakChecked
{
    private static readonly float[] Values = [1.5F, -2, 3, 4, 5, 6];

    private static string NewPath => Path.Combine(Path.GetTempPath(), $"hurray-{Guid.NewGuid():N}");

    [Theory]
    [InlineData(FileFormat.Safetensors, "F32")]
    [InlineData(FileFormat.Hrry, "")]
    [InlineData(FileFormat.Gguf, "F32")]
    [InlineData(FileFormat.Npy, "<f4")]
    [InlineData(FileFormat.Npz, "<f4")]
    public void Every_format_is_written_to_a_path_or_a_stream_and_opened_from_a_path_or_memory(FileFormat format, string stored)
    {
        string path = NewPath;
        var options = new TensorFileWriterOptions(format);
        using (TensorFileWriter writer = TensorFileWriter.Create(path, options))
        {
            Fill(writer);
        }

        byte[] bytes = File.ReadAllBytes(path);
        using (var stream = new MemoryStream())
        {
            using (TensorFileWriter writer = TensorFileWriter.ToStream(stream, options))
            {
                Fill(writer);
            }

            Assert.Equal(bytes, stream.ToArray());
        }

        using (TensorFile file = TensorFile.Open(path))
        {
            Assert.Equal(format, file.Format);
            Look(file, stored);
        }

        using (TensorFile file = TensorFile.Open(path, new TensorFileOptions { Access = TensorFileAccess.Read, Format = format }))
        {
            Look(file, stored);
            Assert.True(file.CopiedBytes >= 24);
        }

        int released = 0;
        using (TensorBuffer buffer = TensorBuffer.FromMemory((ReadOnlyMemory<byte>)bytes, () => ++released))
        {
            using TensorFile file = TensorFile.FromBuffer(buffer);
            buffer.Dispose();
            Look(file, stored);
            Tensor tensor = file.GetTensor(0);
            file.Dispose();
            // The tensor lies in the memory that was lent.
            Assert.Equal(0, released);
            tensor.Dispose();
            Assert.Equal(1, released);
        }

        using (TensorFile file = TensorFile.FromMemory(bytes))
        {
            Assert.Equal((ulong)bytes.Length, file.FileSize);
            Look(file, stored);
        }

        File.Delete(path);
    }

    [Theory]
    [InlineData(FileFormat.Hrry)]
    [InlineData(FileFormat.Gguf)]
    public void Metadata_has_the_types_of_dotnet(FileFormat format)
    {
        using var stream = new MemoryStream();
        using (TensorFileWriter writer = TensorFileWriter.ToStream(stream, new TensorFileWriterOptions(format)))
        {
            writer.SetMetadata("a.text", "wörd\0");
            writer.SetMetadata("a.int", long.MinValue);
            writer.SetMetadata("a.uint", ulong.MaxValue);
            writer.SetMetadata("a.float", 0.1);
            writer.SetMetadata("a.bool", false);
            writer.SetMetadata("a.bool", true);
            writer.SetMetadata("a.texts", ["x", "", "ÿ\0"]);
            writer.SetMetadata("a.ints", [long.MinValue, 0, long.MaxValue]);
            writer.SetMetadata("a.uints", [0UL, ulong.MaxValue]);
            writer.SetMetadata("a.floats", [0.1, double.NegativeInfinity]);
            writer.SetMetadata("a.bools", [true, false, true]);
            writer.SetMetadata("a.none", Array.Empty<long>());
            if (format == FileFormat.Hrry)
            {
                writer.SetMetadata("a.bytes", [0, 255]);
                writer.SetMetadata("a.all bytes", [[1], [], [2, 3]]);
            }

            Assert.Throws<ArgumentNullException>(() => writer.SetMetadata("x", (string[])null!));
            Refused(HurrayStatus.InvalidArgument, () => writer.SetMetadata("x", ["\uD800"]));
            Fill(writer);
        }

        using TensorFile file = TensorFile.FromMemory(stream.ToArray());
        Dictionary<string, object> all = file.ReadMetadata().ToDictionary(pair => pair.Key, pair => pair.Value);
        Assert.Equal("wörd\0", all["a.text"]);
        Assert.Equal(long.MinValue, all["a.int"]);
        Assert.Equal(ulong.MaxValue, all["a.uint"]);
        Assert.Equal(0.1, all["a.float"]);
        Assert.Equal(true, all["a.bool"]);
        Assert.Equal(new[] { "x", "", "ÿ\0" }, all["a.texts"]);
        Assert.Equal(new[] { long.MinValue, 0, long.MaxValue }, all["a.ints"]);
        Assert.Equal(new[] { 0UL, ulong.MaxValue }, all["a.uints"]);
        Assert.Equal(new[] { 0.1, double.NegativeInfinity }, all["a.floats"]);
        Assert.Equal(new[] { true, false, true }, all["a.bools"]);
        Assert.Empty(Assert.IsType<long[]>(all["a.none"]));
        if (format == FileFormat.Hrry)
        {
            Assert.Equal(new byte[] { 0, 255 }, all["a.bytes"]);
            Assert.Equal([[1], [], [2, 3]], Assert.IsType<byte[][]>(all["a.all bytes"]));
        }

        Assert.True(file.TryGetMetadata("a.ints", out object? ints));
        Assert.Equal(3, Assert.IsType<long[]>(ints).Length);
        Assert.False(file.TryGetMetadata("nothing", out object? none));
        Assert.Null(none);
        file.Dispose();
        Assert.Throws<ObjectDisposedException>(() => file.TryGetMetadata("a.int", out _));
        Assert.Throws<ObjectDisposedException>(() => file.GetDescriptor(0));
        Assert.Throws<ObjectDisposedException>(() => file.GetBufferRange(0, 0));
    }

    [Theory]
    [InlineData(FileFormat.Safetensors)]
    [InlineData(FileFormat.Hrry)]
    [InlineData(FileFormat.Gguf)]
    [InlineData(FileFormat.Npz)]
    public void Tensors_are_made_when_they_are_written_one_at_a_time(FileFormat format)
    {
        using var stream = new MemoryStream();
        int open = 0;
        using (TensorFileWriter writer = TensorFileWriter.ToStream(stream, new TensorFileWriterOptions(format)))
        {
            Descriptor announced;
            using (Tensor like = Tensor.FromArray(Values, 2, 3))
            {
                announced = like.Copy().Take(copy => copy.Descriptor);
            }

            for (int i = 0; i < 3; ++i)
            {
                float first = i;
                writer.Add($"t{i}", announced, () =>
                {
                    Assert.Equal(0, open++);
                    float[] values = [.. Values];
                    values[0] = first;
                    return Tensor.FromMemory<float>(values, [2, 3], new DenseOptions { Released = () => --open });
                });
            }

            CollectNow();
            writer.Finish();
            Assert.Equal(0, open);
        }

        using TensorFile file = TensorFile.FromMemory(stream.ToArray());
        for (int i = 0; i < 3; ++i)
        {
            using Tensor tensor = file.GetTensor($"t{i}");
            using StridedView<float> view = tensor.PinStrided<float>();
            Assert.Equal(i, view[0, 0]);
            Assert.Equal(6, view[1, 2]);
        }
    }

    [Fact]
    public void What_a_source_or_a_stream_throws_comes_out_as_the_cause_of_a_typed_error()
    {
        Descriptor announced = new DescriptorBuilder(ElementType.Int32, Layout.RowMajor, [1]).AddBuffer(new BufferEntry(4)).Build();
        var options = new TensorFileWriterOptions(FileFormat.Hrry);
        Failed(HurrayStatus.Unsupported, new HurrayException(HurrayStatus.Unsupported, "not today"));
        Failed(HurrayStatus.Cancelled, new OperationCanceledException("enough"));
        Failed(HurrayStatus.Io, new FileNotFoundException("where is it"));
        Failed(HurrayStatus.InternalPanic, new InvalidTimeZoneException("odd"));
        using (TensorFileWriter writer = TensorFileWriter.ToStream(new MemoryStream(), options))
        {
            Refused(HurrayStatus.NullPointer, () => writer.Add("x", announced, () => null!));
        }

        using (TensorFileWriter writer = TensorFileWriter.ToStream(new MemoryStream(), options))
        {
            Refused(HurrayStatus.InvalidArgument, () => writer.Add("x", announced, () => Tensor.Allocate(ElementType.Int16, [2])));
        }

        // A stream that is full, in a file and in a stream of tensors; and one that is closed.
        using (TensorFileWriter writer = TensorFileWriter.ToStream(new MemoryStream(new byte[8]), options))
        using (Tensor tensor = Tensor.Allocate(ElementType.Int8, [100_000]))
        {
            HurrayException full = Assert.ThrowsAny<HurrayException>(() =>
            {
                writer.Add("x", tensor);
                writer.Finish();
            });
            Assert.IsType<NotSupportedException>(full.InnerException);
        }

        void Failed(HurrayStatus code, Exception thrown)
        {
            using TensorFileWriter writer = TensorFileWriter.ToStream(new MemoryStream(), options);
            HurrayException e = Refused(code, () =>
            {
                writer.Add("x", announced, () => throw thrown);
                writer.Finish();
            });
            Assert.Same(thrown, e.InnerException);
            Assert.Contains(thrown.Message, e.Message);
        }
    }

    [Fact]
    public void Descriptors_places_and_types_are_told_without_touching_data()
    {
        byte[] bytes = Written(FileFormat.Hrry);
        using TensorFile file = TensorFile.FromMemory(bytes);
        Descriptor descriptor = file.GetDescriptor(0);
        Assert.Equal([2UL, 3UL], descriptor.Shape.ToArray());
        (ulong offset, ulong size) = file.GetBufferRange(0, 0);
        Assert.Equal((0UL, 24UL), (offset % 4096, size));
        Assert.Equal(1.5F, BitConverter.ToSingle(bytes, (int)offset));
        Assert.Null(file.GetEntry(0).Scheme);
        Refused(HurrayStatus.IndexOutOfBounds, () => file.GetDescriptor(1));
        Refused(HurrayStatus.IndexOutOfBounds, () => file.GetBufferRange(0, 1));
        Refused(HurrayStatus.IndexOutOfBounds, () => file.GetBufferRange(0, -1));
    }

    [Fact]
    public void Options_that_are_not_the_formats_are_typed_errors()
    {
        string path = NewPath;
        Refused(HurrayStatus.InvalidArgument, () => Write(new(FileFormat.Auto)));
        Refused(HurrayStatus.InvalidArgument, () => Write(new(FileFormat.Npy) { Compress = true }));
        Refused(HurrayStatus.InvalidArgument, () => Write(new(FileFormat.Gguf) { DataAlignment = 12 }));
        Refused(HurrayStatus.InvalidArgument, () => Write(new(FileFormat.Hrry) { DataAlignment = 100 }));
        Assert.Throws<ArgumentNullException>(() => Write(null!));
        Assert.Throws<ArgumentNullException>(() => TensorFileWriter.ToStream(null!, new(FileFormat.Hrry)));
        byte[] bytes = Written(FileFormat.Hrry);
        Refused(HurrayStatus.InvalidArgument, () => TensorFile.FromMemory(bytes, new() { InexactBlocks = (InexactBlocks)7 }));
        Assert.Throws<ArgumentNullException>(() => TensorFile.FromBuffer(null!));
        Assert.False(File.Exists(path));
        File.WriteAllBytes(path, bytes);
        Refused(HurrayStatus.InvalidArgument, () => TensorFile.Open(path, new() { Access = (TensorFileAccess)7 }));
        File.Delete(path);

        void Write(TensorFileWriterOptions options) => TensorFileWriter.Create(path, options).Dispose();
    }

    [Theory]
    [InlineData(FileFormat.Safetensors)]
    [InlineData(FileFormat.Hrry)]
    [InlineData(FileFormat.Gguf)]
    [InlineData(FileFormat.Npy)]
    [InlineData(FileFormat.Npz)]
    public void Damage_never_gives_anything_but_a_file_or_a_typed_error(FileFormat format)
    {
        byte[] good = Written(format);
        var random = new Random(7);
        int refused = 0;
        for (int round = 0; round < 300; ++round)
        {
            byte[] bad = round % 2 == 0 ? good[..random.Next(good.Length)] : [.. good];
            if (bad.Length != 0)
            {
                bad[random.Next(Math.Min(bad.Length, 400))] = (byte)random.Next(256);
                bad[^(1 + random.Next(Math.Min(bad.Length, 400)))] = (byte)random.Next(256);
            }

            try
            {
                using TensorFile file = TensorFile.FromMemory(bad);
                _ = file.ReadMetadata();
                foreach (TensorFileEntry entry in file.Entries())
                {
                    using Tensor tensor = file.GetTensor(entry.Name);
                }
            }
            catch (HurrayException)
            {
                ++refused;
            }
        }

        Assert.True(refused > 100, $"{refused} refused");
    }

    [Fact]
    public void Writers_that_nobody_closes_are_ended_with_their_callbacks()
    {
        Lose();
        Collect();
        Assert.Equal(0UL, HurrayRuntime.LiveHandles(HandleKind.FileWriter).Handles);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Lose()
    {
        Descriptor announced = new DescriptorBuilder(ElementType.Int32, Layout.RowMajor, [1]).AddBuffer(new BufferEntry(4)).Build();
        TensorFileWriter writer = TensorFileWriter.ToStream(new MemoryStream(), new(FileFormat.Safetensors));
        writer.Add("x", announced, () => throw new InvalidOperationException("nobody asks for it"));
    }

    private static void CollectNow()
    {
        GC.Collect();
        GC.WaitForPendingFinalizers();
    }

    private static byte[] Written(FileFormat format)
    {
        using var stream = new MemoryStream();
        using (TensorFileWriter writer = TensorFileWriter.ToStream(stream, new TensorFileWriterOptions(format)))
        {
            Fill(writer);
        }

        return stream.ToArray();
    }

    private static void Fill(TensorFileWriter writer)
    {
        using Tensor tensor = Tensor.FromArray(Values, 2, 3);
        writer.Add("data", tensor);
        writer.Finish();
        Assert.True(writer.CopiedBytes <= 24);
    }

    private static void Look(TensorFile file, string stored)
    {
        TensorFileEntry entry = Assert.Single(file.Entries());
        Assert.Equal(("data", ElementType.Float32, stored), (entry.Name, entry.ElementType, entry.StoredType));
        Assert.Equal([2UL, 3UL], entry.Shape.ToArray());
        using Tensor tensor = file.GetTensor("data");
        using StridedView<float> view = tensor.PinStrided<float>();
        Assert.Equal(Values, view.ToArray());
        Assert.True(view.IsReadOnly);
    }
}

internal static class Taking
{
    /// <summary>What something says, before it is closed.</summary>
    public static TResult Take<T, TResult>(this T one, Func<T, TResult> what)
        where T : IDisposable
    {
        using (one)
        {
            return what(one);
        }
    }
}
