/* Version 3: buffer lists. */
#ifndef HURRAY_FROZEN_LISTS_H_
#define HURRAY_FROZEN_LISTS_H_

#include "abi/tests/frozen/check.h"
#include "hurray.h"

static HurrayBuffer *list_buffer(unsigned offset, Calls *calls) {
    HurrayBuffer *buffer = NULL;
    CHECK_STATUS(hurray_buffer_from_ptr(memory() + offset, 64, 64, 0, count_release, calls, &buffer), HURRAY_OK);
    return buffer;
}

static void list_owns_its_buffers_in_order(void) {
    Calls calls[3] = {{0, NULL}, {0, NULL}, {0, NULL}};
    HurrayBuffer *pushed[3];
    HurrayBufferList *list = NULL;
    uint64_t length = 77;
    uint64_t i;
    CHECK_STATUS(hurray_buffer_list_new(1, &list), HURRAY_OK);
    CHECK(list != NULL);
    CHECK_STATUS(hurray_buffer_list_len(list, &length), HURRAY_OK);
    CHECK(length == 0);
    for (i = 0; i < 3; ++i) {
        pushed[i] = list_buffer((unsigned)i * 64, &calls[i]);
        CHECK_STATUS(hurray_buffer_list_push(list, pushed[i]), HURRAY_OK);
    }
    CHECK_STATUS(hurray_buffer_list_len(list, &length), HURRAY_OK);
    CHECK(length == 3);
    for (i = 0; i < 3; ++i) {
        HurrayBuffer *borrowed = NULL;
        CHECK_STATUS(hurray_buffer_list_get(list, i, &borrowed), HURRAY_OK);
        CHECK(borrowed == pushed[i]);
        CHECK(calls[i].count == 0);
    }
    CHECK_STATUS(hurray_buffer_list_destroy(&list), HURRAY_OK);
    CHECK(list == NULL);
    for (i = 0; i < 3; ++i) {
        CHECK(calls[i].count == 1);
        CHECK(calls[i].first == (void *)(memory() + i * 64));
    }
    /* The variable is dead: a further destroy does nothing. */
    CHECK_STATUS(hurray_buffer_list_destroy(&list), HURRAY_OK);
    CHECK_STATUS(hurray_buffer_list_destroy(NULL), HURRAY_OK);
    for (i = 0; i < 3; ++i) CHECK(calls[i].count == 1);
}

/* What is refused fails (a later version named the status) and leaves everything where it was. */
static void borrowed_handles_are_refused(void) {
    Calls calls = {0, NULL};
    HurrayBufferList *list = NULL;
    HurrayBufferList *other = NULL;
    HurrayBuffer *borrowed = NULL;
    uint64_t length = 77;
    CHECK_STATUS(hurray_buffer_list_new(0, &list), HURRAY_OK);
    CHECK_STATUS(hurray_buffer_list_new(UINT64_MAX, &other), HURRAY_OK);
    CHECK_STATUS(hurray_buffer_list_push(list, list_buffer(0, &calls)), HURRAY_OK);
    CHECK_STATUS(hurray_buffer_list_get(list, 0, &borrowed), HURRAY_OK);
    CHECK(hurray_buffer_destroy(borrowed) < 0);
    CHECK(hurray_buffer_list_push(other, borrowed) < 0);
    CHECK(hurray_buffer_list_push(list, borrowed) < 0);
    CHECK_STATUS(hurray_buffer_list_len(other, &length), HURRAY_OK);
    CHECK(length == 0);
    CHECK_STATUS(hurray_buffer_list_len(list, &length), HURRAY_OK);
    CHECK(length == 1);
    CHECK(calls.count == 0);
    CHECK_STATUS(hurray_buffer_list_destroy(&other), HURRAY_OK);
    CHECK(calls.count == 0);
    CHECK_STATUS(hurray_buffer_list_destroy(&list), HURRAY_OK);
    CHECK(calls.count == 1);
}

static void list_failures(void) {
    Calls calls = {0, NULL};
    HurrayBufferList *list = NULL;
    HurrayBuffer *buffer = list_buffer(0, &calls);
    HurrayBuffer *out = NOISE(HurrayBuffer);
    uint64_t length = 77;
    CHECK_STATUS(hurray_buffer_list_new(1, NULL), HURRAY_ERR_NULL_POINTER);
    CHECK_STATUS(hurray_buffer_list_new(1, &list), HURRAY_OK);
    CHECK_STATUS(hurray_buffer_list_push(NULL, buffer), HURRAY_ERR_NULL_POINTER);
    CHECK_STATUS(hurray_buffer_list_push(list, NULL), HURRAY_ERR_NULL_POINTER);
    CHECK_STATUS(hurray_buffer_list_len(NULL, &length), HURRAY_ERR_NULL_POINTER);
    CHECK(length == 0);
    CHECK_STATUS(hurray_buffer_list_len(list, NULL), HURRAY_ERR_NULL_POINTER);
    CHECK_STATUS(hurray_buffer_list_get(NULL, 0, &out), HURRAY_ERR_NULL_POINTER);
    CHECK(out == NULL);
    CHECK_STATUS(hurray_buffer_list_get(list, 0, NULL), HURRAY_ERR_NULL_POINTER);
    out = NOISE(HurrayBuffer);
    CHECK_STATUS(hurray_buffer_list_get(list, 0, &out), HURRAY_ERR_INDEX_OUT_OF_BOUNDS);
    CHECK(out == NULL);
    CHECK_STATUS(hurray_buffer_list_push(list, buffer), HURRAY_OK);
    out = NOISE(HurrayBuffer);
    CHECK_STATUS(hurray_buffer_list_get(list, UINT64_MAX, &out), HURRAY_ERR_INDEX_OUT_OF_BOUNDS);
    CHECK(out == NULL);
    CHECK(calls.count == 0);
    CHECK_STATUS(hurray_buffer_list_destroy(&list), HURRAY_OK);
    CHECK(calls.count == 1);
}

typedef struct ListAndCalls {
    HurrayBufferList **list;
    int calls;
} ListAndCalls;

static void destroy_the_list_again(void *data, void *context) {
    ListAndCalls *both = (ListAndCalls *)context;
    (void)data;
    ++both->calls;
    /* The caller's variable is null already, so this does nothing. */
    CHECK_STATUS(hurray_buffer_list_destroy(both->list), HURRAY_OK);
}

static void release_that_destroys_the_list_again(void) {
    HurrayBufferList *list = NULL;
    ListAndCalls both = {NULL, 0};
    int i;
    both.list = &list;
    CHECK_STATUS(hurray_buffer_list_new(2, &list), HURRAY_OK);
    for (i = 0; i < 2; ++i) {
        HurrayBuffer *buffer = NULL;
        CHECK_STATUS(hurray_buffer_from_ptr(memory(), 64, 64, 0, destroy_the_list_again, &both, &buffer), HURRAY_OK);
        CHECK_STATUS(hurray_buffer_list_push(list, buffer), HURRAY_OK);
    }
    CHECK_STATUS(hurray_buffer_list_destroy(&list), HURRAY_OK);
    CHECK(both.calls == 2);
}

static void use_lists(void) {
    CHECK(HURRAY_ERR_INDEX_OUT_OF_BOUNDS == -11);
    list_owns_its_buffers_in_order();
    borrowed_handles_are_refused();
    list_failures();
    release_that_destroys_the_list_again();
}

#endif
