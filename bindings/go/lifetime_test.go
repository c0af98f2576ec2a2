package hurray_test

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"hurray.dev/go/hurray"
)

func TestReleaseRunsOnceWhenTheLastShareIsClosed(t *testing.T) {
	// The order in which tensor, share, view, pair and buffer go does not matter.
	const parts = 5
	for last := range parts {
		t.Run(fmt.Sprint(last), func(t *testing.T) {
			noLeak(t)
			released := 0
			tensor := value(hurray.FromSlice([]int32{1, 2, 3}, []int{3}, &hurray.HostOptions{Release: func() { released++ }}))(t)
			share := value(tensor.Share())(t)
			view := value(tensor.View())(t)
			buffer := value(tensor.Buffer(0))(t)
			list, context, err := tensor.Export()
			ok(t, err)
			imported := value(hurray.Import(list, context))(t)
			all := [parts]closer{tensor, share, view, buffer, imported}
			for i, part := range all {
				if i != last {
					ok(t, part.Close())
				}
			}
			if released != 0 {
				t.Fatal("released although a share is open")
			}
			for range 3 {
				ok(t, all[last].Close())
				if released != 1 {
					t.Fatalf("released %d times", released)
				}
			}
		})
	}
}

func TestReleaseOfAnEmptySlice(t *testing.T) {
	noLeak(t)
	released := 0
	for _, data := range [][]float64{nil, {}} {
		tensor := value(hurray.FromSlice(data, []int{3, 0}, &hurray.HostOptions{Release: func() { released++ }}))(t)
		ok(t, hurray.Borrow(tensor, func(elements []float64) error {
			if elements == nil || len(elements) != 0 {
				t.Errorf("%v", elements)
			}
			return nil
		}))
		ok(t, tensor.Close())
	}
	if released != 2 {
		t.Fatalf("released %d times", released)
	}
}

func TestFailedCreationDoesNotRelease(t *testing.T) {
	noLeak(t)
	release := func() { t.Error("released") }
	tooLong := make([]int, 65)
	data := []float32{1, 2, 3}
	for name, c := range map[string]struct {
		shape   []int
		options hurray.HostOptions
		want    error
	}{
		"too small":            {[]int{4}, hurray.HostOptions{}, hurray.ErrInvalidLayout},
		"offset":               {[]int{3}, hurray.HostOptions{ByteOffset: 4}, hurray.ErrInvalidLayout},
		"offset past the end":  {[]int{3}, hurray.HostOptions{ByteOffset: 1 << 63}, hurray.ErrInvalidLayout},
		"negative size":        {[]int{-1}, hurray.HostOptions{}, hurray.ErrInvalidArgument},
		"rank":                 {tooLong, hurray.HostOptions{}, hurray.ErrInvalidLayout},
		"strides":              {[]int{3}, hurray.HostOptions{Strides: []int{1, 1}}, hurray.ErrInvalidArgument},
		"strides and order":    {[]int{3}, hurray.HostOptions{Strides: []int{1}, ColumnMajor: true}, hurray.ErrInvalidArgument},
		"below the memory":     {[]int{3}, hurray.HostOptions{Strides: []int{-1}}, hurray.ErrInvalidLayout},
		"above the memory":     {[]int{3}, hurray.HostOptions{Strides: []int{2}}, hurray.ErrInvalidLayout},
		"type":                 {[]int{3}, hurray.HostOptions{ElementType: 0xff}, hurray.ErrInvalidType},
		"reserved type":        {[]int{3}, hurray.HostOptions{ElementType: 0x47}, hurray.ErrInvalidType},
		"overflowing shape":    {[]int{1 << 62, 1 << 62}, hurray.HostOptions{}, hurray.ErrInvalidLayout},
		"overflowing strides":  {[]int{3, 3}, hurray.HostOptions{Strides: []int{1 << 62, 1 << 62}}, hurray.ErrInvalidLayout},
		"scalar with a stride": {nil, hurray.HostOptions{Strides: []int{}}, hurray.ErrInvalidLayout},
	} {
		t.Run(name, func(t *testing.T) {
			c.options.Release = release
			tensor, err := hurray.FromSlice(data, c.shape, &c.options)
			var failed *hurray.Error
			if tensor != nil || !errors.As(err, &failed) {
				t.Fatalf("got %v, %v", tensor, err)
			}
			if c.want != nil {
				wants(t, err, c.want)
			}
		})
	}
	_, err := hurray.FromPointer(nil, 8, []int{1}, &hurray.HostOptions{ElementType: hurray.TypeFloat64, Release: release})
	wants(t, err, hurray.ErrNullPointer)
	_, err = hurray.FromPointer(nil, 0, []int{0}, nil)
	wants(t, err, hurray.ErrInvalidArgument)
	// The slice is not pinned any more and of use as before.
	data[0] = 7
	runtime.GC()
}

