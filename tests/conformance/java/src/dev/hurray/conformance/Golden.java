package dev.hurray.conformance;

import dev.hurray.BufferHandle;
import dev.hurray.Descriptor;
import dev.hurray.ElementType;
import dev.hurray.HurrayException;
import dev.hurray.Layout;
import dev.hurray.Shard;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;

/** Decodes descriptors, tells every field, and builds them again from the fields. */
final class Golden {
    private static final int DESCRIPTOR_FIXED = 20;

    private Golden() {}

    static void run() throws IOException {
        try (BufferedReader paths =
                        new BufferedReader(new InputStreamReader(new FileInputStream(FileDescriptor.in), StandardCharsets.UTF_8));
                JsonLines out = new JsonLines(new FileOutputStream(FileDescriptor.out))) {
            for (String path = paths.readLine(); path != null; path = paths.readLine()) {
                out.write(answer(path));
            }
        }
    }

    private static Map<String, Object> answer(String path) throws IOException {
        byte[] bytes = Files.readAllBytes(Path.of(path));
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("path", path);
        try {
            Descriptor descriptor = Descriptor.decode(bytes);
            answer.put("descriptor", fields(descriptor, bytes.length));
            answer.put("reencoded", HexFormat.of().formatHex(reencoded(descriptor)));
        } catch (HurrayException failure) {
            Map<String, Object> error = new LinkedHashMap<>();
            error.put("code", failure.status());
            error.put("name", failure.code().name());
            error.put("message", failure.getMessage());
            OptionalLong offset = failure.byteOffset();
            error.put("offset", offset.isPresent() ? new JsonLines.Unsigned(offset.getAsLong()) : null);
            answer.put("error", error);
        }
        return answer;
    }

    static String name(ElementType type, int tag) {
        return type == ElementType.UNKNOWN ? (tag >= 0xF0 ? "private" : "unknown") : type.name().toLowerCase(Locale.ROOT);
    }

    private static String name(Layout layout) {
        return layout == Layout.UNKNOWN ? "private_extension" : layout.name().toLowerCase(Locale.ROOT);
    }

    private static Map<String, Object> fields(Descriptor descriptor, long length) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("version_major", descriptor.versionMajor());
        fields.put("version_minor", descriptor.versionMinor());
        fields.put("descriptor_length", descriptor.encodedLength());
        fields.put("trailing_bytes", length - descriptor.encodedLength());
        fields.put("flags", descriptor.flags() & 0xFFFF_FFFFL);
        fields.put("type", name(descriptor.elementType(), descriptor.elementTypeTag()));
        fields.put("type_tag", descriptor.elementTypeTag());
        fields.put("layout", name(descriptor.layout()));
        fields.put("layout_tag", descriptor.layoutTag());
        fields.put("rank", descriptor.rank());
        fields.put("shape", JsonLines.unsigned(descriptor.shape()));
        fields.put("byte_offset", new JsonLines.Unsigned(descriptor.byteOffset()));
        fields.put("layout_fields", layoutFields(descriptor));
        fields.put("buffers", descriptor.buffers().stream().map(Golden::buffer).toList());
        fields.put("quantization", null);
        fields.put("shard", descriptor.shard().map(Golden::shard).orElse(null));
        fields.put("statistics", null);
        fields.put("extension_type", null);
        fields.put("composite_member", null);
        return fields;
    }

    private static Map<String, Object> layoutFields(Descriptor descriptor) {
        Map<String, Object> fields = new LinkedHashMap<>();
        if (descriptor.layout() == Layout.STRIDED) {
            List<Long> strides = new ArrayList<>();
            for (long stride : descriptor.strides().orElseThrow()) {
                strides.add(stride);
            }
            fields.put("strides", strides);
        }
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

    private static Map<String, Object> shard(Shard shard) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("parent_shape", JsonLines.unsigned(shard.parentShape()));
        fields.put("shard_offset", JsonLines.unsigned(shard.offset()));
        return fields;
    }

    /** What the fields, put into a builder, encode to. */
    private static byte[] reencoded(Descriptor descriptor) {
        Descriptor.Builder builder =
                Descriptor.builder(descriptor.elementTypeTag(), descriptor.layoutTag(), descriptor.shape())
                        .byteOffset(descriptor.byteOffset());
        descriptor.strides().ifPresent(builder::strides);
        descriptor.shard().ifPresent(shard -> builder.shard(shard.parentShape(), shard.offset()));
        descriptor.buffers().forEach(builder::addBuffer);
        byte[] built = builder.build().encode();
        if (descriptor.versionMinor() == 0) {
            return built;
        }
        // What a later minor version added has no field here and is only kept: the header says that version and length, and what
        // follows the known fields stays. The known fields are the built ones all the same.
        byte[] kept = descriptor.encode();
        System.arraycopy(built, DESCRIPTOR_FIXED, kept, DESCRIPTOR_FIXED, built.length - DESCRIPTOR_FIXED);
        return kept;
    }
}
