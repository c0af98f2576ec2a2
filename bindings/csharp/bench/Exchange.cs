using System;
using Apache.Arrow;
using Apache.Arrow.C;
using Apache.Arrow.Types;

namespace Hurray.Bench;

/// <summary>One float32 array goes out as C structs, comes in from them, and is released: here, and in Apache Arrow.</summary>
internal sealed unsafe class Exchange : IDisposable
{
    private readonly Tensor _tensor;
    private readonly FloatArray _array;

    public Exchange(int length)
    {
        _tensor = Tensor.FromArray(new float[length]);
        _array = new FloatArray.Builder().AppendRange(new float[length]).Build();
    }

    /// <summary>Ours: the pair carries type and shape, too.</summary>
    public void Hurray()
    {
        _tensor.Export(out BufferList buffers, out TensorContext context);
        using Tensor imported = Tensor.Import(buffers, context);
    }

    /// <summary>As <see cref="Hurray"/>, by the bare pointers that other runtimes get.</summary>
    public void HurrayPointers()
    {
        _tensor.Export(out BufferList buffers, out TensorContext context);
        nint list = buffers.Detach();
        nint raw = context.Detach();
        using Tensor imported = Tensor.Import(ref list, ref raw);
    }

    /// <summary>Arrow's array alone; whoever imports it knows its type already.</summary>
    public void ArrowArrayAlone()
    {
        CArrowArray array;
        CArrowArrayExporter.ExportArray(_array, &array);
        using IArrowArray imported = CArrowArrayImporter.ImportArray(&array, FloatType.Default);
    }

    /// <summary>Arrow's array with its schema, which says the type.</summary>
    public void ArrowWithSchema()
    {
        CArrowSchema schema;
        CArrowArray array;
        CArrowSchemaExporter.ExportType(FloatType.Default, &schema);
        CArrowArrayExporter.ExportArray(_array, &array);
        using IArrowArray imported = CArrowArrayImporter.ImportArray(&array, CArrowSchemaImporter.ImportType(&schema));
    }

    public void Dispose()
    {
        _tensor.Dispose();
        _array.Dispose();
    }
}
