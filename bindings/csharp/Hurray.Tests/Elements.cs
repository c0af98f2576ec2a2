using System;

namespace Hurray.Tests;

/// <summary>Tensors that several tests need.</summary>
internal static class Elements
{
    /// <summary>A dense row-major tensor of the library's memory, with more of its descriptor than <see cref="Tensor.Allocate(ElementType, ReadOnlySpan{long}, uint)"/> says.</summary>
    public static Tensor Floats(ReadOnlySpan<float> values, ReadOnlySpan<ulong> shape, Func<DescriptorBuilder, DescriptorBuilder> more)
    {
        using TensorBuffer buffer = TensorBuffer.Allocate((ulong)values.Length * sizeof(float));
        using (TensorView<byte> bytes = buffer.Pin())
        {
            System.Runtime.InteropServices.MemoryMarshal.AsBytes(values).CopyTo(bytes.Span);
        }

        Descriptor descriptor = more(new DescriptorBuilder(ElementType.Float32, Layout.RowMajor, shape)).AddBuffer(buffer.Entry).Build();
        using var list = new BufferList();
        list.Push(buffer);
        return Tensor.FromParts(descriptor, list);
    }

    /// <summary>A partition of a vector into shards.</summary>
    public static Composite Partition(params float[][] parts)
    {
        ulong total = 0;
        foreach (float[] part in parts)
        {
            total += (ulong)part.Length;
        }

        ulong offset = 0;
        var members = new TensorItem[parts.Length];
        for (int i = 0; i < parts.Length; ++i)
        {
            ulong start = offset;
            members[i] = Floats(parts[i], [(ulong)parts[i].Length], builder => builder.SetShard([total], [start]));
            offset += (ulong)parts[i].Length;
        }

        try
        {
            return Composite.FromMembers(Head([total], CompositionRule.Partition, (uint)parts.Length), members);
        }
        finally
        {
            foreach (TensorItem member in members)
            {
                member.Dispose();
            }
        }
    }

    /// <summary>The head of a composite.</summary>
    public static Descriptor Head(
        ReadOnlySpan<ulong> shape, CompositionRule rule, uint members, CombineOp combine = CombineOp.None) =>
        new DescriptorBuilder(ElementType.Float32, Layout.Composite, shape)
            .SetLayoutFields(new CompositeFields(rule, members, combine)).Build();
}
