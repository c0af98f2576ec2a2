package hurray_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"hurray.dev/go/hurray"
)

// A tensor over the memory of a slice.
func ExampleFromSlice() {
	// sample: from-slice
	weights := []float32{1, 2, 3, 4, 5, 6}
	tensor, err := hurray.FromSlice(weights, []int{2, 3}, &hurray.HostOptions{
		Release: func() { fmt.Println("nobody needs the slice any more") },
	})
	if err != nil {
		log.Fatal(err)
	}
	defer tensor.Close()

	err = hurray.Borrow(tensor, func(elements []float32) error {
		fmt.Println(elements[4], &elements[0] == &weights[0])
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// end sample
	// Output:
	// 5 true
	// nobody needs the slice any more
}

// A view keeps the memory, and reads elements of any layout.
func ExampleTensor_View() {
	// sample: view
	tensor, err := hurray.FromSlice([]int32{1, 2, 3, 4, 5, 6}, []int{3, 2}, &hurray.HostOptions{Strides: []int{1, 3}})
	if err != nil {
		log.Fatal(err)
	}
	view, err := tensor.View()
	if err != nil {
		log.Fatal(err)
	}
	tensor.Close() // the view keeps what it needs
	defer view.Close()

	values, err := hurray.Values[int32](view)
	if err != nil {
		log.Fatal(err)
	}
	for x := range values {
		fmt.Print(x, " ")
	}
	last, err := hurray.At[int32](view, 2, 1)
	fmt.Println(last, err)
	// end sample
	// Output: 1 4 2 5 3 6 6 <nil>
}

// A model file is mapped; its tensors are views of the file.
func ExampleOpen() {
	path := exampleModel()
	defer os.RemoveAll(filepath.Dir(path))
	// sample: open
	file, err := hurray.Open(path, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()

	for tensor, err := range file.Tensors() {
		if err != nil {
			log.Fatal(err)
		}
		// The tensor is closed when the body is done; tensor.Share makes one that lasts.
		err = hurray.Borrow(tensor.Tensor, func(elements []float64) error {
			fmt.Printf("%q %v\n", tensor.Name, elements)
			return nil
		})
		if err != nil {
			log.Fatal(err)
		}
	}
	for key, value := range file.Metadata() {
		fmt.Println(key, "=", value)
	}
	// end sample
	// Output:
	// "bias" [0.5 -0.5]
	// "scale" [2]
	// made by = an example
}

func exampleModel() string {
	folder, err := os.MkdirTemp("", "hurray")
	if err != nil {
		log.Fatal(err)
	}
	path := filepath.Join(folder, "model.safetensors")
	if err := writeModel(path); err != nil {
		log.Fatal(err)
	}
	return path
}

// sample: write-file
func writeModel(path string) error {
	writer, err := hurray.CreateFile(path, hurray.FormatSafetensors)
	if err != nil {
		return err
	}
	defer writer.Close() // without a Finish before it, nothing of the file remains

	bias, err := hurray.FromSlice([]float64{0.5, -0.5}, []int{2}, nil)
	if err != nil {
		return err
	}
	defer bias.Close()
	scale, err := hurray.FromSlice([]float64{2}, nil, nil)
	if err != nil {
		return err
	}
	defer scale.Close()
	return errors.Join(
		writer.Add("bias", bias),
		writer.Add("scale", scale),
		writer.SetMetadata("made by", "an example"),
		writer.Finish(),
	)
}

// end sample

// Streams go through any io.Writer and io.Reader.
func ExampleNewWriter() {
	// sample: stream
	var network bytes.Buffer
	writer, err := hurray.NewWriter(&network)
	if err != nil {
		log.Fatal(err)
	}
	tensor, err := hurray.FromSlice([]uint16{7, 8, 9}, []int{3}, nil)
	if err != nil {
		log.Fatal(err)
	}
	// Close waits until everything has reached the io.Writer.
	if err := errors.Join(writer.Write(tensor), tensor.Close(), writer.Close()); err != nil {
		log.Fatal(err)
	}

	reader, err := hurray.NewReader(&network, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer reader.Close()
	for received, err := range reader.Tensors() {
		if err != nil {
			log.Fatal(err)
		}
		fields, err := received.Fields()
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(fields.ElementType, fields.Layout, fields.Shape)
	}
	// end sample
	// Output: uint16 row_major [3]
}

// Another runtime in the process gets two pointers, and hands over two.
func ExampleTensor_Export() {
	// sample: exchange
	tensor, err := hurray.FromSlice([]float32{1, 2}, []int{2}, nil)
	if err != nil {
		log.Fatal(err)
	}
	list, context, err := tensor.Export()
	if err != nil {
		log.Fatal(err)
	}
	// The pair shares the memory: the tensor may go.
	tensor.Close()

	// HurrayBufferList * and HurrayTensorContext *, now somebody else's.
	listPointer, contextPointer := list.Detach(), context.Detach()

	imported, err := hurray.ImportPointers(listPointer, contextPointer)
	if err != nil {
		log.Fatal(err)
	}
	defer imported.Close()
	// end sample
	fmt.Println(hurray.Borrow(imported, func(elements []float32) error {
		fmt.Println(elements)
		return nil
	}))
	// Output:
	// [1 2]
	// <nil>
}

// pretend is a device's runtime that does nothing.
type pretend struct{}

func (pretend) wait(stream, event uintptr) { fmt.Println("stream", stream, "waits for event", event) }
func (pretend) order(stream uintptr)       { fmt.Println("stream", stream, "waits for the producer's") }
func (pretend) free()                      { fmt.Println("the memory is free") }

// Memory of a device, handed off with an event.
func ExampleHandOff() {
	var device pretend
	const memory, event, stream = uintptr(0x7d0000000000), uintptr(17), uintptr(4)
	descriptor, err := hurray.NewDescriptor(hurray.DescriptorSpec{
		ElementType: hurray.TypeFloat32, Layout: hurray.LayoutRowMajor, Shape: []uint64{3},
		Buffers: []hurray.BufferHandle{{ByteSize: 12, Alignment: 256, Device: hurray.DeviceCUDA, SyncMode: hurray.SyncEvent}},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer descriptor.Close()
	// sample: handoff
	// The producer has recorded the event behind all that writes the memory.
	handle := hurray.BufferHandle{ByteSize: 12, Alignment: 256, Device: hurray.DeviceCUDA, SyncMode: hurray.SyncEvent}
	buffer, err := hurray.HandOff(hurray.Handoff{
		Handle:       handle.Bytes(), // 16 bytes; the sync mode in them says what must come along
		Data:         memory,
		Release:      device.free,
		Event:        hurray.Event{Handle: event, Device: hurray.DeviceCUDA},
		ReleaseEvent: func() { fmt.Println("the event is free") },
	})
	if err != nil {
		log.Fatal(err)
	}
	list, err := hurray.NewBufferList(buffer)
	if err != nil {
		log.Fatal(err)
	}
	tensor, err := hurray.NewTensor(descriptor, list)
	if err != nil {
		log.Fatal(err)
	}
	defer tensor.Close()

	// The consumer makes each stream that will touch the tensor wait; then the event goes back.
	err = tensor.WaitEvents(func(e hurray.Event) error {
		device.wait(stream, e.Handle)
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// end sample
	// Output:
	// stream 4 waits for event 17
	// the event is free
	// the memory is free
}

// A producer that puts its tensors in order on the consumer's stream.
func ExampleProducer() {
	var device pretend
	const memory = uintptr(0x7d0000000000)
	descriptor, err := hurray.NewDescriptor(hurray.DescriptorSpec{
		ElementType: hurray.TypeFloat32, Layout: hurray.LayoutRowMajor, Shape: []uint64{3},
		Buffers: []hurray.BufferHandle{{ByteSize: 12, Alignment: 256, Device: hurray.DeviceCUDA, SyncMode: hurray.SyncConsumerStream}},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer descriptor.Close()
	encoded, err := descriptor.Encode()
	if err != nil {
		log.Fatal(err)
	}
	// sample: producer
	exporter := hurray.ExporterFunc(func(stream hurray.Stream) (*hurray.BufferList, *hurray.TensorContext, error) {
		device.order(stream.Handle) // before the handoff: the stream waits for what writes the memory
		handle := hurray.BufferHandle{ByteSize: 12, Alignment: 256, Device: hurray.DeviceCUDA, SyncMode: hurray.SyncConsumerStream}
		buffer, err := hurray.HandOff(hurray.Handoff{Handle: handle.Bytes(), Data: memory, Release: device.free, Stream: stream})
		if err != nil {
			return nil, nil, err
		}
		list, err := hurray.NewBufferList(buffer)
		if err != nil {
			return nil, nil, errors.Join(err, buffer.Close())
		}
		context, err := hurray.NewTensorContext(hurray.CABIVersion, encoded, nil)
		return list, context, err
	})
	producer, err := hurray.NewProducer(exporter, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer producer.Close()

	// The consumer asks with its stream, and may use the tensor on it at once.
	tensor, err := producer.Request(hurray.Stream{Handle: 4, Device: hurray.DeviceCUDA})
	if err != nil {
		log.Fatal(err)
	}
	defer tensor.Close()
	// end sample
	// Output:
	// stream 4 waits for the producer's
	// the memory is free
}

// Errors carry code and place.
func ExampleError() {
	// sample: errors
	_, err := hurray.DecodeDescriptor([]byte("HRRY is what a descriptor starts with"))
	var failed *hurray.Error
	if errors.As(err, &failed) {
		fmt.Println(failed.Code, "at byte", failed.Offset)
	}
	fmt.Println(errors.Is(err, hurray.ErrVersionMismatch))
	// end sample
	// Output:
	// VERSION_MISMATCH at byte 4
	// true
}

// Truth values are packed, eight to a byte.
func ExampleBit() {
	packed := hurray.PackBits([]bool{true, false, true})
	tensor, err := hurray.FromSlice(packed, []int{3}, &hurray.HostOptions{ElementType: hurray.TypeBool})
	if err != nil {
		log.Fatal(err)
	}
	defer tensor.Close()
	err = hurray.BorrowBytes(tensor, func(data []byte) error {
		fmt.Println(hurray.Bit(data, 0), hurray.Bit(data, 1), hurray.Bit(data, 2))
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: true false true
}

// sample: channel
// serve sends the tensors of a model file, of any format, to the process at the other end.
func serve(ctx context.Context, path string, channel *hurray.Channel) error {
	file, err := hurray.Open(path, nil)
	if err != nil {
		return err
	}
	defer file.Close()
	for tensor, err := range file.Tensors() {
		if err != nil {
			return err
		}
		if err := channel.Send(ctx, tensor.Tensor); err != nil {
			return err
		}
	}
	if err := channel.Finish(ctx); err != nil {
		return err
	}
	info, err := channel.Info()
	fmt.Println(info.Sent, "tensors,", info.CopiedBytes, "bytes copied")
	return err
}

// consume reads what comes, where it lies: the file is mapped here, too.
func consume(ctx context.Context, channel *hurray.Channel) error {
	for tensor, err := range channel.Tensors(ctx) {
		if err != nil {
			return err
		}
		// The tensor is given back when the body is done.
		err = hurray.Borrow(tensor, func(elements []float32) error {
			fmt.Println("received", elements)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// end sample

// Both ends are in one process here; exec.Cmd.ExtraFiles hands the file to a child, which calls ChannelFromFD.
func ExampleChannel() {
	folder, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "model.hrry")
	writer, err := hurray.CreateFile(path, hurray.FormatHrry)
	if err != nil {
		log.Fatal(err)
	}
	defer writer.Close()
	tensor, err := hurray.FromSlice([]float32{1, 2, 3}, []int{3}, nil)
	if err != nil {
		log.Fatal(err)
	}
	if err := errors.Join(writer.Add("weights", tensor), tensor.Close(), writer.Finish()); err != nil {
		log.Fatal(err)
	}

	sender, socket, err := hurray.ChannelPair(nil)
	if err != nil {
		log.Fatal(err)
	}
	defer sender.Close()
	receiver, err := hurray.ChannelFromFile(socket, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer receiver.Close()
	socket.Close()
	if err := serve(context.Background(), path, sender); err != nil {
		log.Fatal(err)
	}
	if err := consume(context.Background(), receiver); err != nil {
		log.Fatal(err)
	}
	// Output:
	// 1 tensors, 0 bytes copied
	// received [1 2 3]
}
