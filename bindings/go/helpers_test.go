package hurray_test

import (
	"errors"
	"runtime"
	"testing"
	"time"

	"hurray.dev/go/hurray"
)

// value fails the test when a call failed, and else returns what it gave.
func value[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wants fails the test unless err is a *hurray.Error that matches the sentinel.
func wants(t testing.TB, err, sentinel error) *hurray.Error {
	t.Helper()
	var failed *hurray.Error
	if !errors.As(err, &failed) {
		t.Fatalf("got %v (%T), want a *hurray.Error", err, err)
	}
	if !errors.Is(err, sentinel) {
		t.Fatalf("got %v, want %v", err, sentinel)
	}
	if failed.Op == "" || failed.Message == "" {
		t.Fatalf("the error says too little: %#v", failed)
	}
	return failed
}

type closer interface{ Close() error }

// closing closes at the end of the test what is not closed before; to close twice is no error.
func closing[T closer](t testing.TB, c T) T {
	t.Helper()
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// noLeak fails the test when it ends with more live handles, or bytes, than it began with. Call it first.
func noLeak(t testing.TB) {
	t.Helper()
	handles, bytes := live(t)
	t.Cleanup(func() {
		if h, b := live(t); h != handles || b != bytes {
			t.Errorf("%d handles of %d bytes are live, there were %d of %d bytes", h, b, handles, bytes)
		}
	})
}

func live(t testing.TB) (handles, bytes uint64) {
	t.Helper()
	handles, bytes, err := hurray.LiveHandles(hurray.HandleAny)
	ok(t, err)
	return handles, bytes
}

// collect runs the garbage collector until done says so. It fails after a while.
func collect(t testing.TB, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); {
		runtime.GC()
		time.Sleep(time.Millisecond)
		if done() {
			return
		}
	}
	t.Fatalf("the collector did not bring it about: %s", what)
}

// probe has a finalizer, and a pointer, so that it is no part of another object.
type probe struct{ self *probe }
