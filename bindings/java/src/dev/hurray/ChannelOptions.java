package dev.hurray;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.function.Consumer;

/** Limits of a channel, and what it accepts. Immutable; start with {@link #DEFAULT}. Since C ABI 4. */
public final class ChannelOptions {
    /**
     * Descriptors up to 16 MiB, tensors of any size, 65536 tensors out, sends that wait without an end, peers of the same user; files are
     * passed, and so is memory that is not sealed.
     */
    public static final ChannelOptions DEFAULT = new ChannelOptions();

    private int flags;
    private long maxDescriptorLength;
    private long maxTensorBytes;
    private int maxAlignment;
    private int maxOutstanding;
    private int sendTimeoutMillis;

    private ChannelOptions() {}

    private ChannelOptions with(Consumer<ChannelOptions> change) {
        ChannelOptions other = new ChannelOptions();
        other.flags = flags;
        other.maxDescriptorLength = maxDescriptorLength;
        other.maxTensorBytes = maxTensorBytes;
        other.maxAlignment = maxAlignment;
        other.maxOutstanding = maxOutstanding;
        other.sendTimeoutMillis = sendTimeoutMillis;
        change.accept(other);
        return other;
    }

    private ChannelOptions flag(int flag, boolean set) {
        return with(other -> other.flags = set ? flags | flag : flags & ~flag);
    }

    /** The same with another longest descriptor that is accepted, in bytes; 0 means 16 MiB. */
    public ChannelOptions withMaxDescriptorLength(long bytes) {
        return with(other -> other.maxDescriptorLength = bytes);
    }

    /** The same with another largest tensor that is accepted, in bytes over all its buffers; 0 means no limit. */
    public ChannelOptions withMaxTensorBytes(long bytes) {
        return with(other -> other.maxTensorBytes = bytes);
    }

    /** The same with another largest alignment of a buffer that is accepted, in bytes; 0 means 2 MiB. */
    public ChannelOptions withMaxAlignment(int bytes) {
        return with(other -> other.maxAlignment = bytes);
    }

    /** The same with another number of tensors that may be sent and not yet released by the peer; 0 means 65536. */
    public ChannelOptions withMaxOutstanding(int tensors) {
        return with(other -> other.maxOutstanding = tensors);
    }

    /**
     * The same with another time that {@link Channel#send} waits for room in the socket, or for a release where the most tensors are out;
     * zero means without an end, and what is longer than the library can say (49 days) means that, too.
     */
    public ChannelOptions withSendTimeout(Duration timeout) {
        if (timeout.isNegative()) {
            throw Errors.argument("sendTimeout: expected none below zero, got " + timeout);
        }
        // Rounded up: a time that is not zero must not become none.
        long millis = Math.max(timeout.toMillis(), timeout.isZero() ? 0 : 1);
        return with(other -> other.sendTimeoutMillis = millis > 0xFFFF_FFFFL ? 0 : (int) millis);
    }

    /** The same, and whether {@link Channel#ofFd} takes the file descriptor over. */
    public ChannelOptions withCloseFd(boolean close) {
        return flag(Abi.CHANNEL_CLOSE_FD, close);
    }

    /** The same, and whether private layouts, quantization schemes, devices and memory classes are accepted. */
    public ChannelOptions withPrivateTags(boolean accepted) {
        return flag(Abi.CHANNEL_PRIVATE_TAGS, accepted);
    }

    /** The same, and whether element types and quantization schemes that are not known are accepted. */
    public ChannelOptions withPermissive(boolean accepted) {
        return flag(Abi.CHANNEL_PERMISSIVE, accepted);
    }

    /** The same, and whether peers may be other users; everybody can reach the listener's socket file then. */
    public ChannelOptions withOtherUsers(boolean accepted) {
        return flag(Abi.CHANNEL_OTHER_USERS, accepted);
    }

    /** The same, and whether only sealed memory is received, which nobody can change; all other, files included, is refused. */
    public ChannelOptions withSealedOnly(boolean only) {
        return flag(Abi.CHANNEL_SEALED_ONLY, only);
    }

    /** The same, and whether tensors of mapped files are copied: a peer that is passed the file can read all of it. */
    public ChannelOptions withCopyFiles(boolean copied) {
        return flag(Abi.CHANNEL_COPY_FILES, copied);
    }

    ByteBuffer write(Scratch scratch) {
        ByteBuffer struct = scratch.sized(Structs.ChannelOptions.SIZE);
        struct.putInt(Structs.ChannelOptions.FLAGS, flags);
        struct.putLong(Structs.ChannelOptions.MAX_DESCRIPTOR_LENGTH, maxDescriptorLength);
        struct.putLong(Structs.ChannelOptions.MAX_TENSOR_BYTES, maxTensorBytes);
        struct.putInt(Structs.ChannelOptions.MAX_ALIGNMENT, maxAlignment);
        struct.putInt(Structs.ChannelOptions.MAX_OUTSTANDING, maxOutstanding);
        struct.putInt(Structs.ChannelOptions.SEND_TIMEOUT_MS, sendTimeoutMillis);
        return struct;
    }
}
