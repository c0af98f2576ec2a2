package dev.hurray;

/** What travels beside a {@link BufferList}: the encoded descriptor of the tensor, and what keeps its memory alive. */
public final class TensorContext extends NativeResource {
    private static final class State extends NativeState {
        State(long handle) {
            super(handle);
        }

        @Override
        String kind() {
            return "tensor context";
        }

        @Override
        int destroy(long handle) {
            int status = Raw.hurray_tensor_context_destroy(new long[] {handle});
            Releases.drain();
            return status;
        }

        @Override
        void abandon(long handle) {
            Raw.hurray_tensor_context_destroy_deferred(new long[] {handle}, null);
        }
    }

    private TensorContext(long handle) {
        super(new State(handle));
    }

    /**
     * Makes a context of this binding's version.
     *
     * @param descriptor encoded descriptor; copied and not looked at
     * @param onRelease run once when nobody needs the tensor's memory any more, on a thread of the program; may be null
     */
    public static TensorContext create(byte[] descriptor, Runnable onRelease) {
        return create(Abi.C_ABI_VERSION, descriptor, onRelease);
    }

    /** Makes a context that says it comes from another version of the C ABI, for tests of what becomes of it. */
    static TensorContext create(int version, byte[] descriptor, Runnable onRelease) {
        long queue = Releases.queue();
        Object attachment = onRelease == null ? null : new Releases.Lent(null, onRelease);
        try (Scratch scratch = Scratch.take()) {
            long handle =
                    NativeBuffer.newContext(
                            queue, version, NativeMemory.direct(descriptor), descriptor.length, attachment, scratch.memory);
            if (handle == 0) {
                throw scratch.failure();
            }
            return new TensorContext(handle);
        }
    }

    /**
     * Takes over a context from another runtime in this process.
     *
     * @param address the HurrayTensorContext pointer; it belongs to the new object from now on
     */
    public static TensorContext fromAddress(long address) {
        Library.ready();
        if (address == 0) {
            throw new HurrayException(StatusCode.NULL_POINTER, "address: is null, expected a tensor context");
        }
        return new TensorContext(address);
    }

    /** Hands the context to another runtime in this process, which ends it; this object is closed. */
    public long releaseAddress() {
        long handle = detach();
        forget();
        return handle;
    }

    /** Version of the C ABI of what made the context. */
    public int abiVersion() {
        long handle = acquire();
        try {
            return versionOf(handle);
        } finally {
            release();
        }
    }

    private static int versionOf(long handle) {
        int[] version = new int[1];
        Errors.check(Raw.hurray_tensor_context_abi_version(handle, version));
        return version[0];
    }

    /** Our own version, or a later one when the copy of the library that made the context vouches for both. */
    private static boolean accepted(long handle, int version) {
        if (Integer.compareUnsigned(version, Abi.C_ABI_VERSION) <= 0) {
            return version == Abi.C_ABI_VERSION;
        }
        int[] supported = new int[1];
        return Raw.hurray_tensor_context_supports(handle, Abi.C_ABI_VERSION, supported, null) == StatusCode.OK.value() && supported[0] == 1;
    }

    /**
     * The encoded descriptor, copied.
     *
     * @throws VersionMismatchException the context is of another version, for which the copy of the library that made it does not vouch: nothing
     *     else of it may be read
     */
    public byte[] descriptor() {
        long handle = acquire();
        try {
            int version = versionOf(handle);
            if (!accepted(handle, version)) {
                throw mismatch(version);
            }
            long[] address = new long[1];
            long[] length = new long[1];
            Errors.check(Raw.hurray_tensor_context_descriptor(handle, address, length));
            return NativeMemory.copy(address[0], length[0]);
        } finally {
            release();
        }
    }

    static VersionMismatchException mismatch(int version) {
        return new VersionMismatchException("tensor context", Abi.C_ABI_VERSION, version & 0xFFFF_FFFFL);
    }
}
