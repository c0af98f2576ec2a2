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
    private LayoutFields? _layoutFields;
    private Quantization? _quantization;
    private Statistics? _statistics;
    private ExtensionType? _extensionType;
    private MemberRole? _memberRole;
    private bool _privateTags;

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

    /// <summary>Sets the fields of the layout; for the strided one <see cref="SetStrides"/> does the same.</summary>
    /// <param name="fields">Fields of the layout that the builder was made for; others are refused by
    /// <see cref="Build"/>.</param>
    /// <returns>This builder.</returns>
    public DescriptorBuilder SetLayoutFields(LayoutFields fields)
    {
        ArgumentNullException.ThrowIfNull(fields);
        _layoutFields = fields;
        return this;
    }

    /// <summary>Says how the elements are quantized; the buffers with scales and zero points are added as others
    /// are.</summary>
    /// <param name="scheme">The scheme.</param>
    /// <returns>This builder.</returns>
    public DescriptorBuilder SetQuantization(Quantization scheme)
    {
        ArgumentNullException.ThrowIfNull(scheme);
        _quantization = scheme;
        return this;
    }

    /// <summary>Says something about the values.</summary>
    /// <param name="statistics">What.</param>
    /// <returns>This builder.</returns>
    public DescriptorBuilder SetStatistics(Statistics statistics)
    {
        ArgumentNullException.ThrowIfNull(statistics);
        _statistics = statistics;
        return this;
    }

    /// <summary>Says what the elements are; the element type is a private one then.</summary>
    /// <param name="type">The description.</param>
    /// <returns>This builder.</returns>
    public DescriptorBuilder SetExtensionType(ExtensionType type)
    {
        ArgumentNullException.ThrowIfNull(type);
        _extensionType = type;
        return this;
    }

    /// <summary>Makes the tensor a member of an overlay.</summary>
    /// <param name="role">Its role.</param>
    /// <returns>This builder.</returns>
    public DescriptorBuilder SetMemberRole(MemberRole role)
    {
        _memberRole = role;
        return this;
    }

    /// <summary>Accepts private layouts, quantization schemes, devices and memory classes, upon which the readers have
    /// agreed.</summary>
    /// <returns>This builder.</returns>
    public DescriptorBuilder AllowPrivateTags()
    {
        _privateTags = true;
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
    /// <see cref="Descriptor.Decode(ReadOnlySpan{byte})"/>.</exception>
    public unsafe Descriptor Build()
    {
        NativeError error;
        Native.Check(
            NativeMethods.DescriptorBuilderNew(
                (byte)_elementType, (byte)_layout, _shape, (uint)_shape.Length, out DescriptorBuilderHandle builder, &error),
            &error);
        using (builder)
        {
            if (_privateTags)
            {
                Native.Check(NativeMethods.DescriptorBuilderAllowPrivateTags(builder, &error), &error);
            }

            Native.Check(NativeMethods.DescriptorBuilderSetByteOffset(builder, _byteOffset, &error), &error);
            SetFields(builder);
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

    private void SetFields(DescriptorBuilderHandle builder)
    {
        if (_layoutFields is not null)
        {
            LayoutInterop.Write(builder, _layout, _layoutFields);
        }

        if (_quantization is not null)
        {
            SectionInterop.Write(builder, _quantization);
        }

        if (_statistics is not null)
        {
            SectionInterop.Write(builder, _statistics);
        }

        if (_extensionType is not null)
        {
            SectionInterop.Write(builder, _extensionType);
        }

        if (_memberRole is { } role)
        {
            SectionInterop.Write(builder, role);
        }
    }
}
