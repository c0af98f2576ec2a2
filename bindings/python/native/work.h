// Options of long work: a limit on memory, and a callable that is told how far the work is and may stop it.
#ifndef HPY_WORK_H_
#define HPY_WORK_H_

#include "bindings/python/native/hpy.h"

typedef struct HpyWork {
    PyObject *progress;  // null for none
    // What the callable raised, which ended the work.
    PyObject *type;
    PyObject *value;
    PyObject *traceback;
} HpyWork;

// None, or a tuple (memory_limit, progress): progress is None or a callable that gets two integers, done and total, and
// returns whether to go on. `work` lasts as long as the call and is ended by hpy_work_end in any case.
bool hpy_work_options(PyObject *object, HurrayWorkOptions *out, HpyWork *work);
// After a call that failed: raises what the callable raised; false when it raised nothing.
bool hpy_work_raise(HpyWork *work);
void hpy_work_end(HpyWork *work);

#endif  // HPY_WORK_H_
