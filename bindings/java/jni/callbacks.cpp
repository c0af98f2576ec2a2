// Streams of Java that the library reads and writes, and tensors that Java makes when they are written.
#include <algorithm>

#include "bindings/java/jni/release.hpp"
#include "bindings/java/jni/scratch.hpp"
#include "bindings/java/jni/vm.hpp"
#include "dev_hurray_NativeCallbacks.h"

using namespace hurray_jni;

namespace {

// What one ByteBuffer is asked to hold.
constexpr std::uint64_t most = std::uint64_t{1} << 30;

// HurrayReadFn
std::int64_t read_stream(void* context, void* into, std::uint64_t capacity) noexcept {
    const AttachedEnv attached;
    if (attached.env() == nullptr) return HURRAY_ERR_UNSUPPORTED;
    return run_read(attached.env(), static_cast<jobject>(context), into, static_cast<jlong>(std::min(capacity, most)));
}

// HurrayWriteFn
HurrayStatus write_stream(void* context, const void* bytes, std::uint64_t length) noexcept {
    const AttachedEnv attached;
    if (attached.env() == nullptr) return HURRAY_ERR_UNSUPPORTED;
    // Java reads them only; a ByteBuffer cannot say so.
    auto* from = static_cast<unsigned char*>(const_cast<void*>(bytes));
    HurrayStatus status = HURRAY_OK;
    for (std::uint64_t done = 0; done < length && status == HURRAY_OK; done += std::min(length - done, most)) {
        status = run_write(attached.env(), static_cast<jobject>(context), from + done, static_cast<jlong>(std::min(length - done, most)));
    }
    return status;
}

// HurrayTensorSourceFn
HurrayStatus make_tensor(void* context, HurrayTensor** out_tensor) noexcept {
    const AttachedEnv attached;
    if (attached.env() == nullptr) return HURRAY_ERR_UNSUPPORTED;
    jlong tensor = 0;
    const HurrayStatus status = run_make(attached.env(), static_cast<jobject>(context), &tensor);
    *out_tensor = handle<HurrayTensor>(tensor);
    return status;
}

}  // namespace

extern "C" JNIEXPORT jlong JNICALL Java_dev_hurray_NativeCallbacks_keep(JNIEnv* env, jclass, jobject target) {
    return word(keep_attachment(env, target));
}

extern "C" JNIEXPORT void JNICALL Java_dev_hurray_NativeCallbacks_forget(JNIEnv* env, jclass, jlong context) {
    forget_attachment(env, handle<void>(context));
}

extern "C" JNIEXPORT jlong JNICALL Java_dev_hurray_NativeCallbacks_reader(JNIEnv* env, jclass, jlong context, jobject scratch_buffer) {
    const Scratch scratch(env, scratch_buffer);
    HurrayReader* reader = nullptr;
    hurray_reader_from_callback(read_stream, handle<void>(context), scratch.as<HurrayStreamOptions>(), &reader, scratch.error());
    return word(reader);
}

extern "C" JNIEXPORT jlong JNICALL Java_dev_hurray_NativeCallbacks_writer(JNIEnv* env, jclass, jlong context, jobject scratch_buffer) {
    const Scratch scratch(env, scratch_buffer);
    HurrayWriter* writer = nullptr;
    hurray_writer_to_callback(write_stream, handle<void>(context), scratch.as<HurrayStreamOptions>(), &writer, scratch.error());
    return word(writer);
}

extern "C" JNIEXPORT jlong JNICALL Java_dev_hurray_NativeCallbacks_fileWriter(JNIEnv* env, jclass, jlong context,
                                                                              jobject scratch_buffer) {
    const Scratch scratch(env, scratch_buffer);
    HurrayFileWriter* writer = nullptr;
    hurray_file_writer_to_callback(write_stream, handle<void>(context), scratch.as<HurrayFileWriterOptions>(), &writer, scratch.error());
    return word(writer);
}

extern "C" JNIEXPORT jint JNICALL Java_dev_hurray_NativeCallbacks_addSource(JNIEnv* env, jclass, jlong writer, jobject name, jint length,
                                                                            jlong descriptor, jlong context, jobject scratch_buffer) {
    const Scratch scratch(env, scratch_buffer);
    const auto* text = static_cast<const char*>(env->GetDirectBufferAddress(name));
    return hurray_file_writer_add_source(handle<HurrayFileWriter>(writer), text, static_cast<std::uint64_t>(length),
                                         handle<HurrayDescriptor>(descriptor), make_tensor, handle<void>(context), scratch.error());
}
