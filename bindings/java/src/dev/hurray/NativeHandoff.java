package dev.hurray;

import java.nio.ByteBuffer;

/** Hand-written calls around a handoff. */
final class NativeHandoff {
    private NativeHandoff() {}

    /**
     * Makes a buffer of the 16 bytes in the scratch's struct. The attachments may be null: no release callback then. They are kept
     * until {@link Releases#run} gets them, each exactly once; not on failure, where the result is 0 and the scratch says why.
     */
    static native long handOff(
            long queue,
            long address,
            Object attachment,
            boolean hasEvent,
            long event,
            int eventDeviceTag,
            Object eventAttachment,
            boolean hasStream,
            long stream,
            int streamDeviceTag,
            ByteBuffer scratch);
}
