/* Version 4: tensor contexts, descriptors, and the question which versions the library supports. */
#ifndef HURRAY_FROZEN_CONTEXTS_H_
#define HURRAY_FROZEN_CONTEXTS_H_

#include "abi/tests/frozen/check.h"
#include "hurray.h"

/* A row-major float32 scalar in one CPU buffer of 4 bytes, by hand from the format's text. */
static const uint8_t scalar_descriptor[45] = {
    'H', 'R', 'R', 'Y', 1, 0,     /* magic, version */
    45,  0,   0,   0,             /* length */
    0,   0,   0,   0,             /* flags */
    3,   1,                       /* float32, row-major */
    0,   0,   0,   0,             /* rank */
    0,   0,   0,   0, 0, 0, 0, 0, /* byte_offset */
    1,                            /* buffers */
    4,   0,   0,   0, 0, 0, 0, 0, /* byte_size */
    64,  0,   0,   0, 0, 0, 0, 0  /* alignment, device, sync mode, memory class, 0 */
};

static void count_owner_release(void *owner) { ++((Calls *)owner)->count; }

static void supported_versions(void) {
    uint32_t version;
    CHECK(hurray_c_abi_supports(0) == 0);
    for (version = 1; version <= HURRAY_C_ABI_VERSION; ++version) CHECK(hurray_c_abi_supports(version) == 1);
    CHECK(hurray_c_abi_supports(hurray_c_abi_version()) == 1);
    CHECK(hurray_c_abi_supports(hurray_c_abi_version() + 1) == 0);
    CHECK(hurray_c_abi_supports(UINT32_MAX) == 0);
}

static void context_carries_a_copy_of_the_descriptor(void) {
    Calls calls = {0, NULL};
    uint8_t given[45];
    HurrayTensorContext *context = NULL;
    HurrayDescriptor *descriptor = NULL;
    HurrayError error = {-99, "noise"};
    const uint8_t *bytes = NULL;
    uint64_t length = 0;
    uint32_t version = 0;
    memcpy(given, scalar_descriptor, sizeof given);
    CHECK_STATUS(hurray_tensor_context_new(HURRAY_C_ABI_VERSION, given, sizeof given, &calls, count_owner_release, &context),
                 HURRAY_OK);
    memset(given, 0, sizeof given);
    /* Before any other accessor. */
    CHECK_STATUS(hurray_tensor_context_abi_version(context, &version), HURRAY_OK);
    CHECK(version == HURRAY_C_ABI_VERSION);
    CHECK_STATUS(hurray_tensor_context_descriptor(context, &bytes, &length), HURRAY_OK);
    CHECK(length == sizeof scalar_descriptor);
    CHECK(bytes != given);
    CHECK(memcmp(bytes, scalar_descriptor, sizeof scalar_descriptor) == 0);
    CHECK_STATUS(hurray_descriptor_decode(bytes, length, &descriptor, &error), HURRAY_OK);
    CHECK(descriptor != NULL);
    CHECK(error.code == HURRAY_OK);
    CHECK_STATUS(hurray_descriptor_destroy(&descriptor), HURRAY_OK);
    CHECK(descriptor == NULL);
    CHECK_STATUS(hurray_descriptor_destroy(&descriptor), HURRAY_OK);
    CHECK_STATUS(hurray_descriptor_destroy(NULL), HURRAY_OK);
    CHECK(calls.count == 0);
    CHECK_STATUS(hurray_tensor_context_destroy(&context), HURRAY_OK);
    CHECK(context == NULL);
    CHECK(calls.count == 1);
    CHECK_STATUS(hurray_tensor_context_destroy(&context), HURRAY_OK);
    CHECK_STATUS(hurray_tensor_context_destroy(NULL), HURRAY_OK);
    CHECK(calls.count == 1);
}

