package dev.hurray;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Channels between two virtual machines. */
class ChannelProcessTest extends Baseline {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    /** Answers each tensor with its checksum and itself; "hold" answers once, keeps what it got, and waits to be killed. */
    static final class Peer {
        private Peer() {}

        public static void main(String[] arguments) throws InterruptedException {
            try (Channel channel = Channel.connect(Path.of(arguments[1]), ChannelOptions.DEFAULT, PATIENCE)) {
                for (Optional<Tensor> next = channel.receive(PATIENCE); next.isPresent(); next = channel.receive(PATIENCE)) {
                    try (Tensor tensor = next.get();
                            Tensor sum = Tensor.copyOf(new long[] {checksum(tensor)}, 1)) {
                        channel.send(sum);
                        channel.send(tensor);
                        if (arguments[0].equals("hold")) {
                            Thread.sleep(PATIENCE.toMillis());
                        }
                    }
                }
                channel.finish();
                // The other end still holds what it was sent: until it says that it has all, which is its end.
                try {
                    while (channel.info().outstanding() != 0) {
                        channel.process();
                        Thread.sleep(2);
                    }
                } catch (HurrayException gone) {
                    System.err.println(gone.getMessage());
                }
            }
        }
    }

    static long checksum(Tensor tensor) {
        CRC32 crc = new CRC32();
        crc.update(tensor.view().bytes());
        return crc.getValue();
    }

    private Path folder;

    // The folders of the tests' own have longer names than a socket can.
    @BeforeEach
    void makeFolder() throws IOException {
        folder = Files.createTempDirectory(Path.of("/tmp"), "hc");
    }

    @AfterEach
    void removeFolder() throws IOException {
        try (var files = Files.list(folder)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
        Files.delete(folder);
    }

    private static Tensor pattern(int size) {
        Tensor tensor = Tensor.allocate(ElementType.UINT8, size);
        ByteBuffer bytes = tensor.view().bytes();
        for (int i = 0; i < size; ++i) {
            bytes.put(i, (byte) (i * 31 >> 3));
        }
        return tensor;
    }

    /** Sends a tensor, and expects its checksum and the tensor itself. */
    private static void thereAndBack(Channel channel, Tensor tensor) throws InterruptedException {
        long expected = checksum(tensor);
        channel.send(tensor);
        try (Tensor sum = channel.receive(PATIENCE).orElseThrow();
                Tensor back = channel.receive(PATIENCE).orElseThrow()) {
            assertEquals(expected, sum.view().getLong(0), "the peer saw the same bytes");
            assertEquals(expected, checksum(back), "and gave them back");
            assertTrue(back.view().isReadOnly());
            try (TensorBuffer buffer = back.buffer(0)) {
                assertTrue(buffer.info().shared());
            }
        }
    }

    /** What of the file lies in front of the tensor, in its first 64 bytes, passes with it. */
    private static long prefixOf(Tensor tensor) {
        try (TensorBuffer buffer = tensor.buffer(0)) {
            return buffer.info().prefix();
        }
    }

    @Test
    void sharedAndMappedMemoryPassesWithoutACopyAndIsReleasedByThePeer() throws Exception {
        Path model = folder.resolve("m.safetensors");
        try (Tensor source = pattern(1 << 20)) {
            try (ModelFileWriter writer = ModelFileWriter.create(model, FileFormat.SAFETENSORS)) {
                writer.add("w", source);
                writer.finish();
            }
            try (ChannelListener listener = ChannelListener.listen(folder.resolve("s"))) {
                Process peer = Programs.start(Peer.class, "echo", folder.resolve("s").toString());
                try (Channel channel = listener.accept(PATIENCE)) {
                    assertEquals(peer.pid(), channel.info().peerPid());
                    try (Tensor shared = source.copyToShared();
                            ModelFile file = ModelFile.open(model);
                            Tensor mapped = file.tensor("w")) {
                        thereAndBack(channel, shared);
                        thereAndBack(channel, mapped);
                        long prefix = prefixOf(mapped);
                        assertEquals((2L << 20) + prefix, channel.info().passedBytes());
                        assertEquals(0, channel.info().copiedBytes());
                        assertEquals((2L << 20) + prefix + 16, channel.info().receivedBytes());
                        // Lent memory is copied, once, and counted.
                        thereAndBack(channel, source);
                        assertEquals(1L << 20, channel.info().copiedBytes());
                        assertEquals(3, channel.info().sent());
                    }
                    channel.finish();
                    assertTrue(channel.receive(PATIENCE).isEmpty(), "the peer has finished");
                    assertTrue(channel.receive(PATIENCE).isEmpty(), "and stays so");
                    assertTrue(channel.info().peerFinished());
                    // Nothing is held here any more, and so the peer can end, which gives all back that it held.
                    assertTrue(collectUntil(() -> channel.info().held() == 0));
                    assertTrue(peer.waitFor(60, TimeUnit.SECONDS));
                    assertEquals(0, peer.exitValue());
                    channel.process();
                    assertEquals(0, channel.info().outstanding(), "releases travel back");
                } finally {
                    peer.destroyForcibly();
                }
            }
        }
        assertFalse(Files.exists(folder.resolve("s")), "the listener removes its socket");
        Files.delete(model);
    }

    @Test
    void aPeerThatIsKilledIsNoticedAndNothingStaysOut() throws Exception {
        try (ChannelListener listener = ChannelListener.listen(folder.resolve("s"));
                Tensor source = pattern(100);
                Tensor shared = source.copyToShared()) {
            Process peer = Programs.start(Peer.class, "hold", folder.resolve("s").toString());
            Channel channel = listener.accept(PATIENCE);
            try {
                channel.send(shared);
                Tensor sum = channel.receive(PATIENCE).orElseThrow();
                Tensor back = channel.receive(PATIENCE).orElseThrow();
                assertEquals(1, channel.info().outstanding());
                peer.destroyForcibly().waitFor();
                Failures.expect(StatusCode.DISCONNECTED, () -> channel.receive(PATIENCE));
                Failures.expect(StatusCode.DISCONNECTED, channel::process);
                Failures.expect(StatusCode.DISCONNECTED, () -> channel.send(shared));
                assertTrue(channel.info().peerGone());
                assertEquals(0, channel.info().outstanding());
                channel.close();
                assertEquals(checksum(source), checksum(back), "what was received outlives the peer and the channel");
                sum.close();
                back.close();
            } finally {
                channel.close();
                peer.destroyForcibly();
            }
        }
    }
}
