using System;

namespace Hurray;

public sealed unsafe partial class Tensor
{
    /// <summary>Holds the memory of a contiguous tensor for reading and writing: spans over its elements, without
    /// copying.</summary>
    /// <typeparam name="T">The .NET type of the elements, or byte for the bytes of any type.</typeparam>
    /// <returns>The view. Close it (using): the memory stays until then, also when the tensor is closed before.</returns>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.InvalidType"/>: T is not the type of the elements;
    /// <see cref="HurrayStatus.Misaligned"/>: the elements are not aligned as .NET expects of a T (use
    /// <see cref="PinStrided{T}"/>, byte, or <see cref="Copy"/>); <see cref="HurrayStatus.Unsupported"/>: not contiguous
    /// (use <see cref="PinStrided{T}"/>), no dense layout, or not the host's memory.</exception>
    /// <exception cref="ObjectDisposedException">The tensor is closed.</exception>
    public TensorView<T> Pin<T>()
        where T : unmanaged
    {
        DenseFacts facts = HostFacts();
        bool bytes = typeof(T) == typeof(byte);
        if (!bytes)
        {
            RequireType<T>(facts);
        }

        if (!facts.IsContiguous)
        {
            throw new HurrayException(
                HurrayStatus.Unsupported,
                $"tensor: its elements are not contiguous ({facts.Layout}); use PinStrided or PinPacked");
        }

        int alignment = ElementTypes.AlignmentOf<T>();
        if ((nuint)facts.Data % (nuint)alignment != 0)
        {
            throw new HurrayException(
                HurrayStatus.Misaligned,
                $"tensor: {typeof(T)} expects alignment to {alignment} bytes; use PinStrided, bytes, or a copy");
        }

        return new TensorView<T>(Handle, facts.Data, bytes ? facts.ByteSize : facts.ElementCount, facts.IsReadOnly);
    }

    /// <summary>Holds the memory of a tensor with whole bytes per element, whatever its strides and its alignment: elements by
    /// index, and copies in row-major order.</summary>
    /// <typeparam name="T">The .NET type of the elements.</typeparam>
    /// <returns>The view. Close it (using): the memory stays until then, also when the tensor is closed before.</returns>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.InvalidType"/>: T is not the type of the elements;
    /// <see cref="HurrayStatus.Unsupported"/>: no dense layout, or not the host's memory.</exception>
    /// <exception cref="ObjectDisposedException">The tensor is closed.</exception>
    public StridedView<T> PinStrided<T>()
        where T : unmanaged
    {
        DenseFacts facts = HostFacts();
        RequireType<T>(facts);
        return new StridedView<T>(Handle, facts);
    }

    /// <summary>Holds the memory of a tensor whose elements are smaller than a byte (bool and the 2, 4 and 6 bit types),
    /// whatever its strides.</summary>
    /// <returns>The view. Close it (using): the memory stays until then, also when the tensor is closed before.</returns>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.InvalidType"/>: the elements are not packed;
    /// <see cref="HurrayStatus.Unsupported"/>: no dense layout, or not the host's memory.</exception>
    /// <exception cref="ObjectDisposedException">The tensor is closed.</exception>
    public PackedView PinPacked()
    {
        DenseFacts facts = HostFacts();
        if (!facts.IsPacked)
        {
            throw new HurrayException(
                HurrayStatus.InvalidType, $"tensor: its elements are {facts.ElementType}, which is not packed; use Pin or PinStrided");
        }

        return new PackedView(Handle, facts);
    }

    private static void RequireType<T>(DenseFacts facts)
        where T : unmanaged
    {
        if (!ElementTypes.Fits<T>(facts.ElementType))
        {
            string hint = facts.IsPacked ? "; use PinPacked" : "";
            throw new HurrayException(
                HurrayStatus.InvalidType, $"tensor: its elements are {facts.ElementType}, which {typeof(T)} does not stand for{hint}");
        }
    }

    private DenseFacts HostFacts()
    {
        DenseFacts facts = Facts;
        return facts.Device == Device.Cpu
            ? facts
            : throw new HurrayException(
                HurrayStatus.Unsupported, $"tensor: its memory is that of device {facts.Device}, not the host's");
    }
}
