package main

import (
	"errors"
	"fmt"
	"hash/crc32"

	"hurray.dev/go/hurray"
)

// checksum is the CRC-32 of the element bytes in row-major order, and how many there are.
func checksum(view *hurray.View) (string, uint64, error) {
	bytes, err := view.Bytes()
	if errors.Is(err, hurray.ErrNotContiguous) {
		bytes, err = view.AppendRowMajor(nil)
	}
	if err != nil {
		return "", 0, err
	}
	return fmt.Sprintf("%08x", crc32.ChecksumIEEE(bytes)), uint64(len(bytes)), nil
}

// sum adds the elements in row-major order, as float64, one after the other; ok is false for types that have no sum.
func sum(view *hurray.View) (total float64, ok bool, err error) {
	switch view.ElementType() {
	case hurray.TypeFloat16:
		total, err = sumOf(view, func(x hurray.Float16) float64 { return float64(x.Float32()) })
	case hurray.TypeBFloat16:
		total, err = sumOf(view, func(x hurray.BFloat16) float64 { return float64(x.Float32()) })
	case hurray.TypeFloat32:
		total, err = sumOf(view, func(x float32) float64 { return float64(x) })
	case hurray.TypeFloat64:
		total, err = sumOf(view, func(x float64) float64 { return x })
	case hurray.TypeInt8:
		total, err = sumOf(view, func(x int8) float64 { return float64(x) })
	case hurray.TypeUint8:
		total, err = sumOf(view, func(x uint8) float64 { return float64(x) })
	case hurray.TypeInt16:
		total, err = sumOf(view, func(x int16) float64 { return float64(x) })
	case hurray.TypeUint16:
		total, err = sumOf(view, func(x uint16) float64 { return float64(x) })
	case hurray.TypeInt32:
		total, err = sumOf(view, func(x int32) float64 { return float64(x) })
	case hurray.TypeUint32:
		total, err = sumOf(view, func(x uint32) float64 { return float64(x) })
	case hurray.TypeInt64:
		total, err = sumOf(view, func(x int64) float64 { return float64(x) })
	case hurray.TypeUint64:
		total, err = sumOf(view, func(x uint64) float64 { return float64(x) })
	case hurray.TypeBool:
		total, err = sumConverted(view)
	default:
		return 0, false, nil
	}
	return total, err == nil, err
}

func sumOf[T hurray.Element](view *hurray.View, convert func(T) float64) (float64, error) {
	elements, err := hurray.Slice[T](view)
	if errors.Is(err, hurray.ErrNotContiguous) || errors.Is(err, hurray.ErrMisaligned) {
		return sumConverted(view)
	}
	total := 0.0
	for _, x := range elements {
		total += convert(x)
	}
	return total, err
}

// sumConverted goes through elements that are no slice.
func sumConverted(view *hurray.View) (float64, error) {
	values, err := view.Float64s()
	if err != nil {
		return 0, err
	}
	total := 0.0
	for x := range values {
		total += x
	}
	return total, nil
}
