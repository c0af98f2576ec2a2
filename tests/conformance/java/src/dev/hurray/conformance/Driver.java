package dev.hurray.conformance;

import dev.hurray.HurrayException;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/** The Java conformance driver: the binding's public API and nothing else. */
public final class Driver {
    private static final String USAGE =
            "usage: driver about | golden | pass NAMES | relay NAMES REPORT [--channel-in FD] [--channel-out FD]";

    private Driver() {}

    /** Runs one command; see tests/conformance/README.md. */
    public static void main(String[] arguments) {
        PrintStream errors = new PrintStream(new FileOutputStream(FileDescriptor.err), true, StandardCharsets.UTF_8);
        System.exit(run(arguments, errors));
    }

    private static int run(String[] arguments, PrintStream errors) {
        Optional<Transport.Sockets> sockets = Transport.Sockets.parse(arguments, 3);
        String command = arguments.length == 0 ? "" : arguments[0];
        try {
            if (command.equals("about") && arguments.length == 1) {
                new JsonLines(new FileOutputStream(FileDescriptor.out)).write(About.runtime()).close();
            } else if (command.equals("golden") && arguments.length == 1) {
                Golden.run();
            } else if (command.equals("pass") && arguments.length == 2) {
                Pass.run(arguments[1]);
            } else if (command.equals("relay") && arguments.length >= 3 && sockets.isPresent()) {
                Relay.run(arguments[1], arguments[2], sockets.get());
            } else {
                errors.println(USAGE);
                return 2;
            }
            return 0;
        } catch (HurrayException failure) {
            errors.println("driver: " + failure.code() + ": " + failure.getMessage());
        } catch (Golden.UnknownOption failure) {
            errors.println("driver: " + failure.getMessage());
            return 2;
        } catch (IOException | IllegalArgumentException failure) {
            errors.println("driver: " + failure.getMessage());
        }
        return 1;
    }
}
