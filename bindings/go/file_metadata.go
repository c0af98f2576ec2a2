package hurray

import (
	"iter"
	"runtime"
	"unsafe"

	"hurray.dev/go/hurray/internal/capi"
	"hurray.dev/go/hurray/internal/native"
)

// UnknownMetadata is a metadata value of a type that this package does not know.
type UnknownMetadata struct{ Type MetadataType }

// Metadata goes through the metadata entries, key and value, in the order of the file; values are as MetadataEntry has
// them. A file that is closed has none.
func (f *File) Metadata() iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
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

// MetadataEntry copies metadata entry i. The value is a string, int64, uint64, float64, bool or []byte, or a slice of one
// of these, or an UnknownMetadata. Key and strings are UTF-8 and may hold NUL characters.
//
// Errors: ErrIndexOutOfBounds.
func (f *File) MetadataEntry(i int) (key string, value any, err error) {
	const op = "File.MetadataEntry"
	err = f.use(op, func(handle *capi.File) (err error) {
		key, value, err = readEntry(op, handle, uint64(i))
		return err
	})
	runtime.KeepAlive(f)
	return key, value, err
}

// MetadataValue copies the value of a key, as MetadataEntry does.
//
// Errors: ErrNotFound.
func (f *File) MetadataValue(key string) (value any, err error) {
	const op = "File.MetadataValue"
	err = f.use(op, func(handle *capi.File) error {
		index := new(uint64)
		err := call(op, func(report *capi.Error) int32 {
			return capi.CallFileFindMetadata(handle, unsafe.StringData(key), uint64(len(key)), index, report)
		})
		if err == nil {
			_, value, err = readEntry(op, handle, *index)
		}
		return err
	})
	runtime.KeepAlive(f)
	return value, err
}

func newMetadata() *capi.FileMetadata {
	return &capi.FileMetadata{StructSize: uint32(unsafe.Sizeof(capi.FileMetadata{}))}
}

func readEntry(op string, handle *capi.File, index uint64) (string, any, error) {
	entry := newMetadata()
	err := call(op, func(report *capi.Error) int32 { return capi.CallFileMetadata(handle, index, entry, report) })
	if err != nil {
		return "", nil, err
	}
	key := native.Text(entry.Key, entry.KeyLength)
	if MetadataType(entry.Type) != MetadataTypeArray {
		return key, metadataValue(entry), nil
	}
	value, err := readArray(op, handle, index, entry)
	return key, value, err
}

func metadataValue(entry *capi.FileMetadata) any {
	switch kind := MetadataType(entry.Type); kind {
	case MetadataTypeString:
		return textOf(entry)
	case MetadataTypeInt64:
		return entry.Int64Value
	case MetadataTypeUint64:
		return entry.Uint64Value
	case MetadataTypeFloat64:
		return entry.Float64Value
	case MetadataTypeBool:
		return entry.Boolean != 0
	case MetadataTypeBytes:
		return bytesOf(entry)
	default:
		return UnknownMetadata{kind}
	}
}

func textOf(entry *capi.FileMetadata) string { return native.Text(entry.Value, entry.ValueLength) }
func bytesOf(entry *capi.FileMetadata) []byte {
	return append([]byte{}, native.Slice[byte](entry.Value, entry.ValueLength)...)
}

func readArray(op string, handle *capi.File, index uint64, entry *capi.FileMetadata) (any, error) {
	switch kind := MetadataType(entry.ElementType); kind {
	case MetadataTypeString:
		return readElements(op, handle, index, entry.Count, textOf)
	case MetadataTypeInt64:
		return readElements(op, handle, index, entry.Count, func(e *capi.FileMetadata) int64 { return e.Int64Value })
	case MetadataTypeUint64:
		return readElements(op, handle, index, entry.Count, func(e *capi.FileMetadata) uint64 { return e.Uint64Value })
	case MetadataTypeFloat64:
		return readElements(op, handle, index, entry.Count, func(e *capi.FileMetadata) float64 { return e.Float64Value })
	case MetadataTypeBool:
		return readElements(op, handle, index, entry.Count, func(e *capi.FileMetadata) bool { return e.Boolean != 0 })
	case MetadataTypeBytes:
		return readElements(op, handle, index, entry.Count, bytesOf)
	default:
		return UnknownMetadata{MetadataTypeArray}, nil
	}
}

// readElements copies an array. Its count is that of elements which the library has read already.
func readElements[T any](op string, handle *capi.File, index, count uint64, convert func(*capi.FileMetadata) T) (any, error) {
	elements := make([]T, count)
	element := newMetadata()
	for i := range elements {
		err := call(op, func(report *capi.Error) int32 {
			return capi.CallFileMetadataElement(handle, index, uint64(i), element, report)
		})
		if err != nil {
			return nil, err
		}
		elements[i] = convert(element)
	}
	return elements, nil
}
