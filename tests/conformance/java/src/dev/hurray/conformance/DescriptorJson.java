package dev.hurray.conformance;

import dev.hurray.BufferHandle;
import dev.hurray.Descriptor;
import dev.hurray.ElementType;
import dev.hurray.ExtensionType;
import dev.hurray.Layout;
import dev.hurray.LayoutFields;
import dev.hurray.Quantization;
import dev.hurray.Scheme;
import dev.hurray.Shard;
import dev.hurray.Statistics;
import dev.hurray.TileLevel;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalInt;

/** A descriptor as the JSON object of the golden manifests. */
final class DescriptorJson {
    private static final long NONE = 0xFFFF_FFFFL;

    private DescriptorJson() {}

    static Map<String, Object> of(Descriptor descriptor, long length) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("version_major", descriptor.versionMajor());
        fields.put("version_minor", descriptor.versionMinor());
        fields.put("descriptor_length", descriptor.encodedLength());
        fields.put("trailing_bytes", length - descriptor.encodedLength());
        fields.put("flags", Integer.toUnsignedLong(descriptor.flags()));
        fields.put("type", name(descriptor.elementType(), descriptor.elementTypeTag()));
        fields.put("type_tag", descriptor.elementTypeTag());
        fields.put("layout", name(descriptor.layout(), descriptor.layoutTag()));
        fields.put("layout_tag", descriptor.layoutTag());
        fields.put("rank", descriptor.rank());
        fields.put("shape", JsonLines.unsigned(descriptor.shape()));
        fields.put("byte_offset", new JsonLines.Unsigned(descriptor.byteOffset()));
        fields.put("layout_fields", descriptor.layoutFields().map(f -> layout(f, descriptor.rank())).orElse(Map.of()));
        fields.put("buffers", descriptor.buffers().stream().map(DescriptorJson::buffer).toList());
        fields.put("quantization", descriptor.quantization().map(q -> quantization(q, descriptor.quantizationPayload())).orElse(null));
        fields.put("shard", descriptor.shard().map(DescriptorJson::shard).orElse(null));
        fields.put("statistics", descriptor.statistics().map(DescriptorJson::statistics).orElse(null));
        fields.put("extension_type", descriptor.extensionType().map(DescriptorJson::extensionType).orElse(null));
        fields.put("composite_member", descriptor.memberRole().map(role -> Map.of("member_role", role.value())).orElse(null));
        return fields;
    }

    static String name(ElementType type, int tag) {
        return type == ElementType.UNKNOWN ? (isPrivate(tag) ? "private" : "unknown") : type.name().toLowerCase(Locale.ROOT);
    }

    private static String name(Layout layout, int tag) {
        return layout == Layout.UNKNOWN ? (isPrivate(tag) ? "private_extension" : "unknown") : layout.name().toLowerCase(Locale.ROOT);
    }

    private static boolean isPrivate(int tag) {
        return tag >= 0xF0 && tag <= 0xFE;
    }

    private static Map<String, Object> layout(LayoutFields any, int rank) {
        Map<String, Object> fields = new LinkedHashMap<>();
        if (any instanceof LayoutFields.Strided strided) {
            fields.put("strides", signed(strided.strides()));
        } else if (any instanceof LayoutFields.Tiled tiled) {
            return tiles(tiled.levels());
        } else if (any instanceof LayoutFields.Morton morton) {
            fields.put("morton_bits", JsonLines.unsigned(morton.bits()));
        } else if (any instanceof LayoutFields.Hilbert hilbert) {
            fields.put("hilbert_order", hilbert.order());
            fields.put("hilbert_rank", rank);
        } else if (any instanceof LayoutFields.Coo coo) {
            fields.put("nnz", new JsonLines.Unsigned(coo.nnz()));
            fields.put("is_sorted", coo.sorted());
        } else if (any instanceof LayoutFields.Csr csr) {
            fields.put("nnz", new JsonLines.Unsigned(csr.nnz()));
        } else if (any instanceof LayoutFields.Csc csc) {
            fields.put("nnz", new JsonLines.Unsigned(csc.nnz()));
        } else if (any instanceof LayoutFields.Csf csf) {
            fields.put("nnz", new JsonLines.Unsigned(csf.nnz()));
            fields.put("mode_order", JsonLines.unsigned(csf.modeOrder()));
        } else if (any instanceof LayoutFields.BlockPaged pages) {
            fields.put("page_size", pages.pageSize());
            fields.put("num_pages", new JsonLines.Unsigned(pages.numPages()));
            fields.put("paged_axis", pages.pagedAxis());
            fields.put("num_seqs", pages.numSeqs());
            fields.put("kv_role", pages.kvRole().value());
            fields.put("layer_index", pages.layerIndex().orElse(NONE));
            fields.put("block_table_index_type", pages.indexType().value());
        } else if (any instanceof LayoutFields.Composite composite) {
            fields.put("composition_rule", composite.ruleTag());
            fields.put("combine_op", composite.combineOpTag());
            fields.put("member_count", composite.memberCount());
        } else if (any instanceof LayoutFields.PrivateLayout agreed) {
            fields.put("extension_layout_id", new JsonLines.Unsigned(agreed.id()));
            fields.put("extension_data_length", agreed.data().length);
            fields.put("extension_data_hex", HexFormat.of().formatHex(agreed.data()));
        }
        return fields;
    }

    private static List<Long> signed(long[] values) {
        return java.util.Arrays.stream(values).boxed().toList();
    }

    private static Map<String, Object> tiles(List<TileLevel> levels) {
        TileLevel level = levels.get(0);
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("tile_shape", JsonLines.unsigned(level.tileShape()));
        fields.put("outer_layout", level.outerLayout().value());
        fields.put("inner_layout", level.innerLayout().value());
        fields.put("outer_strides", signed(level.outerStrides()));
        fields.put("inner_strides", signed(level.innerStrides()));
        fields.put("inner_tiled", levels.size() == 1 ? null : tiles(levels.subList(1, levels.size())));
        return fields;
    }

    private static Map<String, Object> buffer(BufferHandle handle) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("byte_size", new JsonLines.Unsigned(handle.byteSize()));
        fields.put("alignment", handle.alignment());
        fields.put("device_tag", handle.deviceTag());
        fields.put("sync_mode", handle.syncModeTag());
        fields.put("memory_class", handle.memoryClassTag());
        return fields;
    }

    private static Map<String, Object> quantization(Quantization any, byte[] payload) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("quantization_length", payload.length);
        fields.put("scheme_tag", any.schemeTag());
        fields.put("scheme_version", any.version());
        fields.put("flags", 0);
        fields.put("scheme", any.scheme().name().toLowerCase(Locale.ROOT));
        fields.put("raw_hex", HexFormat.of().formatHex(payload));
        if (any instanceof Quantization.PerTensorAffine s) {
            putFloat(fields, "scale", s.scale());
            fields.put("zero_point", s.zeroPoint());
        } else if (any instanceof Quantization.PerChannelAffine s) {
            putParameters(fields, s.axis(), s.scaleBuffer(), s.zeroPointBuffer(), s.scaleType());
        } else if (any instanceof Quantization.PerBlockAffine s) {
            putParameters(fields, s.axis(), s.scaleBuffer(), s.zeroPointBuffer(), s.scaleType());
            fields.put("block_size", s.blockSize());
        } else if (any instanceof Quantization.Nf4 s) {
            putBlocks(fields, s.axis(), s.blockSize(), s.scaleBuffer());
        } else if (any instanceof Quantization.Mxfp s) {
            putBlocks(fields, s.axis(), s.blockSize(), s.scaleBuffer());
        } else if (any instanceof Quantization.PrivateScheme s) {
            fields.put("flags", s.flags());
            if (s.scheme() == Scheme.UNKNOWN && isPrivate(s.schemeTag())) {
                fields.put("scheme", "private");
            }
        }
        return fields;
    }

    private static void putParameters(Map<String, Object> fields, int axis, int scales, OptionalInt zeroPoints, ElementType scaleType) {
        fields.put("flags", zeroPoints.isPresent() ? 0 : 1);
        fields.put("symmetric", zeroPoints.isEmpty());
        fields.put("axis", axis);
        fields.put("scale_buffer_index", scales);
        fields.put("zero_point_buffer_index", zeroPoints.isPresent() ? (long) zeroPoints.getAsInt() : NONE);
        fields.put("scale_type_tag", scaleType.value());
    }

    private static void putBlocks(Map<String, Object> fields, int axis, long blockSize, int scales) {
        fields.put("axis", axis);
        fields.put("block_size", blockSize);
        fields.put("scale_buffer_index", scales);
    }

    private static Map<String, Object> shard(Shard shard) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("parent_shape", JsonLines.unsigned(shard.parentShape()));
        fields.put("shard_offset", JsonLines.unsigned(shard.offset()));
        return fields;
    }

    private static Map<String, Object> statistics(Statistics statistics) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("computed_mask", Integer.toUnsignedLong(statistics.computed()));
        fields.put("nnz", new JsonLines.Unsigned(statistics.nnz()));
        putDouble(fields, "sparsity_ratio", statistics.sparsityRatio());
        putDouble(fields, "value_min", statistics.min());
        putDouble(fields, "value_max", statistics.max());
        putDouble(fields, "value_abs_max", statistics.absMax());
        putDouble(fields, "value_mean", statistics.mean());
        putDouble(fields, "value_stddev", statistics.stdDev());
        fields.put("nm_n", statistics.nmN());
        fields.put("nm_m", statistics.nmM());
        fields.put("has_nan", statistics.hasNaN());
        fields.put("has_inf", statistics.hasInfinity());
        return fields;
    }

    private static Map<String, Object> extensionType(ExtensionType type) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("bit_width", type.bitWidth());
        fields.put("packing_factor", type.packingFactor());
        fields.put("is_float", type.isFloat());
        fields.put("is_signed", type.isSigned());
        fields.put("sign_bits", type.signBits());
        fields.put("exponent_bits", type.exponentBits());
        fields.put("mantissa_bits", type.mantissaBits());
        fields.put("exponent_bias", type.exponentBias());
        fields.put("has_nan", type.hasNaN());
        fields.put("has_inf", type.hasInfinity());
        return fields;
    }

    // As a number, where it is finite, and as its bits.
    private static void putFloat(Map<String, Object> fields, String name, float value) {
        fields.put(name, Float.isFinite(value) ? (double) value : null);
        fields.put(name + "_bits", HexFormat.of().toHexDigits(Float.floatToRawIntBits(value)));
    }

    private static void putDouble(Map<String, Object> fields, String name, double value) {
        fields.put(name, Double.isFinite(value) ? value : null);
        fields.put(name + "_bits", HexFormat.of().toHexDigits(Double.doubleToRawLongBits(value)));
    }
}
