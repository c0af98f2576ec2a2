using System;
using Hurray.Interop;

namespace Hurray;

/// <summary>A head with all of its members, which fit: shards of one tensor, a base with corrections, or tensors that belong together.
/// (format: composite)</summary>
/// <remarks>Immutable. Lifetime and threads as with <see cref="Tensor"/>; members that were given out live on when it is closed.</remarks>
public sealed unsafe partial class Composite : IDisposable
{
    private readonly CompositeHandle _handle;

    internal Composite(CompositeHandle handle) => _handle = handle;

    /// <summary>Number of members of the head, not of those inside of them.</summary>
    /// <exception cref="ObjectDisposedException">The composite is closed.</exception>
    public int MemberCount => (int)Info().MemberCount;

    /// <summary>Descriptors in all: the head and, at all levels, those of the members.</summary>
    /// <exception cref="ObjectDisposedException">The composite is closed.</exception>
    public ulong DescriptorCount => Info().DescriptorCount;

    /// <summary>Heads on the longest way down, this one included: 1 to 8.</summary>
    /// <exception cref="ObjectDisposedException">The composite is closed.</exception>
    public int Depth => (int)Info().Depth;

    /// <summary>How the members make up the whole, or the number of a private rule.</summary>
    /// <exception cref="ObjectDisposedException">The composite is closed.</exception>
    public CompositionRule Rule => (CompositionRule)Info().CompositionRule;

    /// <summary>How corrections apply to the base of an overlay.</summary>
    /// <exception cref="ObjectDisposedException">The composite is closed.</exception>
    public CombineOp CombineOp => (CombineOp)Info().CombineOp;

    /// <summary>Whether there is a number at each index of the head: in partitions and overlays whose members have that, too.</summary>
    /// <exception cref="ObjectDisposedException">The composite is closed.</exception>
    public bool HasElements => Info().HasElements != 0;

    /// <summary>Shape and type of the whole.</summary>
    /// <exception cref="ObjectDisposedException">The composite is closed.</exception>
    public Descriptor Head
    {
        get
        {
            using var use = new HandleUse(Handle);
            NativeError error;
            Native.Check(NativeMethods.CompositeHead(Handle, out nint borrowed, &error), &error);
            using DescriptorHandle head = HurrayHandle.Borrow<DescriptorHandle>(borrowed);
            return new Descriptor(head);
        }
    }

    internal CompositeHandle Handle
    {
        get
        {
            ObjectDisposedException.ThrowIf(_handle.IsClosedByOwner, this);
            return _handle;
        }
    }

    /// <summary>Puts head and members together and checks that they fit: their number, their depth, each member's shape, type and sections,
    /// and of a partition that the members cover the head exactly and without overlap.</summary>
    /// <param name="head">A descriptor of layout <see cref="Layout.Composite"/>.</param>
    /// <param name="members">Tensors and composites, which stay the caller's and may be closed at once; their memory is shared.</param>
    /// <returns>The composite.</returns>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.InvalidArgument"/>: the head is none, or a member is empty;
    /// <see cref="HurrayStatus.InvalidComposite"/>: members that do not fit, which the message names.</exception>
    /// <exception cref="ObjectDisposedException">A member is closed.</exception>
    public static Composite FromMembers(Descriptor head, params ReadOnlySpan<TensorItem> members)
    {
        ArgumentNullException.ThrowIfNull(head);
        Releases.Poll();
        NativeError error;
        using DescriptorHandle descriptor = head.ToHandle();
        Native.Check(NativeMethods.CompositeBuilderNew(descriptor, out CompositeBuilderHandle builder, &error), &error);
        using (builder)
        {
            for (int i = 0; i < members.Length; ++i)
            {
                HurrayStatus status = members[i] switch
                {
                    { Tensor: { } tensor } => NativeMethods.CompositeBuilderAddTensor(builder, tensor.Handle, &error),
                    { Composite: { } inner } => NativeMethods.CompositeBuilderAddComposite(builder, inner.Handle, &error),
                    _ => throw new HurrayException(
                        HurrayStatus.InvalidArgument, $"members[{i}]: expected a tensor or a composite, got neither"),
                };
                Native.Check(status, &error);
            }

            Native.Check(NativeMethods.CompositeBuilderBuild(builder, out CompositeHandle built, &error), &error);
            return new Composite(built);
        }
    }

    /// <summary>A member.</summary>
    /// <param name="index">Its place, below <see cref="MemberCount"/>.</param>
    /// <returns>A share of the tensor or composite, which the caller closes; independent of this.</returns>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.IndexOutOfBounds"/>.</exception>
    /// <exception cref="ObjectDisposedException">The composite is closed.</exception>
    public TensorItem GetMember(int index)
    {
        Releases.Poll();
        NativeError error;
        Native.Check(
            NativeMethods.CompositeMember(Handle, (uint)index, out TensorHandle tensor, out CompositeHandle composite, &error), &error);
        return ItemOf(tensor, composite)!.Value;
    }

    /// <summary>Copies all elements of a partition or an overlay into one new tensor of the head's shape and type: row-major. Quantized
    /// members are dequantized, corrections applied in their order. The unit of progress is bytes put in place.</summary>
    /// <param name="work">Limit, progress, cancellation; null: none.</param>
    /// <returns>The tensor; independent of this.</returns>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.Unsupported"/>: a group, a private rule, an opaque member, sums that are
    /// not defined, memory that the CPU cannot read; <see cref="HurrayStatus.InvalidLayout"/>; the codes of
    /// <see cref="Tensor.Dequantize"/>; <see cref="HurrayStatus.LimitExceeded"/>; <see cref="HurrayStatus.OutOfMemory"/>.</exception>
    /// <exception cref="OperationCanceledException">It was cancelled.</exception>
    /// <exception cref="ObjectDisposedException">The composite is closed.</exception>
    public Tensor Merge(WorkOptions? work = null)
    {
        Releases.Poll();
        using var lease = new WorkLease(work);
        NativeWorkOptions native = lease.ToNative();
        NativeError error;
        lease.Check(NativeMethods.CompositeMerged(Handle, &native, out TensorHandle merged, &error), &error);
        return new Tensor(merged);
    }

    /// <summary>Closes the composite; the second time is a no-op.</summary>
    public void Dispose()
    {
        _handle.Dispose();
        Releases.Poll();
    }

    /// <summary>One of two handles that the library gave, of which the other is null; null when both are.</summary>
    internal static TensorItem? ItemOf(TensorHandle tensor, CompositeHandle composite)
    {
        if (!tensor.IsInvalid)
        {
            return new Tensor(tensor);
        }

        // Not one conditional expression: its null would be a composite.
        if (!composite.IsInvalid)
        {
            return new Composite(composite);
        }

        return null;
    }

    private NativeCompositeInfo Info()
    {
        NativeError error;
        var info = NativeCompositeInfo.Sized;
        Native.Check(NativeMethods.CompositeInfo(Handle, ref info, &error), &error);
        return info;
    }
}
