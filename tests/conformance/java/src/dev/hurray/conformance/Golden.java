package dev.hurray.conformance;

import dev.hurray.DecodeOptions;
import dev.hurray.Descriptor;
import dev.hurray.HurrayException;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.OptionalLong;

/** Decodes descriptors, tells every field, and builds them again from the fields. */
final class Golden {
    private Golden() {}

    /** An option of a vector that this driver does not know. */
    static final class UnknownOption extends RuntimeException {
        private static final long serialVersionUID = 1;

        UnknownOption(String name) {
            super("golden: unknown option: " + name);
        }
    }

    static void run() throws IOException {
        try (BufferedReader lines =
                        new BufferedReader(new InputStreamReader(new FileInputStream(FileDescriptor.in), StandardCharsets.UTF_8));
                JsonLines out = new JsonLines(new FileOutputStream(FileDescriptor.out))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                int tab = line.indexOf('\t');
                out.write(tab < 0 ? answer(line, DecodeOptions.DEFAULT) : answer(line.substring(0, tab), options(line.substring(tab + 1))));
            }
        }
    }

    private static DecodeOptions options(String names) {
        DecodeOptions options = DecodeOptions.DEFAULT;
        for (String name : names.split(",")) {
            options =
                    switch (name) {
                        case "private_tags" -> options.withPrivateTags(true);
                        case "permissive" -> options.withPermissive(true);
                        default -> throw new UnknownOption(name);
                    };
        }
        return options;
    }

    private static Map<String, Object> answer(String path, DecodeOptions options) throws IOException {
        byte[] bytes = Files.readAllBytes(Path.of(path));
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("path", path);
        try {
            Descriptor descriptor = Descriptor.decode(bytes, options);
            answer.put("descriptor", DescriptorJson.of(descriptor, bytes.length));
            answer.put("reencoded", HexFormat.of().formatHex(descriptor.encode()));
            answer.put("rebuilt", descriptor.isOpaque() ? null : rebuilt(descriptor, options));
        } catch (HurrayException failure) {
            answer.put("error", error(failure));
        }
        return answer;
    }

    private static Map<String, Object> error(HurrayException failure) {
        Map<String, Object> error = new LinkedHashMap<>();
        error.put("code", failure.status());
        error.put("name", failure.code().name());
        error.put("message", failure.getMessage());
        OptionalLong offset = failure.byteOffset();
        error.put("offset", offset.isPresent() ? new JsonLines.Unsigned(offset.getAsLong()) : null);
        return error;
    }

    /** What the fields, put into a builder, encode to, in hex; or why they are refused. */
    private static Object rebuilt(Descriptor descriptor, DecodeOptions options) {
        Descriptor.Builder builder =
                Descriptor.builder(descriptor.elementTypeTag(), descriptor.layoutTag(), descriptor.shape())
                        .byteOffset(descriptor.byteOffset());
        if (options.privateTags()) {
            builder.allowPrivateTags();
        }
        descriptor.layoutFields().ifPresent(builder::layoutFields);
        descriptor.shard().ifPresent(shard -> builder.shard(shard.parentShape(), shard.offset()));
        descriptor.quantization().ifPresent(builder::quantization);
        descriptor.statistics().ifPresent(builder::statistics);
        descriptor.extensionType().ifPresent(builder::extensionType);
        descriptor.memberRole().ifPresent(builder::memberRole);
        descriptor.buffers().forEach(builder::addBuffer);
        Descriptor built;
        try {
            built = builder.build();
        } catch (HurrayException failure) {
            return Map.of("error", error(failure));
        }
        return HexFormat.of().formatHex(built.encode());
    }
}
