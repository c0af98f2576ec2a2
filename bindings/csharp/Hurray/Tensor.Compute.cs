using System;
using Hurray.Interop;

namespace Hurray;

public sealed unsafe partial class Tensor
{
    /// <summary>Makes a new tensor with the same elements, bit for bit, in another layout. (format: memory layout) The unit of progress is
    /// bytes of the elements; from dense to sparse and back it is elements, between sparse layouts entries.</summary>
    /// <param name="layout">The layout that is wanted.</param>
    /// <param name="options">Its fields, alignment, sequence; null: the defaults.</param>
    /// <param name="work">Limit, progress, cancellation; null: none.</param>
    /// <returns>The tensor; independent of this one, whose memory it may share.</returns>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.Unsupported"/>: a pair of layouts that docs/transcode.md does not list;
    /// <see cref="HurrayStatus.InvalidArgument"/>: fields of another layout; <see cref="HurrayStatus.InvalidLayout"/>: a dynamic
    /// dimension, fields that the layout refuses; <see cref="HurrayStatus.LimitExceeded"/>; <see cref="HurrayStatus.OutOfMemory"/>.
    /// </exception>
    /// <exception cref="OperationCanceledException">It was cancelled.</exception>
    /// <exception cref="ObjectDisposedException">The tensor is closed.</exception>
    public Tensor Transcode(Layout layout, TranscodeOptions? options = null, WorkOptions? work = null)
    {
        Releases.Poll();
        options ??= new TranscodeOptions();
        var spec = NativeTranscodeSpec.Sized;
        spec.Layout = (byte)layout;
        spec.Alignment = options.Alignment;
        spec.Flags = (uint)(options.Sequence is null ? TranscodeFlags.None : TranscodeFlags.Sequence);
        spec.Sequence = options.Sequence ?? 0;
        using DescriptorBuilderHandle fields = FieldsOf(layout, options.Fields);
        using var lease = new WorkLease(work);
        NativeWorkOptions native = lease.ToNative();
        ReadOnlySpan<ulong> counts = Arrays.OrEmpty(options.TokenCounts).AsSpan();
        fixed (ulong* countsAt = counts)
        {
            spec.TokenCounts = countsAt;
            spec.TokenCountsLength = (ulong)counts.Length;
            NativeError error;
            lease.Check(NativeMethods.TensorTranscode(Handle, spec, fields, &native, out TensorHandle made, &error), &error);
            return new Tensor(made);
        }
    }

    /// <summary>Makes a new tensor of the numbers that quantized elements stand for, each worked out in float32, as the format says, and
    /// rounded once. (format: quantization) Dense tensors become row-major, column-major ones stay so; sparse and block-paged ones keep
    /// their layout. The unit of progress is elements.</summary>
    /// <param name="elementType">Float16, BFloat16, Float32 or Float64.</param>
    /// <param name="work">Limit, progress, cancellation; null: none.</param>
    /// <returns>The tensor; independent of this one, whose memory it may share.</returns>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.InvalidArgument"/>: not quantized, or another type;
    /// <see cref="HurrayStatus.InvalidQuantization"/>: a scale or zero point that the scheme forbids;
    /// <see cref="HurrayStatus.Unsupported"/>: a private scheme, memory that the CPU cannot read;
    /// <see cref="HurrayStatus.LimitExceeded"/>; <see cref="HurrayStatus.OutOfMemory"/>.</exception>
    /// <exception cref="OperationCanceledException">It was cancelled.</exception>
    /// <exception cref="ObjectDisposedException">The tensor is closed.</exception>
    public Tensor Dequantize(ElementType elementType = ElementType.Float32, WorkOptions? work = null)
    {
        Releases.Poll();
        using var lease = new WorkLease(work);
        NativeWorkOptions native = lease.ToNative();
        NativeError error;
        lease.Check(NativeMethods.TensorDequantize(Handle, (byte)elementType, &native, out TensorHandle made, &error), &error);
        return new Tensor(made);
    }

