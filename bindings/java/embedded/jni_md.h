/* What jni.h wants to know of the platform, for every platform that is built for on this one. */
#ifndef HURRAY_JNI_MD_H_
#define HURRAY_JNI_MD_H_

#if defined(_WIN32)
#define JNIEXPORT __declspec(dllexport)
#define JNIIMPORT __declspec(dllimport)
#define JNICALL __stdcall
typedef long jint;
typedef __int64 jlong;
#else
#define JNIEXPORT __attribute__((visibility("default")))
#define JNIIMPORT __attribute__((visibility("default")))
#define JNICALL
typedef int jint;
#if defined(__LP64__) && !defined(__APPLE__)
typedef long jlong;
#else
typedef long long jlong;
#endif
#endif

typedef signed char jbyte;

#endif
