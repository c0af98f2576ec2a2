package dev.hurray;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/** What the platform is called on which the program runs: the classifier of the jar with its native code. */
final class NativePlatform {
    /** Its name. */
    static final String NAME = name(System.getProperty("os.name", ""), System.getProperty("os.arch", ""), isMusl());

    private NativePlatform() {}

    /** The name of an operating system and a processor as Java calls them. */
    static String name(String system, String processor, boolean musl) {
        String os = system.toLowerCase(Locale.ROOT);
        String cpu =
                switch (processor.toLowerCase(Locale.ROOT)) {
                    case "amd64", "x86_64", "x64" -> "x86_64";
                    case "aarch64", "arm64" -> "aarch_64";
                    default -> processor.toLowerCase(Locale.ROOT);
                };
        if (os.startsWith("mac")) {
            return "osx-" + cpu;
        }
        if (os.startsWith("windows")) {
            return "windows-" + cpu;
        }
        return (os.startsWith("linux") ? "linux" : os.replace(' ', '_')) + (musl ? "-musl-" : "-") + cpu;
    }

    /** Whether the C library of this very process is musl, whatever else the machine has. */
    private static boolean isMusl() {
        try {
            return new String(Files.readAllBytes(Path.of("/proc/self/maps")), StandardCharsets.ISO_8859_1).contains("/ld-musl-");
        } catch (IOException | RuntimeException noLinux) {
            return false;
        }
    }
}
