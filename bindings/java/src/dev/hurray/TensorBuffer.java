package dev.hurray;

import java.nio.ByteBuffer;

/** Memory with shared ownership, described by a 16-byte handle. */
public final class TensorBuffer extends NativeResource {
    private static final class State extends NativeState {
        State(long handle) {
            super(handle);
        }

        @Override
        String kind() {
            return "buffer";
        }

        @Override
        int destroy(long handle) {
            int status = Raw.hurray_buffer_destroy(handle);
            Releases.drain();
            return status;
        }

        @Override
        void abandon(long handle) {
            Raw.hurray_buffer_destroy_deferred(handle, null);
        }
    }

    TensorBuffer(long handle) {
        super(new State(handle));
    }

    /**
     * Allocates zeroed memory of the library.
     *
     * @param byteSize length in bytes; may be 0
     * @param alignment a power of two; 0 means 64, and less than 64 is raised to 64
     */
    public static TensorBuffer allocate(long byteSize, int alignment) {
        Releases.drain();
        try (Scratch scratch = Scratch.take()) {
            long[] handle = new long[1];
            scratch.check(Raw.hurray_buffer_allocate(byteSize, alignment, handle, scratch.error));
            return new TensorBuffer(handle[0]);
        }
    }

    /**
     * Allocates zeroed memory of the library that goes through a {@link Channel} without a copy: shared memory.
     *
     * <p>{@link Channel#send} seals it, at the same address: from then on nobody can write it, and whoever tries through a ByteBuffer that
     * was taken before crashes the virtual machine. That is done where the tensor that is sent alone has the memory, or where its buffer
     * is marked with {@link #setReadOnly}, which is a promise for all others. Views and ByteBuffers share the memory until they are
     * collected, so: fill it, mark it, and make the tensor of the marked buffer. What is not marked is copied instead, and counted. {@link
     * Tensor#copyToShared} does all of this.
     *
     * @param byteSize length in bytes; may be 0
     * @param alignment a power of two; 0 means 64, and less than 64 is raised to 64
     * @throws HurrayException OUT_OF_MEMORY; INVALID_LAYOUT: the alignment; LIMIT_EXCEEDED: no further file descriptor may be opened
     */
    public static TensorBuffer allocateShared(long byteSize, int alignment) {
        Releases.drain();
        try (Scratch scratch = Scratch.take()) {
            long[] handle = new long[1];
            scratch.check(Raw.hurray_buffer_allocate_shared(byteSize, alignment, handle, scratch.error));
            return new TensorBuffer(handle[0]);
        }
    }

    /** A buffer over memory of the program, and where in it that memory starts. */
    public record Wrapped(TensorBuffer buffer, long byteOffset) {}

    /**
     * Wraps the remaining bytes of a direct buffer, without copying. The buffer starts up to 63 bytes earlier, at a multiple of 64;
     * {@link Wrapped#byteOffset} is the difference and belongs into the descriptor.
     *
     * @param onRelease run once when nobody needs the memory any more, on a thread of the program; may be null
     * @throws HurrayException INVALID_ARGUMENT: no direct buffer; nothing is kept then and {@code onRelease} does not run
     */
    public static Wrapped wrap(ByteBuffer memory, Runnable onRelease) {
        long queue = Releases.queue();
        DirectMemory direct = DirectMemory.of(memory);
        try (Scratch scratch = Scratch.take()) {
            long[] byteOffset = new long[1];
            long handle =
                    NativeBuffer.wrap(
                            queue,
                            direct.address(),
                            direct.size(),
                            memory.isReadOnly(),
                            new Releases.Lent(memory, onRelease),
                            byteOffset,
                            scratch.memory);
            if (handle == 0) {
                throw scratch.failure();
            }
            return new Wrapped(new TensorBuffer(handle), byteOffset[0]);
        }
    }

    /** A further handle for the same memory, which is released when the last of them goes. */
    public TensorBuffer share() {
        long handle = acquire();
        try {
            return shareOf(handle);
        } finally {
            release();
        }
    }

    static TensorBuffer shareOf(long buffer) {
        try (Scratch scratch = Scratch.take()) {
            long[] share = new long[1];
            scratch.check(Raw.hurray_buffer_share(buffer, share, scratch.error));
            return new TensorBuffer(share[0]);
        }
    }

    /** A handle for a part of the memory, which it shares. A part that is not empty starts at a multiple of 64. */
    public TensorBuffer slice(long offset, long byteSize) {
        long handle = acquire();
        try (Scratch scratch = Scratch.take()) {
            long[] slice = new long[1];
            scratch.check(Raw.hurray_buffer_slice(handle, offset, byteSize, slice, scratch.error));
            return new TensorBuffer(slice[0]);
        } finally {
            release();
        }
    }

    /** The 16-byte handle as a descriptor's buffer table has it. */
    public BufferHandle handle() {
        long handle = acquire();
        try (Scratch scratch = Scratch.take()) {
            scratch.check(Raw.hurray_buffer_handle_bytes(handle, scratch.struct, scratch.error));
            return BufferHandle.read(scratch.memory, Scratch.STRUCT);
        } finally {
            release();
        }
    }

    /** Marks the memory as not to be written through this handle and those made from it. */
    public void setReadOnly() {
        long handle = acquire();
        try (Scratch scratch = Scratch.take()) {
            scratch.check(Raw.hurray_buffer_set_read_only(handle, scratch.error));
        } finally {
            release();
        }
    }

