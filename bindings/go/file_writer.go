package hurray

import (
	"errors"
	"io"
	"runtime"
	"unsafe"

	"hurray.dev/go/hurray/internal/capi"
	"hurray.dev/go/hurray/internal/native"
)

// A FileWriter writes a model file. Several goroutines may use it. It is ended by Close.
//
// Until Finish succeeds a file of that name stays as it was, and without a successful Finish nothing remains of what was
// written; what went to an io.Writer stays there.
type FileWriter struct {
	owned[*capi.FileWriter]
	// added keeps the tensors, so that the library's writer never holds the last share of one: Finish would run the
	// user's releases under the lock. Formats that write a tensor at once need none of that.
	added  []*tensorCore
	atOnce bool
	// callbacks are the io.Writer, and sources that may be asked yet.
	callbacks []*native.Callback
}

// FileWriterOptions say how to write a file.
type FileWriterOptions struct {
	// Format of the file; FormatAuto is none.
	Format FileFormat
	// DataAlignment of the data in the file, in bytes. FormatHrry: of every buffer, a power of two from 4096 to 2 MiB;
	// FormatGguf: a power of two, at least 8. 0 is the default of the format, and the only choice of the others.
	DataAlignment uint32
	// UnsortedIndex, for FormatHrry: the index keeps the order in which the tensors were added, instead of being sorted.
	UnsortedIndex bool
	// Compress, for FormatNpz.
	Compress bool
}

func (o *FileWriterOptions) record() *capi.FileWriterOptions {
	record := &capi.FileWriterOptions{StructSize: uint32(unsafe.Sizeof(capi.FileWriterOptions{}))}
	if o == nil {
		return record
	}
	record.Format, record.DataAlignment = uint32(o.Format), o.DataAlignment
	if o.UnsortedIndex {
		record.Flags |= uint32(FileWriterFlagUnsortedIndex)
	}
	if o.Compress {
		record.Flags |= uint32(FileWriterFlagCompress)
	}
	return record
}

// CreateFile starts a model file of a format, with its default options.
//
// Errors: ErrInvalidArgument, ErrNotFound, ErrIO.
func CreateFile(path string, format FileFormat) (*FileWriter, error) {
	return createFile("CreateFile", path, &FileWriterOptions{Format: format})
}

// CreateFileOptions is CreateFile with options. Since version 4 of the C ABI.
//
// Errors: those of CreateFile; ErrInvalidArgument for options that are not the format's.
func CreateFileOptions(path string, options *FileWriterOptions) (*FileWriter, error) {
	return createFile("CreateFileOptions", path, options)
}

func createFile(op, path string, options *FileWriterOptions) (*FileWriter, error) {
	if err := load(op); err != nil {
		return nil, err
	}
	cPath, err := cString(op, path)
	if err != nil {
		return nil, err
	}
	var handle *capi.FileWriter
	err = call(op, func(report *capi.Error) int32 {
		return capi.CallFileWriterCreateWith(unsafe.SliceData(cPath), options.record(), &handle, report)
	})
	if err != nil {
		return nil, err
	}
	return newFileWriter(handle, options), nil
}

// NewFileWriter starts a model file that goes to w, front to back, in the calls of the writer, on their goroutines. w must
// not keep what it is given, nor use the writer. Its errors, and panics, are those of the calls. Since version 4 of the
// C ABI.
//
// Errors: ErrInvalidArgument for options that are not the format's.
func NewFileWriter(w io.Writer, options *FileWriterOptions) (*FileWriter, error) {
	const op = "NewFileWriter"
	if err := load(op); err != nil {
		return nil, err
	}
	sink := native.NewWriteCallback(func(bytes []byte) *native.Failure {
		n, err := w.Write(bytes)
		if err == nil && n != len(bytes) {
			err = io.ErrShortWrite
		}
		return callbackFailure(err)
	})
	var handle *capi.FileWriter
	err := call(op, func(report *capi.Error) int32 {
		return capi.CallFileWriterToCallback(native.WriteFn(), sink.Context(), options.record(), &handle, report)
	})
	if err != nil {
		sink.Free()
		return nil, err
	}
	writer := newFileWriter(handle, options)
	writer.callbacks = append(writer.callbacks, sink)
	return writer, nil
}

