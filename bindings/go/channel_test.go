package hurray_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"hurray.dev/go/hurray"
)

// patience is longer than anything here takes, on a machine however loaded.
const patience = 60 * time.Second

func patient(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// ends are both ends of a channel, in this process.
func ends(t testing.TB, options *hurray.ChannelOptions) (first, second *hurray.Channel) {
	t.Helper()
	first, file, err := hurray.ChannelPair(options)
	ok(t, err)
	second = value(hurray.ChannelFromFile(file, options))(t)
	ok(t, file.Close())
	return closing(t, first), closing(t, second)
}

// shared is a tensor of bytes in memory for channels.
func shared(t testing.TB, data []byte) *hurray.Tensor {
	t.Helper()
	return over(t, value(hurray.AllocateSharedBuffer(uint64(len(data)), 0))(t), data)
}

func over(t testing.TB, buffer *hurray.Buffer, data []byte) *hurray.Tensor {
	t.Helper()
	ok(t, buffer.Borrow(func(memory []byte) error { copy(memory, data); return nil }))
	descriptor := value(hurray.NewDescriptor(hurray.DescriptorSpec{
		ElementType: hurray.TypeUint8,
		Layout:      hurray.LayoutRowMajor,
		Shape:       []uint64{uint64(len(data))},
		Buffers:     []hurray.BufferHandle{value(buffer.Handle())(t)},
	}))(t)
	defer descriptor.Close()
	list := value(hurray.NewBufferList(buffer))(t)
	return value(hurray.NewTensor(descriptor, list))(t)
}

func contentOf(t testing.TB, tensor *hurray.Tensor) (copied []byte) {
	t.Helper()
	ok(t, hurray.BorrowBytes(tensor, func(bytes []byte) error { copied = slices.Clone(bytes); return nil }))
	return copied
}

func bufferInfo(t testing.TB, tensor *hurray.Tensor) hurray.BufferInfo {
	t.Helper()
	buffer := value(tensor.Buffer(0))(t)
	defer buffer.Close()
	return value(buffer.Info())(t)
}

// eventually waits until done says so.
func eventually(t testing.TB, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it did not come about: %s", what)
		}
	}
}

func TestChannelPassesSharedMemoryAndFilesWithoutACopy(t *testing.T) {
	noLeak(t)
	first, second := ends(t, nil)
	data := bytes.Repeat([]byte("sixteen bytes ._"), 1000)

	tensor := shared(t, data)
	before := bufferInfo(t, tensor)
	if !before.Shared || before.Sealed || before.ReadOnly {
		t.Fatalf("%+v", before)
	}
	ok(t, first.Send(patient(t), tensor))
	if after := bufferInfo(t, tensor); !after.Sealed || !after.ReadOnly || after.Address != before.Address {
		t.Fatalf("sent: %+v, before %+v", after, before)
	}
	ok(t, tensor.Close())

	path := safetensors(t, `{"x":{"dtype":"U8","shape":[5],"data_offsets":[0,5]}}`, []byte("bytes"))
	file := value(hurray.Open(path, nil))(t)
	mapped := value(file.TensorByName("x"))(t)
	ok(t, file.Close())
	ok(t, first.Send(patient(t), mapped))
	// A mapped tensor begins at a multiple of 64 bytes, with a prefix before its own bytes.
	passed := uint64(len(data)) + bufferInfo(t, mapped).ByteSize
	ok(t, mapped.Close())

	lent := value(hurray.FromSlice([]byte{1, 2, 3}, []int{3}, nil))(t)
	ok(t, first.Send(patient(t), lent))
	ok(t, lent.Close())
	ok(t, first.Finish(patient(t)))
	ok(t, first.Finish(patient(t)))

	for i, want := range [][]byte{data, []byte("bytes"), {1, 2, 3}} {
		received := value(second.Receive(patient(t)))(t)
		if got := contentOf(t, received); !bytes.Equal(got, want) {
			t.Errorf("tensor %d: %d bytes, want %d", i, len(got), len(want))
		}
		if info := bufferInfo(t, received); !info.Shared || !info.ReadOnly || info.Sealed != (i != 1) {
			t.Errorf("tensor %d: %+v", i, info)
		}
		wants(t, hurray.BorrowMutable(received, func([]byte) error { return nil }), hurray.ErrReadOnly)
		ok(t, received.Close())
	}
	for range 2 {
		if tensor, err := second.Receive(patient(t)); tensor != nil || err != io.EOF {
			t.Fatalf("got %v, %v, want io.EOF", tensor, err)
		}
	}
	sent := value(first.Info())(t)
	if sent.Sent != 3 || sent.PassedBytes != passed || sent.CopiedBytes != 3 {
		t.Errorf("%+v", sent)
	}
	received := value(second.Info())(t)
	if received.Received != 3 || received.ReceivedBytes != passed+3 || received.CopiedBytes != 0 || received.Held != 0 ||
		!received.PeerFinished || received.PeerPID != os.Getpid() || int(received.PeerUID) != os.Getuid() {
		t.Errorf("%+v", received)
	}
	// The release travelled back.
	eventually(t, "nothing is out", func() bool { ok(t, first.Process()); return value(first.Info())(t).Outstanding == 0 })
	wants(t, first.Send(patient(t), lent), hurray.ErrClosed)
	again := closing(t, value(hurray.FromSlice([]byte{1}, nil, nil))(t))
	wants(t, first.Send(patient(t), again), hurray.ErrInvalidArgument)
}