    /**
     * The event of a buffer of {@link SyncMode#EVENT}: every stream that will touch the memory waits for it first.
     *
     * @return the driver's event, which is valid until {@link #releaseEvent()}
     * @throws HurrayException SYNC_MODE_MISMATCH: there is none, as on a share or slice; INVALID_HANDLE: it was released already
     */
    public DeviceEvent event() {
        long handle = acquire();
        try {
            return BufferSync.event(handle);
        } finally {
            release();
        }
    }

    /**
     * Gives the event back to its producer, on this thread, once all waits are issued. A buffer that is closed or collected without this
     * does it by itself.
     *
     * @throws HurrayException INVALID_HANDLE: it was released already; SYNC_MODE_MISMATCH: there is none
     */
    public void releaseEvent() {
        long handle = acquire();
        try {
            BufferSync.releaseEvent(handle);
        } finally {
            release();
        }
    }

    /**
     * The stream on which a buffer of {@link SyncMode#CONSUMER_STREAM} may be used at once; another one waits for it first.
     *
     * @throws HurrayException SYNC_MODE_MISMATCH: there is none
     */
    public DeviceStream stream() {
        long handle = acquire();
        try {
            return BufferSync.stream(handle);
        } finally {
            release();
        }
    }

    /**
     * Consents to the release of the memory on whatever thread ends its last user, the garbage collector's included: {@code onRelease}
     * must then be fit to run there. Without it a release that the collector causes waits for a thread of the program.
     *
     * @throws HurrayException INVALID_ARGUMENT: the memory is the library's, which needs no consent, or is shared already
     */
    public void allowReleaseOnAnyThread() {
        long handle = acquire();
        try (Scratch scratch = Scratch.take()) {
            scratch.check(Raw.hurray_buffer_set_release_any_thread(handle, scratch.error));
        } finally {
            release();
        }
    }

    /**
     * Facts about a buffer.
     *
     * @param byteSize length in bytes, the prefix included
     * @param alignment declared alignment of the first byte
     * @param prefix how many bytes at the start belong to somebody else
     * @param shareCount how many handles share the memory; 0 for memory that is borrowed for ever
     * @param readOnly whether the memory must not be written
     * @param shared whether other processes can have the memory: a mapped file, or shared memory
     * @param sealed whether nobody can change the memory, in whatever process
     */
    public record Info(
            long byteSize, long alignment, int prefix, long shareCount, boolean readOnly, boolean shared, boolean sealed) {}

    /** Reads all facts in one call. */
    public Info info() {
        long handle = acquire();
        try (Scratch scratch = Scratch.take()) {
            readInfo(handle, scratch);
            int flags = scratch.readInt(Structs.BufferInfo.FLAGS);
            return new Info(
                    scratch.readLong(Structs.BufferInfo.BYTE_SIZE),
                    scratch.readInt(Structs.BufferInfo.ALIGNMENT) & 0xFFFF_FFFFL,
                    scratch.readInt(Structs.BufferInfo.PREFIX),
                    scratch.readLong(Structs.BufferInfo.SHARE_COUNT),
                    (flags & Abi.BUFFER_READ_ONLY) != 0,
                    (flags & Abi.BUFFER_SHARED) != 0,
                    (flags & Abi.BUFFER_SEALED) != 0);
        } finally {
            release();
        }
    }

    private static void readInfo(long handle, Scratch scratch) {
        scratch.check(Raw.hurray_buffer_info(handle, scratch.sized(Structs.BufferInfo.SIZE), scratch.error));
    }

    /**
     * A window on the memory, little-endian; read-only when the memory is. It stays valid after {@link #close()}.
     *
     * @param offset first byte, counted behind the prefix
     * @param length how many bytes, up to 2^31-1
     * @throws HurrayException INDEX_OUT_OF_BOUNDS: not within the buffer; UNSUPPORTED: memory of a device
     */
    public ByteBuffer bytes(long offset, int length) {
        long handle = acquire();
        try (Scratch scratch = Scratch.take()) {
            if (handle().device() != Device.CPU) {
                throw new HurrayException(StatusCode.UNSUPPORTED, "buffer: expected host memory");
            }
            readInfo(handle, scratch);
            long prefix = scratch.readInt(Structs.BufferInfo.PREFIX);
            long size = scratch.readLong(Structs.BufferInfo.BYTE_SIZE) - prefix;
            boolean readOnly = (scratch.readInt(Structs.BufferInfo.FLAGS) & Abi.BUFFER_READ_ONLY) != 0;
            if (offset < 0 || length < 0 || offset > size || length > size - offset) {
                throw new HurrayException(
                        StatusCode.INDEX_OUT_OF_BOUNDS,
                        "offset " + offset + " and length " + length + ": expected a range within the buffer's " + size + " bytes");
            }
            long data = scratch.readLong(Structs.BufferInfo.DATA);
            if (length == 0 || data == 0) {
                return Windows.present(ByteBuffer.allocateDirect(0), readOnly);
            }
            return Windows.present(Windows.open(handle, data + prefix + offset, length, scratch), readOnly);
        } finally {
            release();
        }
    }

    /** All of the memory, behind the prefix. */
    public ByteBuffer bytes() {
        Info info = info();
        long size = info.byteSize() - info.prefix();
        if (size > Integer.MAX_VALUE) {
            throw new HurrayException(StatusCode.LIMIT_EXCEEDED, "buffer: " + size + " bytes are more than one ByteBuffer holds");
        }
        return bytes(0, (int) size);
    }
}
