package hurray

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"

	"hurray.dev/go/hurray/internal/capi"
	"hurray.dev/go/hurray/internal/native"
)

// longAgo is a deadline that has passed.
var longAgo = time.Unix(1, 0)

// librarySlice is how long the library waits at a time where a goroutine cannot wait itself, and longestPause how long a
// goroutine sleeps at most between two looks at whether there is room; longestWait is how long it waits for input before
// it looks anyway.
const (
	librarySlice = 20 * time.Millisecond
	longestPause = 5 * time.Millisecond
	longestWait  = 100 * time.Millisecond
)

// contextError is the error of a call that waited until its context ended.
func contextError(op string, ctx context.Context) error {
	code := StatusCancelled
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		code = StatusTimedOut
	}
	cause := context.Cause(ctx)
	return &Error{Op: op, Code: code, Message: cause.Error(), Offset: -1, Err: cause}
}

// inSlices repeats a call of the library that waits, until it gives anything but TIMED_OUT or the context has ended.
func inSlices(op string, ctx context.Context, wait func(milliseconds int32) error) error {
	for {
		if ctx.Err() != nil {
			return contextError(op, ctx)
		}
		patience := librarySlice
		if deadline, ok := ctx.Deadline(); ok {
			patience = min(patience, max(0, time.Until(deadline)))
		}
		// Rounded up: a rest of less than a millisecond is waited for, not polled for.
		err := wait(int32((patience + time.Millisecond - 1) / time.Millisecond))
		if !errors.Is(err, ErrTimedOut) {
			return err
		}
	}
}

// pollable is a duplicate of a channel's socket that Go's poller watches. Its mode does not matter to the library, which
// asks for each of its calls not to wait.
func pollable(op string, handle *capi.Channel) (*os.File, error) {
	var fd int32
	err := call(op, func(report *capi.Error) int32 { return capi.CallChannelFD(handle, &fd, report) })
	if err != nil {
		return nil, err
	}
	copied, err := native.DuplicateDescriptor(fd)
	if err == nil {
		if err = syscall.SetNonblock(int(copied), true); err == nil {
			return os.NewFile(uintptr(copied), "channel"), nil
		}
		native.CloseDescriptor(copied)
	}
	return nil, &Error{Op: op, Code: StatusIO, Message: err.Error(), Offset: -1, Err: err}
}

// enter waits until no other goroutine is within.
func (c *Channel) enter(op string, ctx context.Context, within chan struct{}) error {
	if c.life.Err() != nil {
		return closedError(op, c.what)
	}
	if ctx.Err() != nil {
		return contextError(op, ctx)
	}
	select {
	case within <- struct{}{}:
		return nil
	case <-ctx.Done():
		return contextError(op, ctx)
	case <-c.life.Done():
		return closedError(op, c.what)
	}
}

// endedError is the error of a call that was ended by its context, or else by Close.
func (c *Channel) endedError(op string, ctx context.Context) error {
	if ctx.Err() != nil {
		return contextError(op, ctx)
	}
	return closedError(op, c.what)
}

// awaitInput repeats try, each time that something has come, until it gives anything but ErrTimedOut or the context has
// ended. Between the tries neither the lock nor a thread is held.
func (c *Channel) awaitInput(op string, ctx context.Context, try func() error) error {
	stop := context.AfterFunc(ctx, c.wakeReceiver)
	defer stop()
	for {
		if ctx.Err() != nil {
			return contextError(op, ctx)
		}
		// A release that found no room in the socket is sent by the next try: there must be one some time.
		if err := c.socket.SetReadDeadline(time.Now().Add(longestWait)); err != nil {
			return closedError(op, c.what)
		}
		var err error
		ended := c.conn.Read(func(uintptr) bool {
			err = try()
			return !errors.Is(err, ErrTimedOut)
		})
		if ended == nil {
			return err
		}
		if !errors.Is(ended, os.ErrDeadlineExceeded) {
			return closedError(op, c.what)
		}
	}
}

// wakeReceiver makes a goroutine that waits in awaitInput try again. Its deadline is set before each try: whatever this
// one lets pass, was there before the try.
func (c *Channel) wakeReceiver() { _ = c.socket.SetReadDeadline(longAgo) }

// awaitRoom waits until fewer than MaxOutstanding tensors are out and the socket has room.
func (c *Channel) awaitRoom(op string, ctx context.Context) error {
	return c.await(op, ctx, func() (bool, error) {
		info, err := c.info(op)
		if err == nil && info.Outstanding >= c.maxOutstanding {
			if err = c.takingIn(op, capi.CallChannelProcess); err == nil {
				info, err = c.info(op)
			}
		}
		return err != nil || info.Outstanding < c.maxOutstanding && c.writable(), err
	})
}

func (c *Channel) awaitWritable(op string, ctx context.Context) error {
	return c.await(op, ctx, func() (bool, error) { return c.writable(), nil })
}

// await looks again and again until done says so. What it waits for is rare: a peer that does not keep up.
func (c *Channel) await(op string, ctx context.Context, done func() (bool, error)) error {
	for pause := 50 * time.Microsecond; ; pause = min(2*pause, longestPause) {
		if ready, err := done(); ready {
			return err
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return contextError(op, ctx)
		case <-c.life.Done():
			timer.Stop()
			return closedError(op, c.what)
		}
	}
}

// writable reports whether a send would not have to wait, be it that it would fail.
func (c *Channel) writable() bool {
	ready := true
	_ = c.conn.Control(func(fd uintptr) { ready = native.Writable(int32(fd)) })
	return ready
}

// watch watches over a call of the library that may have to wait for room: once the context or the channel has ended,
// and as long as there is no room, it shuts the socket down, which ends the call. stop ends the watch and reports
// whether the socket was shut down.
func (c *Channel) watch(ctx context.Context) (stop func() bool) {
	over, done := make(chan struct{}), make(chan struct{})
	shut := false
	begin := func() {
		defer close(done)
		for {
			if !c.writable() {
				_ = c.conn.Control(func(fd uintptr) { _ = syscall.Shutdown(int(fd), syscall.SHUT_RDWR) })
				shut = true
				return
			}
			select {
			case <-over:
				return
			case <-time.After(longestPause):
			}
		}
	}
	either, cancel := context.WithCancel(ctx)
	stopLife := context.AfterFunc(c.life, cancel)
	stopWatch := context.AfterFunc(either, begin)
	return func() bool {
		stopLife()
		idle := stopWatch()
		cancel()
		if idle {
			return false
		}
		close(over)
		<-done
		return shut
	}
}