func TestCollectedTensorsWaitForTheBindingToDrain(t *testing.T) {
	noLeak(t)
	var stacks []string
	func() {
		tensor := value(hurray.FromSlice(make([]byte, 100), []int{100}, &hurray.HostOptions{Release: func() {
			stacks = append(stacks, string(debug.Stack()))
		}}))(t)
		runtime.KeepAlive(tensor)
	}()
	collect(t, "the release of a tensor that was forgotten", func() bool {
		return value(hurray.DrainReleases())(t) == 1
	})
	// The collector ended the handle, and the release ran in a call of ours.
	if len(stacks) != 1 || !strings.Contains(stacks[0], "hurray.DrainReleases") {
		t.Fatalf("released on %q", stacks)
	}
	if n := value(hurray.DrainReleases())(t); n != 0 || len(stacks) != 1 {
		t.Fatalf("drained %d more, released %d times", n, len(stacks))
	}
}

func TestNextCreationDrains(t *testing.T) {
	noLeak(t)
	released := make(chan struct{}, 1)
	func() {
		tensor := value(hurray.FromSlice([]byte{1}, nil, &hurray.HostOptions{Release: func() { released <- struct{}{} }}))(t)
		runtime.KeepAlive(tensor)
	}()
	collect(t, "a release in a creation", func() bool {
		tensor := value(hurray.FromSlice([]byte{1}, nil, nil))(t)
		ok(t, tensor.Close())
		select {
		case <-released:
			return true
		default:
			return false
		}
	})
}

func TestEveryForgottenObjectIsCollected(t *testing.T) {
	noLeak(t)
	handles, _ := live(t)
	var released atomic.Int64
	func() {
		release := func() { released.Add(1) }
		tensor := value(hurray.FromSlice([]int16{1, 2}, []int{2}, &hurray.HostOptions{Release: release}))(t)
		_ = value(tensor.Descriptor())(t)
		_ = value(tensor.Share())(t)
		_ = value(tensor.Buffer(0))(t)
		_, _, err := tensor.Export()
		ok(t, err)
		_, _, err = hurray.BufferOf([]int64{1}, release)
		ok(t, err)
		_ = value(hurray.NewTensorContext(hurray.CABIVersion, []byte("x"), release))(t)
		_ = value(hurray.NewReaderBytes([]byte("HRRY"), nil))(t)
		_ = value(hurray.NewReader(strings.NewReader("x"), nil))(t)
		_ = value(hurray.NewMemoryWriter())(t)
		_ = value(hurray.NewWriter(&strings.Builder{}))(t)
		writer := value(hurray.CreateFile(t.TempDir()+"/x", hurray.FormatSafetensors))(t)
		ok(t, writer.Add("x", tensor))
	}()
	collect(t, "everything that was forgotten", func() bool {
		now, _ := live(t)
		return now == handles && released.Load() == 3
	})
}

