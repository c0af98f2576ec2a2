// All fields of a descriptor in one call.
#include <array>
#include <new>
#include <vector>

#include "bindings/java/jni/scratch.hpp"
#include "bindings/java/jni/vm.hpp"
#include "dev_hurray_NativeDescriptor.h"

using namespace hurray_jni;

namespace {

// The struct, then shape, strides, parent shape and shard offset as arrays 0 to 3, then the buffer table.
bool put_fields(const HurrayDescriptor* descriptor, const Scratch& scratch) {
    auto* info = scratch.as<HurrayDescriptorInfo>();
    info->struct_size = sizeof *info;
    if (hurray_descriptor_info(descriptor, info, scratch.error()) != HURRAY_OK) return false;
    scratch.put_array(0, info->shape, info->rank);
    scratch.put_array(1, info->strides, info->rank);
    scratch.put_array(2, info->parent_shape, info->rank);
    scratch.put_array(3, info->shard_offset, info->rank);
    for (std::uint32_t i = 0; i < info->buffer_count && i < 255; ++i) {
        HurrayBufferHandleBytes handle_bytes{};
        if (hurray_descriptor_buffer(descriptor, i, &handle_bytes, scratch.error()) != HURRAY_OK) return false;
        std::memcpy(scratch.array(4) + i * sizeof handle_bytes, &handle_bytes, sizeof handle_bytes);
    }
    return true;
}

jbyteArray encoded(JNIEnv* env, const HurrayDescriptor* descriptor, const Scratch& scratch) {
    const std::uint64_t length = scratch.as<HurrayDescriptorInfo>()->descriptor_length;
    if (length > INT32_MAX) {
        scratch.fail(HURRAY_ERR_LIMIT_EXCEEDED, "descriptor: longer than a Java array");
        return nullptr;
    }
    // Descriptors of a usual rank and buffer count fit the stack.
    std::array<std::uint8_t, 1024> small;
    std::vector<std::uint8_t> large;
    std::uint8_t* bytes = small.data();
    if (length > small.size()) {
        try {
            large.resize(length);
        } catch (const std::bad_alloc&) {
            throw_out_of_memory(env, "an encoded descriptor");
            return nullptr;
        }
        bytes = large.data();
    }
    std::uint64_t written = 0;
    if (hurray_descriptor_encode(descriptor, bytes, length, &written, scratch.error()) != HURRAY_OK) return nullptr;
    jbyteArray result = env->NewByteArray(static_cast<jsize>(written));
    if (result != nullptr) {
        env->SetByteArrayRegion(result, 0, static_cast<jsize>(written), reinterpret_cast<const jbyte*>(bytes));
    }
    return result;
}

jbyteArray read(JNIEnv* env, const HurrayDescriptor* descriptor, const Scratch& scratch) {
    return put_fields(descriptor, scratch) ? encoded(env, descriptor, scratch) : nullptr;
}

}  // namespace

extern "C" JNIEXPORT jbyteArray JNICALL Java_dev_hurray_NativeDescriptor_read(JNIEnv* env, jclass, jlong descriptor, jobject scratch) {
    return read(env, handle<HurrayDescriptor>(descriptor), Scratch(env, scratch));
}
