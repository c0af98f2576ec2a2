package hurray

import (
	"iter"
	"runtime"
	"strings"
	"unsafe"

	"hurray.dev/go/hurray/internal/capi"
	"hurray.dev/go/hurray/internal/native"
)

// FileOptions say how to open a file. The zero value, or nil, are the defaults.
type FileOptions struct {
	// Format of the file; FormatAuto recognises it by its content.
	Format FileFormat
	// Alignment says what happens to data that is not aligned to 64 bytes; AlignOffset hands it over as it lies.
	Alignment AlignmentPolicy
	// HeaderLimit is the longest header accepted, in bytes; 0 means 100,000,000.
	HeaderLimit uint64
}

// FileInfo holds facts about an open file.
type FileInfo struct {
	Format FileFormat
	// Tensors and Metadata are how many of them there are.
	Tensors, Metadata int
	// Size of the file in bytes.
	Size uint64
	// CopiedBytes is how many bytes of tensor data were copied so far on behalf of the file (booleans that are packed,
	// copies for alignment); 0 as long as everything is mapped.
	CopiedBytes uint64
}

// TensorInfo describes a tensor of a file, without touching its data.
type TensorInfo struct {
	// Name is UTF-8 and may hold NUL characters.
	Name        string
	ElementType ElementType
	Layout      Layout
	Shape       []uint64
	// ElementBits is the size of one element in bits, as the tensor will have them.
	ElementBits uint32
	// FileOffset is the offset of the data in the file, and ByteSize how many bytes it takes there.
	FileOffset, ByteSize uint64
}

// A File is a model file that is open and mapped. It must not change while it, or a tensor of it, is in use. Several
// goroutines may use it. It is ended by Close; its tensors outlive it.
type File struct {
	owned[*capi.File]
}

// Open opens a model file and maps it. Every name, type, shape and range in it is checked before Open returns; no
// tensor data is read. options may be nil.
//
// Errors: ErrIO, ErrNotFound, ErrInvalidFormat, ErrLimitExceeded, ErrUnsupported, ErrInvalidArgument.
func Open(path string, options *FileOptions) (*File, error) {
	const op = "Open"
	if err := load(op); err != nil {
		return nil, err
	}
	cPath, err := cString(op, path)
	if err != nil {
		return nil, err
	}
	record := &capi.FileOptions{StructSize: uint32(unsafe.Sizeof(capi.FileOptions{}))}
	if options != nil {
		record.Format = uint32(options.Format)
		record.Alignment = uint32(options.Alignment)
		record.HeaderLimit = options.HeaderLimit
	}
	var handle *capi.File
	err = call(op, func(report *capi.Error) int32 {
		return capi.CallFileOpen(unsafe.SliceData(cPath), record, &handle, report)
	})
	if err != nil {
		return nil, err
	}
	f := &File{owned[*capi.File]{handle: handle, what: "file"}}
	runtime.SetFinalizer(f, func(f *File) { _ = f.collect("File", destroyFile) })
	return f, nil
}

// cString is a text with a NUL character behind it. A text that holds one would be cut there: it is refused.
func cString(op, text string) ([]byte, error) {
	if strings.IndexByte(text, 0) >= 0 {
		return nil, invalid(op, "the path holds a NUL character")
	}
	return append([]byte(text), 0), nil
}

// Info returns facts about the file.
func (f *File) Info() (FileInfo, error) {
	const op = "File.Info"
	info := &capi.FileInfo{StructSize: uint32(unsafe.Sizeof(capi.FileInfo{}))}
	err := f.use(op, func(handle *capi.File) error {
		return call(op, func(report *capi.Error) int32 { return capi.CallFileInfo(handle, info, report) })
	})
	runtime.KeepAlive(f)
	if err != nil {
		return FileInfo{}, err
	}
	return FileInfo{FileFormat(info.Format), int(info.TensorCount), int(info.MetadataCount), info.FileSize, info.CopiedBytes}, nil
}

// Len is the number of tensors in the file.
func (f *File) Len() (int, error) {
	info, err := f.Info()
	return info.Tensors, err
}

// TensorInfo describes tensor i; the order is that of the data in the file.
//
// Errors: ErrIndexOutOfBounds.
func (f *File) TensorInfo(i int) (TensorInfo, error) {
	const op = "File.TensorInfo"
	var described TensorInfo
	err := f.use(op, func(handle *capi.File) error {
		info := &capi.FileTensorInfo{StructSize: uint32(unsafe.Sizeof(capi.FileTensorInfo{}))}
		err := call(op, func(report *capi.Error) int32 { return capi.CallFileTensorInfo(handle, uint64(i), info, report) })
		if err != nil {
			return err
		}
		described = TensorInfo{
			Name:        native.Text(info.Name, info.NameLength),
			ElementType: ElementType(info.ElementType),
			Layout:      Layout(info.Layout),
			Shape:       native.Slice[uint64](info.Shape, uint64(info.Rank)),
			ElementBits: info.Bits,
			FileOffset:  info.FileOffset,
			ByteSize:    info.ByteSize,
		}
		return nil
	})
	runtime.KeepAlive(f)
	return described, err
}

