using System;
using System.Text.Json;

namespace Hurray.Conformance;

/// <summary>A descriptor as the JSON object of the golden manifests.</summary>
internal static class DescriptorJson
{
    private const uint None = 0xFFFFFFFF;

    public static void Write(Utf8JsonWriter json, Descriptor descriptor, int fileLength)
    {
        json.WriteStartObject("descriptor");
        json.WriteNumber("version_major", descriptor.VersionMajor);
        json.WriteNumber("version_minor", descriptor.VersionMinor);
        json.WriteNumber("descriptor_length", descriptor.Encoded.Length);
        json.WriteNumber("trailing_bytes", fileLength - descriptor.Encoded.Length);
        json.WriteNumber("flags", descriptor.Flags);
        json.WriteString("type", TypeName(descriptor.ElementType));
        json.WriteNumber("type_tag", (byte)descriptor.ElementType);
        json.WriteString("layout", LayoutName(descriptor.Layout));
        json.WriteNumber("layout_tag", (byte)descriptor.Layout);
        json.WriteNumber("rank", descriptor.Rank);
        JsonLines.WriteArray(json, "shape", descriptor.Shape);
        json.WriteNumber("byte_offset", descriptor.ByteOffset);
        WriteLayout(json, descriptor);
        WriteBuffers(json, descriptor);
        WriteQuantization(json, descriptor);
        WriteShard(json, descriptor);
        WriteStatistics(json, descriptor.Statistics);
        WriteExtensionType(json, descriptor.ExtensionType);
        if (descriptor.MemberRole is { } role)
        {
            json.WriteStartObject("composite_member");
            json.WriteNumber("member_role", (byte)role);
            json.WriteEndObject();
        }
        else
        {
            json.WriteNull("composite_member");
        }

        json.WriteEndObject();
    }

    private static bool IsPrivate(byte tag) => tag is >= 0xF0 and <= 0xFE;

    private static string TypeName(ElementType type) =>
        type.FormatName() ?? (IsPrivate((byte)type) ? "private" : "unknown");

    private static void WriteLayout(Utf8JsonWriter json, Descriptor descriptor)
    {
        json.WriteStartObject("layout_fields");
        switch (descriptor.LayoutFields)
        {
            case StridedFields fields:
                JsonLines.WriteArray(json, "strides", fields.Strides.AsSpan());
                break;
            case TiledFields fields:
                WriteTiles(json, fields.Levels.AsSpan());
                break;
            case MortonFields fields:
                JsonLines.WriteArray(json, "morton_bits", fields.Bits.AsSpan());
                break;
            case HilbertFields fields:
                json.WriteNumber("hilbert_order", fields.Order);
                json.WriteNumber("hilbert_rank", descriptor.Rank);
                break;
            case CooFields fields:
                json.WriteNumber("nnz", fields.Nnz);
                json.WriteBoolean("is_sorted", fields.IsSorted);
                break;
            case CsrFields fields:
                json.WriteNumber("nnz", fields.Nnz);
                break;
            case CscFields fields:
                json.WriteNumber("nnz", fields.Nnz);
                break;
            case CsfFields fields:
                json.WriteNumber("nnz", fields.Nnz);
                JsonLines.WriteArray(json, "mode_order", fields.ModeOrder.AsSpan());
                break;
            case BlockPagedFields fields:
                json.WriteNumber("page_size", fields.PageSize);
                json.WriteNumber("num_pages", fields.NumPages);
                json.WriteNumber("paged_axis", fields.PagedAxis);
                json.WriteNumber("num_seqs", fields.NumSeqs);
                json.WriteNumber("kv_role", (byte)fields.KvRole);
                json.WriteNumber("layer_index", fields.LayerIndex ?? None);
                json.WriteNumber("block_table_index_type", (byte)fields.IndexType);
                break;
            case CompositeFields fields:
                json.WriteNumber("composition_rule", (byte)fields.Rule);
                json.WriteNumber("combine_op", (byte)fields.CombineOp);
                json.WriteNumber("member_count", fields.MemberCount);
                break;
            case PrivateLayoutFields fields:
                json.WriteNumber("extension_layout_id", fields.Id);
                json.WriteNumber("extension_data_length", fields.Data.Length);
                json.WriteString("extension_data_hex", Convert.ToHexStringLower(fields.Data.AsSpan()));
                break;
        }

        json.WriteEndObject();
    }

