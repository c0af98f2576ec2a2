package dev.hurray.hosts;

import dev.hurray.BufferList;
import dev.hurray.Hurray;
import dev.hurray.Tensor;
import dev.hurray.TensorContext;
import dev.hurray.TensorExport;
import dev.hurray.TensorView;

/** The stage of the JVM: what the host calls, with addresses. */
public final class Stage {
    /** Always null, which the compilers do not know. */
    private static volatile int[] nothing;

    private Stage() {}

    /** Takes list and context over; returns those that it hands on, and the bits of the sum of the elements. */
    static long[] pass(long list, long context) {
        fault();
        try (BufferList buffers = BufferList.fromAddress(list);
                TensorContext described = TensorContext.fromAddress(context);
                Tensor tensor = Tensor.importFrom(buffers, described)) {
            TensorView view = tensor.view();
            double sum = 0;
            for (long i = 0; i < 3; ++i) {
                for (long j = 0; j < 4; ++j) {
                    sum += view.getDouble(i, j);
                }
            }
            return handOn(tensor, sum);
        }
    }

    /** A null reference is a SIGSEGV that the JVM must get, whoever else has a handler. */
    private static void fault() {
        try {
            throw new IllegalStateException("null has " + nothing.length + " elements");
        } catch (NullPointerException expected) {
            // It got it.
        }
    }

    /** A tensor over memory of the JVM. */
    static long[] make() {
        float[] values = new float[12];
        for (int i = 0; i < values.length; ++i) {
            values[i] = i;
        }
        try (Tensor tensor = Tensor.copyOf(values, 3, 4)) {
            return handOn(tensor, 0);
        }
    }

    private static long[] handOn(Tensor tensor, double sum) {
        try (TensorExport pair = tensor.export()) {
            return new long[] {pair.list().releaseAddress(), pair.context().releaseAddress(), Double.doubleToRawLongBits(sum)};
        }
    }

    /** Views keep the memory until they are collected: collects them, and gives their cleaner a moment. The host asks again if need be. */
    static void settle() throws InterruptedException {
        System.gc();
        Thread.sleep(5);
        Hurray.drainReleases();
    }
}
