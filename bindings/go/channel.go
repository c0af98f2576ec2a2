package hurray

import (
	"context"
	"errors"
	"io"
	"iter"
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"hurray.dev/go/hurray/internal/capi"
	"hurray.dev/go/hurray/internal/native"
)

// A Channel is one end of a connection to another process of the machine; either end sends and receives tensors, whose
// bytes stay where they are. (docs/channel.md) Linux only. It is ended by Close; tensors that came through it outlive it.
//
// Several goroutines may use a channel: one that waits to receive or for room to send does not keep the others from it,
// and Close ends what waits, with ErrClosed. Releases of memory that the peer has given back run in the calls of the
// channel, on their goroutine and with no lock held. Since version 4 of the C ABI.
type Channel struct {
	owned[*capi.Channel]
	// socket is a duplicate of the channel's socket, over which goroutines wait without holding a thread or the lock.
	socket *os.File
	conn   syscall.RawConn
	// maxOutstanding is how many tensors may be out.
	maxOutstanding uint64
	// receiving and sending each let one goroutine in: a wait has one deadline.
	receiving, sending chan struct{}
	// life ends with Close.
	life context.Context
	end  context.CancelFunc
}

// ChannelOptions are the limits of a channel. The zero value, or nil, are the defaults.
type ChannelOptions struct {
	// PrivateTags: accept private layouts and quantization schemes.
	PrivateTags bool
	// Permissive: accept element types and quantization schemes that are not known.
	Permissive bool
	// OtherUsers: accept peers that are other users; everybody can reach a listener's socket file then.
	OtherUsers bool
	// SealedOnly: receive memory that is sealed, which nobody can change, and refuse all other, files included.
	SealedOnly bool
	// CopyFiles: copy tensors of mapped files instead of passing the file, all of which the peer could read.
	CopyFiles bool
	// MaxDescriptorLength is the longest descriptor accepted, in bytes; 0 means 16 MiB.
	MaxDescriptorLength uint64
	// MaxTensorBytes is the largest tensor accepted, in bytes over all its buffers; 0 means no limit.
	MaxTensorBytes uint64
	// MaxAlignment is the largest alignment of a buffer accepted, in bytes; 0 means 2 MiB.
	MaxAlignment uint32
	// MaxOutstanding is how many tensors may be sent and not yet released by the peer; 0 means 65536.
	MaxOutstanding uint32
}

const defaultOutstanding = 65536

func (o *ChannelOptions) record(flags ChannelFlag) *capi.ChannelOptions {
	record := &capi.ChannelOptions{StructSize: uint32(unsafe.Sizeof(capi.ChannelOptions{}))}
	if o != nil {
		for _, option := range []struct {
			set  bool
			flag ChannelFlag
		}{
			{o.PrivateTags, ChannelFlagPrivateTags}, {o.Permissive, ChannelFlagPermissive}, {o.OtherUsers, ChannelFlagOtherUsers},
			{o.SealedOnly, ChannelFlagSealedOnly}, {o.CopyFiles, ChannelFlagCopyFiles},
		} {
			if option.set {
				flags |= option.flag
			}
		}
		record.MaxDescriptorLength = o.MaxDescriptorLength
		record.MaxTensorBytes = o.MaxTensorBytes
		record.MaxAlignment = o.MaxAlignment
		record.MaxOutstanding = o.MaxOutstanding
	}
	record.Flags = uint32(flags)
	return record
}

// ChannelInfo says what a channel has done so far.
type ChannelInfo struct {
	// Sent and Received are how many tensors.
	Sent, Received uint64
	// PassedBytes were sent without a copy, CopiedBytes were copied into shared memory to be sent, and ReceivedBytes were
	// received; none of these is ever copied.
	PassedBytes, CopiedBytes, ReceivedBytes uint64
	// Outstanding tensors were sent and not released by the peer, as far as is known here; Held were received and have
	// not ended here.
	Outstanding, Held uint64
	// PeerFinished: the peer sends no more tensors. PeerGone: it has ended, or broke the protocol.
	PeerFinished, PeerGone bool
	// PeerPID and PeerUID are process and user of the peer, as the kernel says: for a pair, the process that made it.
	PeerPID int
	PeerUID uint32
}

// ConnectChannel connects to the listener at a path, and waits until there is one, and until it has room, or the context
// ends. options may be nil.
//
// Errors: ErrTimedOut or ErrCancelled, which wrap the cause of the context's end; ErrInvalidArgument for the options, or
// a path of something else; ErrIO when the connection is not allowed, or the listener is another user; ErrLimitExceeded.
func ConnectChannel(ctx context.Context, path string, options *ChannelOptions) (*Channel, error) {
	const op = "ConnectChannel"
	if err := load(op); err != nil {
		return nil, err
	}
	cPath, err := cString(op, path)
	if err != nil {
		return nil, err
	}
	var handle *capi.Channel
	err = inSlices(op, ctx, func(milliseconds int32) error {
		return call(op, func(report *capi.Error) int32 {
			return capi.CallChannelConnect(unsafe.SliceData(cPath), options.record(0), milliseconds, &handle, report)
		})
	})
	if err != nil {
		return nil, err
	}
	return newChannel(op, handle, options)
}

