// The vocabulary with which the definitions in abi/src say what headergen cannot see in a C++ type:
// which symbols are public, and what each pointer parameter means.
//
// The macros vanish in an ordinary build. Under HURRAY_HEADERGEN they become clang annotations; headergen
// prints them in the header's documentation, writes them to abi.json, and derives from them which pointers
// the generated NULL tests pass as null.
#pragma once

#ifdef HURRAY_HEADERGEN
#define HG_ANNOTATE(text) __attribute__((annotate("hurray:" text)))
#else
#define HG_ANNOTATE(text)
#endif

#if defined(_WIN32)
#define HURRAY_EXPORT __declspec(dllexport)
#else
#define HURRAY_EXPORT __attribute__((visibility("default")))
#endif

/// A public function of the C ABI. Its definition carries the documentation.
#define HURRAY_API HG_ANNOTATE("api") extern "C" HURRAY_EXPORT

/// The function cannot fail: it returns a value and no HurrayStatus.
#define HG_INFALLIBLE HG_ANNOTATE("infallible")

// --- Pointer parameters: exactly one of these each -------------------------------------------------------

/// Required; read during the call only, stays the caller's.
#define HG_IN HG_ANNOTATE("in")
/// As HG_IN, but may be null.
#define HG_IN_OPT HG_ANNOTATE("in_opt")
/// `length` elements (another parameter, named here), read during the call only; null only when that is 0.
#define HG_IN_ARRAY(length) HG_ANNOTATE("in_array:" #length)
/// A NUL-terminated UTF-8 string, required, read during the call only.
#define HG_IN_STRING HG_ANNOTATE("in_string")
/// Required handle that the call may change; stays the caller's.
#define HG_INOUT HG_ANNOTATE("inout")
/// Required; the call writes a plain value (zeroed before anything else).
#define HG_OUT HG_ANNOTATE("out")
/// As HG_OUT, but may be null.
#define HG_OUT_OPT HG_ANNOTATE("out_opt")
/// Required; the call writes up to `capacity` elements (another parameter); null only when that is 0.
#define HG_OUT_ARRAY(capacity) HG_ANNOTATE("out_array:" #capacity)
/// Required; the call writes a new handle (null before anything else) that the caller owns and ends with `destroy`.
#define HG_OUT_OWNED(destroy) HG_ANNOTATE("out_owned:" #destroy)
/// Required; the call writes a pointer that stays the property of parameter `owner`, valid as long as it lives.
#define HG_OUT_BORROWED(owner) HG_ANNOTATE("out_borrowed:" #owner)
/// Required handle whose ownership moves to the callee, on success only.
#define HG_CONSUMED HG_ANNOTATE("consumed")
/// Required pointer to the caller's handle variable; ownership of the handle moves and the variable is nulled, on
/// success only.
#define HG_CONSUMED_VAR HG_ANNOTATE("consumed_var")
/// Required handle that the call ends.
#define HG_DESTROYED HG_ANNOTATE("destroyed")
/// As HG_DESTROYED, but null is a no-op.
#define HG_DESTROYED_OPT HG_ANNOTATE("destroyed_opt")
/// Pointer to the caller's handle variable, which is ended and nulled; a null variable, or a null pointer to one, is
/// a no-op.
#define HG_DESTROYED_VAR HG_ANNOTATE("destroyed_var")
/// Memory that the callee keeps until its release; required unless its length is 0.
#define HG_KEPT HG_ANNOTATE("kept")
/// Opaque word handed back to a callback, never dereferenced by the library; may be null.
#define HG_OPAQUE HG_ANNOTATE("opaque")
/// Callback, may be null.
#define HG_CALLBACK_OPT HG_ANNOTATE("callback_opt")
/// Callback, required.
#define HG_CALLBACK HG_ANNOTATE("callback")
/// The trailing error report: nullable, written on failure, zeroed on success.
#define HG_ERROR HG_ANNOTATE("error")