    /// <summary>Makes a new quantized tensor of a dense one of a floating-point type: row-major, its buffers the stored elements, the
    /// scales, and the zero points where there are any. (format: quantization) The unit of progress is elements.</summary>
    /// <param name="options">Scheme and types.</param>
    /// <param name="work">Limit, progress, cancellation; null: none.</param>
    /// <returns>The tensor; independent of this one.</returns>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.InvalidArgument"/>: a field of the options, or an element that has no
    /// place in the scheme (NaN, infinite, too large), whose index the message has; <see cref="HurrayStatus.InvalidType"/>;
    /// <see cref="HurrayStatus.Unsupported"/>: not dense, quantized already, memory that the CPU cannot read;
    /// <see cref="HurrayStatus.LimitExceeded"/>; <see cref="HurrayStatus.OutOfMemory"/>.</exception>
    /// <exception cref="OperationCanceledException">It was cancelled.</exception>
    /// <exception cref="ObjectDisposedException">The tensor is closed.</exception>
    public Tensor Quantize(QuantizeOptions options, WorkOptions? work = null)
    {
        ArgumentNullException.ThrowIfNull(options);
        Releases.Poll();
        using var lease = new WorkLease(work);
        NativeWorkOptions native = lease.ToNative();
        NativeError error;
        lease.Check(NativeMethods.TensorQuantize(Handle, options.ToNative(), &native, out TensorHandle made, &error), &error);
        return new Tensor(made);
    }

    /// <summary>Checks the tensor; the first violation is an exception with the field, or the buffer and the entry in it, and what was
    /// expected. Each level includes those before it. (format: validity constraints) The unit of progress is bytes of the buffers,
    /// about.</summary>
    /// <param name="level">How deep to look.</param>
    /// <param name="work">Limit, progress, cancellation; null: none.</param>
    /// <exception cref="HurrayException">The codes of <see cref="Descriptor.Decode(ReadOnlySpan{byte})"/> and <see cref="FromParts"/>; with
    /// <see cref="ValidationLevel.Data"/> <see cref="HurrayStatus.InvalidLayout"/>: index arrays, unused bits;
    /// <see cref="HurrayStatus.InvalidType"/>: a pattern that is no element; <see cref="HurrayStatus.InvalidQuantization"/>: scales, zero
    /// points, padding; <see cref="HurrayStatus.Unsupported"/>: memory that the CPU cannot read.</exception>
    /// <exception cref="OperationCanceledException">It was cancelled.</exception>
    /// <exception cref="ObjectDisposedException">The tensor is closed.</exception>
    public void Validate(ValidationLevel level = ValidationLevel.Data, WorkOptions? work = null)
    {
        using var lease = new WorkLease(work);
        NativeWorkOptions native = lease.ToNative();
        NativeError error;
        lease.Check(NativeMethods.TensorValidate(Handle, (uint)level, &native, &error), &error);
    }

    /// <summary>Works out statistics in one pass over the elements: dequantized where they are quantized, and of a sparse tensor with those
    /// that are not stored. (format: statistics) The unit of progress is bytes of stored elements.</summary>
    /// <param name="which">What is asked for; what has no answer for these elements is missing in <see cref="Statistics.Computed"/>.</param>
    /// <param name="work">Limit, progress, cancellation; null: none.</param>
    /// <returns>The statistics, as <see cref="DescriptorBuilder.SetStatistics"/> takes them.</returns>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.Unsupported"/>: range or moments of complex numbers and of float128,
    /// composite heads, private layouts, memory that the CPU cannot read; <see cref="HurrayStatus.InvalidType"/>: a pattern that is no
    /// element; <see cref="HurrayStatus.InvalidLayout"/>; <see cref="HurrayStatus.LimitExceeded"/>;
    /// <see cref="HurrayStatus.OutOfMemory"/>.</exception>
    /// <exception cref="OperationCanceledException">It was cancelled.</exception>
    /// <exception cref="ObjectDisposedException">The tensor is closed.</exception>
    public Statistics ComputeStatistics(StatisticsFlags which, WorkOptions? work = null)
    {
        using var lease = new WorkLease(work);
        NativeWorkOptions native = lease.ToNative();
        var statistics = NativeStatistics.Sized;
        NativeError error;
        lease.Check(NativeMethods.TensorStatistics(Handle, (uint)which, &native, ref statistics, &error), &error);
        return SectionInterop.From(statistics);
    }

    // A builder that carries the wanted fields; an empty handle, which is a null pointer, where there are none.
    private DescriptorBuilderHandle FieldsOf(Layout layout, LayoutFields? fields)
    {
        if (fields is null)
        {
            return new DescriptorBuilderHandle();
        }

        Descriptor descriptor = Descriptor;
        NativeError error;
        Native.Check(
            NativeMethods.DescriptorBuilderNew(
                (byte)descriptor.ElementType, (byte)layout, descriptor.Shape, (uint)descriptor.Rank, out DescriptorBuilderHandle builder,
                &error),
            &error);
        try
        {
            LayoutInterop.Write(builder, layout, fields);
            return builder;
        }
        catch
        {
            builder.Dispose();
            throw;
        }
    }
}