func TestClosedObjectsSaySo(t *testing.T) {
	noLeak(t)
	tensor := value(hurray.FromSlice([]int16{1, 2}, []int{2}, nil))(t)
	view := value(tensor.View())(t)
	descriptor := value(tensor.Descriptor())(t)
	buffer := value(tensor.Buffer(0))(t)
	list, context, err := tensor.Export()
	ok(t, err)
	reader := value(hurray.NewReaderBytes(nil, nil))(t)
	writer := value(hurray.NewMemoryWriter())(t)
	path := t.TempDir() + "/file"
	fileWriter := value(hurray.CreateFile(path, hurray.FormatSafetensors))(t)
	ok(t, fileWriter.Add("x", tensor))
	ok(t, fileWriter.Finish())
	file := value(hurray.Open(path, nil))(t)
	open := value(hurray.FromSlice([]int16{1, 2}, []int{2}, nil))(t)
	openDescriptor := closing(t, value(open.Descriptor())(t))
	exporter, _ := exporting(t, hurray.SyncProducerSynced, hurray.Stream{})
	producer := value(hurray.NewProducer(exporter, nil))(t)
	for _, c := range []closer{tensor, view, descriptor, buffer, list, context, reader, writer, fileWriter, file, producer} {
		for range 3 {
			ok(t, c.Close())
		}
	}
	for name, use := range map[string]func() error{
		"Tensor.View":             func() error { _, err := tensor.View(); return err },
		"Tensor.Share":            func() error { _, err := tensor.Share(); return err },
		"Tensor.Export":           func() error { _, _, err := tensor.Export(); return err },
		"Tensor.Copy":             func() error { _, _, err := tensor.Copy(0); return err },
		"Tensor.Fields":           func() error { _, err := tensor.Fields(); return err },
		"Tensor.Descriptor":       func() error { _, err := tensor.Descriptor(); return err },
		"Tensor.Buffer":           func() error { _, err := tensor.Buffer(0); return err },
		"Borrow":                  func() error { return hurray.Borrow(tensor, func([]int16) error { return nil }) },
		"BorrowBytes":             func() error { return hurray.BorrowBytes(tensor, func([]byte) error { return nil }) },
		"Slice":                   func() error { _, err := hurray.Slice[int16](view); return err },
		"MutableSlice":            func() error { _, err := hurray.MutableSlice[int16](view); return err },
		"View.Bytes":              func() error { _, err := view.Bytes(); return err },
		"At":                      func() error { _, err := hurray.At[int16](view, 0); return err },
		"View.CodeAt":             func() error { _, err := view.CodeAt(0); return err },
		"Values":                  func() error { _, err := hurray.Values[int16](view); return err },
		"View.Float64s":           func() error { _, err := view.Float64s(); return err },
		"View.AppendRowMajor":     func() error { _, err := view.AppendRowMajor(nil); return err },
		"Descriptor.Fields":       func() error { _, err := descriptor.Fields(); return err },
		"Descriptor.Encode":       func() error { _, err := descriptor.Encode(); return err },
		"Buffer.Share":            func() error { _, err := buffer.Share(); return err },
		"Buffer.Slice":            func() error { _, err := buffer.Slice(0, 0); return err },
		"Buffer.Info":             func() error { _, err := buffer.Info(); return err },
		"Buffer.Handle":           func() error { _, err := buffer.Handle(); return err },
		"Buffer.SetReadOnly":      func() error { return buffer.SetReadOnly() },
		"Buffer.Borrow":           func() error { return buffer.Borrow(func([]byte) error { return nil }) },
		"NewBufferList":           func() error { _, err := hurray.NewBufferList(buffer); return err },
		"BufferList.Push":         func() error { return list.Push(buffer) },
		"BufferList.Len":          func() error { _, err := list.Len(); return err },
		"BufferList.Buffer":       func() error { _, err := list.Buffer(0); return err },
		"TensorContext.ABI":       func() error { _, err := context.ABIVersion(); return err },
		"TensorContext.Encoded":   func() error { _, err := context.Descriptor(); return err },
		"Import":                  func() error { _, err := hurray.Import(list, context); return err },
		"NewTensor":               func() error { _, err := hurray.NewTensor(descriptor, list); return err },
		"Reader.Next":             func() error { _, err := reader.Next(); return err },
		"Writer.Write":            func() error { return writer.Write(open) },
		"Writer.Write of closed":  func() error { return writer.Write(tensor) },
		"Writer.Take":             func() error { _, err := writer.Take(); return err },
		"FileWriter.Add":          func() error { return fileWriter.Add("y", open) },
		"FileWriter.Add closed":   func() error { return fileWriter.Add("y", tensor) },
		"FileWriter.SetMetadata":  func() error { return fileWriter.SetMetadata("k", "v") },
		"FileWriter.SetValue":     func() error { return fileWriter.SetValue("k", 1) },
		"FileWriter.AddSource":    func() error { return fileWriter.AddSource("k", openDescriptor, nil) },
		"FileWriter.AddSource of": func() error { return fileWriter.AddSource("k", descriptor, nil) },
		"FileWriter.CopiedBytes":  func() error { _, err := fileWriter.CopiedBytes(); return err },
		"OpenBuffer":              func() error { _, err := hurray.OpenBuffer(buffer, nil); return err },
		"File.Descriptor":         func() error { _, err := file.Descriptor(0); return err },
		"File.BufferRange":        func() error { _, _, err := file.BufferRange(0, 0); return err },
		"File.MetadataValue":      func() error { _, err := file.MetadataValue("k"); return err },
		"FileWriter.Finish":       func() error { return fileWriter.Finish() },
		"File.Info":               func() error { _, err := file.Info(); return err },
		"File.TensorInfo":         func() error { _, err := file.TensorInfo(0); return err },
		"File.Find":               func() error { _, err := file.Find("x"); return err },
		"File.Tensor":             func() error { _, err := file.Tensor(0); return err },
		"File.TensorByName":       func() error { _, err := file.TensorByName("x"); return err },
		"File.MetadataEntry":      func() error { _, _, err := file.MetadataEntry(0); return err },
		"Buffer.Event":            func() error { _, err := buffer.Event(); return err },
		"Buffer.ReleaseEvent":     func() error { return buffer.ReleaseEvent() },
		"Buffer.Stream":           func() error { _, err := buffer.Stream(); return err },
		"Buffer.SetReleaseAny":    func() error { return buffer.SetReleaseAnyThread() },
		"BufferList.Event":        func() error { _, err := list.Event(0); return err },
		"BufferList.ReleaseEvent": func() error { return list.ReleaseEvent(0) },
		"BufferList.Stream":       func() error { _, err := list.Stream(0); return err },
		"Tensor.Event":            func() error { _, err := tensor.Event(0); return err },
		"Tensor.ReleaseEvent":     func() error { return tensor.ReleaseEvent(0) },
		"Tensor.Stream":           func() error { _, err := tensor.Stream(0); return err },
		"Tensor.WaitEvents":       func() error { return tensor.WaitEvents(func(hurray.Event) error { return nil }) },
		"Producer.Request":        func() error { _, err := producer.Request(hurray.Stream{}); return err },
		"Producer.MoveTo":         func() error { return producer.MoveTo(unsafe.Pointer(new([64]byte))) },
		"BufferListFromPointer":   func() error { _, err := hurray.BufferListFromPointer(list.Detach()); return err },
		"TensorContextFromOfNone": func() error { _, err := hurray.TensorContextFromPointer(context.Detach()); return err },
	} {
		var failed *hurray.Error
		switch err := use(); {
		case !errors.As(err, &failed):
			t.Errorf("%s: got %v, want a *hurray.Error", name, err)
		case strings.Contains(name, "From") && !errors.Is(err, hurray.ErrNullPointer):
			t.Errorf("%s: got %v", name, err)
		case !strings.Contains(name, "From") && !errors.Is(err, hurray.ErrClosed):
			t.Errorf("%s: got %v, want ErrClosed", name, err)
		}
	}
	for info, err := range file.Infos() {
		if wants(t, err, hurray.ErrClosed); info.Name != "" {
			t.Error(info)
		}
	}
	ok(t, open.Close())
}

