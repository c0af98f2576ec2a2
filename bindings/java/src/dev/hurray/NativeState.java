package dev.hurray;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A native handle and whether it may still be used. Apart from the object that users hold, so that it can end the handle when that
 * is unreachable. A call holds the handle while it runs: closing it meanwhile from another thread is refused and not a crash.
 */
abstract class NativeState implements Runnable {
    private static final int CLOSED = -1;
    private static final VarHandle USES;

    static {
        try {
            USES = MethodHandles.lookup().findVarHandle(NativeState.class, "uses", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final long handle;

    @SuppressWarnings("unused") // through USES
    private volatile int uses;

    NativeState(long handle) {
        this.handle = handle;
    }

    /** What is closed, for messages. */
    abstract String kind();

    /** Ends the handle on the thread of a user. */
    abstract int destroy(long handle);

    /** Ends the handle on the garbage collector's thread, where nothing of a user may run. */
    abstract void abandon(long handle);

    /** The handle, which stays valid until {@link #release()}. */
    final long acquire() {
        int now;
        do {
            now = (int) USES.getVolatile(this);
            if (now == CLOSED) {
                throw new IllegalStateException(kind() + " is closed");
            }
        } while (!USES.compareAndSet(this, now, now + 1));
        return handle;
    }

    final void release() {
        USES.getAndAdd(this, -1);
    }

    final boolean isClosed() {
        return (int) USES.getVolatile(this) == CLOSED;
    }

    /** Whether some thread is in a call on it. */
    final boolean isInUse() {
        return (int) USES.getVolatile(this) > 0;
    }

    /** Marks it closed. False when it was closed already. */
    final boolean end() {
        int now = (int) USES.compareAndExchange(this, 0, CLOSED);
        if (now > 0) {
            throw new IllegalStateException(kind() + " is in use by another thread");
        }
        return now == 0;
    }

    /** Marks it closed and returns the handle, whose end is from now on the caller's duty. */
    final long detach() {
        if (!end()) {
            throw new IllegalStateException(kind() + " is closed");
        }
        return handle;
    }

    /** Undoes {@link #detach()}. */
    final void reattach() {
        USES.setVolatile(this, 0);
    }

    /** Destroys the handle now, on this thread; nothing when it was closed already. */
    final void close() {
        if (end()) {
            Errors.check(destroy(handle));
        }
    }

    /** Called by the cleaner. */
    @Override
    public final void run() {
        if (USES.compareAndSet(this, 0, CLOSED)) {
            abandon(handle);
        }
    }
}
