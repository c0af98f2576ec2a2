// Arguments from Python, checked; results to Python.
#ifndef HPY_CONVERT_H_
#define HPY_CONVERT_H_

#include "bindings/python/native/hpy.h"

// Whether a function got the number of arguments that its signature says.
bool hpy_expect(Py_ssize_t got, Py_ssize_t expected, const char *signature);

// Integers; outside of the range is INVALID_ARGUMENT, what is no integer a TypeError. Null for object: 0.
bool hpy_unsigned(PyObject *object, uint64_t most, const char *name, uint64_t *out);
bool hpy_signed(PyObject *object, int64_t least, int64_t most, const char *name, int64_t *out);

// Bytes of a contiguous buffer, or of a str as UTF-8; held until hpy_bytes_release.
typedef struct HpyBytes {
    const void *data;
    uint64_t length;
    Py_buffer buffer;
    PyObject *encoded;
    bool held;
} HpyBytes;
bool hpy_bytes(PyObject *object, const char *name, HpyBytes *out);
void hpy_bytes_release(HpyBytes *bytes);

// A sequence of integers in memory of its own; freed by hpy_numbers_release.
typedef struct HpyNumbers {
    void *data;  // uint64_t or int64_t; null when there are none
    uint64_t length;
} HpyNumbers;
bool hpy_u64_numbers(PyObject *object, const char *name, HpyNumbers *out);
bool hpy_i64_numbers(PyObject *object, const char *name, HpyNumbers *out);
void hpy_numbers_release(HpyNumbers *numbers);
// A length that goes into a parameter of 32 bits.
bool hpy_length32(uint64_t length, const char *name);
// Two arrays that share one length.
bool hpy_same_length(uint64_t first, uint64_t second, const char *names);

// A file name for the operating system: str, bytes or os.PathLike; embedded NULs are refused.
bool hpy_path(PyObject *object, PyObject **out);

// Results.
PyObject *hpy_tuple_u64(const uint64_t *values, uint64_t count);  // None for null
PyObject *hpy_tuple_i64(const int64_t *values, uint64_t count);   // None for null
PyObject *hpy_bytes_or_empty(const void *data, uint64_t length);
PyObject *hpy_text(const char *text);                    // UTF-8, None for null; bytes that are no UTF-8 are replaced
PyObject *hpy_text_of(const char *text, uint64_t room);  // at most `room` bytes, up to the first NUL
// A tuple of `count` new references, which are taken over; null when one of them is null.
PyObject *hpy_tuple(Py_ssize_t count, ...);

#endif  // HPY_CONVERT_H_