func TestChannelHandsOverEveryShape(t *testing.T) {
	noLeak(t)
	first, second := ends(t, nil)
	values := []float32{0, 1, 2, 3, 4, 5}
	for name, c := range map[string]struct {
		shape   []int
		options *hurray.HostOptions
		want    []float64
	}{
		"rank 0":           {nil, &hurray.HostOptions{ByteOffset: 8}, []float64{2}},
		"zero size":        {[]int{2, 0}, nil, nil},
		"byte offset":      {[]int{2}, &hurray.HostOptions{ByteOffset: 16}, []float64{4, 5}},
		"column major":     {[]int{2, 3}, &hurray.HostOptions{ColumnMajor: true}, []float64{0, 2, 4, 1, 3, 5}},
		"negative strides": {[]int{3}, &hurray.HostOptions{Strides: []int{-2}, ByteOffset: 20}, []float64{5, 3, 1}},
		"zero strides":     {[]int{3}, &hurray.HostOptions{Strides: []int{0}, ByteOffset: 4}, []float64{1, 1, 1}},
		"prefix":           {[]int{2}, nil, []float64{1, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			memory := values
			if name == "prefix" {
				memory = values[1:]
			}
			tensor := closing(t, value(hurray.FromSlice(memory, c.shape, c.options))(t))
			ok(t, first.Send(patient(t), tensor))
			received := closing(t, value(second.Receive(patient(t)))(t))
			view := closing(t, value(received.View())(t))
			var got []float64
			for x := range value(view.Float64s())(t) {
				got = append(got, x)
			}
			if !slices.Equal(got, c.want) || !slices.Equal(view.Shape(), c.shape) && len(c.shape) != 0 {
				t.Errorf("%v of shape %v, want %v of shape %v", got, view.Shape(), c.want, c.shape)
			}
		})
	}
}

