package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"hurray.dev/go/hurray"
)

type passLine struct {
	Tensors     int   `json:"tensors"`
	LiveHandles int64 `json:"live_handles"`
}

// passMany takes tensors of any kind from files, streams and channels to files, streams and channels, many times in one
// process: a line of lines names two ends.
func passMany(namesPath string, lines io.Reader, answers io.Writer) error {
	names, err := readNames(namesPath)
	if err != nil {
		return err
	}
	before, _, err := hurray.LiveHandles(hurray.HandleAny)
	if err != nil {
		return err
	}
	scanner := bufio.NewScanner(lines)
	for scanner.Scan() {
		from, to, found := strings.Cut(scanner.Text(), "\t")
		if !found {
			return fmt.Errorf("expected two ends with a tab between them, got %q", scanner.Text())
		}
		count, err := passOn(from, to, names)
		if err != nil {
			return fmt.Errorf("%s to %s: tensor %d: %w", from, to, count, err)
		}
		after, _, err := hurray.LiveHandles(hurray.HandleAny)
		if err != nil {
			return err
		}
		if err := writeLine(answers, passLine{count, int64(after) - int64(before)}); err != nil {
			return err
		}
	}
	return scanner.Err()
}

func passOn(from, to string, names []string) (count int, err error) {
	put, finish, end, err := targetOf(to)
	if err != nil {
		return 0, err
	}
	defer closeInto(&err, end)
	err = readAll(from, names, func(name string, arrived *hurray.Tensor) error {
		tensor, err := exchanged(arrived)
		if err != nil {
			return err
		}
		if err := errors.Join(put(name, tensor), tensor.Close()); err != nil {
			return err
		}
		count++
		return nil
	})
	if err != nil {
		return count, err
	}
	return count, finish()
}

// targetOf gives what takes tensors, what ends them, and what closes.
func targetOf(to string) (put func(string, *hurray.Tensor) error, finish func() error, end io.Closer, err error) {
	kind, where, _ := strings.Cut(to, ":")
	switch kind {
	case "hrry":
		writer, err := hurray.CreateFile(where, hurray.FormatHrry)
		if err != nil {
			return nil, nil, nil, err
		}
		return writer.Add, writer.Finish, writer, nil
	case "stream":
		file, err := os.Create(where)
		if err != nil {
			return nil, nil, nil, err
		}
		writer, err := hurray.NewWriter(file)
		if err != nil {
			return nil, nil, nil, errors.Join(err, file.Close())
		}
		put = func(_ string, tensor *hurray.Tensor) error { return writer.Write(tensor) }
		return put, func() error { return nil }, closers{writer, file}, nil
	case "channel":
		output, err := channelOf(where)
		if err != nil {
			return nil, nil, nil, err
		}
		put = func(_ string, tensor *hurray.Tensor) error { return output.put(tensor) }
		return put, func() error { return output.finish(&totalLine{}) }, output, nil
	default:
		return nil, nil, nil, fmt.Errorf("no such end: %s", to)
	}
}

func readAll(from string, names []string, take func(name string, tensor *hurray.Tensor) error) (err error) {
	kind, where, _ := strings.Cut(from, ":")
	switch kind {
	case "hrry":
		file, err := hurray.Open(where, nil)
		if err != nil {
			return err
		}
		defer closeInto(&err, file)
		count, err := file.Len()
		if err != nil {
			return err
		}
		for i := range count {
			info, err := file.TensorInfo(i)
			if err != nil {
				return err
			}
			tensor, err := file.Tensor(i)
			if err != nil {
				return err
			}
			if err := take(info.Name, tensor); err != nil {
				return err
			}
		}
		return nil
	case "stream":
		file, err := os.Open(where)
		if err != nil {
			return err
		}
		defer closeInto(&err, file)
		reader, err := hurray.NewReader(file, nil)
		if err != nil {
			return err
		}
		defer closeInto(&err, reader)
		return takeEach(reader.Next, names, take)
	case "channel":
		input, err := channelOf(where)
		if err != nil {
			return err
		}
		defer closeInto(&err, input)
		return takeEach(input.next, names, take)
	default:
		return fmt.Errorf("no such end: %s", from)
	}
}

func takeEach(next func() (*hurray.Tensor, error), names []string, take func(string, *hurray.Tensor) error) error {
	for i := 0; ; i++ {
		tensor, err := next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if i == len(names) {
			return errors.Join(fmt.Errorf("more tensors than the %d names", len(names)), tensor.Close())
		}
		if err := take(names[i], tensor); err != nil {
			return err
		}
	}
}

func channelOf(fd string) (channelEnd, error) {
	number, err := strconv.Atoi(fd)
	if err != nil {
		return channelEnd{}, err
	}
	channel, err := hurray.ChannelFromFD(number, nil)
	return channelEnd{channel}, err
}

type closers []io.Closer

func (c closers) Close() (err error) {
	for _, closer := range c {
		closeInto(&err, closer)
	}
	return err
}
