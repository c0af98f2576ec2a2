package dev.hurray;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Other processes, for what one virtual machine can do only once. */
final class Programs {
    private Programs() {}

    record Outcome(int exitCode, String output) {}

    /** Runs a main class of the tests in a virtual machine like this one. */
    static Outcome java(Map<String, String> environment, List<String> options, Class<?> main) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(vmOptions());
        command.addAll(options);
        command.add(main.getName());
        return run(environment, command);
    }

    /** Starts a main class of the tests in a virtual machine like this one; what it says goes where this one's errors go. */
    static Process start(Class<?> main, String... arguments) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(vmOptions());
        command.add(main.getName());
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .redirectOutput(ProcessBuilder.Redirect.INHERIT)
                .start();
    }

    /** Options that find the binding and the tests. */
    static List<String> vmOptions() {
        List<String> options = new ArrayList<>(nativeAccess("ALL-UNNAMED"));
        options.addAll(
                List.of(
                        "-Xcheck:jni",
                        "-XX:-UsePerfData",
                        "-Djava.library.path=" + System.getProperty("java.library.path"),
                        "-Djava.class.path=" + System.getProperty("java.class.path")));
        return options;
    }

    /** What newer Javas want to be told, so as not to warn. */
    static List<String> nativeAccess(String module) {
        return Runtime.version().feature() < 22 ? List.of() : List.of("--enable-native-access=" + module);
    }

    static Outcome run(Map<String, String> environment, List<String> command) throws IOException, InterruptedException {
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().putAll(environment);
        Process process = builder.start();
        process.getOutputStream().close();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (!process.waitFor(60, TimeUnit.SECONDS)) {
            process.destroyForcibly();
            throw new AssertionError("no end: " + command + "\n" + output);
        }
        return new Outcome(process.exitValue(), output);
    }
}