func TestViewOutlivesItsTensorAndFile(t *testing.T) {
	noLeak(t)
	tensor := value(hurray.FromSlice([]float32{1, 2, 3}, []int{3}, nil))(t)
	view := value(tensor.View())(t)
	ok(t, tensor.Close())
	runtime.GC()
	elements := value(hurray.Slice[float32](view))(t)
	if elements[2] != 3 {
		t.Fatal(elements)
	}
	ok(t, view.Close())
	// A tensor that closes itself under a borrow keeps its memory until the borrow ends.
	released := false
	tensor = value(hurray.FromSlice([]float32{1, 2, 3}, []int{3}, &hurray.HostOptions{Release: func() { released = true }}))(t)
	ok(t, hurray.Borrow(tensor, func(elements []float32) error {
		ok(t, tensor.Close())
		if released || elements[1] != 2 {
			t.Error("released under the borrow")
		}
		return nil
	}))
	if !released {
		t.Fatal("not released")
	}
}

func TestBorrowEndsAlsoByErrorAndPanic(t *testing.T) {
	noLeak(t)
	tensor := closing(t, value(hurray.FromSlice([]float32{1}, nil, nil))(t))
	mine := errors.New("mine")
	if err := hurray.Borrow(tensor, func([]float32) error { return mine }); err != mine {
		t.Fatal(err)
	}
	func() {
		defer func() {
			if recover() != "out" {
				t.Error("the panic did not come through")
			}
		}()
		_ = hurray.Borrow(tensor, func([]float32) error { panic("out") })
	}()
}