// callbackFailure is what the error of a callback is to the library: with its code when it is an *Error, else IO.
func callbackFailure(err error) *native.Failure {
	if err == nil {
		return nil
	}
	failed := failureOf(err)
	if typed := new(*Error); !errors.As(err, typed) {
		failed.Status = int32(StatusIO)
	}
	return failed
}

func newFileWriter(handle *capi.FileWriter, options *FileWriterOptions) *FileWriter {
	w := &FileWriter{owned: owned[*capi.FileWriter]{handle: handle, what: "file writer"},
		atOnce: options.Format == FormatHrry || options.Format == FormatNpz}
	runtime.SetFinalizer(w, func(w *FileWriter) { _ = w.close(true) })
	return w
}

// write runs a call of the library that may ask callbacks of Go's, whose errors come out of it.
func (w *FileWriter) write(op string, f func(handle *capi.FileWriter, report *capi.Error) int32) error {
	if native.Within(w) {
		return invalid(op, "a callback uses the writer that called it")
	}
	frame, leave := native.Enter()
	defer leave()
	frame.Owner = w
	err := w.use(op, func(handle *capi.FileWriter) error {
		return call(op, func(report *capi.Error) int32 { return f(handle, report) })
	})
	runtime.KeepAlive(w)
	if failed, ok := err.(*Error); ok && frame.Err != nil {
		failed.Err = frame.Err
		failed.Message = frame.Err.Error()
	}
	return err
}

// Add adds a tensor. FormatHrry and FormatNpz write it at once; the others share its memory until the file is finished or
// the writer closed. The tensor stays the caller's and may be closed at once.
//
// Errors: ErrInvalidArgument for a name that is taken, not fit for the format or no UTF-8, and in a callback of the
// writer's; ErrUnsupported when the format cannot hold the tensor, or its memory is not the host's; ErrInvalidSyncMode when
// its bytes may not be there yet; ErrIO, which wraps the error of an io.Writer.
func (w *FileWriter) Add(name string, tensor *Tensor) error {
	const op = "FileWriter.Add"
	core, err := tensor.retain(op)
	if err != nil {
		return err
	}
	kept := false
	err = w.write(op, func(handle *capi.FileWriter, report *capi.Error) int32 {
		core.mutex.Lock()
		defer core.mutex.Unlock()
		status := capi.CallFileWriterAdd(handle, unsafe.StringData(name), uint64(len(name)), core.handle, report)
		if kept = status == 0 && !w.atOnce; kept {
			w.added = append(w.added, core)
		}
		return status
	})
	runtime.KeepAlive(tensor)
	if kept {
		return err
	}
	if ended := core.drop(false); err == nil {
		err = ended
	}
	return err
}

