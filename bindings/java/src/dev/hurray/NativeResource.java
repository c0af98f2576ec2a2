package dev.hurray;

import java.lang.ref.Cleaner;
import java.lang.ref.Reference;

/**
 * Something of the native library that is closed when it is no longer needed. Closing twice is allowed; using it afterwards throws
 * {@link IllegalStateException}. One thread uses it at a time.
 */
public abstract class NativeResource implements AutoCloseable {
    private final NativeState state;
    private final Cleaner.Cleanable cleanable;

    NativeResource(NativeState state) {
        this.state = state;
        this.cleanable = Releases.onUnreachable(this, state);
    }

    /** The handle for a call, which must end with {@link #release()}. */
    final long acquire() {
        return state.acquire();
    }

    final void release() {
        state.release();
        Reference.reachabilityFence(this);
    }

    /** Hands the handle to somebody else who ends it. */
    final long detach() {
        return state.detach();
    }

    /** Undoes {@link #detach()}: the handle did not move after all. */
    final void reattach() {
        state.reattach();
    }

    /** After {@link #detach()} succeeded for good. */
    final void forget() {
        cleanable.clean();
    }

    /** Whether some thread is in a call on it. */
    final boolean isInUse() {
        return state.isInUse();
    }

    /** Whether {@link #close()} was called, or ownership was handed on. */
    public final boolean isClosed() {
        return state.isClosed();
    }

    /**
     * Ends it, on this thread: memory of which it was the last user is released before the call returns.
     *
     * @throws IllegalStateException while another thread is in a call on it
     */
    @Override
    public void close() {
        state.close();
        cleanable.clean();
    }
}
