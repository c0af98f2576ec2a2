// Package hurray reads, makes and exchanges tensors without copying them, through the C ABI of the Hurray library.
//
// # Library
//
// The module, as it is published, has the library inside, as static archives that go build links; with the build tag musl
// that for musl, with hurray_pkgconfig the shared library that pkg-config finds. In the workspace that the module comes from
// the shared library is loaded when the first constructor runs: the file that the environment variable HURRAY_LIBRARY
// names, or libhurray.so.1 as the operating system finds it. In each case its version is asked before anything else of it is
// used. A library that is missing, or of a version that does not support this package, makes every constructor return
// an error that matches ErrLibrary; nothing panics. Runtime says what was loaded.
//
// # Ownership
//
// Everything that has a Close is closed by whoever made it. Close releases at once, may be called again, and makes
// every later use an error that matches ErrClosed. The garbage collector is only a backup: objects that were forgotten
// give their memory back some time, and the Release functions of Go memory then run in the next constructor or Close,
// or in DrainReleases, never on the collector's goroutine, unless ReleaseAnyThread consents to that. Releases of events
// must be safe on any thread, and may run there.
//
// Memory is shared and counted: it lives until the last Tensor, View, Buffer, BufferList or foreign handle of it is
// closed. FromSlice lends the memory of a slice: it is pinned until then, and Release runs exactly once.
//
// A slice must not outlive its tensor, and Go cannot watch over it. Borrow hands one out for the time of a call. A
// View hands out slices that are good until View.Close; the collector leaves views that were forgotten alone, because
// it cannot see whether a slice of one is still in use.
//
// BufferList and TensorContext are the pair in which tensors travel between runtimes: Import takes over what it
// imports, and on failure nothing has moved.
//
// # Devices
//
// Memory of a device is handed off with the promise of when its bytes are there: HandOff takes the 16 bytes of the
// buffer's handle, whose sync mode says what comes along, and an Event or a Stream. The consumer waits for the event of
// each SyncEvent buffer and releases it, exactly once: Tensor.WaitEvents does both. For SyncConsumerStream it asks a
// Producer, naming its stream; an Exporter of Go's answers such requests. Handles of devices are numbers to this package.
// Memory that is not the host's gives no slices here.
//
// # Files and channels
//
// Open maps model files of the formats that FileFormat names; FileWriter writes them. A Channel passes tensors to another
// process of the machine without copying what lies in a file or in memory of AllocateSharedBuffer.
//
// # Goroutines
//
// All objects may be used by several goroutines. The library wants one thread at a time on a handle, which a lock of
// each object sees to; tensors that are used much by many goroutines are better shared, with Tensor.Share. The
// elements of views may be read by any number of goroutines at once. Release functions run on the goroutine, or
// the thread of another runtime, that closed the last share; they may use this package.
//
// # Errors
//
// Every error of this package is an *Error, with the status code of the C ABI and, where the fault has a place in the
// input, its byte offset. errors.Is matches the sentinel of the code, such as ErrInvalidLayout. Only Reader.Next and
// Channel.Receive return a plain io.EOF, at the clean end of a stream or channel.
//
// # Element types
//
// TypeOf says which element type a Go type stands for. Types that are smaller than a byte have no Go type: View.Bytes
// gives them packed, Bit and View.CodeAt read single ones. Data that is not aligned to its element, as in many model
// files, is handed over as it lies: Slice and Borrow refuse it with ErrMisaligned, At, Values and View.Bytes read it,
// and Tensor.Copy, or AlignCopy in FileOptions, makes it aligned.
package hurray
