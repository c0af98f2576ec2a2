package dev.hurray.conformance;

import dev.hurray.BufferList;
import dev.hurray.HandleKind;
import dev.hurray.Hurray;
import dev.hurray.Tensor;
import dev.hurray.TensorContext;
import dev.hurray.TensorExport;
import dev.hurray.TensorView;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Takes every tensor that comes through the exchange form, reads its elements, and passes it on. */
final class Relay {
    private static final long COLLECTION_NANOS = 20_000_000_000L;

    private long tensors;
    private long bytes;

    private Relay() {}

    static void run(String namesFile, String reportFile, Transport.Sockets sockets) throws IOException {
        List<String> names = readNames(namesFile);
        Map<String, Object> last = About.runtime();
        last.remove("library_path");
        last.remove("channels");
        long before = Hurray.liveHandles(HandleKind.ANY).handles();
        long start = System.nanoTime();
        try (JsonLines report = new JsonLines(new FileOutputStream(reportFile))) {
            Relay relay = new Relay();
            relay.passOn(names, report, sockets, last);
            last.put("tensors", relay.tensors);
            last.put("bytes", relay.bytes);
            last.put("nanos", System.nanoTime() - start);
            last.put("live_handles", handlesLeft(before));
            report.write(last);
        }
    }

    /** A file of JSON strings, one a line. */
    static List<String> readNames(String namesFile) throws IOException {
        return Files.readAllLines(Path.of(namesFile), StandardCharsets.UTF_8).stream()
                .filter(line -> !line.isBlank())
                .map(JsonLines::parseString)
                .toList();
    }

    private void passOn(List<String> names, JsonLines report, Transport.Sockets sockets, Map<String, Object> last) throws IOException {
        try (Transport transport = new Transport(sockets)) {
            for (Optional<Tensor> next = transport.next(); next.isPresent(); next = transport.next()) {
                long start = System.nanoTime();
                try (Tensor received = exchanged(next.get())) {
                    if (tensors >= names.size()) {
                        throw new IllegalArgumentException("names: more tensors come than the " + names.size() + " names");
                    }
                    Map<String, Object> line = read(names.get((int) tensors), received);
                    transport.put(received);
                    line.put("nanos", System.nanoTime() - start);
                    report.write(line);
                }
                ++tensors;
            }
            if (tensors != names.size()) {
                throw new IllegalArgumentException("names: there are " + names.size() + ", and " + tensors + " tensors came");
            }
            transport.finish(last);
        }
    }

    /** Exports a tensor and imports it by the addresses alone, as another runtime would. */
    static Tensor exchanged(Tensor tensor) {
        try (tensor;
                TensorExport pair = tensor.export();
                BufferList list = BufferList.fromAddress(pair.list().releaseAddress());
                TensorContext context = TensorContext.fromAddress(pair.context().releaseAddress())) {
            return Tensor.importFrom(list, context);
        }
    }

    private Map<String, Object> read(String name, Tensor tensor) throws IOException {
        TensorView view = tensor.view();
        ElementDigest digest = ElementDigest.of(view);
        bytes += digest.bytes();
        Map<String, Object> line = new LinkedHashMap<>();
        line.put("name", name);
        line.put("type", DescriptorJson.name(view.elementType(), view.elementTypeTag()));
        line.put("shape", JsonLines.unsigned(view.shape()));
        line.put("bytes", digest.bytes());
        line.put("crc32", digest.crc32());
        line.put("sum", digest.sum());
        line.put("sum_bits", digest.sumBits());
        line.put("mapped", Mappings.fileAt(view.address()));
        java.lang.ref.Reference.reachabilityFence(view);
        return line;
    }

    /** ByteBuffers hold shares of the memory until they are collected: waits until they are. */
    private static long handlesLeft(long before) {
        long deadline = System.nanoTime() + COLLECTION_NANOS;
        while (true) {
            System.gc();
            Hurray.drainReleases();
            long left = Hurray.liveHandles(HandleKind.ANY).handles() - before;
            if (left == 0 || System.nanoTime() > deadline) {
                return left;
            }
            try {
                Thread.sleep(5);
            } catch (InterruptedException stop) {
                return left;
            }
        }
    }
}