    private static void WriteTiles(Utf8JsonWriter json, ReadOnlySpan<TileLevel> levels)
    {
        TileLevel level = levels[0];
        JsonLines.WriteArray(json, "tile_shape", level.TileShape.AsSpan());
        json.WriteNumber("outer_layout", (byte)level.OuterLayout);
        json.WriteNumber("inner_layout", (byte)level.InnerLayout);
        JsonLines.WriteArray(json, "outer_strides", level.OuterStrides.AsSpan());
        JsonLines.WriteArray(json, "inner_strides", level.InnerStrides.AsSpan());
        if (levels.Length == 1)
        {
            json.WriteNull("inner_tiled");
            return;
        }

        json.WriteStartObject("inner_tiled");
        WriteTiles(json, levels[1..]);
        json.WriteEndObject();
    }

    private static void WriteBuffers(Utf8JsonWriter json, Descriptor descriptor)
    {
        json.WriteStartArray("buffers");
        foreach (BufferEntry entry in descriptor.Buffers)
        {
            json.WriteStartObject();
            json.WriteNumber("byte_size", entry.ByteSize);
            json.WriteNumber("alignment", entry.Alignment);
            json.WriteNumber("device_tag", (byte)entry.Device);
            json.WriteNumber("sync_mode", (byte)entry.SyncMode);
            json.WriteNumber("memory_class", (byte)entry.MemoryClass);
            json.WriteEndObject();
        }

        json.WriteEndArray();
    }

    private static void WriteQuantization(Utf8JsonWriter json, Descriptor descriptor)
    {
        if (descriptor.Quantization is not { } scheme)
        {
            json.WriteNull("quantization");
            return;
        }

        json.WriteStartObject("quantization");
        json.WriteNumber("quantization_length", descriptor.QuantizationPayload.Length);
        json.WriteString("raw_hex", Convert.ToHexStringLower(descriptor.QuantizationPayload));
        json.WriteNumber("scheme_version", scheme.Version);
        switch (scheme)
        {
            case PerTensorAffine s:
                WriteScheme(json, Scheme.PerTensorAffine, "per_tensor_affine", 0);
                WriteFloat(json, "scale", s.Scale);
                json.WriteNumber("zero_point", s.ZeroPoint);
                break;
            case PerChannelAffine s:
                WriteScheme(json, Scheme.PerChannelAffine, "per_channel_affine", s.ZeroPointBuffer is null ? 1 : 0);
                WriteParameters(json, s.Axis, s.ScaleBuffer, s.ZeroPointBuffer, s.ScaleType);
                break;
            case PerBlockAffine s:
                WriteScheme(json, Scheme.PerBlockAffine, "per_block_affine", s.ZeroPointBuffer is null ? 1 : 0);
                WriteParameters(json, s.Axis, s.ScaleBuffer, s.ZeroPointBuffer, s.ScaleType);
                json.WriteNumber("block_size", s.BlockSize);
                break;
            case Nf4 s:
                WriteScheme(json, Scheme.Nf4, "nf4", 0);
                WriteBlocks(json, s.Axis, s.BlockSize, s.ScaleBuffer);
                break;
            case Mxfp s:
                WriteScheme(json, Scheme.Mxfp, "mxfp", 0);
                WriteBlocks(json, s.Axis, s.BlockSize, s.ScaleBuffer);
                break;
            case PrivateScheme s:
                WriteScheme(json, s.Scheme, IsPrivate((byte)s.Scheme) ? "private" : "unknown", s.Flags);
                break;
        }

        json.WriteEndObject();
    }

    private static void WriteScheme(Utf8JsonWriter json, Scheme tag, string name, int flags)
    {
        json.WriteNumber("scheme_tag", (byte)tag);
        json.WriteString("scheme", name);
        json.WriteNumber("flags", flags);
    }

    private static void WriteParameters(Utf8JsonWriter json, uint axis, uint scales, uint? zeroPoints, ElementType scaleType)
    {
        json.WriteBoolean("symmetric", zeroPoints is null);
        json.WriteNumber("axis", axis);
        json.WriteNumber("scale_buffer_index", scales);
        json.WriteNumber("zero_point_buffer_index", zeroPoints ?? None);
        json.WriteNumber("scale_type_tag", (byte)scaleType);
    }

