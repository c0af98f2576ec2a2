/* What the examples of tools/bazel call. */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Sum of count numbers. Null is an empty list. */
int64_t example_sum(const int32_t *values, uint64_t count);

/* Calls back once with context. */
void example_call(void (*callback)(void *context), void *context);

#ifdef __cplusplus
}
#endif

#endif
