#include "example.h"
#include "example_Example.h"

#include <vector>

JNIEXPORT jlong JNICALL Java_example_Example_sum(JNIEnv* env, jclass, jintArray values) {
    const jsize count = env->GetArrayLength(values);
    std::vector<jint> copy(static_cast<std::size_t>(count));
    env->GetIntArrayRegion(values, 0, count, copy.data());
    return example_sum(copy.data(), static_cast<uint64_t>(count));
}
