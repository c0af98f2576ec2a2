// Tensors: over memory of Java, from another runtime, their views, and their end.
#include "bindings/java/jni/memory.hpp"
#include "bindings/java/jni/release.hpp"
#include "bindings/java/jni/scratch.hpp"
#include "dev_hurray_NativeTensor.h"

using namespace hurray_jni;

namespace {

// Our own version, or a later one when the copy of the library that made the context vouches for both.
bool accepted(const HurrayTensorContext* context, std::uint32_t version) {
    if (version <= HURRAY_C_ABI_VERSION) return version == HURRAY_C_ABI_VERSION;
    std::uint8_t supported = 0;
    return hurray_tensor_context_supports(context, HURRAY_C_ABI_VERSION, &supported, nullptr) == HURRAY_OK && supported == 1;
}

}  // namespace

extern "C" JNIEXPORT jlong JNICALL Java_dev_hurray_NativeTensor_wrap(JNIEnv* env, jclass, jlong queue, jlong address, jlong size,
                                                                     jobject attachment, jobject scratch_buffer) {
    drain(queue);
    const Scratch scratch(env, scratch_buffer);
    HurrayDenseSpec spec = *scratch.as<HurrayDenseSpec>();
    if (spec.rank != 0) spec.shape = reinterpret_cast<const std::uint64_t*>(scratch.array(0));
    if (spec.layout == HURRAY_LAYOUT_STRIDED) spec.strides = reinterpret_cast<const std::int64_t*>(scratch.array(1));
    void* context = keep_attachment(env, attachment);
    if (context == nullptr) return 0;
    HurrayTensor* tensor = nullptr;
    const HurrayStatus status =
        hurray_tensor_from_host(&spec, handle<void>(address), static_cast<std::uint64_t>(size), release_memory, context,
                                handle<HurrayReleaseQueue>(queue), &tensor, scratch.error());
    if (status != HURRAY_OK) forget_attachment(env, context);
    return word(tensor);
}

// The context's version comes before anything else of the pair: see the seed, Tensor Context.
extern "C" JNIEXPORT jlong JNICALL Java_dev_hurray_NativeTensor_importPair(JNIEnv* env, jclass, jlong queue, jlong list, jlong context,
                                                                           jobject scratch_buffer) {
    drain(queue);
    const Scratch scratch(env, scratch_buffer);
    auto* taken_context = handle<HurrayTensorContext>(context);
    auto* taken_list = handle<HurrayBufferList>(list);
    std::uint32_t version = 0;
    const HurrayStatus asked = hurray_tensor_context_abi_version(taken_context, &version);
    if (asked != HURRAY_OK) {
        scratch.fail(asked, "context: is no live tensor context");
        return 0;
    }
    if (!accepted(taken_context, version)) {
        scratch.fail(HURRAY_ERR_VERSION_MISMATCH, "");
        std::memcpy(scratch.array(0), &version, sizeof version);
        return 0;
    }
    HurrayTensor* tensor = nullptr;
    hurray_tensor_import_options(&taken_list, &taken_context, scratch.as<HurrayDecodeOptions>(), &tensor, scratch.error());
    return word(tensor);
}

extern "C" JNIEXPORT jobject JNICALL Java_dev_hurray_NativeTensor_view(JNIEnv* env, jclass, jlong tensor_word, jobject scratch_buffer) {
    const Scratch scratch(env, scratch_buffer);
    const auto* tensor = handle<HurrayTensor>(tensor_word);
    auto* view = scratch.as<HurrayView>();
    scratch.set_share(nullptr);
    view->struct_size = sizeof *view;
    if (hurray_tensor_view(tensor, view, scratch.error()) != HURRAY_OK) return nullptr;
    scratch.put_array(0, view->shape, view->rank);
    scratch.put_array(1, view->strides, view->rank);
    if (view->device != HURRAY_DEVICE_CPU || view->data == nullptr || view->byte_size == 0) return nullptr;
    HurrayBuffer* buffer = nullptr;
    if (hurray_tensor_buffer(tensor, 0, &buffer, scratch.error()) != HURRAY_OK) return nullptr;
    return share_as_buffer(env, buffer, static_cast<char*>(view->data) - view->bytes_below, view->byte_size, scratch);
}

extern "C" JNIEXPORT jint JNICALL Java_dev_hurray_NativeTensor_destroy(JNIEnv*, jclass, jlong queue, jlong tensor) {
    auto* ended = handle<HurrayTensor>(tensor);
    const HurrayStatus status = hurray_tensor_destroy(&ended);
    drain(queue);
    return status;
}