// Find returns the index of the tensor of a name.
//
// Errors: ErrNotFound.
func (f *File) Find(name string) (int, error) {
	const op = "File.Find"
	index := new(uint64)
	err := f.use(op, func(handle *capi.File) error {
		return call(op, func(report *capi.Error) int32 {
			return capi.CallFileFind(handle, unsafe.StringData(name), uint64(len(name)), index, report)
		})
	})
	runtime.KeepAlive(f)
	if err != nil {
		return -1, err
	}
	return int(*index), nil
}

// Tensor makes a tensor over the mapped bytes of tensor i, which the caller closes. Nothing is copied, unless the
// options or the element type want it (see FileInfo.CopiedBytes). It is good after the file is closed, too.
//
// Errors: ErrIndexOutOfBounds; ErrMisaligned under AlignRequire; ErrInvalidFormat when a boolean is neither 0 nor 1;
// ErrUnsupported; ErrOutOfMemory.
func (f *File) Tensor(i int) (*Tensor, error) {
	const op = "File.Tensor"
	native.Drain()
	var tensor *capi.Tensor
	err := f.use(op, func(handle *capi.File) error {
		return call(op, func(report *capi.Error) int32 { return capi.CallFileTensor(handle, uint64(i), &tensor, report) })
	})
	runtime.KeepAlive(f)
	if err != nil {
		return nil, err
	}
	return newTensor(tensor), nil
}

// TensorByName is Tensor for the tensor of a name.
//
// Errors: ErrNotFound, and those of Tensor.
func (f *File) TensorByName(name string) (*Tensor, error) {
	i, err := f.Find(name)
	if err != nil {
		return nil, err
	}
	return f.Tensor(i)
}

// Infos goes through the descriptions of all tensors, in the order of the data in the file. After an error it ends.
func (f *File) Infos() iter.Seq2[TensorInfo, error] {
	return func(yield func(TensorInfo, error) bool) {
		count, err := f.Len()
		if err != nil {
			yield(TensorInfo{}, err)
			return
		}
		for i := range count {
			info, err := f.TensorInfo(i)
			if !yield(info, err) || err != nil {
				return
			}
		}
	}
}

// A NamedTensor is a tensor of a file with its name.
type NamedTensor struct {
	Name string
	*Tensor
}

// Tensors goes through all tensors, in the order of the data in the file. Each is closed when the body of the loop is
// done with it: what is to last longer is shared with Tensor.Share. After an error it ends.
func (f *File) Tensors() iter.Seq2[NamedTensor, error] {
	return func(yield func(NamedTensor, error) bool) {
		count, err := f.Len()
		if err != nil {
			yield(NamedTensor{}, err)
			return
		}
		for i := range count {
			if !f.yieldTensor(i, yield) {
				return
			}
		}
	}
}

func (f *File) yieldTensor(i int, yield func(NamedTensor, error) bool) bool {
	info, err := f.TensorInfo(i)
	if err != nil {
		yield(NamedTensor{}, err)
		return false
	}
	tensor, err := f.Tensor(i)
	if err != nil {
		yield(NamedTensor{Name: info.Name}, err)
		return false
	}
	// Deferred: the body may leave the loop by a panic.
	defer tensor.Close()
	return yield(NamedTensor{info.Name, tensor}, nil)
}

// Metadata goes through the metadata entries, key and value, in the order of the file. They are copied when the loop
// begins; a file that is closed has none.
func (f *File) Metadata() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		info, err := f.Info()
		if err != nil {
			return
		}
		for i := range info.Metadata {
			key, value, err := f.MetadataEntry(i)
			if err != nil || !yield(key, value) {
				return
			}
		}
	}
}

// MetadataEntry returns metadata entry i. Both texts are UTF-8 and may hold NUL characters.
//
// Errors: ErrIndexOutOfBounds.
func (f *File) MetadataEntry(i int) (key, value string, err error) {
	const op = "File.MetadataEntry"
	err = f.use(op, func(handle *capi.File) error {
		entry := &capi.FileMetadata{StructSize: uint32(unsafe.Sizeof(capi.FileMetadata{}))}
		err := call(op, func(report *capi.Error) int32 { return capi.CallFileMetadata(handle, uint64(i), entry, report) })
		if err == nil {
			key = native.Text(entry.Key, entry.KeyLength)
			value = native.Text(entry.Value, entry.ValueLength)
		}
		return err
	})
	runtime.KeepAlive(f)
	return key, value, err
}

// Close ends the file. Tensors that were made from it keep the mapping. Closing once more does nothing.
func (f *File) Close() error {
	runtime.SetFinalizer(f, nil)
	return f.end("File.Close", destroyFile)
}

func destroyFile(handle *capi.File) int32 { return capi.CallFileDestroy(&handle) }
