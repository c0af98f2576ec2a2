package hurray

import (
	"context"
	"io"
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
	// Access: map the file, or read what is asked for, which counts as copied: for network file systems, and for files
	// that somebody else may cut. Of no meaning for OpenBuffer.
	Access FileAccess
	// HeaderLimit is the longest header, index or metadata section accepted, in bytes; 0 means the format's default
	// (safetensors: 100,000,000).
	HeaderLimit uint64
	// InexactBlocks says what becomes of quantized blocks of GGUF that are no exact scheme; InexactBlocksRaw hands them
	// over as rows of uint8.
	InexactBlocks InexactBlocks
	// PrivateTags: accept private layouts and quantization schemes.
	PrivateTags bool
	// Permissive: accept element types, layouts and quantization schemes that are not known.
	Permissive bool
	// NoExactSchemes: treat blocks of GGUF that are a scheme as InexactBlocks says, too.
	NoExactSchemes bool
}

func (o *FileOptions) record() *capi.FileOptions {
	record := &capi.FileOptions{StructSize: uint32(unsafe.Sizeof(capi.FileOptions{}))}
	if o == nil {
		return record
	}
	record.Format = uint32(o.Format)
	record.Alignment = uint32(o.Alignment)
	record.Access = uint32(o.Access)
	record.HeaderLimit = o.HeaderLimit
	record.InexactBlocks = uint32(o.InexactBlocks)
	var flags FileFlag
	for _, option := range []struct {
		set  bool
		flag FileFlag
	}{{o.PrivateTags, FileFlagPrivateTags}, {o.Permissive, FileFlagPermissive}, {o.NoExactSchemes, FileFlagNoExactSchemes}} {
		if option.set {
			flags |= option.flag
		}
	}
	record.Flags = uint32(flags)
	return record
}

// FileInfo holds facts about an open file.
type FileInfo struct {
	Format FileFormat
	// Tensors and Metadata are how many of them there are.
	Tensors, Metadata int
	// Size of the file in bytes.
	Size uint64
	// CopiedBytes is how many bytes of tensor data were copied so far on behalf of the file (packing, repacking,
	// alignment, decompression, reading without a map); 0 as long as everything is mapped.
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
	// Scheme of the quantization; 0: none.
	Scheme Scheme
	// FileOffset is the offset of the data in the file, and ByteSize how many bytes it takes there.
	FileOffset, ByteSize uint64
	// StoredType is the format's own word for the type, such as "F32", "Q4_K" or "<f4"; empty for FormatHrry.
	StoredType string
}

// A File is a model file that is open, of any of the formats that FileFormat names. Unless it is read without a map, it must
// not change while it, or a tensor of it, is in use. Several goroutines may use it. It is ended by Close; its tensors outlive it.
type File struct {
	owned[*capi.File]
}

// Open opens a model file and, unless the options say FileAccessRead, maps it. Every name, type, shape and range in it is
// checked before Open returns (FormatHrry: descriptors when they are asked for); no tensor data is read. options may be nil.
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
	var handle *capi.File
	err = call(op, func(report *capi.Error) int32 {
		return capi.CallFileOpen(unsafe.SliceData(cPath), options.record(), &handle, report)
	})
	if err != nil {
		return nil, err
	}
	return newFile(handle), nil
}

// OpenBuffer opens a model file whose bytes are in memory, which must not change while the file, or a tensor of it, is in
// use. Its tensors lie in that memory. The buffer stays the caller's and may be closed at once. options may be nil.
//
// Errors: those of Open; ErrUnsupported when the memory is not the host's; ErrInvalidSyncMode when its bytes may not be
// there yet.
func OpenBuffer(buffer *Buffer, options *FileOptions) (*File, error) {
	const op = "OpenBuffer"
	var handle *capi.File
	err := buffer.use(op, func(b *capi.Buffer) error {
		return call(op, func(report *capi.Error) int32 { return capi.CallFileOpenBuffer(b, options.record(), &handle, report) })
	})
	runtime.KeepAlive(buffer)
	if err != nil {
		return nil, err
	}
	return newFile(handle), nil
}

// OpenBytes is OpenBuffer for a slice: its memory is lent, without copying, until the file and everything made from it is
// closed.
func OpenBytes(file []byte, options *FileOptions) (*File, error) {
	buffer, _, err := BufferOf(file, nil)
	if err != nil {
		return nil, err
	}
	defer buffer.Close()
	return OpenBuffer(buffer, options)
}