func TestTensorsOutliveTheirChannelAndAreGivenBack(t *testing.T) {
	noLeak(t)
	first, second := ends(t, nil)
	tensor := shared(t, []byte("stays"))
	ok(t, first.Send(patient(t), tensor))
	ok(t, tensor.Close())
	received := value(second.Receive(patient(t)))(t)
	view := value(received.View())(t)
	ok(t, received.Close())
	ok(t, second.Close())
	ok(t, first.Process())
	if info := value(first.Info())(t); info.Outstanding != 1 || !info.PeerFinished {
		t.Fatalf("%+v", info)
	}
	if got := string(value(view.Bytes())(t)); got != "stays" {
		t.Fatal(got)
	}
	ok(t, view.Close())
	eventually(t, "the release has come", func() bool {
		err := first.Process()
		if err != nil {
			wants(t, err, hurray.ErrDisconnected)
		}
		return value(first.Info())(t).Outstanding == 0
	})
}

func TestMemoryWithAViewOpenIsCopiedAndStaysWritable(t *testing.T) {
	noLeak(t)
	first, second := ends(t, nil)
	tensor := closing(t, shared(t, []byte("first")))
	ok(t, hurray.BorrowMutable(tensor, func(elements []byte) error {
		ok(t, first.Send(patient(t), tensor))
		elements[0] = 'F' // would fault, were it sealed
		return nil
	}))
	received := closing(t, value(second.Receive(patient(t)))(t))
	if got := string(contentOf(t, received)); got != "first" {
		t.Error(got)
	}
	if info := value(first.Info())(t); info.CopiedBytes != 5 || info.PassedBytes != 0 {
		t.Errorf("%+v", info)
	}
}

func TestReleasesOfAChannelMayUseIt(t *testing.T) {
	noLeak(t)
	first, second := ends(t, nil)
	// Two buffers: the channel keeps the tensor for the first one, and with it the second.
	released := make(chan hurray.ChannelInfo, 1)
	lent, _, err := hurray.BufferOf(make([]uint64, 8), func() {
		info, err := first.Info()
		if err != nil {
			t.Error(err)
		}
		released <- info
	})
	ok(t, err)
	values := value(hurray.AllocateSharedBuffer(8, 0))(t)
	descriptor := value(hurray.NewDescriptor(hurray.DescriptorSpec{
		ElementType:  hurray.TypeFloat32,
		Layout:       hurray.LayoutCOO,
		Shape:        []uint64{2},
		LayoutFields: hurray.COOLayout{NNZ: 2, Sorted: true},
		Buffers:      []hurray.BufferHandle{value(values.Handle())(t), value(lent.Handle())(t)},
	}))(t)
	defer descriptor.Close()
	list := value(hurray.NewBufferList(values, lent))(t)
	tensor := value(hurray.NewTensor(descriptor, list))(t)
	ok(t, first.Send(patient(t), tensor))
	ok(t, tensor.Close())
	received := value(second.Receive(patient(t)))(t)
	ok(t, received.Close())
	eventually(t, "the release has run", func() bool { ok(t, first.Process()); return len(released) == 1 })
	if info := <-released; info.Sent != 1 {
		t.Errorf("%+v", info)
	}
}

func TestContextsEndWhatWaits(t *testing.T) {
	noLeak(t)
	first, second := ends(t, &hurray.ChannelOptions{MaxOutstanding: 1})
	listener := closing(t, value(hurray.ListenChannel(filepath.Join(t.TempDir(), "socket"), nil))(t))
	tensor := closing(t, shared(t, []byte{1}))
	ok(t, first.Send(patient(t), tensor))
	held := closing(t, value(second.Receive(patient(t)))(t))
	nowhere := filepath.Join(t.TempDir(), "nobody")
	for name, wait := range map[string]func(ctx context.Context) error{
		"Receive":        func(ctx context.Context) error { _, err := second.Receive(ctx); return err },
		"Send":           func(ctx context.Context) error { return first.Send(ctx, tensor) },
		"Accept":         func(ctx context.Context) error { _, err := listener.Accept(ctx); return err },
		"ConnectChannel": func(ctx context.Context) error { _, err := hurray.ConnectChannel(ctx, nowhere, nil); return err },
	} {
		t.Run(name, func(t *testing.T) {
			late, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
			defer cancel()
			err := wait(late)
			wants(t, err, hurray.ErrTimedOut)
			if !errors.Is(err, context.DeadlineExceeded) || late.Err() == nil {
				t.Error(err)
			}
			mine := errors.New("mine")
			stopped, stop := context.WithCancelCause(context.Background())
			time.AfterFunc(30*time.Millisecond, func() { stop(mine) })
			err = wait(stopped)
			wants(t, err, hurray.ErrCancelled)
			if !errors.Is(err, mine) {
				t.Error(err)
			}
			wants(t, wait(stopped), hurray.ErrCancelled)
		})
	}
	wants(t, errorOf(second.TryReceive()), hurray.ErrTimedOut)
	// Nothing is lost by that.
	ok(t, held.Close())
	ok(t, first.Send(patient(t), tensor))
	ok(t, value(second.Receive(patient(t)))(t).Close())
	if info := value(first.Info())(t); info.Sent != 2 {
		t.Errorf("%+v", info)
	}
}

