// The code of ../../README.md. A test runs it and looks at what it prints.
using System;
using System.IO;
using System.Threading.Tasks;
using Hurray;

string folder = Directory.CreateTempSubdirectory("hurray-").FullName;
string path = Path.Combine(folder, "model.safetensors");
try
{
    Wrap();
    Write(path);
    Read(path);
    Exchange();
    Stream(Path.Combine(folder, "tensors"));
    Formats(Path.Combine(folder, "model.hrry"));
    // The name of a socket file has at most 107 bytes, which the folder may be too long for.
    Channels(Path.Combine("/tmp", Path.GetFileName(folder) + ".socket"));
    Strided();
    Work();
    Spans();
    Fail();
}
finally
{
    Directory.Delete(folder, recursive: true);
}

static void Wrap()
{
    // sample: wrap
    float[] weights = [1, 2, 3, 4, 5, 6];
    using Tensor tensor = Tensor.FromArray(weights, 2, 3);  // the array itself, pinned; nothing is copied

    using (TensorView<float> view = tensor.Pin<float>())
    {
        Span<float> all = view.Span;                        // the same memory
        all[5] = 60;
    }

    Console.WriteLine($"{tensor.ElementType} {string.Join('x', tensor.Shape.ToArray())}: {weights[5]}");
    // end sample
}

static void Write(string path)
{
    // sample: write
    using Tensor tensor = Tensor.FromArray(new float[] { 1, 2, 3 });
    using TensorFileWriter writer = TensorFileWriter.Create(path);
    writer.Add("weights", tensor);
    writer.SetMetadata("made by", "C#");
    writer.Finish();  // appears under its name now, complete
    // end sample
}

static void Read(string path)
{
    // sample: read
    using TensorFile file = TensorFile.Open(path);          // mapped; no tensor data is read
    foreach (TensorFileEntry entry in file.Entries())
    {
        Console.WriteLine($"{entry.Name}: {entry.ElementType}, {entry.ByteSize} bytes");
    }

    using Tensor weights = file.GetTensor("weights");
    using TensorView<float> view = weights.Pin<float>();    // the bytes of the file, read-only
    Console.WriteLine(view.ReadOnlySpan[2]);
    // end sample
}

static void Exchange()
{
    using Tensor tensor = Tensor.FromArray(new float[] { 1, 2, 3 });
    // sample: exchange
    tensor.Export(out BufferList buffers, out TensorContext context);
    nint list = buffers.Detach();                           // HurrayBufferList *, for any runtime in this process
    nint description = context.Detach();                    // HurrayTensorContext *

    using Tensor imported = Tensor.Import(ref list, ref description);
    // end sample
    Console.WriteLine($"imported {imported.ElementCount} elements");
}

static void Stream(string path)
{
    using (FileStream output = File.Create(path))
    {
        // sample: stream
        using TensorStreamWriter writer = TensorStreamWriter.ToHandle(output.SafeFileHandle);
        for (int i = 0; i < 3; ++i)
        {
            using Tensor tensor = Tensor.FromArray(new[] { i, i + 1 });
            writer.Write(tensor);
        }
        // end sample
    }

    using FileStream input = File.OpenRead(path);
    // sample: stream-read
    using TensorStreamReader reader = TensorStreamReader.FromHandle(input.SafeFileHandle);
    foreach (Tensor tensor in reader.ReadAll())
    {
        using (tensor)
        using (TensorView<int> view = tensor.Pin<int>())
        {
            Console.WriteLine(view.ReadOnlySpan[1]);
        }
    }
    // end sample
}

