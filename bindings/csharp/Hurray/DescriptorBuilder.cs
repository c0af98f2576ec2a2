using System;
using System.Collections.Generic;
using Hurray.Interop;

namespace Hurray;

/// <summary>Collects the fields of a descriptor; <see cref="Build"/> checks them all. May be used again afterwards.</summary>
/// <remarks>For one thread at a time.</remarks>
public sealed class DescriptorBuilder
{
    private readonly ElementType _elementType;
    private readonly Layout _layout;
    private readonly ulong[] _shape;
    private readonly List<BufferEntry> _buffers = [];
    private ulong _byteOffset;
    private long[]? _strides;
    private ulong[]? _parentShape;
    private ulong[]? _shardOffset;

    /// <summary>Starts a descriptor.</summary>
    /// <param name="elementType">Type of the elements.</param>
    /// <param name="layout">How they lie in the buffers.</param>
    /// <param name="shape">Size of every dimension; <see cref="ShapeLimit.DimensionDynamic"/> where it is not known.</param>
    public DescriptorBuilder(ElementType elementType, Layout layout, ReadOnlySpan<ulong> shape)
    {
        _elementType = elementType;
        _layout = layout;
        _shape = shape.ToArray();
    }

    /// <summary>Sets the offset of element (0, ..., 0) in buffer 0.</summary>
    /// <param name="byteOffset">The offset in bytes.</param>
    /// <returns>This builder.</returns>
    public DescriptorBuilder SetByteOffset(ulong byteOffset)
    {
        _byteOffset = byteOffset;
        return this;
    }

    /// <summary>Sets the strides of the strided layout.</summary>
    /// <param name="strides">One for every dimension, in elements; zero and negative ones are legal.</param>
    /// <returns>This builder.</returns>
    public DescriptorBuilder SetStrides(ReadOnlySpan<long> strides)
    {
        _strides = strides.ToArray();
        return this;
    }

    /// <summary>Makes the tensor a shard of a larger one. (format: shard)</summary>
    /// <param name="parentShape">Shape of the whole tensor.</param>
    /// <param name="shardOffset">Where this shard starts in it.</param>
    /// <returns>This builder.</returns>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.InvalidArgument"/>: the two differ in rank.</exception>
    public DescriptorBuilder SetShard(ReadOnlySpan<ulong> parentShape, ReadOnlySpan<ulong> shardOffset)
    {
        if (parentShape.Length != shardOffset.Length)
        {
            throw new HurrayException(
                HurrayStatus.InvalidArgument,
                $"shardOffset: expected {parentShape.Length} offsets as parentShape has, got {shardOffset.Length}");
        }

        _parentShape = parentShape.ToArray();
        _shardOffset = shardOffset.ToArray();
        return this;
    }

    /// <summary>Appends an entry to the buffer table.</summary>
    /// <param name="entry">The entry.</param>
    /// <returns>This builder.</returns>
    public DescriptorBuilder AddBuffer(BufferEntry entry)
    {
        _buffers.Add(entry);
        return this;
    }

    /// <summary>Validates what was collected and makes the descriptor.</summary>
    /// <returns>The descriptor.</returns>
    /// <exception cref="HurrayException">A field is wrong; the codes are those of
    /// <see cref="Descriptor.Decode"/>.</exception>
    public unsafe Descriptor Build()
    {
        NativeError error;
        Native.Check(
            NativeMethods.DescriptorBuilderNew(
                (byte)_elementType, (byte)_layout, _shape, (uint)_shape.Length, out DescriptorBuilderHandle builder, &error),
            &error);
        using (builder)
        {
            Native.Check(NativeMethods.DescriptorBuilderSetByteOffset(builder, _byteOffset, &error), &error);
            if (_strides is not null)
            {
                Native.Check(
                    NativeMethods.DescriptorBuilderSetStrides(builder, _strides, (uint)_strides.Length, &error), &error);
            }

            if (_parentShape is not null)
            {
                Native.Check(
                    NativeMethods.DescriptorBuilderSetShard(
                        builder, _parentShape, _shardOffset, (uint)_parentShape.Length, &error),
                    &error);
            }

            foreach (BufferEntry entry in _buffers)
            {
                Native.Check(NativeMethods.DescriptorBuilderAddBuffer(builder, entry.ToNative(), &error), &error);
            }

            Native.Check(NativeMethods.DescriptorBuilderBuild(builder, out DescriptorHandle built, &error), &error);
            using (built)
            {
                return new Descriptor(built);
            }
        }
    }
}
