using System;
using System.Collections.Generic;
using System.Text;

namespace OnnxLayer;

/// <summary>A model file of ONNX with one layer: y = s * sigmoid(s), s = weight * x + bias. Written by hand, so that the sample needs no
/// other file; the field numbers are those of onnx.proto.</summary>
internal static class LayerGraph
{
    private const int Float = 1;

    /// <summary>The file's bytes, of which <c>weight</c>, <c>bias</c> and <c>x</c> are the inputs and <c>y</c> is the output.</summary>
    public static byte[] Encode()
    {
        byte[] graph = Message(
            Field(1, Node("MatMul", ["weight", "x"], "product")),
            Field(1, Node("Add", ["product", "bias"], "sum")),
            Field(1, Node("Sigmoid", ["sum"], "gate")),
            Field(1, Node("Mul", ["sum", "gate"], "y")),
            Field(2, "layer"),
            Field(11, Value("weight", "rows", "columns")),
            Field(11, Value("bias", "rows")),
            Field(11, Value("x", "columns")),
            Field(12, Value("y", "rows")));
        // IR version 8, operators of version 13.
        return Message(Field(1, 8), Field(7, graph), Field(8, Message(Field(1, ""), Field(2, 13))));
    }

    private static byte[] Node(string operation, string[] inputs, string output)
    {
        var fields = new List<byte[]>();
        foreach (string input in inputs)
        {
            fields.Add(Field(1, input));
        }

        fields.Add(Field(2, output));
        fields.Add(Field(4, operation));
        return Message([.. fields]);
    }

    private static byte[] Value(string name, params string[] dimensions)
    {
        byte[][] sizes = Array.ConvertAll(dimensions, dimension => Field(1, Message(Field(2, dimension))));
        byte[] type = Message(Field(1, Message(Field(1, Float), Field(2, Message(sizes)))));
        return Message(Field(1, name), Field(2, type));
    }

    private static byte[] Message(params byte[][] fields)
    {
        var bytes = new List<byte>();
        foreach (byte[] field in fields)
        {
            bytes.AddRange(field);
        }

        return [.. bytes];
    }

    private static byte[] Field(int number, int value) => [(byte)(number << 3), (byte)value];

    private static byte[] Field(int number, string text) => Field(number, Encoding.UTF8.GetBytes(text));

    private static byte[] Field(int number, byte[] bytes)
    {
        var field = new List<byte> { (byte)((number << 3) | 2) };
        int length = bytes.Length;
        for (; length > 0x7F; length >>= 7)
        {
            field.Add((byte)(length | 0x80));
        }

        field.Add((byte)length);
        field.AddRange(bytes);
        return [.. field];
    }
}