    private static void WriteBlocks(Utf8JsonWriter json, uint axis, uint blockSize, uint scales)
    {
        json.WriteNumber("axis", axis);
        json.WriteNumber("block_size", blockSize);
        json.WriteNumber("scale_buffer_index", scales);
    }

    private static void WriteShard(Utf8JsonWriter json, Descriptor descriptor)
    {
        if (!descriptor.IsShard)
        {
            json.WriteNull("shard");
            return;
        }

        json.WriteStartObject("shard");
        JsonLines.WriteArray(json, "parent_shape", descriptor.ParentShape);
        JsonLines.WriteArray(json, "shard_offset", descriptor.ShardOffset);
        json.WriteEndObject();
    }

    private static void WriteStatistics(Utf8JsonWriter json, Statistics? statistics)
    {
        if (statistics is null)
        {
            json.WriteNull("statistics");
            return;
        }

        json.WriteStartObject("statistics");
        json.WriteNumber("computed_mask", (uint)statistics.Computed);
        json.WriteNumber("nnz", statistics.Nnz);
        WriteDouble(json, "sparsity_ratio", statistics.SparsityRatio);
        WriteDouble(json, "value_min", statistics.Min);
        WriteDouble(json, "value_max", statistics.Max);
        WriteDouble(json, "value_abs_max", statistics.AbsMax);
        WriteDouble(json, "value_mean", statistics.Mean);
        WriteDouble(json, "value_stddev", statistics.StdDev);
        json.WriteNumber("nm_n", statistics.NmN);
        json.WriteNumber("nm_m", statistics.NmM);
        json.WriteBoolean("has_nan", statistics.HasNaN);
        json.WriteBoolean("has_inf", statistics.HasInfinity);
        json.WriteEndObject();
    }

    private static void WriteExtensionType(Utf8JsonWriter json, ExtensionType? type)
    {
        if (type is null)
        {
            json.WriteNull("extension_type");
            return;
        }

        json.WriteStartObject("extension_type");
        json.WriteNumber("bit_width", type.BitWidth);
        json.WriteNumber("packing_factor", type.PackingFactor);
        json.WriteBoolean("is_float", type.IsFloat);
        json.WriteBoolean("is_signed", type.IsSigned);
        json.WriteNumber("sign_bits", type.SignBits);
        json.WriteNumber("exponent_bits", type.ExponentBits);
        json.WriteNumber("mantissa_bits", type.MantissaBits);
        json.WriteNumber("exponent_bias", type.ExponentBias);
        json.WriteBoolean("has_nan", type.HasNaN);
        json.WriteBoolean("has_inf", type.HasInfinity);
        json.WriteEndObject();
    }

    // As a number, where it is finite, and as its bits.
    private static void WriteFloat(Utf8JsonWriter json, string name, float value)
    {
        WriteNumber(json, name, value);
        json.WriteString(name + "_bits", BitConverter.SingleToUInt32Bits(value).ToString("x8"));
    }

    private static void WriteDouble(Utf8JsonWriter json, string name, double value)
    {
        WriteNumber(json, name, value);
        json.WriteString(name + "_bits", BitConverter.DoubleToUInt64Bits(value).ToString("x16"));
    }

    private static void WriteNumber(Utf8JsonWriter json, string name, double value)
    {
        if (double.IsFinite(value))
        {
            json.WriteNumber(name, value);
        }
        else
        {
            json.WriteNull(name);
        }
    }

    private static string LayoutName(Layout layout) => layout switch
    {
        Layout.RowMajor => "row_major",
        Layout.ColMajor => "col_major",
        Layout.Strided => "strided",
        Layout.Tiled => "tiled",
        Layout.Morton => "morton",
        Layout.Coo => "coo",
        Layout.Csr => "csr",
        Layout.Csc => "csc",
        Layout.Csf => "csf",
        Layout.BlockPaged => "block_paged",
        Layout.Composite => "composite",
        Layout.Hilbert => "hilbert",
        _ => IsPrivate((byte)layout) ? "private_extension" : "unknown",
    };
}
