package dev.hurray;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import dev.hurray.Memory.Counter;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** On which thread a callback runs that became due because the garbage collector found something: told by thread ids. */
class CollectorTest extends Baseline {
    /** Everything that keeps a callback of a user, each made and then reachable from nowhere but the result. */
    private static final Map<String, Function<Runnable, Object>> HOLDERS = new LinkedHashMap<>();

    static {
        HOLDERS.put("tensor", released -> wrapped(released));
        HOLDERS.put("buffer", released -> TensorBuffer.wrap(Memory.at(8, 64), released).buffer());
        HOLDERS.put(
                "buffer list",
                released -> {
                    BufferList list = BufferList.create();
                    list.push(TensorBuffer.wrap(Memory.at(0, 64), released).buffer());
                    return list;
                });
        HOLDERS.put("tensor context with an owner", released -> TensorContext.create(new byte[0], released));
        HOLDERS.put(
                "exported pair",
                released -> {
                    try (Tensor tensor = wrapped(released)) {
                        return tensor.export();
                    }
                });
        HOLDERS.put(
                "imported tensor with an owner of its context",
                released -> {
                    Descriptor two = Descriptor.builder(ElementType.UINT8, Layout.ROW_MAJOR, 2).addBuffer(BufferHandle.host(2)).build();
                    BufferList list = BufferList.create();
                    list.push(TensorBuffer.allocate(2, 64));
                    return Tensor.importFrom(list, TensorContext.create(two.encode(), released));
                });
        HOLDERS.put(
                "ByteBuffer of a closed tensor",
                released -> {
                    try (Tensor tensor = wrapped(released)) {
                        return tensor.view().bytes();
                    }
                });
    }

    private static final Map<String, Runnable> DRAINS = new LinkedHashMap<>();

    static {
        DRAINS.put("creation of memory", () -> close(TensorBuffer.allocate(1, 0)));
        DRAINS.put("creation of a tensor", () -> close(Tensor.wrap(DenseSpec.rowMajor(ElementType.UINT8, 1), Memory.at(0, 1))));
        DRAINS.put("creation of a list", () -> close(BufferList.create()));
        DRAINS.put("explicit drain", () -> assertEquals(1, Hurray.drainReleases()));
    }

    private static Tensor wrapped(Runnable released) {
        return Tensor.wrap(DenseSpec.rowMajor(ElementType.UINT8, 64), Memory.at(8, 64), released);
    }

    private static void close(NativeResource resource) {
        resource.close();
    }

    /** Id of the thread on which the binding is told what the collector found. */
    private static long collectorsThread() throws InterruptedException {
        AtomicReference<Thread> found = new AtomicReference<>();
        Releases.onUnreachable(new Object(), () -> found.set(Thread.currentThread()));
        collectOnlyUntil("probe", () -> found.get() != null);
        return found.get().getId();
    }

    private static WeakReference<Object> forget(Function<Runnable, Object> maker, Runnable released) {
        return new WeakReference<>(maker.apply(released));
    }

    /** Collects, and drains nothing, until the object is gone; its release waits then, and has not run. */
    private static void untilPending(String what, WeakReference<Object> forgotten, Counter released) throws InterruptedException {
        collectOnlyUntil(what, () -> forgotten.get() == null && Hurray.pendingReleases() + released.count() != 0);
        assertEquals(0, released.count(), what + ": ran before any thread of the program asked");
    }

    private static long runOnNewThread(Runnable action) throws InterruptedException {
        AtomicReference<Throwable> failed = new AtomicReference<>();
        Thread thread = new Thread(action);
        thread.setUncaughtExceptionHandler((ignored, failure) -> failed.set(failure));
        thread.start();
        thread.join();
        if (failed.get() != null) {
            throw new AssertionError(failed.get());
        }
        return thread.getId();
    }