func TestReleaseMayUseTheLibrary(t *testing.T) {
	noLeak(t)
	var inner error
	tensor := value(hurray.FromSlice([]byte{1}, nil, &hurray.HostOptions{Release: func() {
		other, err := hurray.FromSlice([]byte{2}, nil, nil)
		if err == nil {
			err = other.Close()
		}
		inner = err
	}}))(t)
	ok(t, tensor.Close())
	ok(t, inner)
}

// A panic in a release ends the program, with its value, as one in a goroutine does; it does not unwind C++.
func TestPanicInAReleaseEndsTheProgram(t *testing.T) {
	output, err := inChild(t, "panic", "")
	if err == nil || !strings.Contains(output, "panic: from a release") {
		t.Fatalf("%v: %s", err, output)
	}
}

func panicChild() int {
	tensor, err := hurray.FromSlice([]byte{1}, nil, &hurray.HostOptions{Release: func() { panic("from a release") }})
	if err != nil {
		return 3
	}
	_ = tensor.Close()
	time.Sleep(10 * time.Second)
	return 0
}

// A program that ends with live objects of every kind, over memory of Go's and of the library's, ends with code 0, and
// nothing is called back on the way out: neither what is open, nor what the collector made due and nobody drained.
func TestProgramMayEndWithLiveTensors(t *testing.T) {
	for _, mode := range []string{"exit", "exit with checks"} {
		output, err := inChild(t, mode, "")
		if err != nil || output != "ends\n" {
			t.Errorf("%s: %v: %q", mode, err, output)
		}
	}
}

var kept []any