// OpenReaderAt opens a model file of size bytes that r gives, such as one of an archive or of an fs.FS: it is read into
// memory of the library, front to back, which the file and its tensors then share. The end of ctx ends the reading. r and
// ctx are not used any more afterwards. Since version 4 of the C ABI.
//
// Errors: those of Open; ErrIO, which wraps the error of r, io.ErrUnexpectedEOF where it has fewer bytes; ErrCancelled, which
// wraps the cause of the context's end; ErrOutOfMemory.
func OpenReaderAt(ctx context.Context, r io.ReaderAt, size int64, options *FileOptions) (*File, error) {
	const op = "OpenReaderAt"
	if size < 0 {
		return nil, invalid(op, "the size is negative")
	}
	buffer, err := AllocateBuffer(uint64(size), 0)
	if err != nil {
		return nil, err
	}
	defer buffer.Close()
	err = buffer.Borrow(func(bytes []byte) error { return readAll(op, ctx, r, bytes) })
	if err != nil {
		return nil, err
	}
	return OpenBuffer(buffer, options)
}

// readAll fills bytes from the start of r, and looks at the context now and then.
func readAll(op string, ctx context.Context, r io.ReaderAt, bytes []byte) error {
	const piece = 1 << 20
	for at := 0; at < len(bytes); {
		if ctx.Err() != nil {
			return cancelled(op, context.Cause(ctx))
		}
		n, err := r.ReadAt(bytes[at:min(at+piece, len(bytes))], int64(at))
		at += n
		if err == nil || err == io.EOF && at == len(bytes) {
			continue
		}
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return &Error{Op: op, Code: StatusIO, Message: err.Error(), Offset: int64(at), Err: err}
	}
	return nil
}

func newFile(handle *capi.File) *File {
	f := &File{owned[*capi.File]{handle: handle, what: "file"}}
	runtime.SetFinalizer(f, func(f *File) {
		// The file may have the last share of memory of the user's.
		if handle := f.take(); handle != nil {
			capi.CallFileDestroyDeferred(&handle, nil)
			native.MarkDeferred()
		}
	})
	return f
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
			Scheme:      Scheme(info.Scheme),
			StoredType:  native.Text(info.StoredType, info.StoredTypeLength),
			FileOffset:  info.FileOffset,
			ByteSize:    info.ByteSize,
		}
		return nil
	})
	runtime.KeepAlive(f)
	return described, err
}

// Descriptor is the descriptor of tensor i, which the caller closes, without touching its data. Where data that is not
// aligned is handed over as it lies, the tensor's own may differ in ByteOffset and in the size of buffer 0.
//
// Errors: ErrIndexOutOfBounds; FormatHrry: those of DecodeDescriptor.
func (f *File) Descriptor(i int) (*Descriptor, error) {
	const op = "File.Descriptor"
	var descriptor *capi.Descriptor
	err := f.use(op, func(handle *capi.File) error {
		return call(op, func(report *capi.Error) int32 {
			return capi.CallFileDescriptor(handle, uint64(i), &descriptor, report)
		})
	})
	runtime.KeepAlive(f)
	if err != nil {
		return nil, err
	}
	return newDescriptor(descriptor), nil
}

// BufferRange tells where in the file the bytes of a buffer of tensor i come from, for programs that read the file
// themselves. What is repacked or compressed has its range as it lies there.
//
// Errors: ErrIndexOutOfBounds; FormatHrry: those of DecodeDescriptor.
func (f *File) BufferRange(i, buffer int) (offset, size uint64, err error) {
	const op = "File.BufferRange"
	found := new([2]uint64)
	err = f.use(op, func(handle *capi.File) error {
		return call(op, func(report *capi.Error) int32 {
			return capi.CallFileBufferRange(handle, uint64(i), uint64(buffer), &found[0], &found[1], report)
		})
	})
	runtime.KeepAlive(f)
	return found[0], found[1], err
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

// Close ends the file. Tensors that were made from it keep the mapping. Closing once more does nothing.
func (f *File) Close() error {
	runtime.SetFinalizer(f, nil)
	return f.end("File.Close", destroyFile)
}

func destroyFile(handle *capi.File) int32 { return capi.CallFileDestroy(&handle) }
