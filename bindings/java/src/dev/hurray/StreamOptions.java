package dev.hurray;

/**
 * Limits of a stream, and what its reader accepts. Immutable; start with {@link #DEFAULT}.
 *
 * @param maxDescriptorLength longest descriptor accepted, in bytes; 0 means 16 MiB
 * @param maxTensorBytes largest tensor accepted, in bytes over all its buffers; 0 means no limit
 * @param closeFd whether closing the reader or writer closes the file descriptor; for those given as a number only
 * @param privateTags readers: accepts private layouts, quantization schemes, devices and memory classes, upon which writer and reader have
 *     agreed. A writer with it is refused: it writes what its tensors are
 * @param permissive readers: accepts element types and quantization schemes that are not known. A layout that is not known ends the stream
 *     with UNSUPPORTED: nobody knows where the next tensor starts. A writer with it is refused
 * @param hrryFile readers: what is read is a .hrry file, from its start, in sequence: from a pipe or socket, which cannot be mapped. {@link
 *     StreamReader#name} then gives names. A writer with it is refused
 */
public record StreamOptions(
        long maxDescriptorLength, long maxTensorBytes, boolean closeFd, boolean privateTags, boolean permissive, boolean hrryFile) {
    /** Descriptors up to 16 MiB, tensors of any size, the file descriptor stays open, the reader is strict. */
    public static final StreamOptions DEFAULT = new StreamOptions(0, 0, false);

    /** Options of a strict reader, or of a writer. */
    public StreamOptions(long maxDescriptorLength, long maxTensorBytes, boolean closeFd) {
        this(maxDescriptorLength, maxTensorBytes, closeFd, false, false, false);
    }

    /** The same with another limit, in bytes. */
    public StreamOptions withMaxDescriptorLength(long bytes) {
        return new StreamOptions(bytes, maxTensorBytes, closeFd, privateTags, permissive, hrryFile);
    }

    /** The same with another limit, in bytes. */
    public StreamOptions withMaxTensorBytes(long bytes) {
        return new StreamOptions(maxDescriptorLength, bytes, closeFd, privateTags, permissive, hrryFile);
    }

    /** The same with another owner of the file descriptor. */
    public StreamOptions withCloseFd(boolean close) {
        return new StreamOptions(maxDescriptorLength, maxTensorBytes, close, privateTags, permissive, hrryFile);
    }

    /** The same, and whether the reader accepts private tags. */
    public StreamOptions withPrivateTags(boolean accepted) {
        return new StreamOptions(maxDescriptorLength, maxTensorBytes, closeFd, accepted, permissive, hrryFile);
    }

    /** The same, and whether the reader accepts unknown tags. */
    public StreamOptions withPermissive(boolean accepted) {
        return new StreamOptions(maxDescriptorLength, maxTensorBytes, closeFd, privateTags, accepted, hrryFile);
    }

    /** The same, and whether the reader reads a .hrry file. */
    public StreamOptions withHrryFile(boolean file) {
        return new StreamOptions(maxDescriptorLength, maxTensorBytes, closeFd, privateTags, permissive, file);
    }

    java.nio.ByteBuffer write(Scratch scratch) {
        java.nio.ByteBuffer struct = scratch.sized(Structs.StreamOptions.SIZE);
        struct.putInt(
                Structs.StreamOptions.FLAGS,
                (closeFd ? Abi.STREAM_CLOSE_FD : 0)
                        | (privateTags ? Abi.STREAM_PRIVATE_TAGS : 0)
                        | (permissive ? Abi.STREAM_PERMISSIVE : 0)
                        | (hrryFile ? Abi.STREAM_HRRY_FILE : 0));
        struct.putLong(Structs.StreamOptions.MAX_DESCRIPTOR_LENGTH, maxDescriptorLength);
        struct.putLong(Structs.StreamOptions.MAX_TENSOR_BYTES, maxTensorBytes);
        return struct;
    }
}