func TestCloseEndsWhatWaits(t *testing.T) {
	noLeak(t)
	path := filepath.Join(t.TempDir(), "socket")
	tensor := closing(t, shared(t, []byte{1}))
	for name, wait := range map[string]func(first, second *hurray.Channel) error{
		"Receive": func(first, _ *hurray.Channel) error { _, err := first.Receive(context.Background()); return err },
		"Send": func(first, _ *hurray.Channel) error {
			ok(t, first.Send(context.Background(), tensor))
			return first.Send(context.Background(), tensor)
		},
	} {
		t.Run(name, func(t *testing.T) {
			first, second := ends(t, &hurray.ChannelOptions{MaxOutstanding: 1})
			failed := make(chan error)
			go func() { failed <- wait(first, second) }()
			time.Sleep(30 * time.Millisecond)
			// Another goroutine is not kept from the channel.
			_, err := first.Info()
			ok(t, err)
			ok(t, first.Close())
			wants(t, <-failed, hurray.ErrClosed)
			var last error
			for received, err := range second.Tensors(patient(t)) {
				if last = err; err == nil && received == nil {
					t.Error("neither a tensor nor an error")
				}
			}
			ok(t, last)
		})
	}
	listener := value(hurray.ListenChannel(path, nil))(t)
	failed := make(chan error)
	go func() { _, err := listener.Accept(context.Background()); failed <- err }()
	time.Sleep(30 * time.Millisecond)
	ok(t, listener.Close())
	ok(t, listener.Close())
	wants(t, <-failed, hurray.ErrClosed)
	wants(t, errorOf(listener.Accept(patient(t))), hurray.ErrClosed)
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Error("the socket file is still there:", err)
	}
}

func TestClosedChannelsSaySo(t *testing.T) {
	noLeak(t)
	channel, second := ends(t, nil)
	tensor := closing(t, shared(t, []byte{1}))
	for range 3 {
		ok(t, channel.Close())
	}
	for name, use := range map[string]func() error{
		"Send":       func() error { return channel.Send(patient(t), tensor) },
		"Receive":    func() error { _, err := channel.Receive(patient(t)); return err },
		"TryReceive": func() error { _, err := channel.TryReceive(); return err },
		"Process":    func() error { return channel.Process() },
		"Finish":     func() error { return channel.Finish(patient(t)) },
		"Info":       func() error { _, err := channel.Info(); return err },
		"FD":         func() error { _, err := channel.FD(); return err },
	} {
		if err := use(); !errors.Is(err, hurray.ErrClosed) {
			t.Errorf("%s: got %v, want ErrClosed", name, err)
		}
	}
	for _, err := range channel.Tensors(patient(t)) {
		wants(t, err, hurray.ErrClosed)
	}
	for range second.Tensors(patient(t)) {
		t.Error("a tensor of a peer that sent none")
	}
}

