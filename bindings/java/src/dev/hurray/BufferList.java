package dev.hurray;

/** The buffers of one tensor in the order of its descriptor's buffer table, as they travel between runtimes. */
public final class BufferList extends NativeResource {
    private static final class State extends NativeState {
        State(long handle) {
            super(handle);
        }

        @Override
        String kind() {
            return "buffer list";
        }

        @Override
        int destroy(long handle) {
            int status = Raw.hurray_buffer_list_destroy(new long[] {handle});
            Releases.drain();
            return status;
        }

        @Override
        void abandon(long handle) {
            Raw.hurray_buffer_list_destroy_deferred(new long[] {handle}, null);
        }
    }

    private BufferList(long handle) {
        super(new State(handle));
    }

    /** Makes an empty list. */
    public static BufferList create() {
        Releases.drain();
        long[] handle = new long[1];
        Errors.check(Raw.hurray_buffer_list_new(1, handle));
        return new BufferList(handle[0]);
    }

    /**
     * Takes over a list from another runtime in this process.
     *
     * @param address the HurrayBufferList pointer; it belongs to the new object from now on
     */
    public static BufferList fromAddress(long address) {
        Library.ready();
        if (address == 0) {
            throw new HurrayException(StatusCode.NULL_POINTER, "address: is null, expected a buffer list");
        }
        return new BufferList(address);
    }

    /** Hands the list to another runtime in this process, which ends it; this object is closed. */
    public long releaseAddress() {
        long handle = detach();
        forget();
        return handle;
    }

    /** Appends a buffer, which moves into the list: the object is closed when the call succeeded, and stays as it was otherwise. */
    public void push(TensorBuffer buffer) {
        long list = acquire();
        try {
            long moved = buffer.detach();
            int status = Raw.hurray_buffer_list_push(list, moved);
            if (status != StatusCode.OK.value()) {
                buffer.reattach();
                throw Errors.of(status);
            }
            buffer.forget();
        } finally {
            release();
        }
    }

    /** Number of buffers. */
    public long size() {
        long list = acquire();
        try {
            long[] length = new long[1];
            Errors.check(Raw.hurray_buffer_list_len(list, length));
            return length[0];
        } finally {
            release();
        }
    }

    /** A share of a buffer of the list; an event or stream stays with the list: see {@link #event} and {@link #stream}. */
    public TensorBuffer share(long index) {
        long list = acquire();
        try {
            return TensorBuffer.shareOf(borrowed(list, index));
        } finally {
            release();
        }
    }

    /** The event of a buffer of the list: see {@link TensorBuffer#event()}. */
    public DeviceEvent event(long index) {
        long list = acquire();
        try {
            return BufferSync.event(borrowed(list, index));
        } finally {
            release();
        }
    }

    /** Gives the event of a buffer of the list back: see {@link TensorBuffer#releaseEvent()}. */
    public void releaseEvent(long index) {
        long list = acquire();
        try {
            BufferSync.releaseEvent(borrowed(list, index));
        } finally {
            release();
        }
    }

    /** The stream on which a buffer of the list may be used at once: see {@link TensorBuffer#stream()}. */
    public DeviceStream stream(long index) {
        long list = acquire();
        try {
            return BufferSync.stream(borrowed(list, index));
        } finally {
            release();
        }
    }

    private static long borrowed(long list, long index) {
        long[] borrowed = new long[1];
        Errors.check(Raw.hurray_buffer_list_get(list, index, borrowed));
        return borrowed[0];
    }
}
