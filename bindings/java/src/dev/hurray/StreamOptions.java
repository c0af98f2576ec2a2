package dev.hurray;

/**
 * Limits of a stream. Immutable; start with {@link #DEFAULT}.
 *
 * @param maxDescriptorLength longest descriptor accepted, in bytes; 0 means 16 MiB
 * @param maxTensorBytes largest tensor accepted, in bytes over all its buffers; 0 means no limit
 * @param closeFd whether closing the reader or writer closes the file descriptor; for those given as a number only
 */
public record StreamOptions(long maxDescriptorLength, long maxTensorBytes, boolean closeFd) {
    /** Descriptors up to 16 MiB, tensors of any size, the file descriptor stays open. */
    public static final StreamOptions DEFAULT = new StreamOptions(0, 0, false);

    /** The same with another limit, in bytes. */
    public StreamOptions withMaxDescriptorLength(long bytes) {
        return new StreamOptions(bytes, maxTensorBytes, closeFd);
    }

    /** The same with another limit, in bytes. */
    public StreamOptions withMaxTensorBytes(long bytes) {
        return new StreamOptions(maxDescriptorLength, bytes, closeFd);
    }

    /** The same with another owner of the file descriptor. */
    public StreamOptions withCloseFd(boolean close) {
        return new StreamOptions(maxDescriptorLength, maxTensorBytes, close);
    }

    java.nio.ByteBuffer write(Scratch scratch) {
        java.nio.ByteBuffer struct = scratch.sized(Structs.StreamOptions.SIZE);
        struct.putInt(Structs.StreamOptions.FLAGS, closeFd ? Abi.STREAM_CLOSE_FD : 0);
        struct.putLong(Structs.StreamOptions.MAX_DESCRIPTOR_LENGTH, maxDescriptorLength);
        struct.putLong(Structs.StreamOptions.MAX_TENSOR_BYTES, maxTensorBytes);
        return struct;
    }
}