// AddSource announces a tensor that source makes when it is written: at once or in Finish, as Add says, on that
// goroutine and at most once. So a conversion needs memory for one tensor at a time: the tensor is closed when it is
// written. It must have the type, layout, shape and sections of the descriptor, and buffers of its sizes. source must not
// use the writer; its error, or panic, is that of the call, and ends the writer. Since version 4 of the C ABI.
//
// Errors: those of Add; ErrInvalidArgument for another tensor than was announced.
func (w *FileWriter) AddSource(name string, descriptor *Descriptor, source func() (*Tensor, error)) error {
	const op = "FileWriter.AddSource"
	encoded, err := descriptor.Encode()
	if err != nil {
		return err
	}
	// One that no lock is held on: source may use the caller's own.
	announced, err := DecodeDescriptorOptions(encoded, &DecodeOptions{PrivateTags: true, Permissive: true})
	if err != nil {
		return err
	}
	defer announced.Close()
	callback := native.NewSourceCallback(func() (*capi.Tensor, *native.Failure) {
		tensor, err := source()
		if err != nil {
			return nil, callbackFailure(err)
		}
		if tensor == nil {
			return nil, callbackFailure(&Error{Op: op, Code: StatusNullPointer, Message: "the source returned no tensor", Offset: -1})
		}
		// The library ends a share of its own; views of the tensor may be open.
		var share *capi.Tensor
		err = tensor.use(op, func(handle *capi.Tensor, report *capi.Error) int32 {
			return capi.CallTensorShare(handle, &share, report)
		})
		if ended := tensor.Close(); err == nil && ended != nil {
			capi.CallTensorDestroy(&share)
			err = ended
		}
		return share, callbackFailure(err)
	})
	kept := false
	err = w.write(op, func(handle *capi.FileWriter, report *capi.Error) int32 {
		status := capi.CallFileWriterAddSource(handle, unsafe.StringData(name), uint64(len(name)), announced.handle,
			native.SourceFn(), callback.Context(), report)
		if kept = status == 0 && !w.atOnce; kept {
			w.callbacks = append(w.callbacks, callback)
		}
		return status
	})
	runtime.KeepAlive(announced)
	if !kept {
		callback.Free()
	}
	return err
}

// SetMetadata sets a metadata entry to a text; the last value of a key counts.
//
// Errors: ErrInvalidArgument for a text that is no UTF-8; ErrUnsupported when the format has no metadata.
func (w *FileWriter) SetMetadata(key, value string) error {
	const op = "FileWriter.SetMetadata"
	return w.write(op, func(handle *capi.FileWriter, report *capi.Error) int32 {
		return capi.CallFileWriterSetMetadata(handle, unsafe.StringData(key), uint64(len(key)), unsafe.StringData(value),
			uint64(len(value)), report)
	})
}

// Finish writes what is left and, where the file has a path, puts it under its name in one step. Afterwards the writer can
// only be closed.
//
// Errors: ErrIO: the old file, if any, is as it was; ErrInvalidArgument when it is finished already; those of io.Writer
// and sources.
func (w *FileWriter) Finish() error {
	if err := w.write("FileWriter.Finish", capi.CallFileWriterFinish); err != nil {
		return err
	}
	return w.dropAdded(false)
}

// CopiedBytes is how many bytes of tensor data were copied so far to be written in the file's form.
func (w *FileWriter) CopiedBytes() (uint64, error) {
	copied := new(uint64)
	err := w.write("FileWriter.CopiedBytes", func(handle *capi.FileWriter, report *capi.Error) int32 {
		return capi.CallFileWriterCopiedBytes(handle, copied, report)
	})
	return *copied, err
}

// dropAdded gives back the tensors that the writer does not need any more.
func (w *FileWriter) dropAdded(deferred bool) error {
	w.mutex.Lock()
	added := w.added
	w.added = nil
	w.mutex.Unlock()
	var err error
	for _, core := range added {
		if ended := core.drop(deferred); err == nil {
			err = ended
		}
	}
	return err
}

// Close ends the writer. Closing once more does nothing.
//
// Errors: ErrInvalidArgument in a callback of the writer's.
func (w *FileWriter) Close() error {
	if native.Within(w) {
		return invalid("FileWriter.Close", "a callback uses the writer that called it")
	}
	runtime.SetFinalizer(w, nil)
	return w.close(false)
}

func (w *FileWriter) close(deferred bool) error {
	err := w.collect("FileWriter.Close", func(handle *capi.FileWriter) int32 {
		var status int32
		if deferred {
			status = capi.CallFileWriterDestroyDeferred(&handle, nil)
		} else {
			status = capi.CallFileWriterDestroy(&handle)
		}
		for _, callback := range w.callbacks {
			callback.Free()
		}
		w.callbacks = nil
		return status
	})
	if ended := w.dropAdded(deferred); err == nil {
		err = ended
	}
	if deferred {
		native.MarkDeferred()
	} else {
		native.Drain()
	}
	return err
}