static void context_without_anything(void) {
    HurrayTensorContext *context = NULL;
    const uint8_t *bytes = NOISE(const uint8_t);
    uint64_t length = 77;
    CHECK_STATUS(hurray_tensor_context_new(HURRAY_C_ABI_VERSION, NULL, 0, NULL, NULL, &context), HURRAY_OK);
    CHECK_STATUS(hurray_tensor_context_descriptor(context, &bytes, &length), HURRAY_OK);
    CHECK(bytes == NULL);
    CHECK(length == 0);
    CHECK_STATUS(hurray_tensor_context_destroy(&context), HURRAY_OK);
}

static void context_failures(void) {
    Calls calls = {0, NULL};
    HurrayTensorContext *context = NOISE(HurrayTensorContext);
    HurrayDescriptor *descriptor = NOISE(HurrayDescriptor);
    HurrayError error = {0, ""};
    uint8_t broken[45];
    const uint8_t *bytes = NOISE(const uint8_t);
    uint64_t length = 77;
    uint32_t version = 77;
    CHECK_STATUS(hurray_tensor_context_new(HURRAY_C_ABI_VERSION, NULL, 1, &calls, count_owner_release, &context),
                 HURRAY_ERR_NULL_POINTER);
    CHECK(context == NULL);
    context = NOISE(HurrayTensorContext);
    CHECK_STATUS(hurray_tensor_context_new(0, scalar_descriptor, 45, &calls, count_owner_release, &context),
                 HURRAY_ERR_VERSION_MISMATCH);
    CHECK(context == NULL);
    CHECK_STATUS(hurray_tensor_context_new(HURRAY_C_ABI_VERSION, scalar_descriptor, 45, &calls, count_owner_release, NULL),
                 HURRAY_ERR_NULL_POINTER);
    CHECK(calls.count == 0);
    CHECK_STATUS(hurray_tensor_context_abi_version(NULL, &version), HURRAY_ERR_NULL_POINTER);
    CHECK(version == 0);
    CHECK_STATUS(hurray_tensor_context_descriptor(NULL, &bytes, &length), HURRAY_ERR_NULL_POINTER);
    CHECK(bytes == NULL);
    CHECK(length == 0);
    CHECK_STATUS(hurray_tensor_context_new(HURRAY_C_ABI_VERSION, scalar_descriptor, 45, &calls, count_owner_release, &context),
                 HURRAY_OK);
    CHECK_STATUS(hurray_tensor_context_abi_version(context, NULL), HURRAY_ERR_NULL_POINTER);
    CHECK_STATUS(hurray_tensor_context_descriptor(context, NULL, &length), HURRAY_ERR_NULL_POINTER);
    CHECK_STATUS(hurray_tensor_context_descriptor(context, &bytes, NULL), HURRAY_ERR_NULL_POINTER);
    CHECK_STATUS(hurray_tensor_context_destroy(&context), HURRAY_OK);
    CHECK(calls.count == 1);

    memcpy(broken, scalar_descriptor, sizeof broken);
    broken[0] = 'X';
    CHECK_STATUS(hurray_descriptor_decode(broken, sizeof broken, &descriptor, &error), HURRAY_ERR_INVALID_MAGIC);
    CHECK(descriptor == NULL);
    CHECK(error.code == HURRAY_ERR_INVALID_MAGIC);
    CHECK(error.message[0] != '\0');
    CHECK_STATUS(hurray_descriptor_decode(scalar_descriptor, 44, &descriptor, NULL), HURRAY_ERR_INVALID_LAYOUT);
    CHECK_STATUS(hurray_descriptor_decode(NULL, 45, &descriptor, NULL), HURRAY_ERR_NULL_POINTER);
    CHECK_STATUS(hurray_descriptor_decode(scalar_descriptor, 45, NULL, &error), HURRAY_ERR_NULL_POINTER);
}

static void use_contexts(void) {
    CHECK(HURRAY_ERR_INTERNAL == -10);
    supported_versions();
    context_carries_a_copy_of_the_descriptor();
    context_without_anything();
    context_failures();
}

#endif
