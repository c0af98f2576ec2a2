using System;

namespace Hurray.Interop;

/// <summary>Sections, out of descriptors and into builders.</summary>
internal static unsafe class SectionInterop
{
    /// <summary>Copies the quantization section, and its bytes; null and empty when there is none.</summary>
    public static Quantization? ReadQuantization(DescriptorHandle descriptor, out byte[] payload)
    {
        NativeError error;
        var section = NativeQuantization.Sized;
        Native.Check(NativeMethods.DescriptorQuantization(descriptor, ref section, &error), &error);
        payload = new ReadOnlySpan<byte>(section.Payload, Native.Length(section.PayloadLength, "payload")).ToArray();
        if (section.Present == 0)
        {
            return null;
        }

        uint? zeroPoints = section.ZeroPointBuffer == FieldLimit.NoBuffer ? null : section.ZeroPointBuffer;
        Quantization scheme = (Scheme)section.Scheme switch
        {
            Scheme.PerTensorAffine => new PerTensorAffine(section.Scale, section.ZeroPoint),
            Scheme.PerChannelAffine => new PerChannelAffine(
                section.Axis, section.ScaleBuffer, zeroPoints, (ElementType)section.ScaleType),
            Scheme.PerBlockAffine => new PerBlockAffine(
                section.Axis, section.BlockSize, section.ScaleBuffer, zeroPoints, (ElementType)section.ScaleType),
            Scheme.Nf4 => new Nf4(section.Axis, section.BlockSize, section.ScaleBuffer),
            Scheme.Mxfp => new Mxfp(section.Axis, section.BlockSize, section.ScaleBuffer),
            Scheme other => new PrivateScheme(
                other,
                section.Flags,
                LayoutInterop.Copy(section.PrivateData, Native.Length(section.PrivateLength, "scheme"))),
        };
        GC.KeepAlive(descriptor);
        return scheme with { Version = section.Version, Padding = section.Padding };
    }

    public static Statistics? ReadStatistics(DescriptorHandle descriptor)
    {
        NativeError error;
        var section = NativeStatistics.Sized;
        Native.Check(NativeMethods.DescriptorStatistics(descriptor, ref section, &error), &error);
        return section.Present == 0 ? null : From(section);
    }

    /// <summary>From the struct of the C ABI.</summary>
    public static Statistics From(in NativeStatistics section) => new()
    {
        Computed = (StatisticsFlags)section.ComputedMask,
        Nnz = section.Nnz,
        SparsityRatio = section.SparsityRatio,
        Min = section.ValueMin,
        Max = section.ValueMax,
        AbsMax = section.ValueAbsMax,
        Mean = section.ValueMean,
        StdDev = section.ValueStddev,
        NmN = section.NmN,
        NmM = section.NmM,
        HasNaN = section.HasNan != 0,
        HasInfinity = section.HasInf != 0,
    };

    public static ExtensionType? ReadExtensionType(DescriptorHandle descriptor)
    {
        NativeError error;
        var section = NativeExtensionType.Sized;
        Native.Check(NativeMethods.DescriptorExtensionType(descriptor, ref section, &error), &error);
        return section.Present == 0
            ? null
            : new ExtensionType
            {
                BitWidth = section.BitWidth,
                IsFloat = section.IsFloat != 0,
                IsSigned = section.IsSigned != 0,
                SignBits = section.SignBits,
                ExponentBits = section.ExponentBits,
                MantissaBits = section.MantissaBits,
                ExponentBias = section.ExponentBias,
                HasNaN = section.HasNan != 0,
                HasInfinity = section.HasInf != 0,
            };
    }

    public static MemberRole? ReadMemberRole(DescriptorHandle descriptor)
    {
        NativeError error;
        var section = NativeCompositeMember.Sized;
        Native.Check(NativeMethods.DescriptorCompositeMember(descriptor, ref section, &error), &error);
        return section.Present == 0 ? null : (MemberRole)section.MemberRole;
    }