func TestChannelLimits(t *testing.T) {
	noLeak(t)
	first, second := ends(t, &hurray.ChannelOptions{MaxTensorBytes: 8, MaxAlignment: 4096})
	strict, sender := ends(t, &hurray.ChannelOptions{SealedOnly: true})
	send := func(to *hurray.Channel, tensor *hurray.Tensor) {
		t.Helper()
		ok(t, to.Send(patient(t), tensor))
		ok(t, tensor.Close())
	}
	send(first, shared(t, make([]byte, 9)))
	send(first, over(t, value(hurray.AllocateSharedBuffer(1, 8192))(t), []byte{1}))
	send(first, shared(t, make([]byte, 8)))
	for range 2 {
		wants(t, errorOf(second.Receive(patient(t))), hurray.ErrLimitExceeded)
	}
	// What was refused was given back, and the next one is there.
	ok(t, value(second.Receive(patient(t)))(t).Close())
	eventually(t, "everything was given back", func() bool {
		ok(t, first.Process())
		return value(first.Info())(t).Outstanding == 0
	})
	file := value(hurray.Open(safetensors(t, `{"x":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}`, []byte{1}), nil))(t)
	send(sender, value(file.Tensor(0))(t))
	ok(t, file.Close())
	send(sender, shared(t, []byte{1}))
	if err := errorOf(strict.Receive(patient(t))); err == nil {
		t.Error("a file was received where only sealed memory is")
	} else {
		wants(t, err, hurray.ErrUnsupported)
	}
	ok(t, value(strict.Receive(patient(t)))(t).Close())
}

func TestChannelsRefuseWhatIsNone(t *testing.T) {
	noLeak(t)
	regular := value(os.Create(filepath.Join(t.TempDir(), "regular")))(t)
	defer regular.Close()
	wants(t, errorOf(hurray.ChannelFromFile(regular, nil)), hurray.ErrInvalidArgument)
	wants(t, errorOf(hurray.ChannelFromFD(-1, nil)), hurray.ErrInvalidArgument)
	ok(t, regular.Close())
	wants(t, errorOf(hurray.ChannelFromFile(regular, nil)), hurray.ErrIO)
	stream, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	ok(t, err)
	defer syscall.Close(stream[0])
	defer syscall.Close(stream[1])
	wants(t, errorOf(hurray.ChannelFromFD(stream[0], nil)), hurray.ErrInvalidArgument)
	wants(t, errorOf(hurray.ListenChannel(strings.Repeat("x", 200), nil)), hurray.ErrInvalidArgument)
	wants(t, errorOf(hurray.ListenChannel("nul\x00", nil)), hurray.ErrInvalidArgument)
	wants(t, errorOf(hurray.ConnectChannel(patient(t), "nul\x00", nil)), hurray.ErrInvalidArgument)
	wants(t, errorOf(hurray.ListenChannel(regular.Name(), nil)), hurray.ErrInvalidArgument)
	path := filepath.Join(t.TempDir(), "socket")
	listener := closing(t, value(hurray.ListenChannel(path, nil))(t))
	if mode := value(os.Lstat(path))(t).Mode().Perm(); mode != 0o600 {
		t.Errorf("the socket file has mode %o", mode)
	}
	wants(t, errorOf(hurray.ListenChannel(path, nil)), hurray.ErrIO)
	ok(t, listener.Close())
}

func TestAPeerThatLiesEndsTheChannel(t *testing.T) {
	noLeak(t)
	for name, packet := range map[string][]byte{
		"nonsense": []byte("this is no packet of a channel's"),
		"short":    []byte("HRCH"),
		"version":  append([]byte("HRCH\x01\x00\x00\x00\x18\x00\x00\x00\x00\x00\x00\x00"), 99, 0, 0, 0, 0, 0, 0, 0),
	} {
		t.Run(name, func(t *testing.T) {
			channel, file, err := hurray.ChannelPair(nil)
			ok(t, err)
			closing(t, channel)
			defer file.Close()
			if _, err := syscall.Write(int(file.Fd()), packet); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				var failed *hurray.Error
				if _, err := channel.Receive(patient(t)); !errors.As(err, &failed) || err == io.EOF || errors.Is(err, hurray.ErrTimedOut) {
					t.Errorf("got %v", err)
				}
			}
		})
	}
}

