package dev.hurray;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;

/**
 * What the library calls in Java for one reader or writer: streams, and sources of tensors. What they throw ends the call with a status; the
 * exception is kept here and comes out again as the cause of that call's.
 */
final class Callbacks {
    private static final int CHUNK = 1 << 16;

    /** One thing that the library calls. */
    private abstract static class Target {
        final Callbacks owner;

        Target(Callbacks owner) {
            this.owner = owner;
        }
    }

    private static final class Source extends Target {
        final InputStream stream;
        final byte[] chunk = new byte[CHUNK];

        Source(Callbacks owner, InputStream stream) {
            super(owner);
            this.stream = stream;
        }
    }

    private static final class Sink extends Target {
        final OutputStream stream;
        final byte[] chunk = new byte[CHUNK];

        Sink(Callbacks owner, OutputStream stream) {
            super(owner);
            this.stream = stream;
        }
    }

    private static final class Maker extends Target {
        private Callable<Tensor> tensors;

        Maker(Callbacks owner, Callable<Tensor> tensors) {
            super(owner);
            this.tensors = tensors;
        }

        /** Once: what it holds need not be held afterwards. */
        Callable<Tensor> take() {
            Callable<Tensor> taken = tensors;
            tensors = null;
            return taken;
        }
    }

    private static final class Listener extends Target {
        final WorkProgress progress;

        Listener(Callbacks owner, WorkProgress progress) {
            super(owner);
            this.progress = progress;
        }
    }

    // Contexts of the library, which keep their targets reachable until they are forgotten.
    private final List<Long> contexts = new ArrayList<>();
    private Throwable failure;

    private long keep(Target target) {
        long context = NativeCallbacks.keep(target);
        contexts.add(context);
        return context;
    }

    /** The context of a stream that is read. */
    long source(InputStream stream) {
        return keep(new Source(this, Objects.requireNonNull(stream)));
    }

    /** The context of a stream that is written. */
    long sink(OutputStream stream) {
        return keep(new Sink(this, Objects.requireNonNull(stream)));
    }

    /** The context of a tensor that is made later. */
    long maker(Callable<Tensor> tensors) {
        return keep(new Maker(this, Objects.requireNonNull(tensors)));
    }

    /** The context of a listener to long work. */
    long progress(WorkProgress listener) {
        return keep(new Listener(this, listener));
    }

    boolean isEmpty() {
        return contexts.isEmpty();
    }

    /** Forgets everything. The library must not call any more. */
    void forget() {
        contexts.forEach(NativeCallbacks::forget);
        contexts.clear();
    }

    /** Throws when the call that wrote this error report failed; what was thrown in the middle of it is the cause. */
    void check(Scratch scratch, int status) {
        Throwable thrown = failure;
        failure = null;
        if (status == StatusCode.OK.value()) {
            return;
        }
        try {
            scratch.check(status);
        } catch (HurrayException reported) {
            if (thrown != null) {
                reported.initCause(thrown);
            }
            throw reported;
        }
    }

    private static int failed(Object target, Throwable thrown) {
        ((Target) target).owner.failure = thrown;
        if (thrown instanceof HurrayException known && known.status() < 0) {
            return known.status();
        }
        return (thrown instanceof IOException ? StatusCode.IO : StatusCode.INTERNAL_PANIC).value();
    }

    /** Called by native code: reads into a buffer that is good during the call only. Returns how many bytes, or a status. */
    static int read(Object target, ByteBuffer into) {
        try {
            Source source = (Source) target;
            // By way of an array: a ByteBuffer that somebody keeps would reach memory that is gone.
            int count = source.stream.read(source.chunk, 0, Math.min(source.chunk.length, into.remaining()));
            if (count == 0) {
                throw new IOException("the stream gave no byte, and not its end");
            }
            if (count > 0) {
                into.put(source.chunk, 0, count);
            }
            return Math.max(0, count);
        } catch (Throwable thrown) {
            return failed(target, thrown);
        }
    }

    /** Called by native code: writes all of a buffer that is good during the call only. Returns a status. */
    static int write(Object target, ByteBuffer bytes) {
        try {
            Sink sink = (Sink) target;
            while (bytes.hasRemaining()) {
                int count = Math.min(sink.chunk.length, bytes.remaining());
                bytes.get(sink.chunk, 0, count);
                sink.stream.write(sink.chunk, 0, count);
            }
            return StatusCode.OK.value();
        } catch (Throwable thrown) {
            return failed(target, thrown);
        }
    }

    /** Called by native code: whether long work goes on. */
    static boolean progress(Object target, long done, long total) {
        try {
            return ((Listener) target).progress.onProgress(done, total);
        } catch (Throwable thrown) {
            failed(target, thrown);
            return false;
        }
    }

    /** Called by native code: makes a tensor, which moves to the library. Returns a status. */
    static int make(Object target, long[] result) {
        try {
            Callable<Tensor> tensors = ((Maker) target).take();
            Tensor made = tensors == null ? null : tensors.call();
            if (made == null) {
                throw Errors.argument("source: returned null, expected a tensor");
            }
            result[0] = made.detach();
            made.forget();
            return StatusCode.OK.value();
        } catch (Throwable thrown) {
            return failed(target, thrown);
        }
    }
}
