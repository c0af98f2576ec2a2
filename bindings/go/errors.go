package hurray

import (
	"strconv"
	"strings"

	"hurray.dev/go/hurray/internal/capi"
	"hurray.dev/go/hurray/internal/native"
)

// An Error is what every failed call of this package returns, always as *Error:
//
//	var failure *hurray.Error
//	if errors.As(err, &failure) { fmt.Println(failure.Code, failure.Offset) }
//
// The sentinel of its code matches it with errors.Is. The two exceptions are io.EOF at the clean end of a stream or channel, and
// the error of a context.Context or of a caller's io.Reader or io.Writer, which an Error wraps.
type Error struct {
	// Op is the operation that failed, such as "Open".
	Op string
	// Code is the status code of the C ABI. It may be one that this package has no constant for.
	Code Status
	// Message says what is wrong, where, and what was expected.
	Message string
	// Offset is the place of the fault in the input, in bytes; -1 when it has none.
	Offset int64
	// Err is the cause, where that is an error of its own: one of this package's sentinels, or a caller's error.
	Err error
}

// Error returns operation, code and message.
func (e *Error) Error() string {
	return "hurray: " + e.Op + ": " + e.Code.String() + ": " + e.Message
}

// Unwrap returns the cause, which may be nil.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is the sentinel of the error's code.
func (e *Error) Is(target error) bool {
	code, ok := target.(codeError)
	return ok && Status(code) == e.Code
}

// codeError is the sentinel of a status code.
type codeError Status

func (c codeError) Error() string { return "hurray: " + Status(c).String() }

// Sentinels for errors.Is: one a status code. What each means is said at the constant of its code.
var (
	ErrInvalidMagic        error = codeError(StatusInvalidMagic)
	ErrVersionMismatch     error = codeError(StatusVersionMismatch)
	ErrInvalidLayout       error = codeError(StatusInvalidLayout)
	ErrInvalidType         error = codeError(StatusInvalidType)
	ErrBufferTooSmall      error = codeError(StatusBufferTooSmall)
	ErrNullPointer         error = codeError(StatusNullPointer)
	ErrInternalPanic       error = codeError(StatusInternalPanic)
	ErrInvalidSyncMode     error = codeError(StatusInvalidSyncMode)
	ErrSyncModeMismatch    error = codeError(StatusSyncModeMismatch)
	ErrInternal            error = codeError(StatusInternal)
	ErrIndexOutOfBounds    error = codeError(StatusIndexOutOfBounds)
	ErrInvalidHandle       error = codeError(StatusInvalidHandle)
	ErrOutOfMemory         error = codeError(StatusOutOfMemory)
	ErrIO                  error = codeError(StatusIO)
	ErrUnsupported         error = codeError(StatusUnsupported)
	ErrCancelled           error = codeError(StatusCancelled)
	ErrForked              error = codeError(StatusForked)
	ErrInvalidArgument     error = codeError(StatusInvalidArgument)
	ErrInvalidQuantization error = codeError(StatusInvalidQuantization)
	ErrInvalidComposite    error = codeError(StatusInvalidComposite)
	ErrMisaligned          error = codeError(StatusMisaligned)
	ErrInvalidFormat       error = codeError(StatusInvalidFormat)
	ErrNotFound            error = codeError(StatusNotFound)
	ErrLimitExceeded       error = codeError(StatusLimitExceeded)
	ErrTimedOut            error = codeError(StatusTimedOut)
	ErrDisconnected        error = codeError(StatusDisconnected)
)

// bindingError is the sentinel of a condition that only this package knows.
type bindingError string

func (b bindingError) Error() string { return "hurray: " + string(b) }

// Sentinels of conditions that this package finds itself, before the library is asked.
var (
	// ErrClosed: the object was closed. Its errors carry StatusInvalidHandle.
	ErrClosed error = bindingError("closed")
	// ErrElementType: the type parameter of a view is not the tensor's element type. Its errors carry StatusInvalidType.
	ErrElementType error = bindingError("another element type")
	// ErrReadOnly: memory that must not be written was asked for to be written. Its errors carry StatusInvalidArgument.
	ErrReadOnly error = bindingError("read-only memory")
	// ErrNotContiguous: a slice was asked for of elements that do not follow one another in row-major order. Its errors
	// carry StatusUnsupported; At, Values and AppendRowMajor reach such elements.
	ErrNotContiguous error = bindingError("not contiguous")
	// ErrLibrary: the shared library cannot be loaded, or is of another version. Its errors carry StatusNotFound or
	// StatusVersionMismatch, and the message names the file and, for a version, both numbers.
	ErrLibrary error = bindingError("no usable library")
)

// failure makes the error of a call whose status is not 0.
func failure(op string, status int32, report *capi.Error) error {
	message := ""
	if report != nil {
		message = native.Message(report)
	}
	if message == "" {
		message = "no further report"
	}
	return &Error{Op: op, Code: Status(status), Message: message, Offset: offsetOf(message)}
}

// offsetOf reads the " [byte N]" at the end of a message; -1 when there is none.
func offsetOf(message string) int64 {
	rest, ok := strings.CutSuffix(message, "]")
	if !ok {
		return -1
	}
	start := strings.LastIndex(rest, " [byte ")
	if start < 0 {
		return -1
	}
	offset, err := strconv.ParseInt(rest[start+len(" [byte "):], 10, 64)
	if err != nil || offset < 0 {
		return -1
	}
	return offset
}

func invalid(op, message string) error {
	return &Error{Op: op, Code: StatusInvalidArgument, Message: message, Offset: -1}
}

func closedError(op, what string) error {
	return &Error{Op: op, Code: StatusInvalidHandle, Message: "the " + what + " is closed", Offset: -1, Err: ErrClosed}
}

// call runs a call of the library and makes its status an error.
func call(op string, f func(report *capi.Error) int32) error {
	report := reports.Get().(*capi.Error)
	var err error
	if status := f(report); status != 0 {
		err = failure(op, status, report)
		*report = capi.Error{}
	}
	reports.Put(report)
	return err
}

// seedCall runs a call of the library that gives no report, and says what its codes mean there.
func seedCall(op, what string, status int32) error {
	if status == 0 {
		return nil
	}
	return &Error{Op: op, Code: Status(status), Message: what, Offset: -1}
}
