using System;
using Hurray;
using Microsoft.ML.OnnxRuntime;
using Microsoft.ML.OnnxRuntime.Tensors;
using Tensor = Hurray.Tensor;

namespace OnnxLayer;

/// <summary>A tensor as ONNX Runtime sees it, and the view that holds its memory meanwhile.</summary>
internal sealed class OrtTensor : IDisposable
{
    private readonly TensorView<float> _view;

    private OrtTensor(TensorView<float> view, OrtValue value)
    {
        _view = view;
        Value = value;
    }

    // sample: onnx-of
    /// <summary>Lends a contiguous float32 tensor to ONNX Runtime, which must not write to it. Nothing is copied.</summary>
    public static OrtTensor Of(Tensor tensor)
    {
        TensorView<float> view = tensor.Pin<float>();
        try
        {
            var value = OrtValue.CreateTensorValueWithData(
                OrtMemoryInfo.DefaultInstance, TensorElementType.Float, tensor.Shape.ToArray(), view.Address, view.Length * sizeof(float));
            return new OrtTensor(view, value);
        }
        catch
        {
            view.Dispose();
            throw;
        }
    }
    // end sample

    /// <summary>The value, valid until this is closed.</summary>
    public OrtValue Value { get; }

    /// <summary>Whether ONNX Runtime looks at the very bytes of the tensor.</summary>
    public unsafe bool IsSameMemory
    {
        get
        {
            fixed (byte* data = Value.GetTensorMutableRawData())
            {
                return (nint)data == _view.Address;
            }
        }
    }

    // sample: onnx-to
    /// <summary>Makes a tensor of a result, whose memory it is: the value is closed with the last handle of it.</summary>
    public static unsafe Tensor ToTensor(OrtValue value)
    {
        OrtTensorTypeAndShapeInfo info = value.GetTensorTypeAndShape();
        if (info.ElementDataType != TensorElementType.Float)
        {
            throw new HurrayException(HurrayStatus.InvalidType, $"value: expected Float, got {info.ElementDataType}");
        }

        // Memory of ONNX Runtime, which no collector moves.
        fixed (byte* data = value.GetTensorMutableRawData())
        {
            return Tensor.FromPointer(
                data, (ulong)info.ElementCount * sizeof(float), ElementType.Float32, info.Shape, new DenseOptions { Released = value.Dispose });
        }
    }
    // end sample

    /// <summary>Ends the value, and then the view.</summary>
    public void Dispose()
    {
        Value.Dispose();
        _view.Dispose();
    }
}
