package hurray

import (
	"sync"
	"unsafe"

	"hurray.dev/go/hurray/internal/capi"
	"hurray.dev/go/hurray/internal/native"
)

// reports are error reports for calls: 260 bytes each, cleared, reused.
var reports = sync.Pool{New: func() any { return new(capi.Error) }}

// load makes sure that the library is there; every constructor begins with it.
func load(op string) error {
	failed := native.Load()
	if failed == nil {
		return nil
	}
	code := StatusNotFound
	if failed.Version {
		code = StatusVersionMismatch
	}
	return &Error{Op: op, Code: code, Message: failed.Text, Offset: -1, Err: ErrLibrary}
}

// Load loads the shared library and checks its version. Every constructor does so by itself; a program that wants to
// know at its start calls Load. Where the library is linked there is nothing to load; else the file is the one that the environment variable HURRAY_LIBRARY names, or else what
// the operating system finds as libhurray.so.1. The outcome of the first call holds for the whole process.
//
// Errors: ErrLibrary, with StatusNotFound or StatusVersionMismatch.
func Load() error { return load("Load") }

// RuntimeInfo holds facts about the loaded library.
type RuntimeInfo struct {
	// LibraryPath is the file that the library was loaded from; empty when the operating system cannot tell.
	LibraryPath string
	// Version of the library, such as "0.1.0".
	Version string
	// ABIVersion is the version of the C ABI that the library implements.
	ABIVersion uint32
	// BuildID identifies the build.
	BuildID string
	// HandleChecks says whether destroyed handles are kept in quarantine and checked.
	HandleChecks bool
}

// Runtime reports which library is loaded. Any goroutine may call it.
func Runtime() (RuntimeInfo, error) {
	const op = "Runtime"
	if err := load(op); err != nil {
		return RuntimeInfo{}, err
	}
	info := capi.RuntimeInfo{StructSize: uint32(unsafe.Sizeof(capi.RuntimeInfo{}))}
	err := call(op, func(report *capi.Error) int32 { return capi.CallRuntimeInfo(&info, report) })
	if err != nil {
		return RuntimeInfo{}, err
	}
	return RuntimeInfo{
		LibraryPath:  native.String(info.LibraryPath),
		Version:      native.String(info.Version),
		ABIVersion:   info.CABIVersion,
		BuildID:      native.String(info.BuildID),
		HandleChecks: info.HandleChecks != 0,
	}, nil
}

// LiveHandles counts the live handles of a kind in the process, and the bytes that they stand for. A program that
// closed everything reads what it read at first. HandleAny sums all kinds. Any goroutine may call it.
func LiveHandles(kind HandleKind) (handles, bytes uint64, err error) {
	const op = "LiveHandles"
	if err := load(op); err != nil {
		return 0, 0, err
	}
	native.Drain()
	counts := new([2]uint64)
	err = call(op, func(report *capi.Error) int32 {
		return capi.CallLiveHandles(uint32(kind), &counts[0], &counts[1], report)
	})
	return counts[0], counts[1], err
}

// SetHandleChecks turns the quarantine of destroyed handles on or off. This package never uses a handle after it
// ended it; the checks find faults of other users of the same library. Any goroutine may call it.
func SetHandleChecks(enabled bool) error {
	const op = "SetHandleChecks"
	if err := load(op); err != nil {
		return err
	}
	return call(op, func(report *capi.Error) int32 { return capi.CallHandleChecksSet(boolByte(enabled), report) })
}

// A Diagnostic is the report of an exception that the library caught, or of an invariant of its own that was broken.
type Diagnostic struct {
	Code    Status
	Message string
}

// Diagnostics returns the last such reports, oldest first, at most 32. Any goroutine may call it.
func Diagnostics() ([]Diagnostic, error) {
	const op = "Diagnostics"
	if err := load(op); err != nil {
		return nil, err
	}
	var found []Diagnostic
	for index := uint32(0); ; index++ {
		kept := new(capi.Error)
		status := capi.CallDiagnosticsRead(index, kept, nil)
		if Status(status) == StatusIndexOutOfBounds {
			return found, nil
		}
		if status != 0 {
			return nil, failure(op, status, nil)
		}
		found = append(found, Diagnostic{Status(kept.Code), native.Message(kept)})
	}
}

// SetLog makes log get each report that Diagnostics keeps, when it is made; nil: nobody gets them. There is one in the
// process: the one before, of Go's or of another runtime's, is replaced, and is not running any more when SetLog returns.
// log is called on the thread that the fault was found on; it must not call SetLog, and a panic in it ends the program.
// Any goroutine may call SetLog, with no lock held that log takes. Since version 4 of the C ABI.
//
// Errors: ErrInvalidArgument when it is called from within log.
func SetLog(log func(d Diagnostic)) error {
	const op = "SetLog"
	if err := load(op); err != nil {
		return err
	}
	var f native.LogFunc
	if log != nil {
		f = func(status int32, message string) { log(Diagnostic{Status(status), message}) }
	}
	return call(op, func(report *capi.Error) int32 { return native.SetLog(f, report) })
}

// DrainReleases runs the releases of memory that the garbage collector caused and that wait for a goroutine to run
// on, and returns how many ran. Every constructor and every Close does so by itself; a program that has done with
// this package may call it at last.
func DrainReleases() (uint64, error) {
	if err := load("DrainReleases"); err != nil {
		return 0, err
	}
	native.MarkDeferred()
	return native.Drain(), nil
}

func boolByte(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}
