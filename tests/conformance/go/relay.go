package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"time"

	"hurray.dev/go/hurray"
)

type tensorLine struct {
	Name    string  `json:"name"`
	Type    string  `json:"type"`
	Shape   []int   `json:"shape"`
	Bytes   uint64  `json:"bytes"`
	CRC32   string  `json:"crc32"`
	Sum     *number `json:"sum"`
	SumBits *string `json:"sum_bits"`
	Nanos   int64   `json:"nanos"`
	// Mapped is device and inode of what is mapped at the address of the first element.
	Mapped *string `json:"mapped"`
}

// number is a finite float64 that is seen to be one in JSON: with a point or an exponent, also when it is whole.
type number float64

func (n number) MarshalJSON() ([]byte, error) {
	text := strconv.AppendFloat(nil, float64(n), 'g', -1, 64)
	if !bytes.ContainsAny(text, ".e") {
		text = append(text, ".0"...)
	}
	return text, nil
}

type totalLine struct {
	identity
	Tensors     int    `json:"tensors"`
	Bytes       uint64 `json:"bytes"`
	Nanos       int64  `json:"nanos"`
	LiveHandles int64  `json:"live_handles"`
	// Of the channels that there were.
	ReceivedBytes *uint64 `json:"received_bytes"`
	PassedBytes   *uint64 `json:"passed_bytes"`
	CopiedBytes   *uint64 `json:"copied_bytes"`
}

func relay(joined transport, namesPath, reportPath string) error {
	names, err := readNames(namesPath)
	if err != nil {
		return err
	}
	report, err := os.Create(reportPath)
	if err != nil {
		return err
	}
	defer report.Close()
	lines := bufio.NewWriter(report)
	id, _, err := whoAmI()
	if err != nil {
		return err
	}
	before, _, err := hurray.LiveHandles(hurray.HandleAny)
	if err != nil {
		return err
	}
	total := totalLine{identity: id}
	started := time.Now()
	if err := passAll(joined, names, lines, &total); err != nil {
		return err
	}
	total.Nanos = time.Since(started).Nanoseconds()
	after, _, err := hurray.LiveHandles(hurray.HandleAny)
	if err != nil {
		return err
	}
	total.LiveHandles = int64(after) - int64(before)
	if err := writeLine(lines, total); err != nil {
		return err
	}
	if err := lines.Flush(); err != nil {
		return err
	}
	return report.Close()
}

func readNames(path string) ([]string, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	decoder := json.NewDecoder(file)
	var names []string
	for {
		var name string
		err := decoder.Decode(&name)
		if err == io.EOF {
			return names, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: name %d: %w", path, len(names), err)
		}
		names = append(names, name)
	}
}

func passAll(joined transport, names []string, report io.Writer, total *totalLine) (err error) {
	in, err := joined.input()
	if err != nil {
		return err
	}
	defer closeInto(&err, in)
	out, err := joined.output()
	if err != nil {
		return err
	}
	defer closeInto(&err, out)
	for {
		received, err := in.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return fmt.Errorf("tensor %d: %w", total.Tensors, err)
		}
		if total.Tensors == len(names) {
			return errors.Join(fmt.Errorf("the stream has more tensors than the %d names", len(names)), received.Close())
		}
		name := names[total.Tensors]
		line, err := pass(received, out, name)
		if err != nil {
			return fmt.Errorf("tensor %d (%q): %w", total.Tensors, name, err)
		}
		if err := writeLine(report, line); err != nil {
			return err
		}
		total.Tensors++
		total.Bytes += line.Bytes
	}
	if total.Tensors < len(names) {
		return fmt.Errorf("the stream has %d tensors, but there are %d names", total.Tensors, len(names))
	}
	if err := out.finish(total); err != nil {
		return err
	}
	return in.count(total)
}

func closeInto(err *error, closer io.Closer) {
	if failed := closer.Close(); *err == nil {
		*err = failed
	}
}

// exchanged takes a tensor out as a list and a context, and in again. It closes the tensor that it was given.
func exchanged(received *hurray.Tensor) (tensor *hurray.Tensor, err error) {
	list, context, err := received.Export()
	if failed := received.Close(); err == nil {
		err = failed
	}
	if err != nil {
		return nil, err
	}
	// The import takes both over; closing what it took does nothing.
	defer closeInto(&err, list)
	defer closeInto(&err, context)
	return hurray.Import(list, context)
}

// pass takes a tensor through an exchange, reads it and writes it on. It closes the tensor that it was given.
func pass(received *hurray.Tensor, out output, name string) (line tensorLine, err error) {
	started := time.Now()
	tensor, err := exchanged(received)
	if err != nil {
		return line, err
	}
	defer closeInto(&err, tensor)
	line, err = read(tensor)
	if err != nil {
		return line, err
	}
	if err := out.put(tensor); err != nil {
		return line, err
	}
	line.Name = name
	line.Nanos = time.Since(started).Nanoseconds()
	return line, nil
}

func read(tensor *hurray.Tensor) (line tensorLine, err error) {
	view, err := tensor.View()
	if err != nil {
		return line, err
	}
	defer closeInto(&err, view)
	line.Type = view.ElementType().String()
	line.Shape = append([]int{}, view.Shape()...)
	if view.ByteSize() != 0 {
		if line.Mapped, err = mappedAt(view.Address()); err != nil {
			return line, err
		}
	}
	if line.CRC32, line.Bytes, err = checksum(view); err != nil {
		return line, err
	}
	sum, ok, err := sum(view)
	if err != nil || !ok {
		return line, err
	}
	bits := fmt.Sprintf("%016x", math.Float64bits(sum))
	if math.IsNaN(sum) {
		bits = "7ff8000000000000"
	}
	line.SumBits = &bits
	if !math.IsNaN(sum) && !math.IsInf(sum, 0) {
		line.Sum = (*number)(&sum)
	}
	return line, nil
}
