// The library is a part of this one: there is nothing to load, and its version is the one that this binding was built with.
#include <cstdint>

#include "dev_hurray_NativeLoader.h"
#include "hurray.h"

extern "C" JNIEXPORT jboolean JNICALL Java_dev_hurray_NativeLoader_embedded(JNIEnv*, jclass) { return JNI_TRUE; }

extern "C" JNIEXPORT jbyteArray JNICALL Java_dev_hurray_NativeLoader_open(JNIEnv*, jclass, jobject) { return nullptr; }

extern "C" JNIEXPORT jlong JNICALL Java_dev_hurray_NativeLoader_version(JNIEnv*, jclass) {
    return static_cast<jlong>(hurray_c_abi_version());
}

extern "C" JNIEXPORT jboolean JNICALL Java_dev_hurray_NativeLoader_supports(JNIEnv*, jclass, jint version) {
    return hurray_c_abi_supports(static_cast<std::uint32_t>(version)) == 1 ? JNI_TRUE : JNI_FALSE;
}

extern "C" JNIEXPORT jbyteArray JNICALL Java_dev_hurray_NativeLoader_bind(JNIEnv*, jclass) { return nullptr; }
