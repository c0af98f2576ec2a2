package devices_test

import (
	"errors"
	"os"
	"testing"

	"hurray.dev/go/conformance/devices"
	"hurray.dev/go/hurray"
)

var kept []any

// runChild ends a program in C's way, with live objects over memory of Go's, of the library's and of a device's.
func runChild(mode string) {
	called := func() { os.Stdout.WriteString("called back\n"); os.Exit(4) }
	tensor, err1 := hurray.FromSlice([]float32{1, 2}, []int{2}, &hurray.HostOptions{Release: called})
	view, err2 := tensor.View()
	list, context, err3 := tensor.Export()
	copied, _, err4 := tensor.Copy(0)
	owner, err5 := hurray.NewTensorContext(hurray.CABIVersion, []byte("x"), called)
	handle := hurray.BufferHandle{ByteSize: 48, Alignment: 64, Device: devices.Tag, SyncMode: hurray.SyncEvent}
	handed, err6 := hurray.HandOff(hurray.Handoff{
		Handle: handle.Bytes(), Data: 1 << 20, Release: called,
		Event: hurray.Event{Handle: 8, Device: devices.Tag}, ReleaseEvent: called,
	})
	producer, err7 := hurray.NewProducer(hurray.ExporterFunc(nil), called)
	if err := errors.Join(err1, err2, err3, err4, err5, err6, err7); err != nil {
		os.Stdout.WriteString(err.Error() + "\n")
		os.Exit(3)
	}
	kept = append(kept, tensor, view, list, context, copied, owner, handed, producer)
	os.Stdout.WriteString("ends\n")
	if mode == "exit" {
		devices.Exit(0)
	}
}

// A program whose C part ends it, exit handlers, destructors and all, ends with code 0, and Go is not called back.
func TestExitOfCWithLiveTensors(t *testing.T) {
	output, err := inChild(t, "exit")
	if err != nil || output != "ends\n" {
		t.Fatalf("%v: %q", err, output)
	}
}

// The child of a fork may end what it inherited: nothing is called back there, and the parent's release still runs once.
func TestChildOfAForkEndsHandlesWithoutCallbacks(t *testing.T) {
	noLeak(t)
	reading, writing, err := os.Pipe()
	ok(t, err)
	// A release in either process would show here.
	release := func() { ok(t, errorOf(writing.Write([]byte{1}))) }
	tensor := value(hurray.FromSlice([]float32{1, 2}, []int{2}, &hurray.HostOptions{Release: release}))(t)
	list, made, err := tensor.Export()
	ok(t, err)
	ok(t, errors.Join(made.Close(), tensor.Close()))
	context := value(hurray.NewTensorContext(hurray.CABIVersion, []byte("x"), release))(t)
	l, c := list.Detach(), context.Detach()
	if code := devices.Fork(l, c); code != 0 {
		t.Errorf("the child ended with %d", code)
	}
	ok(t, value(hurray.BufferListFromPointer(l))(t).Close())
	ok(t, value(hurray.TensorContextFromPointer(c))(t).Close())
	ok(t, writing.Close())
	released := make([]byte, 10)
	if n, err := reading.Read(released); n != 2 || err != nil {
		t.Errorf("%d releases, want one of the memory and one of the owner: %v", n, err)
	}
	ok(t, reading.Close())
}
