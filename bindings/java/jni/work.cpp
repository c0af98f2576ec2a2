// Long work on elements: it takes limits, and tells Java how far it is.
#include "bindings/java/jni/scratch.hpp"
#include "bindings/java/jni/vm.hpp"
#include "dev_hurray_NativeWork.h"

using namespace hurray_jni;

namespace {

// HurrayProgressFn
std::uint8_t report(void* context, std::uint64_t done, std::uint64_t total) noexcept {
    const AttachedEnv attached;
    if (attached.env() == nullptr) return 0;
    return run_progress(attached.env(), static_cast<jobject>(context), done, total) ? 1 : 0;
}

HurrayWorkOptions work_options(jlong memory_limit, jlong progress) noexcept {
    HurrayWorkOptions options{};
    options.struct_size = sizeof options;
    options.memory_limit = static_cast<std::uint64_t>(memory_limit);
    if (progress != 0) {
        options.progress = report;
        options.context = handle<void>(progress);
    }
    return options;
}

}  // namespace

extern "C" JNIEXPORT jlong JNICALL Java_dev_hurray_NativeWork_dequantize(JNIEnv* env, jclass, jlong tensor, jint element_type,
                                                                         jlong memory_limit, jlong progress, jobject scratch_buffer) {
    const Scratch scratch(env, scratch_buffer);
    const HurrayWorkOptions options = work_options(memory_limit, progress);
    HurrayTensor* result = nullptr;
    hurray_tensor_dequantize(handle<HurrayTensor>(tensor), static_cast<std::uint8_t>(element_type), &options, &result, scratch.error());
    return word(result);
}

extern "C" JNIEXPORT jlong JNICALL Java_dev_hurray_NativeWork_quantize(JNIEnv* env, jclass, jlong tensor, jlong memory_limit,
                                                                       jlong progress, jobject scratch_buffer) {
    const Scratch scratch(env, scratch_buffer);
    const HurrayWorkOptions options = work_options(memory_limit, progress);
    // A copy: the scratch is Java's, and the reports of progress run there.
    const HurrayQuantizeSpec spec = *scratch.as<HurrayQuantizeSpec>();
    HurrayTensor* result = nullptr;
    hurray_tensor_quantize(handle<HurrayTensor>(tensor), &spec, &options, &result, scratch.error());
    return word(result);
}

extern "C" JNIEXPORT jlong JNICALL Java_dev_hurray_NativeWork_transcode(JNIEnv* env, jclass, jlong tensor, jobject token_counts,
                                                                        jlong fields, jlong memory_limit, jlong progress,
                                                                        jobject scratch_buffer) {
    const Scratch scratch(env, scratch_buffer);
    const HurrayWorkOptions options = work_options(memory_limit, progress);
    HurrayTranscodeSpec spec = *scratch.as<HurrayTranscodeSpec>();
    if (token_counts != nullptr) {
        spec.token_counts = static_cast<const std::uint64_t*>(env->GetDirectBufferAddress(token_counts));
        spec.token_counts_length = static_cast<std::uint64_t>(env->GetDirectBufferCapacity(token_counts)) / sizeof *spec.token_counts;
    }
    HurrayTensor* result = nullptr;
    hurray_tensor_transcode(handle<HurrayTensor>(tensor), &spec, handle<HurrayDescriptorBuilder>(fields), &options, &result,
                            scratch.error());
    return word(result);
}

extern "C" JNIEXPORT jint JNICALL Java_dev_hurray_NativeWork_validate(JNIEnv* env, jclass, jlong tensor, jint level, jlong memory_limit,
                                                                      jlong progress, jobject scratch_buffer) {
    const Scratch scratch(env, scratch_buffer);
    const HurrayWorkOptions options = work_options(memory_limit, progress);
    return hurray_tensor_validate(handle<HurrayTensor>(tensor), static_cast<std::uint32_t>(level), &options, scratch.error());
}

extern "C" JNIEXPORT jint JNICALL Java_dev_hurray_NativeWork_statistics(JNIEnv* env, jclass, jlong tensor, jint mask, jlong memory_limit,
                                                                        jlong progress, jobject scratch_buffer) {
    const Scratch scratch(env, scratch_buffer);
    const HurrayWorkOptions options = work_options(memory_limit, progress);
    auto* statistics = scratch.as<HurrayStatistics>();
    statistics->struct_size = sizeof *statistics;
    return hurray_tensor_statistics(handle<HurrayTensor>(tensor), static_cast<std::uint32_t>(mask), &options, statistics,
                                    scratch.error());
}

extern "C" JNIEXPORT jlong JNICALL Java_dev_hurray_NativeWork_merged(JNIEnv* env, jclass, jlong composite, jlong memory_limit,
                                                                     jlong progress, jobject scratch_buffer) {
    const Scratch scratch(env, scratch_buffer);
    const HurrayWorkOptions options = work_options(memory_limit, progress);
    HurrayTensor* result = nullptr;
    hurray_composite_merged(handle<HurrayComposite>(composite), &options, &result, scratch.error());
    return word(result);
}
