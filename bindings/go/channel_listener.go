package hurray

import (
	"context"
	"runtime"
	"unsafe"

	"hurray.dev/go/hurray/internal/capi"
)

// A ChannelListener waits for the other ends of channels at a path. Several goroutines may use it. It is ended by Close,
// which removes the socket file. Since version 4 of the C ABI.
type ChannelListener struct {
	owned[*capi.ChannelListener]
	options ChannelOptions
	// accepting lets one goroutine in; life ends with Close.
	accepting chan struct{}
	life      context.Context
	end       context.CancelFunc
}

// ListenChannel listens at a path of at most 107 bytes. The socket file has mode 0600 (0666 with OtherUsers); one that is
// there already is replaced if nobody listens at it. options, which may be nil, are those of every channel accepted.
//
// Errors: ErrInvalidArgument for the options, a path that no socket can have, or something that is no socket in the way;
// ErrIO when somebody listens there; ErrLimitExceeded.
func ListenChannel(path string, options *ChannelOptions) (*ChannelListener, error) {
	const op = "ListenChannel"
	if err := load(op); err != nil {
		return nil, err
	}
	cPath, err := cString(op, path)
	if err != nil {
		return nil, err
	}
	var handle *capi.ChannelListener
	err = call(op, func(report *capi.Error) int32 {
		return capi.CallChannelListen(unsafe.SliceData(cPath), options.record(0), &handle, report)
	})
	if err != nil {
		return nil, err
	}
	l := &ChannelListener{owned: owned[*capi.ChannelListener]{handle: handle, what: "channel listener"},
		accepting: make(chan struct{}, 1)}
	if options != nil {
		l.options = *options
	}
	l.life, l.end = context.WithCancel(context.Background())
	runtime.SetFinalizer(l, func(l *ChannelListener) { _ = l.close() })
	return l, nil
}

// Accept waits for a peer until the context ends. Peers of other users, where these are not accepted, are turned away
// and not reported.
//
// Errors: ErrTimedOut or ErrCancelled, which wrap the cause of the context's end; ErrClosed, also when the listener is
// closed meanwhile; ErrLimitExceeded; ErrIO.
func (l *ChannelListener) Accept(ctx context.Context) (*Channel, error) {
	const op = "ChannelListener.Accept"
	select {
	case l.accepting <- struct{}{}:
	case <-l.life.Done():
		return nil, closedError(op, l.what)
	case <-ctx.Done():
		return nil, contextError(op, ctx)
	}
	defer func() { <-l.accepting }()
	var handle *capi.Channel
	err := inSlices(op, ctx, func(milliseconds int32) error {
		// Close has the lock between two slices.
		return l.use(op, func(listener *capi.ChannelListener) error {
			return call(op, func(report *capi.Error) int32 {
				return capi.CallChannelAccept(listener, milliseconds, &handle, report)
			})
		})
	})
	runtime.KeepAlive(l)
	if err != nil {
		return nil, err
	}
	return newChannel(op, handle, &l.options)
}

// Close ends the listener and removes its socket file, if that is still its own; channels that were accepted are not
// affected. Closing once more does nothing.
func (l *ChannelListener) Close() error {
	runtime.SetFinalizer(l, nil)
	return l.close()
}

func (l *ChannelListener) close() error {
	l.end()
	return l.collect("ChannelListener.Close", func(handle *capi.ChannelListener) int32 {
		return capi.CallChannelListenerDestroy(&handle)
	})
}
