using System;
using System.Buffers.Binary;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text;
using Xunit;
using Xunit.Abstractions;

namespace Hurray.Tests;

public class FileTests(ITestOutputHelper output) : LeakChecked
{
    private static string NewPath => Path.Combine(Path.GetTempPath(), $"hurray-{Guid.NewGuid():N}.safetensors");

    [Fact]
    public void Written_files_are_read_back()
    {
        string[] names = ["plain", "", "n\0ul", "ünï→😀", "quote\"\\\n"];
        string path = NewPath;
        using (TensorFileWriter writer = TensorFileWriter.Create(path))
        {
            for (int i = 0; i < names.Length; ++i)
            {
                using Tensor tensor = Tensor.FromArray(Enumerable.Range(i, 6).ToArray(), 2, 3);
                writer.Add(names[i], tensor);
            }

            using Tensor scalar = Tensor.FromMemory<Half>(new[] { (Half)2.5 }, []);
            writer.Add("scalar", scalar);
            using Tensor empty = Tensor.FromMemory(Memory<double>.Empty, [0, 7]);
            writer.Add("empty", empty);
            using Tensor bits = Tensor.FromBooleans([true, false, true], [3]);
            writer.Add("bits", bits);
            Refused(HurrayStatus.InvalidArgument, () => writer.Add("plain", scalar));
            Refused(HurrayStatus.InvalidArgument, () => writer.Add([0xFF, 0xFE], scalar));
            Refused(HurrayStatus.InvalidArgument, () => writer.Add("half \uD800 pair", scalar));
            writer.SetMetadata("kéy\0", "valüe\0→");
            writer.SetMetadata("twice", "first");
            writer.SetMetadata("twice", "second");
            Assert.False(File.Exists(path));
            writer.Finish();
            Refused(HurrayStatus.InvalidArgument, () => writer.Finish());
        }

        using (TensorFile file = TensorFile.Open(path))
        {
            Assert.Equal(FileFormat.Safetensors, file.Format);
            Assert.Equal(8UL, file.Count);
            Assert.Equal((ulong)new FileInfo(path).Length, file.FileSize);
            Dictionary<string, TensorFileEntry> entries = file.Entries().ToDictionary(entry => entry.Name);
            for (int i = 0; i < names.Length; ++i)
            {
                TensorFileEntry entry = entries[names[i]];
                Assert.Equal(Encoding.UTF8.GetBytes(names[i]), entry.NameUtf8.ToArray());
                Assert.Equal(ElementType.Int32, entry.ElementType);
                Assert.Equal([2, 3], entry.Shape.ToArray());
                Assert.Equal(24UL, entry.ByteSize);
                Assert.True(file.TryFind(names[i], out ulong index));
                Assert.True(file.TryFind(entry.NameUtf8, out ulong same));
                Assert.Equal(index, same);
                using Tensor tensor = file.GetTensor(names[i]);
                Assert.True(tensor.IsReadOnly);
                using StridedView<int> view = tensor.PinStrided<int>();
                Assert.Equal(Enumerable.Range(i, 6), view.ToArray());
            }

            Assert.Equal(0UL, file.CopiedBytes);
            using (Tensor bits = file.GetTensor("bits"))
            using (PackedView view = bits.PinPacked())
            {
                Assert.Equal([true, false, true], view.ToBooleans());
                Assert.True(file.CopiedBytes > 0);
            }

            using (Tensor scalar = file.GetTensor("scalar"))
            using (StridedView<Half> view = scalar.PinStrided<Half>())
            {
                Assert.Equal((Half)2.5, view[[]]);
            }

            using (Tensor empty = file.GetTensor("empty"))
            {
                Assert.Equal([0, 7], empty.Shape.ToArray());
            }

            Assert.False(file.TryFind("nothing", out _));
            Refused(HurrayStatus.NotFound, () => file.GetTensor("nothing"));
            Refused(HurrayStatus.IndexOutOfBounds, () => file.GetTensor(8));
            Refused(HurrayStatus.IndexOutOfBounds, () => file.GetEntry(ulong.MaxValue));
            Assert.Equal(
                [new("kéy\0", "valüe\0→"), new("twice", "second")],
                file.ReadMetadata().OrderBy(pair => pair.Key, StringComparer.Ordinal));
        }

        File.Delete(path);
    }

