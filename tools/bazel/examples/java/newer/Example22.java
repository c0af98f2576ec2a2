package example;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Needs Java 22: there only under META-INF/versions. */
public final class Example22 {
    private Example22() {}

    /** Sum of the numbers, by way of native memory. */
    public static long sum(int[] values) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment segment = arena.allocateFrom(ValueLayout.JAVA_INT, values);
            return Example.sum(segment.toArray(ValueLayout.JAVA_INT));
        }
    }
}
