package samples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.hurray.BufferHandle;
import dev.hurray.BufferList;
import dev.hurray.Channel;
import dev.hurray.ChannelListener;
import dev.hurray.ChannelOptions;
import dev.hurray.DenseSpec;
import dev.hurray.Descriptor;
import dev.hurray.Device;
import dev.hurray.DeviceEvent;
import dev.hurray.DeviceStream;
import dev.hurray.ElementType;
import dev.hurray.FileFormat;
import dev.hurray.FileTensorInfo;
import dev.hurray.Handoff;
import dev.hurray.HurrayException;
import dev.hurray.Layout;
import dev.hurray.LayoutFields;
import dev.hurray.MetadataValue;
import dev.hurray.ModelFile;
import dev.hurray.ModelFileWriter;
import dev.hurray.Producer;
import dev.hurray.Quantization;
import dev.hurray.StreamReader;
import dev.hurray.StreamWriter;
import dev.hurray.SyncMode;
import dev.hurray.Tensor;
import dev.hurray.TensorBuffer;
import dev.hurray.TensorContext;
import dev.hurray.TensorExport;
import dev.hurray.TensorProducer;
import dev.hurray.TensorView;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The code of the README, run. */
class SamplesTest {
    @TempDir Path folder;

    private final java.io.ByteArrayOutputStream printed = new java.io.ByteArrayOutputStream();
    private PrintStream out;

    @BeforeEach
    void capture() {
        out = new PrintStream(printed, true, java.nio.charset.StandardCharsets.UTF_8);
    }

    private void expect(String... lines) {
        assertEquals(String.join("\n", lines), printed.toString(java.nio.charset.StandardCharsets.UTF_8).strip());
    }

    @Test
    void wrap() {
        // sample: wrap
        ByteBuffer memory = ByteBuffer.allocateDirect(24).order(ByteOrder.LITTLE_ENDIAN);
        memory.asFloatBuffer().put(new float[] {1, 2, 3, 4, 5, 6});

        DenseSpec spec = DenseSpec.rowMajor(ElementType.FLOAT32, 2, 3);
        try (Tensor tensor = Tensor.wrap(spec, memory, () -> out.println("nobody needs the memory any more"))) {
            out.println(tensor.descriptor());
        }
        // end sample
        expect("Descriptor[FLOAT32 ROW_MAJOR [2, 3]]", "nobody needs the memory any more");
    }

    @Test
    void view() {
        // sample: view
        FloatBuffer kept;
        try (Tensor tensor = Tensor.copyOf(new float[] {1, 2, 3, 4, 5, 6}, 2, 3)) {
            TensorView view = tensor.view();
            out.println(view.getDouble(1, 2)); // any layout, by index
            view.floats().put(0, 7); // the tensor's memory itself
            kept = view.floats();
        }
        out.println(kept.get(0)); // a ByteBuffer keeps its memory, whatever was closed
        // end sample
        expect("6.0", "7.0");
    }

    @Test
    void files() {
        Path path = folder.resolve("model.safetensors");
        // sample: write-file
        try (ModelFileWriter writer = ModelFileWriter.create(path, FileFormat.HRRY);
                Tensor weights = Tensor.copyOf(new double[] {0.5, -0.5}, 2)) {
            writer.add("weights", weights);
            writer.setMetadata("layers", new MetadataValue.Int64(12));
            writer.setMetadata("made by", "Java");
            writer.finish(); // complete under its name now, or not there at all
        }
        // end sample
        // sample: read-file
        try (ModelFile file = ModelFile.open(path)) { // mapped: no tensor data is read
            for (FileTensorInfo info : file.tensorInfos()) {
                out.println(info);
            }
            try (Tensor weights = file.tensor("weights")) {
                out.println(weights.view().doubles().get(1));
            }
            out.println(file.metadata());
        }
        // end sample
        expect("weights: FLOAT64 [2]", "-0.5", "{layers=12, made by=Java}");
    }

    @Test
    void streams() throws IOException {
        Path path = folder.resolve("stream");
        // sample: stream
        try (FileOutputStream file = new FileOutputStream(path.toFile());
                StreamWriter writer = StreamWriter.of(file.getFD());
                Tensor tensor = Tensor.copyOf(new short[] {7, 8, 9}, 3)) {
            writer.write(tensor);
        }

        try (FileInputStream file = new FileInputStream(path.toFile());
                StreamReader reader = StreamReader.of(file.getFD())) {
            for (Optional<Tensor> next = reader.next(); next.isPresent(); next = reader.next()) {
                try (Tensor tensor = next.get()) {
                    out.println(tensor.view().getLong(2));
                }
            }
        }
        // end sample
        expect("9");
    }

    @Test
    void channels() throws InterruptedException {
        // The folders of tests have longer names than a socket can.
        Path path = Path.of("/tmp/hurray-samples-" + ProcessHandle.current().pid());
        Thread sender =
                new Thread(
                        () -> {
                            try {
                                send(path);
                            } catch (InterruptedException stop) {
                                throw new AssertionError(stop);
                            }
                        });
        sender.start();
        // sample: channel-receive
        try (ChannelListener listener = ChannelListener.listen(path);
                Channel channel = listener.accept()) {
            for (Optional<Tensor> next = channel.receive(); next.isPresent(); next = channel.receive()) {
                try (Tensor tensor = next.get()) {
                    out.println(tensor.view().getDouble(1)); // the sender's memory, mapped
                }
            }
        }
        // end sample
        sender.join();
        expect("2.0");
    }