    @Test
    void noCallbackRunsOnTheCollectorsThreadButAtTheNextCreationOrDrainOnItsThread() throws InterruptedException {
        long collector = collectorsThread();
        for (Map.Entry<String, Function<Runnable, Object>> holder : HOLDERS.entrySet()) {
            for (Map.Entry<String, Runnable> drain : DRAINS.entrySet()) {
                String what = holder.getKey() + ", " + drain.getKey();
                Counter released = new Counter();
                WeakReference<Object> forgotten = forget(holder.getValue(), released);
                untilPending(what, forgotten, released);
                long drainer = runOnNewThread(drain.getValue());
                assertEquals(1, released.count(), what);
                assertEquals(drainer, released.thread.getId(), what);
                assertNotEquals(collector, released.thread.getId(), what);
            }
        }
    }

    @Test
    void theNextCloseOfAnythingRunsWhatTheCollectorMadeDueOnItsThread() throws InterruptedException {
        long collector = collectorsThread();
        for (int kind = 0; kind < 5; ++kind) {
            Counter released = new Counter();
            // Open before, so that nothing is created between the collection and the close.
            try (Tensor tensor = Tensor.copyOf(new float[1], 1);
                    TensorBuffer buffer = TensorBuffer.allocate(64, 64);
                    BufferList list = BufferList.create();
                    TensorContext context = TensorContext.create(new byte[0], null);
                    Tensor share = tensor.share()) {
                NativeResource closed = new NativeResource[] {tensor, buffer, list, context, share}[kind];
                untilPending("tensor", forget(CollectorTest::wrapped, released), released);
                long closer = runOnNewThread(closed::close);
                assertEquals(1, released.count(), "kind " + kind);
                assertEquals(closer, released.thread.getId(), "kind " + kind);
                assertNotEquals(collector, released.thread.getId());
            }
        }
    }

    @Test
    void withConsentAReleaseRunsOnTheCollectorsThreadAtOnce() throws InterruptedException {
        long collector = collectorsThread();
        Counter released = new Counter();
        WeakReference<Object> forgotten =
                forget(
                        action -> {
                            TensorBuffer buffer = TensorBuffer.wrap(Memory.at(0, 64), action).buffer();
                            buffer.allowReleaseOnAnyThread();
                            return buffer;
                        },
                        released);
        collectOnlyUntil("buffer", () -> released.count() != 0);
        assertEquals(null, forgotten.get());
        assertEquals(collector, released.thread.getId());
        assertEquals(0, Hurray.pendingReleases());
        assertEquals(1, released.count());
    }

    @Test
    void consentIsGivenForMemoryThatIsLentAndNotSharedYet() {
        Counter released = new Counter();
        try (TensorBuffer own = TensorBuffer.allocate(1, 64);
                TensorBuffer lent = TensorBuffer.wrap(Memory.at(0, 64), released).buffer()) {
            Failures.expect(StatusCode.INVALID_ARGUMENT, own::allowReleaseOnAnyThread);
            lent.allowReleaseOnAnyThread();
            try (TensorBuffer share = lent.share()) {
                Failures.expect(StatusCode.INVALID_ARGUMENT, lent::allowReleaseOnAnyThread);
                Failures.expect(StatusCode.INVALID_ARGUMENT, share::allowReleaseOnAnyThread);
            }
        }
        assertEquals(1, released.count());
        TensorBuffer closed = TensorBuffer.allocate(1, 64);
        closed.close();
        Failures.expectClosed(closed::allowReleaseOnAnyThread);
    }

    @Test
    void aReleaseThatThrowsOnTheCollectorsThreadHarmsNobody() throws InterruptedException {
        Counter released = new Counter();
        forget(
                action -> {
                    TensorBuffer buffer = TensorBuffer.wrap(Memory.at(0, 64), action).buffer();
                    buffer.allowReleaseOnAnyThread();
                    return buffer;
                },
                () -> {
                    released.run();
                    throw new IllegalStateException("on purpose");
                });
        collectOnlyUntil("buffer", () -> released.count() != 0);
        // The thread still serves others.
        assertEquals(released.thread.getId(), collectorsThread());
        ByteBuffer memory = Memory.at(0, 4);
        try (Tensor tensor = Tensor.wrap(DenseSpec.rowMajor(ElementType.UINT8, 4), memory)) {
            assertEquals(memory.get(3) & 0xFF, tensor.view().getLong(3));
        }
    }
}
