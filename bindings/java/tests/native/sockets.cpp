// Sockets and file descriptors that Java does not hand out.
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "dev_hurray_Sockets.h"

extern "C" JNIEXPORT jintArray JNICALL Java_dev_hurray_Sockets_pair(JNIEnv* env, jclass) {
    int ends[2] = {-1, -1};
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return nullptr;
    const jint numbers[2] = {ends[0], ends[1]};
    jintArray result = env->NewIntArray(2);
    if (result != nullptr) env->SetIntArrayRegion(result, 0, 2, numbers);
    return result;
}

extern "C" JNIEXPORT jboolean JNICALL Java_dev_hurray_Sockets_isOpen(JNIEnv*, jclass, jint fd) {
    return fcntl(fd, F_GETFD) != -1 ? JNI_TRUE : JNI_FALSE;
}

extern "C" JNIEXPORT void JNICALL Java_dev_hurray_Sockets_close(JNIEnv*, jclass, jint fd) { close(fd); }
