package dev.hurray.conformance;

import dev.hurray.Channel;
import dev.hurray.ChannelInfo;
import dev.hurray.ChannelOptions;
import dev.hurray.StreamReader;
import dev.hurray.StreamWriter;
import dev.hurray.Tensor;
import java.io.FileDescriptor;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Where a stage of the relay gets its tensors from and where it hands them: a stream on standard input or output, or a channel on a socket
 * that it inherited.
 */
final class Transport implements AutoCloseable {
    /** The sockets of the channels; none: a stream. */
    record Sockets(OptionalInt in, OptionalInt out) {
        /**
         * Parses the options behind the arguments of relay.
         *
         * @return empty when they are none
         */
        static Optional<Sockets> parse(String[] arguments, int from) {
            OptionalInt in = OptionalInt.empty();
            OptionalInt out = OptionalInt.empty();
            for (int i = from; i < arguments.length; i += 2) {
                if (i + 1 == arguments.length || !arguments[i + 1].matches("[0-9]{1,9}")) {
                    return Optional.empty();
                }
                OptionalInt fd = OptionalInt.of(Integer.parseInt(arguments[i + 1]));
                if (arguments[i].equals("--channel-in") && in.isEmpty()) {
                    in = fd;
                } else if (arguments[i].equals("--channel-out") && out.isEmpty()) {
                    out = fd;
                } else {
                    return Optional.empty();
                }
            }
            return Optional.of(new Sockets(in, out));
        }
    }

    /** Whoever is next may have to start first; nobody waits for ever. */
    private static final Duration PATIENCE = Duration.ofSeconds(120);

    private static final ChannelOptions OPTIONS = ChannelOptions.DEFAULT.withCloseFd(true).withSendTimeout(PATIENCE);

    private final Channel channelIn;
    private final Channel channelOut;
    private final StreamReader reader;
    private final StreamWriter writer;

    Transport(Sockets sockets) {
        channelIn = sockets.in().isPresent() ? Channel.ofFd(sockets.in().getAsInt(), OPTIONS) : null;
        channelOut = sockets.out().isPresent() ? Channel.ofFd(sockets.out().getAsInt(), OPTIONS) : null;
        reader = channelIn == null ? StreamReader.of(FileDescriptor.in) : null;
        writer = channelOut == null ? StreamWriter.of(FileDescriptor.out) : null;
    }

    /** The next tensor; empty at the end. */
    Optional<Tensor> next() throws IOException {
        if (channelIn == null) {
            return reader.next();
        }
        try {
            return channelIn.receive(PATIENCE);
        } catch (InterruptedException stop) {
            throw new InterruptedIOException("the wait for a tensor was interrupted");
        }
    }

    void put(Tensor tensor) {
        if (channelOut != null) {
            channelOut.send(tensor);
        } else {
            writer.write(tensor);
        }
    }

    /** Says that no more come, and puts what the channels have done into the last line of the report. */
    void finish(Map<String, Object> last) {
        last.put("received_bytes", channelIn == null ? null : channelIn.info().receivedBytes());
        if (channelOut != null) {
            channelOut.finish();
        }
        ChannelInfo sent = channelOut == null ? null : channelOut.info();
        last.put("passed_bytes", sent == null ? null : sent.passedBytes());
        last.put("copied_bytes", sent == null ? null : sent.copiedBytes());
    }

    @Override
    public void close() {
        for (AutoCloseable end : new AutoCloseable[] {reader, writer, channelIn, channelOut}) {
            if (end == null) {
                continue;
            }
            try {
                end.close();
            } catch (RuntimeException failure) {
                throw failure;
            } catch (Exception impossible) {
                throw new AssertionError(impossible);
            }
        }
    }
}