// ChannelFromFile makes a channel of a connected Unix socket of type SOCK_SEQPACKET: one of a socketpair, or inherited.
// The file stays the caller's and the channel uses a duplicate: the peer does not notice the end of the channel as long
// as the file is open. options may be nil.
//
// Errors: ErrInvalidArgument for another kind of file, or the options; ErrIO when the peer is another user, or the file
// is closed; ErrLimitExceeded.
func ChannelFromFile(file *os.File, options *ChannelOptions) (*Channel, error) {
	const op = "ChannelFromFile"
	if err := load(op); err != nil {
		return nil, err
	}
	descriptor, err := native.Duplicate(file)
	runtime.KeepAlive(file)
	if err != nil {
		return nil, &Error{Op: op, Code: StatusIO, Message: err.Error(), Offset: -1, Err: err}
	}
	channel, err := channelFromDescriptor(op, descriptor, options)
	if err != nil {
		native.CloseDescriptor(descriptor)
	}
	return channel, err
}

// ChannelFromFD is ChannelFromFile for the number of a descriptor, such as one that was inherited, which is the channel's
// once ChannelFromFD has succeeded.
func ChannelFromFD(fd int, options *ChannelOptions) (*Channel, error) {
	const op = "ChannelFromFD"
	if err := load(op); err != nil {
		return nil, err
	}
	if int64(int32(fd)) != int64(fd) {
		return nil, invalid(op, "there is no descriptor of that number")
	}
	return channelFromDescriptor(op, int32(fd), options)
}

func channelFromDescriptor(op string, descriptor int32, options *ChannelOptions) (*Channel, error) {
	var handle *capi.Channel
	err := call(op, func(report *capi.Error) int32 {
		return capi.CallChannelFromFD(descriptor, options.record(ChannelFlagCloseFD), &handle, report)
	})
	if err != nil {
		return nil, err
	}
	return newChannel(op, handle, options)
}