// exitChild ends a program with live objects; a release that runs shows in the output and in the exit code.
func exitChild(checks bool) int {
	fail := func(err error) int { os.Stdout.WriteString(err.Error() + "\n"); return 3 }
	if err := hurray.SetHandleChecks(checks); err != nil {
		return fail(err)
	}
	called := func() { os.Stdout.WriteString("called back\n"); os.Exit(4) }
	waiting := make(chan struct{})
	open := func() error {
		tensor, err := hurray.FromSlice([]float32{1, 2}, []int{2}, &hurray.HostOptions{Release: called})
		if err != nil {
			return err
		}
		view, err1 := tensor.View()
		list, context, err2 := tensor.Export()
		buffer, _, err3 := hurray.BufferOf(make([]byte, 100), called)
		owner, err4 := hurray.NewTensorContext(hurray.CABIVersion, []byte("x"), called)
		kept = append(kept, tensor, view, list, context, buffer, owner)
		// Memory of the library: allocated, copied, mapped, a stream's.
		allocated, err5 := hurray.AllocateBuffer(1<<20, 0)
		copied, _, err6 := tensor.Copy(0)
		writer, err7 := hurray.NewMemoryWriter()
		reader, err8 := hurray.NewReaderBytes([]byte("HRRY"), nil)
		kept = append(kept, allocated, copied, writer, reader)
		// Memory of a device with its event, and a producer.
		handed, err9 := hurray.HandOff(hurray.Handoff{
			Handle: entry(hurray.SyncEvent).Bytes(), Data: deviceMemory, Release: called,
			Event: hurray.Event{Handle: someEvent, Device: hurray.DeviceCUDA}, ReleaseEvent: called,
		})
		producer, err10 := hurray.NewProducer(hurray.ExporterFunc(nil), called)
		kept = append(kept, handed, producer, errors.Join(err9, err10))
		if err := errors.Join(err9, err10, hurray.SetLog(func(hurray.Diagnostic) { called() })); err != nil {
			return err
		}
		if err := errors.Join(err1, err2, err3, err4, err5, err6, err7, err8, writer.Write(tensor)); err != nil {
			return err
		}
		folder, err := os.MkdirTemp("", "hurray")
		if err != nil {
			return err
		}
		defer os.RemoveAll(folder)
		fileWriter, err := hurray.CreateFile(folder+"/x", hurray.FormatSafetensors)
		if err != nil {
			return err
		}
		if err := errors.Join(fileWriter.Add("x", tensor), fileWriter.Finish()); err != nil {
			return err
		}
		file, err := hurray.Open(folder+"/x", nil)
		if err != nil {
			return err
		}
		mapped, err := file.Tensor(0)
		kept = append(kept, file, mapped)
		return err
	}
	if err := open(); err != nil {
		return fail(err)
	}
	func() {
		tensor, err := hurray.FromSlice(make([]byte, 1000), []int{1000}, &hurray.HostOptions{Release: called})
		if err != nil {
			os.Exit(fail(err))
		}
		runtime.KeepAlive(tensor)
		runtime.SetFinalizer(&struct{ p *int }{new(int)}, func(any) { close(waiting) })
	}()
	// Two rounds: what was forgotten before the probe has been finalized, and its release waits.
	for ended := false; !ended; {
		runtime.GC()
		select {
		case <-waiting:
			ended = true
		case <-time.After(time.Millisecond):
		}
	}
	os.Stdout.WriteString("ends\n")
	return 0
}