func TestForgottenChannelsAreCollected(t *testing.T) {
	noLeak(t)
	_, second := ends(t, nil)
	var file *os.File
	func() {
		forgotten, peer, err := hurray.ChannelPair(nil)
		ok(t, err)
		tensor := shared(t, []byte{1})
		ok(t, forgotten.Send(patient(t), tensor))
		ok(t, tensor.Close())
		file = peer
	}()
	peer := closing(t, value(hurray.ChannelFromFile(file, nil))(t))
	ok(t, file.Close())
	ok(t, value(peer.Receive(patient(t)))(t).Close())
	collect(t, "the end of a channel that was forgotten", func() bool {
		_, _ = hurray.DrainReleases()
		_, err := peer.TryReceive()
		return err == io.EOF
	})
	wants(t, errorOf(second.TryReceive()), hurray.ErrTimedOut)
}

func TestManyGoroutinesUseAChannel(t *testing.T) {
	noLeak(t)
	first, second := ends(t, &hurray.ChannelOptions{MaxOutstanding: 4})
	const senders, each = 4, 50
	var group sync.WaitGroup
	for _, end := range []*hurray.Channel{first, second} {
		var sending sync.WaitGroup
		for sender := range senders {
			sending.Add(1)
			group.Add(1)
			go func() {
				defer group.Done()
				defer sending.Done()
				for i := range each {
					tensor, err := hurray.FromSlice([]byte{byte(sender), byte(i)}, []int{2}, nil)
					if err == nil {
						err = errors.Join(end.Send(patient(t), tensor), tensor.Close())
					}
					if err != nil {
						t.Error(err)
						return
					}
				}
			}()
		}
		group.Add(2)
		go func() {
			defer group.Done()
			sending.Wait()
			if err := end.Finish(patient(t)); err != nil {
				t.Error(err)
			}
		}()
		go func() {
			defer group.Done()
			var next [senders]byte
			for tensor, err := range end.Tensors(patient(t)) {
				if err != nil {
					t.Error(err)
					return
				}
				got := contentOf(t, tensor)
				if got[1] != next[got[0]] {
					t.Errorf("sender %d: tensor %d, want %d", got[0], got[1], next[got[0]])
				}
				next[got[0]]++
			}
			if next != [senders]byte{each, each, each, each} {
				t.Error(next)
			}
		}()
	}
	group.Wait()
}