    [Fact]
    public void Tensors_keep_the_mapping_and_views_the_tensors()
    {
        string path = NewPath;
        Write(path, """{"x":{"dtype":"I32","shape":[2],"data_offsets":[0,8]}}""", [1, 0, 0, 0, 2, 0, 0, 0]);
        TensorFile file = TensorFile.Open(path);
        Tensor tensor = file.GetTensor("x");
        TensorFileEntry entry = file.GetEntry(0);
        file.Dispose();
        file.Dispose();
        Assert.Throws<ObjectDisposedException>(() => file.Count);
        Assert.Throws<ObjectDisposedException>(() => file.GetTensor(0));
        Assert.Throws<ObjectDisposedException>(() => file.GetEntry(0));
        Assert.Throws<ObjectDisposedException>(() => file.ReadMetadata());
        Assert.Throws<ObjectDisposedException>(() => file.TryFind("x", out _));
        Assert.Equal("x", entry.Name);
        StridedView<int> view = tensor.PinStrided<int>();
        tensor.Dispose();
        Assert.Equal([1, 2], view.ToArray());
        view.Dispose();
        File.Delete(path);
    }

    [Fact]
    public void Data_that_is_not_aligned_is_handed_over_copied_or_refused()
    {
        string path = NewPath;
        // The data starts at 8 + header length, which is no multiple of 64 here.
        string header = """{"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}""";
        while ((8 + header.Length) % 64 == 0 || header.Length % 4 != 0)
        {
            header += " ";
        }

        Write(path, header, [0, 0, 0xC0, 0x3F, 0, 0, 0x20, 0xC0]);
        using (TensorFile file = TensorFile.Open(path))
        using (Tensor tensor = file.GetTensor(0))
        using (TensorBuffer buffer = tensor.ShareBuffer(0))
        {
            Assert.Equal((ulong)(8 + header.Length) % 64, tensor.Descriptor.ByteOffset);
            Assert.Equal(tensor.Descriptor.ByteOffset, buffer.Prefix);
            Assert.Equal(0UL, file.CopiedBytes);
            using TensorView<float> view = tensor.Pin<float>();
            Assert.Equal([1.5F, -2.5F], view.ReadOnlySpan.ToArray());
        }

        using (TensorFile file = TensorFile.Open(path, new TensorFileOptions { Alignment = AlignmentPolicy.Copy }))
        using (Tensor tensor = file.GetTensor(0))
        {
            Assert.Equal(0UL, tensor.Descriptor.ByteOffset);
            Assert.Equal(8UL, file.CopiedBytes);
        }

        using (TensorFile file = TensorFile.Open(path, new TensorFileOptions { Alignment = AlignmentPolicy.Require }))
        {
            Refused(HurrayStatus.Misaligned, () => file.GetTensor(0));
        }

        Refused(HurrayStatus.LimitExceeded, () => TensorFile.Open(path, new TensorFileOptions { HeaderLimit = 10 }));
        Refused(HurrayStatus.InvalidArgument, () => TensorFile.Open(path, new TensorFileOptions { Format = (FileFormat)77 }));
        Refused(HurrayStatus.InvalidArgument, () => TensorFile.Open(path, new TensorFileOptions { Alignment = (AlignmentPolicy)77 }));
        File.Delete(path);
    }

    [Theory]
    [InlineData("""{"x":{"dtype":"F32","shape":[2],"data_offsets":[0,9]}}""", 9)]
    [InlineData("""{"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}""", 7)]
    [InlineData("""{"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}""", 9)]
    [InlineData("""{"x":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}}""", 8)]
    [InlineData("""{"x":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"y":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}}""", 3)]
    [InlineData("""{"x":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"y":{"dtype":"U8","shape":[2],"data_offsets":[3,5]}}""", 5)]
    [InlineData("""{"x":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"x":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}}""", 4)]
    [InlineData("""{"x":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]}}""", 0)]
    [InlineData("""{"x":{"dtype":"F32","shape":[-1],"data_offsets":[0,0]}}""", 0)]
    [InlineData("""{"x":{"dtype":"NOPE","shape":[2],"data_offsets":[0,2]}}""", 2)]
    [InlineData("""{"x":{"shape":[2],"data_offsets":[0,2]}}""", 2)]
    [InlineData("""[1,2,3]""", 0)]
    [InlineData("""{"x":""", 0)]
    [InlineData("\u0000\u0001", 0)]
    public void Hostile_files_are_typed_errors(string header, int dataLength)
    {
        string path = NewPath;
        Write(path, header, new byte[dataLength]);
        HurrayException e = Assert.ThrowsAny<HurrayException>(() => TensorFile.Open(path));
        Assert.True(
            e.Code is HurrayStatus.InvalidFormat or HurrayStatus.Unsupported or HurrayStatus.InvalidType, $"{e.Code}: {e.Message}");
        File.Delete(path);
    }