// ChannelPair makes both ends of a channel: one to use here, and a file that another process makes its end of, with
// ChannelFromFD: exec.Cmd.ExtraFiles hands it to a child. The caller closes the file once it has been handed over.
//
// Errors: ErrIO, and those of ChannelFromFile.
func ChannelPair(options *ChannelOptions) (*Channel, *os.File, error) {
	const op = "ChannelPair"
	// The lock keeps a fork from inheriting the descriptors before they are marked as closed on exec.
	syscall.ForkLock.RLock()
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_SEQPACKET, 0)
	if err == nil {
		syscall.CloseOnExec(pair[0])
		syscall.CloseOnExec(pair[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, &Error{Op: op, Code: StatusIO, Message: err.Error(), Offset: -1, Err: err}
	}
	channel, err := ChannelFromFD(pair[0], options)
	if err != nil {
		_ = syscall.Close(pair[0])
		_ = syscall.Close(pair[1])
		return nil, nil, err
	}
	return channel, os.NewFile(uintptr(pair[1]), "channel"), nil
}

func newChannel(op string, handle *capi.Channel, options *ChannelOptions) (*Channel, error) {
	socket, err := pollable(op, handle)
	if err != nil {
		capi.CallChannelDestroy(&handle)
		return nil, err
	}
	conn, err := socket.SyscallConn()
	if err != nil {
		_ = socket.Close()
		capi.CallChannelDestroy(&handle)
		return nil, &Error{Op: op, Code: StatusIO, Message: err.Error(), Offset: -1, Err: err}
	}
	c := &Channel{owned: owned[*capi.Channel]{handle: handle, what: "channel"}, socket: socket, conn: conn,
		maxOutstanding: defaultOutstanding, receiving: make(chan struct{}, 1), sending: make(chan struct{}, 1)}
	if options != nil && options.MaxOutstanding != 0 {
		c.maxOutstanding = uint64(options.MaxOutstanding)
	}
	c.life, c.end = context.WithCancel(context.Background())
	runtime.SetFinalizer(c, func(c *Channel) {
		if handle := c.take(); handle != nil {
			capi.CallChannelDestroyDeferred(&handle, nil)
			native.MarkDeferred()
		}
		c.end()
		_ = c.socket.Close()
	})
	return c, nil
}

// onChannel runs a call of the library on the channel. Releases of Go memory that become due in it wait until the lock
// is free: they may use the channel.
func (c *Channel) onChannel(op string, f func(handle *capi.Channel, report *capi.Error) int32) error {
	frame, leave := native.Enter()
	frame.PostponeMemory = true
	err := c.use(op, func(handle *capi.Channel) error {
		return call(op, func(report *capi.Error) int32 { return f(handle, report) })
	})
	leave()
	frame.RunPostponedMemory()
	runtime.KeepAlive(c)
	return err
}

// takingIn is onChannel for calls that may take in tensors for a Receive of another goroutine, which waits for the socket
// and would not notice: there is nothing in it any more.
func (c *Channel) takingIn(op string, f func(handle *capi.Channel, report *capi.Error) int32) error {
	err := c.onChannel(op, f)
	if len(c.receiving) != 0 {
		c.wakeReceiver()
	}
	return err
}

// Send sends a tensor, which stays the caller's and may be closed at once. Tensors of mapped files, of
// AllocateSharedBuffer and of channels are passed: the peer maps their memory. The bytes of all others are copied once,
// into shared memory, and counted. What is passed stays as it is until the peer releases it.
//
// Memory of AllocateSharedBuffer becomes read-only, at the same address, when nothing but the tensor has it, or when its
// buffer was marked with SetReadOnly; other memory of it, such as that of a tensor with a View open, is copied.
//
// Send waits for room in the socket, and for a release when MaxOutstanding tensors are out, until the context ends. Then
// nothing was sent, except where the peer has stopped in the middle of a tensor with a very long descriptor or more
// than 64 buffers: then the channel has ended, too.
//
// Errors: ErrTimedOut or ErrCancelled, which wrap the cause of the context's end; ErrDisconnected; ErrUnsupported when
// the memory is not the host's; ErrInvalidSyncMode when its bytes may not be there yet; ErrInvalidArgument after Finish;
// ErrClosed; ErrOutOfMemory; ErrIO.
func (c *Channel) Send(ctx context.Context, tensor *Tensor) error {
	const op = "Channel.Send"
	native.Drain()
	core, err := tensor.retain(op)
	if err != nil {
		return err
	}
	if err = c.enter(op, ctx, c.sending); err == nil {
		if err = c.awaitRoom(op, ctx); err == nil {
			err = c.send(op, ctx, core)
		}
		<-c.sending
	}
	runtime.KeepAlive(tensor)
	if ended := core.drop(false); err == nil {
		err = ended
	}
	return err
}

func (c *Channel) send(op string, ctx context.Context, core *tensorCore) error {
	stop := c.watch(ctx)
	err := c.takingIn(op, func(handle *capi.Channel, report *capi.Error) int32 {
		core.mutex.Lock()
		defer core.mutex.Unlock()
		// One reference is the tensor's own and one this call's. Any other is a view's or another goroutine's, which the
		// library cannot see: a share stands for it, so that its memory stays writable.
		if core.more.Load() > 1 {
			var share *capi.Tensor
			if status := capi.CallTensorShare(core.handle, &share, report); status != 0 {
				return status
			}
			defer capi.CallTensorDestroy(&share)
		}
		return capi.CallChannelSend(handle, core.handle, report)
	})
	if ended := stop(); ended && err != nil && !errors.Is(err, ErrClosed) {
		return c.endedError(op, ctx)
	}
	return err
}

// Receive receives the next tensor, which the caller closes; it waits for one until the context ends. The memory is
// mapped and read-only; BufferInfo.Sealed says that nobody can change it. The peer is told when its last share is
// closed. When the peer has finished, Receive returns io.EOF.
//
// Errors: ErrTimedOut or ErrCancelled, which wrap the cause of the context's end; ErrDisconnected when the peer is gone
// without having finished; ErrClosed. Those of DecodeDescriptor, ErrInvalidFormat, ErrLimitExceeded, ErrUnsupported,
// ErrOutOfMemory, ErrIO: a tensor is refused and given back, and the next one may be received. What breaks the protocol
// ends the channel, and every further call fails with it.
func (c *Channel) Receive(ctx context.Context) (*Tensor, error) {
	const op = "Channel.Receive"
	native.Drain()
	if err := c.enter(op, ctx, c.receiving); err != nil {
		return nil, err
	}
	defer func() { <-c.receiving }()
	var tensor *capi.Tensor
	err := c.awaitInput(op, ctx, func() error { return c.onChannel(op, receiveInto(&tensor)) })
	return received(tensor, err)
}

// TryReceive is Receive for what has come already; ErrTimedOut: nothing has.
func (c *Channel) TryReceive() (*Tensor, error) {
	native.Drain()
	var tensor *capi.Tensor
	err := c.takingIn("Channel.TryReceive", receiveInto(&tensor))
	return received(tensor, err)
}

func receiveInto(tensor **capi.Tensor) func(handle *capi.Channel, report *capi.Error) int32 {
	return func(handle *capi.Channel, report *capi.Error) int32 {
		return capi.CallChannelReceive(handle, 0, tensor, report)
	}
}

func received(tensor *capi.Tensor, err error) (*Tensor, error) {
	if err != nil {
		return nil, err
	}
	if tensor == nil {
		return nil, io.EOF
	}
	return newTensor(tensor), nil
}

// Tensors receives until the peer has finished. Each tensor is closed, and so given back, when the body of the loop is
// done with it: what is to last longer is shared with Tensor.Share. After an error it ends.
func (c *Channel) Tensors(ctx context.Context) iter.Seq2[*Tensor, error] {
	return items(func() (*Tensor, error) { return c.Receive(ctx) })
}

// Process takes in what has come, without waiting: what the peer has released ends here. For a process that sends and
// rarely receives.
//
// Errors: ErrDisconnected when the peer is gone without having finished; what broke the protocol; ErrClosed.
func (c *Channel) Process() error { return c.takingIn("Channel.Process", capi.CallChannelProcess) }

// Finish says to the peer that no more tensors come: its Receive returns io.EOF once it has received all. Receiving goes
// on. Finishing once more does nothing. It waits for room in the socket until the context ends.
//
// Errors: ErrTimedOut or ErrCancelled, which wrap the cause of the context's end; ErrDisconnected; ErrClosed; ErrIO.
func (c *Channel) Finish(ctx context.Context) error {
	const op = "Channel.Finish"
	if err := c.enter(op, ctx, c.sending); err != nil {
		return err
	}
	defer func() { <-c.sending }()
	if err := c.awaitWritable(op, ctx); err != nil {
		return err
	}
	stop := c.watch(ctx)
	err := c.takingIn(op, capi.CallChannelFinish)
	if ended := stop(); ended && err != nil && !errors.Is(err, ErrClosed) {
		return c.endedError(op, ctx)
	}
	return err
}

// Info says what the channel has done so far.
func (c *Channel) Info() (ChannelInfo, error) {
	info, err := c.info("Channel.Info")
	if err != nil {
		return ChannelInfo{}, err
	}
	state := ChannelPeerFlag(info.State)
	return ChannelInfo{
		Sent:          info.Sent,
		Received:      info.Received,
		PassedBytes:   info.PassedBytes,
		CopiedBytes:   info.CopiedBytes,
		ReceivedBytes: info.ReceivedBytes,
		Outstanding:   info.Outstanding,
		Held:          info.Held,
		PeerFinished:  state&ChannelPeerFlagFinished != 0,
		PeerGone:      state&ChannelPeerFlagGone != 0,
		PeerPID:       int(info.PeerPid),
		PeerUID:       info.PeerUid,
	}, nil
}

func (c *Channel) info(op string) (*capi.ChannelInfo, error) {
	info := &capi.ChannelInfo{StructSize: uint32(unsafe.Sizeof(capi.ChannelInfo{}))}
	err := c.use(op, func(handle *capi.Channel) error {
		return call(op, func(report *capi.Error) int32 { return capi.CallChannelInfo(handle, info, report) })
	})
	runtime.KeepAlive(c)
	return info, err
}

// FD is the number of the channel's socket, for event loops outside of Go: it becomes readable when something has come.
// It stays the channel's and is not to be read, written or closed. TryReceive until ErrTimedOut before waiting for it.
func (c *Channel) FD() (int, error) {
	const op = "Channel.FD"
	fd := new(int32)
	err := c.use(op, func(handle *capi.Channel) error {
		return call(op, func(report *capi.Error) int32 { return capi.CallChannelFD(handle, fd, report) })
	})
	runtime.KeepAlive(c)
	if err != nil {
		return -1, err
	}
	return int(*fd), nil
}

// Close ends this end of the channel: the peer is told that no more comes, and its sends fail. Everything that is out
// ends; tensors that were received live on, and are given back when they are closed. Calls of other goroutines that wait
// end with ErrClosed; a Send that waits in the middle of a tensor is given up, which the peer sees as ErrDisconnected.
// Closing once more does nothing.
func (c *Channel) Close() error {
	runtime.SetFinalizer(c, nil)
	c.end()
	frame, leave := native.Enter()
	frame.PostponeMemory = true
	err := c.collect("Channel.Close", func(handle *capi.Channel) int32 { return capi.CallChannelDestroy(&handle) })
	leave()
	// Wakes what waits for the socket. A second Close finds it closed.
	_ = c.socket.Close()
	frame.RunPostponedMemory()
	native.Drain()
	return err
}
