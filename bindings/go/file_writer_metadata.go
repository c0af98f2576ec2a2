package hurray

import (
	"fmt"
	"runtime"
	"unsafe"

	"hurray.dev/go/hurray/internal/capi"
)

// SetValue sets a metadata entry to a string, int, int64, uint64, float64, bool or []byte, or to a slice of one of these;
// the last value of a key counts. Since version 4 of the C ABI.
//
// Errors: ErrInvalidArgument for a text that is no UTF-8, and a value of another type; ErrUnsupported when the format cannot
// hold such a value.
func (w *FileWriter) SetValue(key string, value any) error {
	const op = "FileWriter.SetValue"
	var pinner runtime.Pinner
	defer pinner.Unpin()
	if kind, elements, ok := arrayOf(value, &pinner); ok {
		return w.write(op, func(handle *capi.FileWriter, report *capi.Error) int32 {
			return capi.CallFileWriterSetArray(handle, unsafe.StringData(key), uint64(len(key)), uint8(kind),
				unsafe.SliceData(elements), uint64(len(elements)), report)
		})
	}
	record := newMetadata()
	if !fillMetadata(record, value, &pinner) {
		return invalid(op, fmt.Sprintf("%T is no type of a metadata value", value))
	}
	return w.write(op, func(handle *capi.FileWriter, report *capi.Error) int32 {
		return capi.CallFileWriterSetValue(handle, unsafe.StringData(key), uint64(len(key)), record, report)
	})
}

// fillMetadata writes a value that is no array into a record. Memory that the record refers to is pinned.
func fillMetadata(record *capi.FileMetadata, value any, pinner *runtime.Pinner) bool {
	refer := func(first *byte, length int) {
		if length != 0 {
			pinner.Pin(first)
			record.Value, record.ValueLength = uintptr(unsafe.Pointer(first)), uint64(length)
		}
	}
	switch value := value.(type) {
	case string:
		record.Type = uint8(MetadataTypeString)
		// Copied: the memory of a constant cannot be pinned.
		bytes := []byte(value)
		refer(unsafe.SliceData(bytes), len(bytes))
	case []byte:
		record.Type = uint8(MetadataTypeBytes)
		refer(unsafe.SliceData(value), len(value))
	case int:
		record.Type, record.Int64Value = uint8(MetadataTypeInt64), int64(value)
	case int64:
		record.Type, record.Int64Value = uint8(MetadataTypeInt64), value
	case uint64:
		record.Type, record.Uint64Value = uint8(MetadataTypeUint64), value
	case float64:
		record.Type, record.Float64Value = uint8(MetadataTypeFloat64), value
	case bool:
		record.Type, record.Boolean = uint8(MetadataTypeBool), boolByte(value)
	default:
		return false
	}
	return true
}

func arrayOf(value any, pinner *runtime.Pinner) (MetadataType, []capi.FileMetadata, bool) {
	switch value := value.(type) {
	case []string:
		return MetadataTypeString, records(value, pinner), true
	case []int:
		return MetadataTypeInt64, records(value, pinner), true
	case []int64:
		return MetadataTypeInt64, records(value, pinner), true
	case []uint64:
		return MetadataTypeUint64, records(value, pinner), true
	case []float64:
		return MetadataTypeFloat64, records(value, pinner), true
	case []bool:
		return MetadataTypeBool, records(value, pinner), true
	case [][]byte:
		return MetadataTypeBytes, records(value, pinner), true
	}
	return 0, nil, false
}

func records[T any](values []T, pinner *runtime.Pinner) []capi.FileMetadata {
	elements := make([]capi.FileMetadata, len(values))
	for i, value := range values {
		elements[i].StructSize = uint32(unsafe.Sizeof(capi.FileMetadata{}))
		fillMetadata(&elements[i], value, pinner)
	}
	return elements
}
