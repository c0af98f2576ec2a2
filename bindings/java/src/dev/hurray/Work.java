package dev.hurray;

import java.nio.ByteBuffer;

/** Runs long work, whose reports of progress are the caller's. */
final class Work {
    private Work() {}

    /** A call of {@link NativeWork}. Its result is a handle or a status. */
    interface Call<R> {
        R run(long memoryLimit, long progress, Scratch scratch);
    }

    /** Work that makes a tensor. */
    static Tensor tensor(WorkOptions options, Call<Long> call) {
        return run(
                options,
                (limit, progress, scratch) -> {
                    long handle = call.run(limit, progress, scratch);
                    return new Outcome<>(handle == 0 ? scratch.code() : StatusCode.OK.value(), () -> new Tensor(handle));
                });
    }

    /** What a call came to: a status, and how to take its result when that is OK. */
    record Outcome<T>(int status, java.util.function.Supplier<T> result) {}

    /** Runs a call and throws what it failed with; what progress threw is the cause. */
    static <T> T run(WorkOptions options, Call<Outcome<T>> call) {
        Releases.drain();
        Callbacks callbacks = new Callbacks();
        try (Scratch scratch = Scratch.take()) {
            long progress = options.progress() == null ? 0 : callbacks.progress(options.progress());
            Outcome<T> outcome = call.run(options.memoryLimit(), progress, scratch);
            callbacks.check(scratch, outcome.status());
            return outcome.result().get();
        } finally {
            callbacks.forget();
        }
    }

    static Tensor dequantized(long tensor, ElementType type, WorkOptions options) {
        BufferHandle.range("elementType", type.value(), 0xFF);
        return tensor(
                options, (limit, progress, scratch) -> NativeWork.dequantize(tensor, type.value(), limit, progress, scratch.memory));
    }

    static Tensor quantized(long tensor, QuantizeSpec spec, WorkOptions options) {
        return tensor(
                options,
                (limit, progress, scratch) -> {
                    spec.write(scratch);
                    return NativeWork.quantize(tensor, limit, progress, scratch.memory);
                });
    }

    static Tensor transcoded(long tensor, Descriptor source, TranscodeSpec spec, WorkOptions options) {
        return tensor(
                options,
                (limit, progress, scratch) -> {
                    long[] fields = spec.newFields(source, scratch);
                    try {
                        spec.write(scratch);
                        ByteBuffer counts = spec.newTokenCounts();
                        return NativeWork.transcode(tensor, counts, fields[0], limit, progress, scratch.memory);
                    } finally {
                        Errors.check(Raw.hurray_descriptor_builder_destroy(fields));
                    }
                });
    }

    static void validate(long tensor, ValidationLevel level, WorkOptions options) {
        run(
                options,
                (limit, progress, scratch) ->
                        new Outcome<>(NativeWork.validate(tensor, level.value(), limit, progress, scratch.memory), () -> null));
    }

    static Statistics statistics(long tensor, int mask, WorkOptions options) {
        return run(
                options,
                (limit, progress, scratch) ->
                        new Outcome<>(
                                NativeWork.statistics(tensor, mask, limit, progress, scratch.memory),
                                () -> SectionCodec.statistics(scratch)));
    }
}
