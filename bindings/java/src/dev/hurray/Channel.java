package dev.hurray;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;

/**
 * One end of a channel, through which tensors pass to another process of this machine while their bytes stay where they are: the memory
 * goes as file descriptors, and the receiver maps it. Either end sends and receives. Linux only.
 *
 * <p>Passed without a copy are tensors of mapped files, of channels, and of {@link TensorBuffer#allocateShared} (see {@link
 * Tensor#copyToShared} for the shortest way there); all other memory is copied once ({@link ChannelInfo#copiedBytes}).
 *
 * <p>Threads take turns: while one waits in {@link #receive}, others may send, ask and close. A close ends the wait with the {@link
 * IllegalStateException} of every use after it; a close while another thread's {@link #send} waits for room is refused after a
 * second, as for every {@link NativeResource}. An interrupt ends a wait with {@link InterruptedException}, and nothing is lost; sends do
 * not notice it, see {@link ChannelOptions#withSendTimeout}. Releases of what the peer has given back run on the threads that call, and
 * must not use the channel.
 *
 * <p>Tensors that were received are independent of the channel. The peer learns that one has ended when it is closed and the collector has
 * found its views and ByteBuffers. Since C ABI 4.
 */
public final class Channel extends NativeResource {
    private static final class State extends NativeState {
        State(long handle) {
            super(handle);
        }

        @Override
        String kind() {
            return "channel";
        }

        @Override
        int destroy(long handle) {
            int status = Raw.hurray_channel_destroy(new long[] {handle});
            Releases.drain();
            return status;
        }

        @Override
        void abandon(long handle) {
            // What is out ends with it, and releases must not run on the collector's thread.
            Raw.hurray_channel_destroy_deferred(new long[] {handle}, null);
        }
    }

    private final Waiting turns = new Waiting("channel");

    Channel(long handle) {
        super(new State(handle));
    }

    /** Connects with {@link ChannelOptions#DEFAULT}, and waits without an end until somebody listens. */
    public static Channel connect(Path path) throws InterruptedException {
        return connected(path, ChannelOptions.DEFAULT, null);
    }

    /**
     * Connects to a listener; waits until there is one, and until it has room.
     *
     * @param path of its socket, at most 107 bytes as an absolute path
     * @param timeout zero or less: does not wait
     * @throws HurrayException TIMED_OUT: nobody listened in time; INVALID_ARGUMENT: the path, or a socket of another type; IO: not allowed,
     *     or the listener is another user; LIMIT_EXCEEDED: no further file descriptor may be opened
     */
    public static Channel connect(Path path, ChannelOptions options, Duration timeout) throws InterruptedException {
        return connected(path, options, Objects.requireNonNull(timeout));
    }

    private static Channel connected(Path path, ChannelOptions options, Duration timeout) throws InterruptedException {
        Releases.drain();
        java.nio.ByteBuffer name = PathBytes.terminated(path);
        return Waiting.until(
                timeout,
                (millis, last) -> {
                    try (Scratch scratch = Scratch.take()) {
                        long[] channel = new long[1];
                        int status = Raw.hurray_channel_connect(name, options.write(scratch), millis, channel, scratch.error);
                        if (status == StatusCode.TIMED_OUT.value() && !last) {
                            return null;
                        }
                        scratch.check(status);
                        return new Channel(channel[0]);
                    }
                });
    }

    /**
     * Makes a channel of a connected Unix socket of type SOCK_SEQPACKET, one of a socketpair or inherited, which is given as the operating
     * system's number.
     *
     * @param fd stays the caller's, and the channel uses a duplicate of it, unless {@link ChannelOptions#withCloseFd} gives it away. The
     *     peer does not notice the end of the channel as long as another duplicate is open
     * @throws HurrayException INVALID_ARGUMENT: another kind of descriptor; IO: the peer is another user; LIMIT_EXCEEDED
     */
    public static Channel ofFd(int fd, ChannelOptions options) {
        Releases.drain();
        try (Scratch scratch = Scratch.take()) {
            long[] channel = new long[1];
            scratch.check(Raw.hurray_channel_from_fd(fd, options.write(scratch), channel, scratch.error));
            return new Channel(channel[0]);
        }
    }

    /** A call on the handle, in this thread's turn. */
    private interface Call<T> {
        T on(long handle, Scratch scratch);
    }