    private static void send(Path path) throws InterruptedException {
        // sample: channel-send
        try (Channel channel = Channel.connect(path, ChannelOptions.DEFAULT, Duration.ofSeconds(10));
                Tensor made = Tensor.copyOf(new float[] {1, 2, 3}, 3);
                Tensor weights = made.copyToShared()) { // tensors of model files need no copy at all
            channel.send(weights);
            channel.finish();
        }
        // end sample
    }

    @Test
    void exchange() {
        // sample: exchange
        long list;
        long context;
        try (Tensor tensor = Tensor.copyOf(new int[] {1, 2, 3}, 3);
                TensorExport pair = tensor.export()) {
            list = pair.list().releaseAddress(); // HurrayBufferList *, now somebody else's
            context = pair.context().releaseAddress(); // HurrayTensorContext *
        }

        try (BufferList buffers = BufferList.fromAddress(list);
                TensorContext what = TensorContext.fromAddress(context);
                Tensor imported = Tensor.importFrom(buffers, what)) {
            out.println(imported.view().getLong(2));
        }
        // end sample
        expect("3");
    }

    /** What a sample needs of the driver of a device. */
    private final class Driver {
        long write() {
            out.println("write");
            return 0x7000_0000_0000L; // memory of the device
        }

        long record() {
            out.println("record");
            return 0x7000_0000_1000L;
        }

        void orderAfterWrite(long stream) {
            out.println("order the stream after the write");
        }

        void makeWait(long stream, long event) {
            out.println("wait for the event");
        }

        void launch(long stream) {
            out.println("use");
        }

        void destroyEvent(long event) {
            out.println("destroy the event");
        }

        void free(long memory) {
            out.println("free");
        }
    }

    @Test
    void handoff() {
        Driver driver = new Driver();
        long stream = 0x7000_0000_2000L;
        // sample: handoff
        long memory = driver.write();
        DeviceEvent event = new DeviceEvent(driver.record(), Device.CUDA); // behind the last write
        TensorBuffer buffer =
                Handoff.of(BufferHandle.of(Device.CUDA, SyncMode.EVENT, 24), memory)
                        .event(event, driver::destroyEvent)
                        .onRelease(() -> driver.free(memory))
                        .handOff();

        try (buffer) { // the consumer
            driver.makeWait(stream, buffer.event().address()); // every stream that will touch the memory
            buffer.releaseEvent(); // once; the end of the buffer would do it, too
            driver.launch(stream);
        }
        // end sample
        expect("write", "record", "wait for the event", "destroy the event", "use", "free");
    }

    @Test
    void request() {
        Driver driver = new Driver();
        long stream = 0x7000_0000_2000L;
        // sample: request
        BufferHandle handle = BufferHandle.of(Device.CUDA, SyncMode.CONSUMER_STREAM, 24);
        Descriptor what = Descriptor.builder(ElementType.FLOAT32, Layout.ROW_MAJOR, 2, 3).addBuffer(handle).build();
        TensorProducer weights =
                consumers -> {
                    long memory = driver.write();
                    driver.orderAfterWrite(consumers.address()); // before this returns; nobody waits on the host
                    BufferList list = BufferList.create();
                    list.push(Handoff.of(handle, memory).stream(consumers).onRelease(() -> driver.free(memory)).handOff());
                    return new TensorExport(list, TensorContext.create(what.encode(), null));
                };

        try (Producer producer = Producer.of(weights, null); // producer.address() is for consumers in other languages
                Tensor tensor = producer.request(new DeviceStream(stream, Device.CUDA))) {
            driver.launch(tensor.stream(0).address());
        }
        // end sample
        expect("write", "order the stream after the write", "use", "free");
    }

    @Test
    void fields() {
        // sample: csr
        Descriptor sparse =
                Descriptor.builder(ElementType.FLOAT32, Layout.CSR, 4, 5)
                        .layoutFields(new LayoutFields.Csr(3)) // three elements are stored
                        .addBuffer(BufferHandle.host(12)) // values
                        .addBuffer(BufferHandle.host(24)) // column indices
                        .addBuffer(BufferHandle.host(40)) // row pointers
                        .build();
        out.println(sparse.layoutFields().orElseThrow());
        // end sample
        Descriptor int8 =
                Descriptor.builder(ElementType.INT8, Layout.ROW_MAJOR, 3)
                        .quantization(new Quantization.PerTensorAffine(0.5f, -3))
                        .addBuffer(BufferHandle.host(3))
                        .build();
        try (TensorBuffer buffer = TensorBuffer.allocate(3, 64)) {
            buffer.bytes().put(new byte[] {-3, 0, 8});
            quantized(int8, buffer);
        }
        expect("Csr[nnz=3]", "5.5");
    }

    private void quantized(Descriptor int8, TensorBuffer buffer) {
        try (Tensor tensor = Tensor.of(int8, buffer)) {
            // sample: quantization
            TensorView stored = tensor.view(); // the stored values: stored.isQuantized()
            if (tensor.descriptor().quantization().orElse(null) instanceof Quantization.PerTensorAffine scheme) {
                out.println(scheme.scale() * (stored.getLong(2) - scheme.zeroPoint()));
            }
            // end sample
        }
    }

    @Test
    void errors() {
        // sample: errors
        try {
            Descriptor.decode("HRRY is what a descriptor starts with".getBytes());
        } catch (HurrayException failure) {
            out.println(failure.code() + " at byte " + failure.byteOffset().getAsLong());
        }
        // end sample
        assertTrue(printed.toString().startsWith("VERSION_MISMATCH at byte 4"), printed.toString());
        Tensor tensor = Tensor.copyOf(new float[] {1}, 1);
        tensor.close();
        tensor.close();
        assertThrows(IllegalStateException.class, tensor::view);
    }
}