    public static void Write(DescriptorBuilderHandle builder, Quantization scheme)
    {
        NativeError error;
        var section = NativeQuantization.Sized;
        section.Present = 1;
        section.Version = scheme.Version;
        section.Padding = scheme.Padding;
        section.ScaleBuffer = FieldLimit.NoBuffer;
        section.ZeroPointBuffer = FieldLimit.NoBuffer;
        switch (scheme)
        {
            case PerTensorAffine s:
                section.Scheme = (byte)Scheme.PerTensorAffine;
                section.Scale = s.Scale;
                section.ZeroPoint = s.ZeroPoint;
                break;
            case PerChannelAffine s:
                section.Scheme = (byte)Scheme.PerChannelAffine;
                section.Axis = s.Axis;
                SetParameters(ref section, s.ScaleBuffer, s.ZeroPointBuffer, s.ScaleType);
                break;
            case PerBlockAffine s:
                section.Scheme = (byte)Scheme.PerBlockAffine;
                section.Axis = s.Axis;
                section.BlockSize = s.BlockSize;
                SetParameters(ref section, s.ScaleBuffer, s.ZeroPointBuffer, s.ScaleType);
                break;
            case Nf4 s:
                section.Scheme = (byte)Scheme.Nf4;
                SetBlocks(ref section, s.Axis, s.BlockSize, s.ScaleBuffer);
                break;
            case Mxfp s:
                section.Scheme = (byte)Scheme.Mxfp;
                SetBlocks(ref section, s.Axis, s.BlockSize, s.ScaleBuffer);
                break;
            case PrivateScheme s:
                section.Scheme = (byte)s.Scheme;
                section.Flags = s.Flags;
                break;
        }

        ReadOnlySpan<byte> ofPrivate = scheme is PrivateScheme agreed ? agreed.Data.AsSpan() : default;
        fixed (byte* data = ofPrivate)
        {
            section.PrivateData = data;
            section.PrivateLength = (ulong)ofPrivate.Length;
            Native.Check(NativeMethods.DescriptorBuilderSetQuantization(builder, section, &error), &error);
        }
    }

    public static void Write(DescriptorBuilderHandle builder, Statistics statistics)
    {
        NativeError error;
        var section = NativeStatistics.Sized;
        section.Present = 1;
        section.ComputedMask = (uint)statistics.Computed;
        section.Nnz = statistics.Nnz;
        section.SparsityRatio = statistics.SparsityRatio;
        section.ValueMin = statistics.Min;
        section.ValueMax = statistics.Max;
        section.ValueAbsMax = statistics.AbsMax;
        section.ValueMean = statistics.Mean;
        section.ValueStddev = statistics.StdDev;
        section.NmN = statistics.NmN;
        section.NmM = statistics.NmM;
        section.HasNan = Bit(statistics.HasNaN);
        section.HasInf = Bit(statistics.HasInfinity);
        Native.Check(NativeMethods.DescriptorBuilderSetStatistics(builder, section, &error), &error);
    }

    public static void Write(DescriptorBuilderHandle builder, ExtensionType type)
    {
        NativeError error;
        var section = NativeExtensionType.Sized;
        section.Present = 1;
        section.BitWidth = type.BitWidth;
        section.PackingFactor = (byte)type.PackingFactor;
        section.IsFloat = Bit(type.IsFloat);
        section.IsSigned = Bit(type.IsSigned);
        section.SignBits = type.SignBits;
        section.ExponentBits = type.ExponentBits;
        section.MantissaBits = type.MantissaBits;
        section.ExponentBias = type.ExponentBias;
        section.HasNan = Bit(type.HasNaN);
        section.HasInf = Bit(type.HasInfinity);
        Native.Check(NativeMethods.DescriptorBuilderSetExtensionType(builder, section, &error), &error);
    }

    public static void Write(DescriptorBuilderHandle builder, MemberRole role)
    {
        NativeError error;
        var section = NativeCompositeMember.Sized;
        section.Present = 1;
        section.MemberRole = (byte)role;
        Native.Check(NativeMethods.DescriptorBuilderSetCompositeMember(builder, section, &error), &error);
    }

    private static void SetParameters(ref NativeQuantization section, uint scales, uint? zeroPoints, ElementType scaleType)
    {
        section.ScaleBuffer = scales;
        section.ZeroPointBuffer = zeroPoints ?? FieldLimit.NoBuffer;
        section.ScaleType = (byte)scaleType;
        section.Flags = zeroPoints is null ? (ushort)QuantizationFlags.Symmetric : (ushort)0;
    }

    private static void SetBlocks(ref NativeQuantization section, uint axis, uint blockSize, uint scales)
    {
        section.Axis = axis;
        section.BlockSize = blockSize;
        section.ScaleBuffer = scales;
    }

    private static byte Bit(bool value) => value ? (byte)1 : (byte)0;
}