    [Fact]
    public void Short_files_and_wrong_paths_are_typed_errors()
    {
        string path = NewPath;
        foreach (byte[] content in new byte[][] { [], [1, 2, 3], [255, 255, 255, 255, 255, 255, 255, 255], [50, 0, 0, 0, 0, 0, 0, 0, (byte)'{'] })
        {
            File.WriteAllBytes(path, content);
            HurrayException e = Assert.ThrowsAny<HurrayException>(() => TensorFile.Open(path));
            Assert.True(e.Code is HurrayStatus.InvalidFormat or HurrayStatus.LimitExceeded or HurrayStatus.Unsupported, $"{e.Code}: {e.Message}");
        }

        File.Delete(path);
        Refused(HurrayStatus.NotFound, () => TensorFile.Open(path));
        Refused(HurrayStatus.InvalidArgument, () => TensorFile.Open("a\0b"));
        Refused(HurrayStatus.InvalidArgument, () => TensorFile.Open("a\uDC00b"));
        Assert.ThrowsAny<HurrayException>(() => TensorFile.Open(""));
        Assert.ThrowsAny<HurrayException>(() => TensorFile.Open(Path.GetTempPath()));
        Assert.ThrowsAny<HurrayException>(() => TensorFileWriter.Create(Path.Combine(Path.GetTempPath(), "no-such-folder", "x")));
        Assert.Throws<ArgumentNullException>(() => TensorFile.Open(null!));
    }

    [Fact]
    public void Random_damage_never_gives_anything_but_a_file_or_a_typed_error()
    {
        string path = NewPath;
        byte[] header = Encoding.UTF8.GetBytes(
            """{"__metadata__":{"a":"b"},"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"y":{"dtype":"BOOL","shape":[3],"data_offsets":[8,11]}}""");
        var good = new byte[8 + header.Length + 11];
        BinaryPrimitives.WriteInt64LittleEndian(good, header.Length);
        header.CopyTo(good, 8);
        var random = new Random(99);
        int refused = 0;
        for (int round = 0; round < 400; ++round)
        {
            byte[] bad = (byte[])good.Clone();
            bad[random.Next(8 + header.Length)] = (byte)random.Next(256);
            File.WriteAllBytes(path, bad);
            try
            {
                using TensorFile file = TensorFile.Open(path);
                for (ulong i = 0; i < file.Count; ++i)
                {
                    using Tensor tensor = file.GetTensor(i);
                }
            }
            catch (HurrayException)
            {
                ++refused;
            }
        }

        Assert.True(refused > 200, $"{refused} refused");
        File.Delete(path);
    }

    [Fact]
    public void Unfinished_files_leave_nothing()
    {
        string path = NewPath;
        File.WriteAllText(path, "older");
        using (TensorFileWriter writer = TensorFileWriter.Create(path))
        {
            using Tensor tensor = Tensor.FromArray(new[] { 1 });
            writer.Add("x", tensor);
        }

        Assert.Equal("older", File.ReadAllText(path));
        Assert.Single(Directory.GetFiles(Path.GetTempPath(), Path.GetFileName(path) + "*"));
        File.Delete(path);
    }

    [Fact]
    public void Real_files_are_read_without_copying()
    {
        string? shared = Environment.GetEnvironmentVariable("HURRAY_SHARED");
        if (string.IsNullOrEmpty(shared) || !Directory.Exists(shared))
        {
            output.WriteLine("skipped: HURRAY_SHARED names no folder with real files");
            return;
        }

        string[] files = Directory.GetFiles(Path.Combine(shared, "data", "safetensors"), "*.safetensors");
        Assert.NotEmpty(files);
        foreach (string path in files)
        {
            using TensorFile file = TensorFile.Open(path);
            Assert.True(file.Count > 0);
            foreach (TensorFileEntry entry in file.Entries())
            {
                using Tensor tensor = file.GetTensor(entry.Name);
                Assert.Equal(entry.ElementType, tensor.ElementType);
                if (entry.ElementType == ElementType.Bool)
                {
                    continue;
                }

                // The bytes of the view are those of the file.
                using TensorView<byte> view = tensor.Pin<byte>();
                Assert.Equal(entry.ByteSize, (ulong)view.Length);
                using FileStream raw = File.OpenRead(path);
                raw.Position = (long)entry.FileOffset;
                var first = new byte[Math.Min(view.Length, 1 << 16)];
                raw.ReadExactly(first);
                Assert.True(view.ReadOnlyWindow(0, first.Length).SequenceEqual(first));
            }

            output.WriteLine($"{Path.GetFileName(path)}: {file.Count} tensors, {file.CopiedBytes} bytes copied");
        }
    }

    private static void Write(string path, string header, byte[] data)
    {
        byte[] utf8 = Encoding.UTF8.GetBytes(header);
        using FileStream file = File.Create(path);
        Span<byte> length = stackalloc byte[8];
        BinaryPrimitives.WriteInt64LittleEndian(length, utf8.Length);
        file.Write(length);
        file.Write(utf8);
        file.Write(data);
    }
}
