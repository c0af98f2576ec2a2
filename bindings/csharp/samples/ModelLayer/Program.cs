// Runs one layer of a model: y = silu(weight * x + bias). Reads safetensors, GGUF and the other formats; quantized weights are
// dequantized. Called as: ModelLayer MODEL LAYER, where the model has LAYER.weight and LAYER.bias; prints y, one number a line.
using System;
using System.Globalization;
using System.Linq;
using Hurray;

if (args.Length != 2)
{
    Console.Error.WriteLine("usage: ModelLayer MODEL LAYER");
    return 2;
}

try
{
    // sample: model
    using TensorFile model = TensorFile.Open(args[0]);
    using Tensor weight = Numbers(model, args[1] + ".weight");
    using Tensor bias = Numbers(model, args[1] + ".bias");
    // end sample
    float[] x = Enumerable.Range(0, (int)weight.Shape[^1]).Select(i => (i % 7 / 4f) - 0.75f).ToArray();
    foreach (float value in RunLayer(weight, bias, x))
    {
        Console.WriteLine(value.ToString("G9", CultureInfo.InvariantCulture));
    }

    return 0;
}
catch (HurrayException e)
{
    Console.Error.WriteLine($"{e.CodeName}: {e.Message}");
    return 1;
}

// sample: numbers
// The numbers of a tensor as float32, aligned and one after another, whatever the file holds.
static Tensor Numbers(TensorFile model, string name)
{
    using Tensor tensor = model.GetTensor(name);
    return tensor.Descriptor.Quantization is null ? tensor.Copy() : tensor.Dequantize();
}
// end sample

// sample: layer
static float[] RunLayer(Tensor weight, Tensor bias, ReadOnlySpan<float> x)
{
    using TensorView<float> w = weight.Pin<float>();        // refused unless they are float32, contiguous and aligned
    using TensorView<float> b = bias.Pin<float>();
    if (weight.Rank != 2 || weight.Shape[1] != x.Length || weight.Shape[0] != b.Length)
    {
        throw new HurrayException(HurrayStatus.InvalidArgument, "weight, bias and input do not fit one another");
    }

    var y = new float[b.Length];
    for (int row = 0; row < y.Length; ++row)
    {
        float sum = b[row];
        ReadOnlySpan<float> line = w.ReadOnlyWindow((long)row * x.Length, x.Length);
        for (int i = 0; i < x.Length; ++i)
        {
            sum += line[i] * x[i];
        }

        y[row] = sum / (1 + MathF.Exp(-sum));
    }

    return y;
}
// end sample
