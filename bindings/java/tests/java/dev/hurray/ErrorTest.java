package dev.hurray;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ErrorTest extends Baseline {
    @TempDir java.nio.file.Path folder;

    @Test
    void codesThatAreNotKnownAreReportedAsTheyAre() {
        HurrayException failure = new HurrayException(-4711, "what a later version finds wrong");
        assertEquals(StatusCode.UNKNOWN, failure.code());
        assertEquals(-4711, failure.status());
        assertEquals("UNKNOWN (-4711)", Errors.of(-4711).getMessage());
        assertEquals(StatusCode.UNKNOWN, StatusCode.of(Integer.MIN_VALUE));
    }

    @Test
    void everyCodeHasTheNameThatTheLibraryGivesIt() {
        Library.ready();
        for (StatusCode code : StatusCode.values()) {
            if (code != StatusCode.UNKNOWN) {
                assertEquals(code.name(), Raw.hurray_status_name(code.value()));
                assertEquals(code, StatusCode.of(code.value()));
            }
        }
    }

    @Test
    void thePlaceOfAFaultIsAtTheEndOfItsMessage() {
        assertEquals(OptionalLong.of(17), new HurrayException(-3, "rank: too large [byte 17]").byteOffset());
        assertEquals(OptionalLong.of(0), new HurrayException(-1, "magic [byte 0]").byteOffset());
        assertEquals(OptionalLong.of(-1), new HurrayException(-3, "far away [byte 18446744073709551615]").byteOffset());
        assertEquals(OptionalLong.empty(), new HurrayException(-3, "too far [byte 18446744073709551616]").byteOffset());
        assertEquals(OptionalLong.empty(), new HurrayException(-3, "[byte 3] in the middle").byteOffset());
        assertEquals(OptionalLong.empty(), new HurrayException(-3, "cut [byte 3").byteOffset());
        assertEquals(OptionalLong.empty(), new HurrayException(-3, "").byteOffset());
    }

    @Test
    void theMechanicalLayerChecksBounds() {
        Library.ready();
        ByteBuffer small = ByteBuffer.allocateDirect(4);
        long[] out = new long[1];
        assertThrows(IllegalArgumentException.class, () -> Raw.hurray_runtime_info(small, null));
        assertThrows(IllegalArgumentException.class, () -> Raw.hurray_runtime_info(ByteBuffer.allocate(512), null));
        assertThrows(IllegalArgumentException.class, () -> Raw.hurray_descriptor_decode(small, 5, out, null));
        assertThrows(IllegalArgumentException.class, () -> Raw.hurray_descriptor_decode(small, -1, out, null));
        assertThrows(IllegalArgumentException.class, () -> Raw.hurray_file_open(NativeMemory.direct(new byte[] {65}), null, out, null));
        assertThrows(IndexOutOfBoundsException.class, () -> Raw.hurray_buffer_allocate(1, 0, new long[0], null));
        assertEquals(StatusCode.NULL_POINTER.value(), Raw.hurray_runtime_info(null, null));
        assertEquals(StatusCode.NULL_POINTER.value(), Raw.hurray_buffer_allocate(1, 0, null, null));
        assertEquals(StatusCode.NULL_POINTER.value(), Raw.hurray_tensor_export(0, out, out, null));
    }

    @Test
    void factsAboutTheLibrary() {
        RuntimeInfo info = Hurray.runtimeInfo();
        assertEquals(Hurray.ABI_VERSION, info.abiVersion());
        assertEquals(4, info.abiVersion());
        assertFalse(info.version().isEmpty());
        assertTrue(info.buildId().contains(info.version()), info.buildId());
        assertTrue(info.libraryPath().contains("libhurray"), info.libraryPath());
        assertEquals(info.buildId(), Raw.hurray_build_id());
    }

    @Test
    void withHandleChecksDestroyingTwiceAndUsingAfterwardsAreInvalidHandleForEveryKind() {
        boolean before = Hurray.runtimeInfo().handleChecks();
        Hurray.setHandleChecks(true);
        assertTrue(Hurray.runtimeInfo().handleChecks());
        try {
            // The objects of the binding are closed themselves; what somebody else ended behind their back is told apart, too.
            long buffer = TensorBuffer.allocate(64, 64).detach();
            assertEquals(0, Raw.hurray_buffer_destroy(buffer));
            assertEquals(StatusCode.INVALID_HANDLE.value(), Raw.hurray_buffer_destroy(buffer));
            TensorBuffer deadBuffer = new TensorBuffer(buffer);
            Failures.expect(StatusCode.INVALID_HANDLE, deadBuffer::info);
            Failures.expect(StatusCode.INVALID_HANDLE, deadBuffer::share);
            Failures.expect(StatusCode.INVALID_HANDLE, deadBuffer::close);

            long list = BufferList.create().releaseAddress();
            assertEquals(0, Raw.hurray_buffer_list_destroy(new long[] {list}));
            assertEquals(StatusCode.INVALID_HANDLE.value(), Raw.hurray_buffer_list_destroy(new long[] {list}));
            BufferList deadList = BufferList.fromAddress(list);
            Failures.expect(StatusCode.INVALID_HANDLE, deadList::size);

            long context = TensorContext.create(new byte[3], null).releaseAddress();
            assertEquals(0, Raw.hurray_tensor_context_destroy(new long[] {context}));
            assertEquals(StatusCode.INVALID_HANDLE.value(), Raw.hurray_tensor_context_destroy(new long[] {context}));
            TensorContext deadContext = TensorContext.fromAddress(context);
            Failures.expect(StatusCode.INVALID_HANDLE, deadContext::abiVersion);
            Failures.expect(StatusCode.INVALID_HANDLE, () -> Tensor.importFrom(deadList, deadContext));
            Failures.expect(StatusCode.INVALID_HANDLE, deadList::close);
            Failures.expect(StatusCode.INVALID_HANDLE, deadContext::close);

            long tensor = Tensor.copyOf(new float[1], 1).detach();
            assertEquals(0, Raw.hurray_tensor_destroy(new long[] {tensor}));
            assertEquals(StatusCode.INVALID_HANDLE.value(), Raw.hurray_tensor_destroy(new long[] {tensor}));
            Tensor deadTensor = new Tensor(tensor);
            Failures.expect(StatusCode.INVALID_HANDLE, deadTensor::view);
            Failures.expect(StatusCode.INVALID_HANDLE, deadTensor::export);
            Failures.expect(StatusCode.INVALID_HANDLE, deadTensor::close);

            endTwice("descriptor", Raw::hurray_descriptor_destroy, out -> descriptor(out, null));
            endTwice("builder", Raw::hurray_descriptor_builder_destroy, out -> Raw.hurray_descriptor_builder_new(3, 1, null, 0, out, null));
            endTwice("queue", Raw::hurray_release_queue_destroy, out -> Raw.hurray_release_queue_new(out, null));
            endTwice("reader", Raw::hurray_reader_destroy, out -> Raw.hurray_reader_from_memory(null, 0, null, out, null));
            endTwice("writer", Raw::hurray_writer_destroy, out -> Raw.hurray_writer_to_memory(out, null));
            ByteBuffer path = NativeMemory.terminated(folder.resolve("model.safetensors").toString());
            endTwice("file writer", Raw::hurray_file_writer_destroy, out -> Raw.hurray_file_writer_create(path, 1, out, null));
            try (ModelFileWriter writer = ModelFileWriter.create(folder.resolve("model.safetensors"), FileFormat.SAFETENSORS)) {
                writer.finish();
            }
            endTwice("file", Raw::hurray_file_destroy, out -> Raw.hurray_file_open(path, null, out, null));
        } finally {
            Hurray.setHandleChecks(before);
        }
    }

    private interface Call {
        int run(long[] handle);
    }

    private static int descriptor(long[] out, ByteBuffer error) {
        byte[] encoded = Descriptor.builder(ElementType.UINT8, Layout.ROW_MAJOR, 1).addBuffer(BufferHandle.host(1)).build().encode();
        return Raw.hurray_descriptor_decode(NativeMemory.direct(encoded), encoded.length, out, error);
    }

    private static void endTwice(String kind, Call end, Call make) {
        long[] handle = new long[1];
        assertEquals(StatusCode.OK.value(), make.run(handle), kind);
        long address = handle[0];
        assertEquals(StatusCode.OK.value(), end.run(handle), kind);
        assertEquals(0, handle[0], kind + ": the variable is null");
        assertEquals(StatusCode.OK.value(), end.run(handle), kind + ": and ending it again is nothing");
        assertEquals(StatusCode.INVALID_HANDLE.value(), end.run(new long[] {address}), kind + ": another variable with the dead handle");
    }

    @Test
    void diagnosticsAreMessages() {
        for (HurrayException message : Hurray.diagnostics()) {
            assertFalse(message.getMessage().isEmpty());
        }
    }
}
