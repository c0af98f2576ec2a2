package dev.hurray;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Tensors as {@link MemorySegment}s: of any size, and with an end that is not left to the garbage collector. */
public final class TensorSegments {
    private TensorSegments() {}

    /** Whether this Java has them. */
    public static boolean available() {
        return true;
    }

    /**
     * Opens all bytes of a dense tensor in host memory as one segment of a shared arena. Layouts of elements must be unaligned ones
     * ({@code ValueLayout.JAVA_FLOAT_UNALIGNED}, little-endian): tensors may lie anywhere.
     *
     * @throws HurrayException UNSUPPORTED: the layout is not dense, the shape dynamic, or the memory not the host's
     */
    public static SegmentView open(Tensor tensor) {
        long handle = tensor.acquire();
        try (Scratch scratch = Scratch.take()) {
            scratch.check(Raw.hurray_tensor_view(handle, scratch.sized(Structs.View.SIZE), scratch.error));
            if (scratch.readByte(Structs.View.DEVICE) != Device.CPU.value()) {
                throw new HurrayException(StatusCode.UNSUPPORTED, "tensor: expected host memory");
            }
            long address = scratch.readLong(Structs.View.DATA) - scratch.readLong(Structs.View.BYTES_BELOW);
            long size = scratch.readLong(Structs.View.BYTE_SIZE);
            boolean readOnly = (scratch.readInt(Structs.View.FLAGS) & Abi.VIEW_READ_ONLY) != 0;
            TensorBuffer memory = tensor.buffer(0);
            try {
                return new SegmentView(memory, address, size, readOnly);
            } catch (RuntimeException | Error failure) {
                memory.close();
                throw failure;
            }
        } finally {
            tensor.release();
        }
    }

    /**
     * Makes a tensor over a native segment of any size, without copying.
     *
     * @param memory kept reachable until the release; its arena must stay open until then
     * @param onRelease as for {@link Tensor#wrap(DenseSpec, java.nio.ByteBuffer, Runnable)}; may be null
     * @throws HurrayException INVALID_ARGUMENT: a segment of the heap
     */
    public static Tensor wrap(DenseSpec spec, MemorySegment memory, Runnable onRelease) {
        Library.ready();
        if (!memory.isNative()) {
            throw Errors.argument("memory: expected a native segment; arrays of the heap can only be copied (Tensor.copyOf)");
        }
        return Tensor.wrap(spec, new DirectMemory(memory.address(), memory.byteSize()), memory, memory.isReadOnly(), onRelease);
    }

    /** A segment over a tensor's elements, the lowest byte first. Closing it revokes the segment and drops its share of the memory. */
    public static final class SegmentView implements AutoCloseable {
        private final TensorBuffer memory;
        private final Arena arena = Arena.ofShared();
        private final MemorySegment segment;

        @SuppressWarnings("restricted") // The segment lies in memory of which `memory` owns a share.
        private SegmentView(TensorBuffer memory, long address, long size, boolean readOnly) {
            this.memory = memory;
            MemorySegment all = MemorySegment.ofAddress(address).reinterpret(size, arena, null);
            segment = readOnly ? all.asReadOnly() : all;
        }

        /** The bytes; read-only when the memory is. */
        public MemorySegment segment() {
            return segment;
        }

        /**
         * Revokes the segment; afterwards its use throws {@link IllegalStateException}.
         *
         * @throws IllegalStateException while another thread is in the middle of an access
         */
        @Override
        public void close() {
            if (arena.scope().isAlive()) {
                arena.close();
            }
            memory.close();
        }
    }
}