// Objects of this package never end a handle twice. Raw pointers can be used twice: with the handle checks on, the
// second use is a typed error, for every kind of handle that travels.
func TestRawPointersUsedTwiceAreTypedErrors(t *testing.T) {
	noLeak(t)
	before := value(hurray.Runtime())(t).HandleChecks
	ok(t, hurray.SetHandleChecks(true))
	t.Cleanup(func() { ok(t, hurray.SetHandleChecks(before)) })
	released := 0
	tensor := value(hurray.FromSlice([]float32{4, 5}, []int{2}, &hurray.HostOptions{Release: func() { released++ }}))(t)
	list, context, err := tensor.Export()
	ok(t, err)
	l, c := list.Detach(), context.Detach()
	ok(t, value(hurray.ImportPointers(l, c))(t).Close())
	wants(t, errorOf(hurray.ImportPointers(l, c)), hurray.ErrInvalidHandle)
	for range 2 {
		// Destroyed twice, and used after that.
		deadList := value(hurray.BufferListFromPointer(l))(t)
		wants(t, errorOf(deadList.Len()), hurray.ErrInvalidHandle)
		wants(t, errorOf(deadList.Buffer(0)), hurray.ErrInvalidHandle)
		wants(t, deadList.Close(), hurray.ErrInvalidHandle)
		deadContext := value(hurray.TensorContextFromPointer(c))(t)
		wants(t, errorOf(deadContext.ABIVersion()), hurray.ErrInvalidHandle)
		wants(t, errorOf(deadContext.Descriptor()), hurray.ErrInvalidHandle)
		wants(t, deadContext.Close(), hurray.ErrInvalidHandle)
	}
	// A push onto a destroyed list moves nothing.
	deadList := value(hurray.BufferListFromPointer(l))(t)
	buffer := value(hurray.AllocateBuffer(1, 0))(t)
	wants(t, deadList.Push(buffer), hurray.ErrInvalidHandle)
	ok(t, errorOf(buffer.Info()))
	wants(t, deadList.Close(), hurray.ErrInvalidHandle)
	ok(t, errors.Join(buffer.Close(), tensor.Close()))
	if released != 1 {
		t.Fatalf("released %d times", released)
	}
}

func TestSharesOfManyGoroutinesUnderTheCollector(t *testing.T) {
	noLeak(t)
	var released atomic.Int64
	const goroutines, rounds = 8, 60
	data := make([]int64, 64)
	for i := range data {
		data[i] = int64(i)
	}
	stop := make(chan struct{})
	var storm sync.WaitGroup
	storm.Add(1)
	go func() {
		defer storm.Done()
		for {
			select {
			case <-stop:
				return
			default:
				runtime.GC()
			}
		}
	}()
	var all sync.WaitGroup
	for range goroutines {
		all.Add(1)
		go func() {
			defer all.Done()
			for round := range rounds {
				tensor, err := hurray.FromSlice(append([]int64{}, data...), []int{8, 8},
					&hurray.HostOptions{Release: func() { released.Add(1) }})
				if err != nil {
					t.Error(err)
					return
				}
				share, err := tensor.Share()
				if err != nil {
					t.Error(err)
					return
				}
				err = hurray.Borrow(share, func(elements []int64) error {
					sum := int64(0)
					for _, x := range elements {
						sum += x
					}
					if sum != 63*64/2 {
						return fmt.Errorf("sum %d", sum)
					}
					return nil
				})
				if err != nil {
					t.Error(err)
				}
				// Every third is left to the collector.
				if round%3 != 0 {
					err = errors.Join(tensor.Close(), share.Close())
					if err != nil {
						t.Error(err)
					}
				}
			}
		}()
	}
	all.Wait()
	close(stop)
	storm.Wait()
	collect(t, "all releases", func() bool {
		_, err := hurray.DrainReleases()
		ok(t, err)
		return released.Load() == goroutines*rounds
	})
}

func TestTensorClosedWhileOthersUseIt(t *testing.T) {
	noLeak(t)
	for range 200 {
		var released atomic.Int64
		tensor := value(hurray.FromSlice([]int32{1, 2, 3, 4}, []int{4}, &hurray.HostOptions{Release: func() { released.Add(1) }}))(t)
		var all sync.WaitGroup
		for i := range 4 {
			all.Add(1)
			go func() {
				defer all.Done()
				if i == 3 {
					if err := tensor.Close(); err != nil {
						t.Error(err)
					}
					return
				}
				err := hurray.Borrow(tensor, func(elements []int32) error {
					if elements[3] != 4 {
						return errors.New("wrong element")
					}
					return nil
				})
				if err != nil && !errors.Is(err, hurray.ErrClosed) {
					t.Error(err)
				}
			}()
		}
		all.Wait()
		if released.Load() != 1 {
			t.Fatalf("released %d times", released.Load())
		}
	}
}