    private <T> T inTurn(Call<T> call) {
        turns.enter();
        try {
            long handle = acquire();
            try (Scratch scratch = Scratch.take()) {
                return call.on(handle, scratch);
            } finally {
                release();
            }
        } finally {
            turns.leave();
        }
    }

    /**
     * Sends a tensor, which stays the caller's and may be closed at once. What is passed without a copy must stay as it is until the peer
     * has released it. Waits for room in the socket, and for a release where the most tensors are out, as the options say; interrupts
     * are not noticed.
     *
     * @throws HurrayException UNSUPPORTED: not host memory; INVALID_SYNC_MODE; LIMIT_EXCEEDED: the most tensors are out; TIMED_OUT: no room;
     *     DISCONNECTED: the peer is gone; INVALID_ARGUMENT: after {@link #finish}. After a failure in the middle of a tensor every
     *     further send fails with it
     */
    public void send(Tensor tensor) {
        inTurn(
                (handle, scratch) -> {
                    long sent = tensor.acquire();
                    try {
                        scratch.check(Raw.hurray_channel_send(handle, sent, scratch.error));
                        return null;
                    } finally {
                        tensor.release();
                    }
                });
    }

    /** Receives the next tensor, and waits for it without an end: see {@link #receive(Duration)}. */
    public Optional<Tensor> receive() throws InterruptedException {
        return received(null);
    }

    /**
     * Receives the next tensor, whose memory is read-only; empty when the peer has finished.
     *
     * @param timeout zero or less: does not wait
     * @throws InterruptedException this thread was interrupted; the next call goes on where this one stood
     * @throws HurrayException TIMED_OUT; DISCONNECTED: the peer is gone without having finished; those of {@link
     *     Descriptor#decode(byte[])}, INVALID_FORMAT, LIMIT_EXCEEDED, UNSUPPORTED: this tensor is refused and given back, and the next one
     *     may be received. What breaks the protocol ends the channel, and every further call fails with it
     * @throws IllegalStateException the channel is closed, also by another thread meanwhile
     */
    public Optional<Tensor> receive(Duration timeout) throws InterruptedException {
        return received(Objects.requireNonNull(timeout));
    }

    private Optional<Tensor> received(Duration timeout) throws InterruptedException {
        return Waiting.until(
                timeout,
                (millis, last) ->
                        inTurn(
                                (handle, scratch) -> {
                                    long[] tensor = new long[1];
                                    int status = Raw.hurray_channel_receive(handle, millis, tensor, scratch.error);
                                    if (status == StatusCode.TIMED_OUT.value() && !last) {
                                        return null;
                                    }
                                    scratch.check(status);
                                    return tensor[0] == 0 ? Optional.empty() : Optional.of(new Tensor(tensor[0]));
                                }));
    }

    /**
     * Takes in what has come, without waiting: what the peer has released ends here. For a process that sends and rarely receives.
     *
     * @throws HurrayException DISCONNECTED: the peer is gone without having finished; what broke the protocol
     */
    public void process() {
        inTurn(
                (handle, scratch) -> {
                    scratch.check(Raw.hurray_channel_process(handle, scratch.error));
                    return null;
                });
    }

    /** Says to the peer that no more tensors come. Receiving goes on; further calls do nothing. Fails as {@link #send} does. */
    public void finish() {
        inTurn(
                (handle, scratch) -> {
                    scratch.check(Raw.hurray_channel_finish(handle, scratch.error));
                    return null;
                });
    }

    /** What the channel has done so far. */
    public ChannelInfo info() {
        return inTurn(
                (handle, scratch) -> {
                    scratch.check(Raw.hurray_channel_info(handle, scratch.sized(Structs.ChannelInfo.SIZE), scratch.error));
                    return ChannelInfo.read(scratch);
                });
    }

    /**
     * The operating system's number of the channel's socket, for event loops of native code. It stays the channel's: it is not to be read,
     * written or closed. It becomes readable when something has come.
     */
    public int fd() {
        return inTurn(
                (handle, scratch) -> {
                    int[] fd = new int[1];
                    scratch.check(Raw.hurray_channel_fd(handle, fd, scratch.error));
                    return fd[0];
                });
    }

    /**
     * Ends this end: the peer is told that no more comes, and its sends fail. Releases of everything that was out run on this thread; what
     * was received lives on.
     *
     * @throws IllegalStateException another thread's send waits, or a release that the channel runs closes it
     */
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
