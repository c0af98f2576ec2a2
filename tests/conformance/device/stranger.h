/*
 * Exchange handles that the library under test did not make: of a pretended other copy of it (a spy), and of strangers.
 *
 * A SPY has what another copy has: handles that begin with the frozen prefix, and a table of functions. Its handles work:
 * what is imported from it can be read and ends in it. Each call of one of its functions is a line of its log. It also
 * sees to it that nobody reads more than the frozen parts: each handle ends, after the 24 bytes of its prefix, where its
 * page ends, and so does the table after its size; the page behind cannot be read.
 *
 * A STRANGER is a pointer to bytes that are not such a handle, which end where their page ends: a process that reads on
 * dies.
 *
 * All pairs and tensors have float32 elements, shape [3, 4], row-major, values 0 to 11, in one buffer of 48 bytes. Handles
 * are `void *`: cast them to HurrayBuffer *, HurrayBufferList *, HurrayTensorContext *, HurrayTensor *. Status codes are those
 * of hurray. Texts are copied out as in fake_device.h. Any function may be called from any thread.
 */
#ifndef HURRAY_TESTS_STRANGER_H_
#define HURRAY_TESTS_STRANGER_H_

#include <stdint.h>

#if defined(_WIN32)
#define STRANGER_API __declspec(dllexport)
#else
#define STRANGER_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Kinds of exchange handles, as in their magic. */
#define STRANGER_BUFFER 3
#define STRANGER_LIST 4
#define STRANGER_CONTEXT 5
#define STRANGER_TENSOR 6

/* --- Spies --- */

typedef struct Spy Spy;

/* A pretended copy of the library of this version, which is also what its contexts answer. It vouches for no version.
 * There are at most 16 at a time: NULL then. */
STRANGER_API Spy *spy_new(uint32_t version);
/* One whose table ends after `table_size` bytes (a multiple of 8, at least 8, at most spy_table_size), as that of an older copy does. */
STRANGER_API Spy *spy_new_with_table(uint32_t version, uint32_t table_size);
/* Ends it with all its handles: none of them may be used any more. NULL is fine. */
STRANGER_API void spy_destroy(Spy *spy);

/* It vouches for the versions `lowest` to `highest`. */
STRANGER_API void spy_vouch(Spy *spy, uint32_t lowest, uint32_t highest);
/* From now on its contexts answer this version. */
STRANGER_API void spy_set_context_version(Spy *spy, uint32_t version);
/* From now on the function (its name without hurray_) answers `status` and does nothing else; 0: works again.
 * Returns 0 for a name that it does not have, else 1. */
STRANGER_API uint8_t spy_answer(Spy *spy, const char *function, int32_t status);

/* A list and a context that belong together, owned by the caller. NULL in both when there is no memory. */
STRANGER_API void spy_pair_new(Spy *spy, void **out_list, void **out_context);
/* The same, of device 1 (CUDA) and with sync mode EVENT: buffer_event answers `sync_handle`, and buffer_event_release,
 * or else the end of the buffer, calls `release(sync_handle, release_context)`; `release` is a HurrayEventReleaseFn. */
STRANGER_API void spy_event_pair_new(Spy *spy, void *sync_handle, void *release, void *release_context, void **out_list,
                                     void **out_context);
/* The same, of device 1 and with sync mode CONSUMER_STREAM. */
STRANGER_API void spy_stream_pair_new(Spy *spy, void *consumer_stream, void **out_list, void **out_context);
/* A handle of its own of any kind (STRANGER_...), as if from a pair; owned by the caller. NULL for another kind. */
STRANGER_API void *spy_handle_new(Spy *spy, uint32_t kind);

/* Handles, borrowed ones included, that are not destroyed yet. */
STRANGER_API uint64_t spy_live_handles(Spy *spy);
/* Calls with a handle that was destroyed, of another kind, or borrowed where an owned one is needed. */
STRANGER_API uint64_t spy_misuses(Spy *spy);

/* Calls in order, one a line: the name without hurray_, such as "buffer_list_len"; "supports 5" with the version asked for. */
STRANGER_API uint64_t spy_log_length(Spy *spy);
STRANGER_API uint64_t spy_log_copy(Spy *spy, char *out, uint64_t capacity);
STRANGER_API uint64_t spy_log_line_copy(Spy *spy, uint64_t index, char *out, uint64_t capacity);
STRANGER_API void spy_log_clear(Spy *spy);
/* How many lines are exactly this. */
STRANGER_API uint64_t spy_calls_of(Spy *spy, const char *line);
/* How many calls were none of tensor_context_abi_version, supports and build_id: 0 as long as nobody has gone past the
 * question for the version. */
STRANGER_API uint64_t spy_accessor_calls(Spy *spy);

/* The table as the spies have it, for the test that compares it with the library's own. */
STRANGER_API uint32_t spy_table_size(void);
STRANGER_API uint32_t spy_table_entries(void);
/* Name of the entry, from 0, "supports" is the first; "" beyond the last. Static. */
STRANGER_API const char *spy_table_entry_name(uint32_t index);
/* Its offset in the table; 0 beyond the last. */
STRANGER_API uint32_t spy_table_entry_offset(uint32_t index);

/* --- Strangers --- */

/* A pointer to a prefix with these fields and a null table, of which only the first `readable` bytes are there: 8, 12, 16
 * or 24; the rest cannot be read. With 12 the address is no multiple of 8. NULL for other sizes or without memory. */
STRANGER_API void *stranger_new(uint64_t magic, uint32_t generation, uint32_t version, uint32_t readable);
/* The magic of hurray's live handles of a kind, and one of nobody. */
STRANGER_API uint64_t stranger_right_magic(uint32_t kind);
STRANGER_API uint64_t stranger_wrong_magic(void);
/* Pretended capsules of another implementation: a wrong magic, 8 readable bytes. */
STRANGER_API void *stranger_foreign_new(void);
/* The right magic of a kind with a generation that does not exist, 12 readable bytes. */
STRANGER_API void *stranger_generation_new(uint32_t kind);
/* NULL is fine. */
STRANGER_API void stranger_free(void *stranger);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HURRAY_TESTS_STRANGER_H_ */
