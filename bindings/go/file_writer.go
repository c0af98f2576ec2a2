package hurray

import (
	"runtime"
	"unsafe"

	"hurray.dev/go/hurray/internal/capi"
	"hurray.dev/go/hurray/internal/native"
)

// A FileWriter writes a model file. Until Finish succeeds a file of that name stays as it was. Several goroutines may
// use it. It is ended by Close; without a successful Finish nothing remains of what it wrote.
type FileWriter struct {
	owned[*capi.FileWriter]
	// added keeps the tensors, so that the library's writer never holds the last share of one: Finish would run the
	// user's releases under the lock.
	added []*tensorCore
}

// CreateFile starts a model file; FormatSafetensors is the only format.
//
// Errors: ErrInvalidArgument, ErrNotFound, ErrIO.
func CreateFile(path string, format FileFormat) (*FileWriter, error) {
	const op = "CreateFile"
	if err := load(op); err != nil {
		return nil, err
	}
	cPath, err := cString(op, path)
	if err != nil {
		return nil, err
	}
	var handle *capi.FileWriter
	err = call(op, func(report *capi.Error) int32 {
		return capi.CallFileWriterCreate(unsafe.SliceData(cPath), uint32(format), &handle, report)
	})
	if err != nil {
		return nil, err
	}
	w := &FileWriter{owned: owned[*capi.FileWriter]{handle: handle, what: "file writer"}}
	runtime.SetFinalizer(w, func(w *FileWriter) { _ = w.close(true) })
	return w, nil
}

// Add adds a tensor, whose memory is shared until the file is finished or the writer closed; the tensor stays the
// caller's and may be closed at once.
//
// Errors: ErrInvalidArgument for a name that is taken or no UTF-8; ErrUnsupported when the format cannot hold the tensor,
// or its memory is not the host's; ErrInvalidSyncMode when its bytes may not be there yet.
func (w *FileWriter) Add(name string, tensor *Tensor) error {
	const op = "FileWriter.Add"
	core, err := tensor.retain(op)
	if err != nil {
		return err
	}
	err = w.use(op, func(handle *capi.FileWriter) error {
		core.mutex.Lock()
		defer core.mutex.Unlock()
		err := call(op, func(report *capi.Error) int32 {
			return capi.CallFileWriterAdd(handle, unsafe.StringData(name), uint64(len(name)), core.handle, report)
		})
		if err == nil {
			w.added = append(w.added, core)
		}
		return err
	})
	runtime.KeepAlive(w)
	runtime.KeepAlive(tensor)
	if err != nil {
		_ = core.drop(false)
	}
	return err
}

// SetMetadata sets a metadata entry.
//
// Errors: ErrInvalidArgument for a text that is no UTF-8.
func (w *FileWriter) SetMetadata(key, value string) error {
	const op = "FileWriter.SetMetadata"
	err := w.use(op, func(handle *capi.FileWriter) error {
		return call(op, func(report *capi.Error) int32 {
			return capi.CallFileWriterSetMetadata(handle, unsafe.StringData(key), uint64(len(key)), unsafe.StringData(value),
				uint64(len(value)), report)
		})
	})
	runtime.KeepAlive(w)
	return err
}

// Finish writes the file and puts it under its name in one step. Afterwards the writer can only be closed.
//
// Errors: ErrIO: the old file, if any, is as it was; ErrInvalidArgument when it is finished already.
func (w *FileWriter) Finish() error {
	const op = "FileWriter.Finish"
	err := w.use(op, func(handle *capi.FileWriter) error {
		return call(op, func(report *capi.Error) int32 { return capi.CallFileWriterFinish(handle, report) })
	})
	runtime.KeepAlive(w)
	if err != nil {
		return err
	}
	return w.dropAdded(false)
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
func (w *FileWriter) Close() error {
	runtime.SetFinalizer(w, nil)
	return w.close(false)
}

func (w *FileWriter) close(deferred bool) error {
	err := w.collect("FileWriter.Close", func(handle *capi.FileWriter) int32 {
		if deferred {
			return capi.CallFileWriterDestroyDeferred(&handle, nil)
		}
		return capi.CallFileWriterDestroy(&handle)
	})
	if ended := w.dropAdded(deferred); err == nil {
		err = ended
	}
	if !deferred {
		native.Drain()
	}
	return err
}
