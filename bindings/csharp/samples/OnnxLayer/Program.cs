// Runs one layer of a model, y = silu(weight * x + bias), in ONNX Runtime, with the weights where the file has them. Called as:
// OnnxLayer MODEL LAYER, where the model has LAYER.weight and LAYER.bias; prints y, one number a line, and how many bytes were copied.
using System;
using System.Globalization;
using System.Linq;
using Hurray;
using Microsoft.ML.OnnxRuntime;
using OnnxLayer;

if (args.Length != 2)
{
    Console.Error.WriteLine("usage: OnnxLayer MODEL LAYER");
    return 2;
}

using TensorFile model = TensorFile.Open(args[0]);
ulong converted = 0;
using Tensor weight = Numbers(model, args[1] + ".weight", ref converted);
using Tensor bias = Numbers(model, args[1] + ".bias", ref converted);
using Tensor x = Tensor.FromArray(Enumerable.Range(0, (int)weight.Shape[^1]).Select(i => (i % 7 / 4f) - 0.75f).ToArray());

using var session = new InferenceSession(LayerGraph.Encode());
// sample: onnx
using OrtTensor w = OrtTensor.Of(weight);               // the same memory, kept while ONNX Runtime may read it
using OrtTensor b = OrtTensor.Of(bias);
using OrtTensor input = OrtTensor.Of(x);
using var options = new RunOptions();
IDisposableReadOnlyCollection<OrtValue> results =
    session.Run(options, ["weight", "bias", "x"], [w.Value, b.Value, input.Value], ["y"]);
using Tensor y = OrtTensor.ToTensor(results[0]);        // and back: ONNX Runtime's memory, released with the tensor
// end sample
using TensorView<float> view = y.Pin<float>();
foreach (float value in view.ReadOnlySpan)
{
    Console.WriteLine(value.ToString("G9", CultureInfo.InvariantCulture));
}

// To ONNX Runtime and back nothing was copied: the addresses say so.
ulong passed = w.IsSameMemory && b.IsSameMemory && input.IsSameMemory ? 0 : ulong.MaxValue;
Console.WriteLine($"copied by the file: {model.CopiedBytes}, made anew: {converted}, to ONNX Runtime and back: {passed}");
return 0;

// Quantized weights become float32; others stay where the file has them, if they are aligned there as float32 must be.
static Tensor Numbers(TensorFile model, string name, ref ulong converted)
{
    Tensor tensor = model.GetTensor(name);
    bool quantized = tensor.Descriptor.Quantization is not null;
    if (!quantized && IsAligned(tensor))
    {
        return tensor;
    }

    using (tensor)
    {
        Tensor numbers = quantized ? tensor.Dequantize() : tensor.Copy();
        converted += numbers.ByteSize;
        return numbers;
    }
}

static bool IsAligned(Tensor tensor)
{
    using TensorView<byte> bytes = tensor.Pin<byte>();
    return bytes.Address % sizeof(float) == 0;
}
