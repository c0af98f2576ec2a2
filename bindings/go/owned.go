package hurray

import (
	"runtime"
	"sync"

	"hurray.dev/go/hurray/internal/native"
)

// owned holds a handle of the library for one Go object. The library wants one thread at a time on a handle: the lock
// gives it that, so that the objects of this package may be used by several goroutines.
type owned[P comparable] struct {
	mutex  sync.Mutex
	handle P
	what   string
}

// use runs f on the handle, under the lock.
func (o *owned[P]) use(op string, f func(handle P) error) error {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	var none P
	if o.handle == none {
		return closedError(op, o.what)
	}
	err := f(o.handle)
	runtime.KeepAlive(o)
	return err
}

// take makes the object closed and returns the handle that it held, or none.
func (o *owned[P]) take() P {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	handle := o.handle
	var none P
	o.handle = none
	return handle
}

// end closes the object: destroy, which may run releases of the user's, runs with no lock held. Closing once more is
// no error and does nothing.
func (o *owned[P]) end(op string, destroy func(handle P) int32) error {
	err := o.collect(op, destroy)
	native.Drain()
	return err
}

// collect is end for the collector's goroutine, which must not run the user's releases and so does not drain.
func (o *owned[P]) collect(op string, destroy func(handle P) int32) error {
	handle := o.take()
	var none P
	if handle == none {
		return nil
	}
	return seedCall(op, "the "+o.what+" could not be ended", destroy(handle))
}

// two are locked in one order wherever both are needed, so that two goroutines cannot wait for each other.
func bothOpen[P, Q comparable](op string, first *owned[P], second *owned[Q], f func(P, Q) error) error {
	return first.use(op, func(p P) error {
		return second.use(op, func(q Q) error { return f(p, q) })
	})
}
