package dev.hurray;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;

/**
 * Waits at a path for the other ends of channels. Threads take turns, and a close or an interrupt ends a wait, as with {@link Channel}.
 * Since C ABI 4.
 */
public final class ChannelListener extends NativeResource {
    private static final class State extends NativeState {
        State(long handle) {
            super(handle);
        }

        @Override
        String kind() {
            return "channel listener";
        }

        @Override
        int destroy(long handle) {
            return Raw.hurray_channel_listener_destroy(new long[] {handle});
        }

        @Override
        void abandon(long handle) {
            // Any thread may.
            Raw.hurray_channel_listener_destroy(new long[] {handle});
        }
    }

    private final Waiting turns = new Waiting("channel listener");

    private ChannelListener(long handle) {
        super(new State(handle));
    }

    /** Listens with {@link ChannelOptions#DEFAULT}. */
    public static ChannelListener listen(Path path) {
        return listen(path, ChannelOptions.DEFAULT);
    }

    /**
     * Listens at a path. The socket file can be reached by the same user only, unless the options say otherwise; one that is there already
     * is replaced if nobody listens at it. Closing removes it.
     *
     * @param path at most 107 bytes as an absolute path
     * @param options those of every channel that is accepted
     * @throws HurrayException INVALID_ARGUMENT: a path that no socket can have, or something that is no socket is in the way; IO: somebody
     *     listens there; LIMIT_EXCEEDED: no further file descriptor may be opened
     */
    public static ChannelListener listen(Path path, ChannelOptions options) {
        Releases.drain();
        try (Scratch scratch = Scratch.take()) {
            long[] listener = new long[1];
            scratch.check(
                    Raw.hurray_channel_listen(PathBytes.terminated(path), options.write(scratch), listener, scratch.error));
            return new ChannelListener(listener[0]);
        }
    }

    /** Waits for a peer without an end: see {@link #accept(Duration)}. */
    public Channel accept() throws InterruptedException {
        return accepted(null);
    }

    /**
     * Waits for a peer. Peers of other users, where these are not accepted, are turned away and not reported.
     *
     * @param timeout zero or less: does not wait
     * @return independent of the listener
     * @throws HurrayException TIMED_OUT; LIMIT_EXCEEDED: no further file descriptor may be opened; IO
     * @throws IllegalStateException the listener is closed, also by another thread meanwhile
     */
    public Channel accept(Duration timeout) throws InterruptedException {
        return accepted(Objects.requireNonNull(timeout));
    }

    private Channel accepted(Duration timeout) throws InterruptedException {
        return Waiting.until(timeout, this::attempt);
    }

    private Channel attempt(int millis, boolean last) {
        turns.enter();
        try {
            long handle = acquire();
            try (Scratch scratch = Scratch.take()) {
                long[] channel = new long[1];
                int status = Raw.hurray_channel_accept(handle, millis, channel, scratch.error);
                if (status == StatusCode.TIMED_OUT.value() && !last) {
                    return null;
                }
                scratch.check(status);
                return new Channel(channel[0]);
            } finally {
                release();
            }
        } finally {
            turns.leave();
        }
    }

    /** Ends the listener and removes its socket file. */
    @Override
    public void close() {
        boolean entered = turns.enterToClose();
        try {
            super.close();
        } finally {
            if (entered) {
                turns.leave();
            }
        }
    }
}
