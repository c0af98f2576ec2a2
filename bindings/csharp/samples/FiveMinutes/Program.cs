// The code of ../../README.md. A test runs it and looks at what it prints.
using System;
using System.IO;
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
    Strided();
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
