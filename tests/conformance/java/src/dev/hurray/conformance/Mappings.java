package dev.hurray.conformance;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What the memory of this process is mapped from, as the kernel says. */
final class Mappings {
    private static final Pattern LINE = Pattern.compile("^([0-9a-f]+)-([0-9a-f]+) \\S+ \\S+ (\\S+) ([0-9]+)");

    private Mappings() {}

    /** DEVICE:INODE of the mapping that holds an address; null for memory without a file. */
    static String fileAt(long address) throws IOException {
        if (address == 0) {
            return null;
        }
        // Paths in it are in no encoding.
        for (String line : Files.readAllLines(Path.of("/proc/self/maps"), StandardCharsets.ISO_8859_1)) {
            Matcher parts = LINE.matcher(line);
            if (parts.find()
                    && Long.compareUnsigned(address, Long.parseUnsignedLong(parts.group(1), 16)) >= 0
                    && Long.compareUnsigned(address, Long.parseUnsignedLong(parts.group(2), 16)) < 0) {
                return parts.group(4).equals("0") ? null : parts.group(3) + ":" + parts.group(4);
            }
        }
        return null;
    }
}
