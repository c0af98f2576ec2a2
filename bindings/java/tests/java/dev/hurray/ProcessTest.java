package dev.hurray;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** How the binding begins and ends. */
class ProcessTest {
    /** Says how the library fails, twice: the second time must not be another error. */
    static final class Starter {
        private Starter() {}

        public static void main(String[] arguments) {
            for (int i = 0; i < 2; ++i) {
                try {
                    System.out.println("loaded " + Hurray.runtimeInfo().abiVersion());
                } catch (VersionMismatchException refused) {
                    System.out.println("refused " + refused.expected() + " " + refused.found() + " " + refused.getMessage());
                } catch (LibraryLoadException failure) {
                    System.out.println("not loaded " + failure.getMessage());
                }
                try {
                    Tensor.wrap(DenseSpec.rowMajor(ElementType.UINT8, 1), ByteBuffer.allocateDirect(1)).close();
                    System.out.println("wrapped");
                } catch (HurrayException failure) {
                    System.out.println("also " + failure.code());
                }
            }
        }
    }

    /** Ends with everything open: memory of the library, lent memory, lent memory that may be released on any thread. */
    static final class Careless {
        static final List<Object> KEPT = new ArrayList<>();

        private Careless() {}

        public static void main(String[] arguments) throws InterruptedException {
            Tensor tensor = wrapped();
            KEPT.add(tensor);
            KEPT.add(tensor.view().bytes());
            KEPT.add(tensor.export());
            KEPT.add(Tensor.copyOf(new float[1000], 1000).view());
            KEPT.add(StreamWriter.toMemory());
            TensorBuffer consented = TensorBuffer.wrap(ByteBuffer.allocateDirect(64), () -> System.out.println("released")).buffer();
            consented.allowReleaseOnAnyThread();
            KEPT.add(consented);
            KEPT.add(TensorContext.create(new byte[0], () -> System.out.println("released")));
            // And with a release that waits for a thread of the program, which never asks.
            for (wrapped(); Hurray.pendingReleases() == 0; Thread.sleep(2)) {
                System.gc();
            }
            System.out.println("ends");
            if (Boolean.getBoolean("hurray.test.exit")) {
                System.exit(0);
            }
        }

        private static Tensor wrapped() {
            return Tensor.wrap(
                    DenseSpec.rowMajor(ElementType.UINT8, 64), ByteBuffer.allocateDirect(64), () -> System.out.println("released"));
        }
    }

    private static String stub() {
        String path = System.getProperty("hurray.test.stub");
        assertNotNull(path, "-Dhurray.test.stub names the stub library");
        return Path.of(path).toAbsolutePath().toString();
    }

    private static void expectRefusal(Programs.Outcome outcome, String found) {
        String[] lines = outcome.output().split("\n");
        assertEquals(4, lines.length, outcome.output());
        for (int i = 0; i < 4; i += 2) {
            assertTrue(lines[i].startsWith("refused 4 " + found), outcome.output());
            assertTrue(lines[i].contains("expected C ABI version 4"), outcome.output());
            assertEquals("also VERSION_MISMATCH", lines[i + 1]);
        }
        assertEquals(0, outcome.exitCode());
    }

    @Test
    void aLibraryOfVersion5IsRefusedByNameOfBothNumbers() throws IOException, InterruptedException {
        Programs.Outcome byVariable = Programs.java(Map.of("HURRAY_LIBRARY", stub()), List.of(), Starter.class);
        expectRefusal(byVariable, "5");
        assertTrue(byVariable.output().contains("found version 5"), byVariable.output());
        expectRefusal(Programs.java(Map.of(), List.of("-Ddev.hurray.library=" + stub()), Starter.class), "5");
    }

    @Test
    void aLibraryThatIsNotHurrayIsRefused() throws IOException, InterruptedException {
        expectRefusal(Programs.java(Map.of("HURRAY_LIBRARY", "libm.so.6"), List.of(), Starter.class), "-1");
    }

    @Test
    void aLibraryThatIsNotThereIsATypedErrorThatSaysHowToNameOne() throws IOException, InterruptedException {
        Programs.Outcome outcome = Programs.java(Map.of("HURRAY_LIBRARY", "/no/such/file.so"), List.of(), Starter.class);
        assertEquals(2, outcome.output().split("not loaded", -1).length - 1, outcome.output());
        assertTrue(outcome.output().contains("/no/such/file.so"), outcome.output());
        assertTrue(outcome.output().contains("HURRAY_LIBRARY"), outcome.output());
        assertTrue(outcome.output().contains("also NOT_FOUND"), outcome.output());
        Programs.Outcome withoutJni = Programs.java(Map.of(), List.of("-Ddev.hurray.jni=/no/such/jni.so"), Starter.class);
        assertEquals(2, withoutJni.output().split("not loaded the JNI library", -1).length - 1, withoutJni.output());
        assertTrue(withoutJni.output().contains("dev.hurray.jni"), withoutJni.output());
    }

    @Test
    void theJarIsAModule() throws IOException, InterruptedException {
        String jar = null;
        StringBuilder rest = new StringBuilder();
        for (String entry : System.getProperty("java.class.path").split(java.io.File.pathSeparator)) {
            if (entry.endsWith("/hurray.jar")) {
                jar = entry;
            } else {
                rest.append(rest.length() == 0 ? "" : java.io.File.pathSeparator).append(entry);
            }
        }
        assertNotNull(jar, "the binding is a jar on the class path");
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(Programs.nativeAccess("dev.hurray"));
        command.addAll(
                List.of(
                        "-Xcheck:jni",
                        "-XX:-UsePerfData",
                        "-Djava.library.path=" + System.getProperty("java.library.path"),
                        "--module-path=" + jar,
                        "--add-modules=dev.hurray",
                        "--class-path=" + rest,
                        "modular.Main"));
        Programs.Outcome outcome = Programs.run(Map.of(), command);
        assertEquals("module dev.hurray 2.5\n", outcome.output());
        assertEquals(0, outcome.exitCode());
    }

    @Test
    void aProgramThatEndsWithLiveTensorsExitsWithCode0AndNothingIsCalledBack() throws IOException, InterruptedException {
        for (String exit : new String[] {"false", "true"}) {
            Programs.Outcome outcome = Programs.java(Map.of(), List.of("-Dhurray.test.exit=" + exit), Careless.class);
            assertEquals("ends\n", outcome.output());
            assertEquals(0, outcome.exitCode());
        }
    }

    @Test
    void afterTheEndOfTheVirtualMachineNothingIsCalledBack() throws IOException, InterruptedException {
        String program = System.getProperty("hurray.test.after_vm");
        assertNotNull(program, "-Dhurray.test.after_vm names the program");
        List<String> command = new ArrayList<>();
        command.add(Path.of(program).toAbsolutePath().toString());
        command.add(Path.of(System.getProperty("java.home"), "lib", "server", "libjvm.so").toString());
        command.add(Hurray.runtimeInfo().libraryPath());
        command.addAll(Programs.vmOptions());
        Programs.Outcome outcome = Programs.run(Map.of(), command);
        assertTrue(outcome.output().endsWith("survived\n"), outcome.output());
        assertFalse(outcome.output().contains("released"), outcome.output());
        assertTrue(outcome.output().contains("its virtual machine of Java has ended"), outcome.output());
        assertFalse(outcome.output().contains("WARNING"), outcome.output());
        assertEquals(0, outcome.exitCode());
    }
}