static void Formats(string path)
{
    // sample: formats
    using (TensorFileWriter writer = TensorFileWriter.Create(path, new TensorFileWriterOptions(FileFormat.Hrry)))
    using (Tensor tensor = Tensor.FromArray(new float[] { 1, 2, 3 }))
    {
        writer.SetMetadata("layers", 32);                   // typed: numbers, truth values, bytes, arrays
        writer.SetMetadata("words", ["one", "two"]);
        writer.Add("weights", tensor);
        writer.Finish();
    }

    using TensorFile file = TensorFile.Open(path);          // .hrry, GGUF, safetensors, .npy, .npz: the content says which
    foreach ((string key, object value) in file.ReadMetadata())
    {
        Console.WriteLine($"{key}: {(value is string[] words ? string.Join(' ', words) : value)}");
    }
    // end sample
}

static void Channels(string path)
{
    using TensorChannelListener listener = TensorChannelListener.Listen(path);
    Task<ulong> sending = Task.Run(() => Send(listener));
    Receive(path);
    Console.WriteLine($"copied {sending.Result}");
}

static ulong Send(TensorChannelListener listener)
{
    // sample: channel-send
    using TensorChannel channel = listener.Accept(TimeSpan.FromSeconds(60));    // TensorChannelListener.Listen(path)
    using Tensor tensor = Tensor.AllocateShared(ElementType.Int32, [3]);
    using (TensorView<int> view = tensor.Pin<int>())
    {
        view[2] = 7;
    }

    channel.Send(tensor);                                   // sealed and read-only from here on; nothing is copied
    channel.Finish();
    // end sample
    return channel.Info.CopiedBytes;
}

static void Receive(string path)
{
    // sample: channel-receive
    using TensorChannel channel = TensorChannel.Connect(path, TimeSpan.FromSeconds(60));
    foreach (Tensor tensor in channel.ReceiveAll())
    {
        using (tensor)
        using (TensorView<int> view = tensor.Pin<int>())    // the same memory, mapped
        {
            Console.WriteLine(view.ReadOnlySpan[2]);
        }
    }
    // end sample
}

static void Strided()
{
    // sample: strided
    int[] memory = [1, 2, 3, 4, 5, 6];
    var reversed = new DenseOptions { Strides = [-3, 1], ByteOffset = 3 * sizeof(int) };
    using Tensor tensor = Tensor.FromMemory<int>(memory, [2, 3], reversed);
    using StridedView<int> view = tensor.PinStrided<int>();
    Console.WriteLine($"{view[0, 0]}, {view[1, 2]}: {string.Join(' ', view.ToArray())}");

    using Tensor bits = Tensor.FromBooleans([true, false, true], [3]);
    using PackedView truths = bits.PinPacked();             // a bit each, least significant first
    Console.WriteLine(string.Join(' ', truths.ToBooleans()));
    // end sample
}

static void Work()
{
    // sample: work
    using Tensor tensor = Tensor.FromArray(new float[] { 0, 1, 2, 3 }, 2, 2);
    using Tensor stored = tensor.Quantize(new QuantizeOptions(Scheme.PerTensorAffine, ElementType.Int8) { Symmetric = true });
    using Tensor numbers = stored.Dequantize(ElementType.Float32, new WorkOptions { MemoryLimit = 1 << 20 });
    using Tensor sparse = numbers.Transcode(Layout.Coo);    // only what is not 0
    sparse.Validate(ValidationLevel.Data);
    Console.WriteLine($"{sparse.ComputeStatistics(StatisticsFlags.Nnz).Nnz} of {numbers.ElementCount} are not 0");
    // end sample
}

static void Spans()
{
    // sample: span
    using Tensor tensor = Tensor.FromArray(new float[] { 1, 2, 3, 4 }, 2, 2);
    using StridedView<float> view = tensor.PinStrided<float>();
    Console.WriteLine(System.Numerics.Tensors.Tensor.Sum(view.GetReadOnlyTensorSpan()));    // .NET 10; the same memory
    // end sample
}

static void Fail()
{
    // sample: error
    try
    {
        Descriptor.Decode("HRRY, but no descriptor"u8);
    }
    catch (HurrayException e)
    {
        Console.WriteLine($"{e.CodeName} at byte {e.ByteOffset}");
    }
    // end sample
}