// The other process: it sends back what it receives, and says what it cost.
func channelChild(mode string) int {
	report := func(err error) int { os.Stderr.WriteString(err.Error() + "\n"); return 1 }
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var channel *hurray.Channel
	var err error
	if mode == "channel of a path" {
		channel, err = hurray.ConnectChannel(ctx, os.Args[1], nil)
	} else {
		channel, err = hurray.ChannelFromFD(3, nil)
	}
	if err != nil {
		return report(err)
	}
	for tensor, err := range channel.Tensors(ctx) {
		if err == nil {
			err = channel.Send(ctx, tensor)
		}
		if err != nil {
			return report(err)
		}
		if mode == "channel that dies" {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
	}
	info, err := channel.Info()
	if err == nil {
		err = errors.Join(channel.Finish(ctx), channel.Close())
	}
	if err != nil {
		return report(err)
	}
	if info.CopiedBytes != 0 || info.PassedBytes != info.ReceivedBytes {
		return report(errors.New("bytes were copied"))
	}
	if handles, _, err := hurray.LiveHandles(hurray.HandleAny); err != nil || handles > 1 {
		return report(errors.New("handles are live"))
	}
	return 0
}

// otherProcess starts this test binary as the other end of a channel.
func otherProcess(t *testing.T, mode string, file *os.File, arguments ...string) *exec.Cmd {
	t.Helper()
	command := exec.Command(value(os.Executable())(t), arguments...)
	command.Env = append(os.Environ(), child+"="+mode)
	command.Stderr = os.Stderr
	if file != nil {
		command.ExtraFiles = []*os.File{file}
	}
	ok(t, command.Start())
	return command
}

func TestTwoProcessesPassTensorsWithoutACopy(t *testing.T) {
	for _, mode := range []string{"channel", "channel of a path"} {
		t.Run(mode, func(t *testing.T) {
			noLeak(t)
			var channel *hurray.Channel
			var command *exec.Cmd
			if mode == "channel" {
				mine, file, err := hurray.ChannelPair(nil)
				ok(t, err)
				channel, command = mine, otherProcess(t, mode, file)
				ok(t, file.Close())
			} else {
				path := filepath.Join(t.TempDir(), "socket")
				listener := closing(t, value(hurray.ListenChannel(path, nil))(t))
				command = otherProcess(t, mode, nil, path)
				channel = value(listener.Accept(patient(t)))(t)
				if info := value(channel.Info())(t); info.PeerPID != command.Process.Pid {
					t.Errorf("the peer is process %d, want %d", info.PeerPID, command.Process.Pid)
				}
			}
			closing(t, channel)
			data := bytes.Repeat([]byte{1, 2, 3, 4}, 1<<18)
			sent := []*hurray.Tensor{shared(t, data)}
			file := value(hurray.Open(safetensors(t, `{"x":{"dtype":"U8","shape":[3],"data_offsets":[2,5]},`+
				`"y":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}`, []byte("yyxxx")), nil))(t)
			sent = append(sent, value(file.TensorByName("x"))(t))
			ok(t, file.Close())
			var passed uint64
			for i, tensor := range sent {
				want := contentOf(t, tensor)
				passed += bufferInfo(t, tensor).ByteSize
				ok(t, channel.Send(patient(t), tensor))
				ok(t, tensor.Close())
				back := value(channel.Receive(patient(t)))(t)
				if got := contentOf(t, back); !bytes.Equal(got, want) {
					t.Errorf("tensor %d: %d bytes came back, %d were sent", i, len(got), len(want))
				}
				ok(t, back.Close())
			}
			ok(t, channel.Finish(patient(t)))
			if _, err := channel.Receive(patient(t)); err != io.EOF {
				t.Errorf("got %v, want io.EOF", err)
			}
			ok(t, command.Wait())
			if info := value(channel.Info())(t); info.CopiedBytes != 0 || info.PassedBytes != passed ||
				info.ReceivedBytes != info.PassedBytes || info.Outstanding != 0 || info.Held != 0 {
				t.Errorf("%+v", info)
			}
		})
	}
}

func TestTheDeathOfTheOtherProcessIsNoticed(t *testing.T) {
	noLeak(t)
	channel, file, err := hurray.ChannelPair(nil)
	ok(t, err)
	closing(t, channel)
	command := otherProcess(t, "channel that dies", file)
	ok(t, file.Close())
	tensor := closing(t, shared(t, []byte("remains")))
	ok(t, channel.Send(patient(t), tensor))
	received := closing(t, value(channel.Receive(patient(t)))(t))
	wants(t, errorOf(channel.Receive(patient(t))), hurray.ErrDisconnected)
	wants(t, channel.Process(), hurray.ErrDisconnected)
	wants(t, channel.Send(patient(t), tensor), hurray.ErrDisconnected)
	if err := command.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Error(err)
	}
	if info := value(channel.Info())(t); !info.PeerGone || info.Outstanding != 0 {
		t.Errorf("%+v", info)
	}
	if got := string(contentOf(t, received)); got != "remains" {
		t.Error(got)
	}
}
