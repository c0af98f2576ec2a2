package hurray_test

import (
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"hurray.dev/go/hurray"
)

// A place says where code ran: the operating system's id of the thread, and the goroutine. A goroutine that is locked
// to its thread shares it with no other; the collector's goroutine, which runs all finalizers, is always the same one.
type place struct {
	thread    int
	goroutine string
	stack     string
}

func here() place {
	text := make([]byte, 16<<10)
	stack := string(text[:runtime.Stack(text, false)])
	return place{syscall.Gettid(), strings.Fields(stack)[1], stack}
}

// collectors runs the collector, and returns where a finalizer ran that was due after those of everything that was
// forgotten before.
func collectors(t testing.TB) place {
	t.Helper()
	found := make(chan place, 1)
	func() {
		p := new(probe)
		runtime.SetFinalizer(p, func(*probe) { found <- here() })
	}()
	var at place
	collect(t, "the finalizer of a probe", func() bool {
		select {
		case at = <-found:
			return true
		default:
			return false
		}
	})
	return at
}

// forgotten makes an object of each kind that carries a release, and forgets it.
var forgotten = map[string]func(t *testing.T, release func()){
	"tensor": func(t *testing.T, release func()) {
		_ = value(hurray.FromSlice(make([]int32, 4), []int{4}, &hurray.HostOptions{Release: release}))(t)
	},
	"last share of a tensor": func(t *testing.T, release func()) {
		tensor := value(hurray.FromSlice(make([]int32, 4), []int{4}, &hurray.HostOptions{Release: release}))(t)
		_ = value(tensor.Share())(t)
		ok(t, tensor.Close())
	},
	"buffer": func(t *testing.T, release func()) {
		_, _, err := hurray.BufferOf(make([]int32, 4), release)
		ok(t, err)
	},
	"buffer of a tensor": func(t *testing.T, release func()) {
		tensor := value(hurray.FromSlice(make([]int32, 4), []int{4}, &hurray.HostOptions{Release: release}))(t)
		_ = value(tensor.Buffer(0))(t)
		ok(t, tensor.Close())
	},
	"buffer list": func(t *testing.T, release func()) {
		buffer, _, err := hurray.BufferOf(make([]int32, 4), release)
		ok(t, err)
		_ = value(hurray.NewBufferList(buffer))(t)
	},
	"owner of a context": func(t *testing.T, release func()) {
		_ = value(hurray.NewTensorContext(hurray.CABIVersion, []byte("x"), release))(t)
	},
	"owner of an imported tensor": func(t *testing.T, release func()) {
		p := newPair(t, hurray.CABIVersion, vector, []float32{1, 2, 3})
		encoded := value(p.context.Descriptor())(t)
		context := value(hurray.NewTensorContext(hurray.CABIVersion, encoded, release))(t)
		_ = value(hurray.Import(p.list, context))(t)
		ok(t, p.context.Close())
	},
}

// drains are the calls that run what the collector made due: on the goroutine, and so on the thread, that makes them.
var drains = map[string]func(t *testing.T){
	"explicit drain": func(t *testing.T) {
		_, err := hurray.DrainReleases()
		ok(t, err)
	},
	"next create": func(t *testing.T) {
		// Closing it drains, too, but finds nothing any more.
		ok(t, value(hurray.AllocateBuffer(1, 0))(t).Close())
	},
}

// A finalizer never runs a release, or the release of an owner, itself: that runs in the next call that makes or
// closes something, or in an explicit drain, on that caller's goroutine and thread.
func TestFinalizersNeverRunReleasesWithoutConsent(t *testing.T) {
	for kind, forget := range forgotten {
		for way, drain := range drains {
			t.Run(kind+"/"+way, func(t *testing.T) {
				// The thread is ours alone until the test ends: no finalizer can run on it.
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
				noLeak(t)
				mine := here()
				var released atomic.Int64
				var at place
				forget(t, func() { at = here(); released.Add(1) })
				var finalizers place
				collect(t, "the release of what was forgotten", func() bool {
					finalizers = collectors(t)
					if released.Load() != 0 {
						t.Fatal("released before anybody drained, at " + at.stack)
					}
					drain(t)
					return released.Load() != 0
				})
				if finalizers.thread == mine.thread || finalizers.goroutine == mine.goroutine {
					t.Fatal("the collector runs on the test's thread: nothing is shown")
				}
				if at.thread != mine.thread || at.goroutine != mine.goroutine {
					t.Errorf("released on thread %d, drained on %d, finalizers on %d: %s", at.thread, mine.thread,
						finalizers.thread, at.stack)
				}
				drain(t)
				if released.Load() != 1 {
					t.Errorf("released %d times", released.Load())
				}
			})
		}
	}
}

// Closing drains as well.
func TestNextCloseDrainsOnItsThread(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	noLeak(t)
	const most = 1000
	open := make([]*hurray.Buffer, 0, most)
	for range most {
		open = append(open, closing(t, value(hurray.AllocateBuffer(1, 0))(t)))
	}
	mine := here()
	var released atomic.Int64
	var at place
	forgotten["tensor"](t, func() { at = here(); released.Add(1) })
	collect(t, "a release in a Close", func() bool {
		collectors(t)
		if released.Load() != 0 {
			t.Fatal("released before anything was closed")
		}
		ok(t, open[0].Close())
		open = open[1:]
		return released.Load() != 0
	})
	if at.thread != mine.thread || at.goroutine != mine.goroutine {
		t.Errorf("released on thread %d, closed on %d: %s", at.thread, mine.thread, at.stack)
	}
}

// The creator's consent lets a release run on any thread: the collector's then runs it, and nobody need drain.
func TestFinalizersRunReleasesWithConsent(t *testing.T) {
	for kind, forget := range map[string]func(release func()){
		"tensor": func(release func()) {
			_ = value(hurray.FromSlice(make([]int32, 4), []int{4},
				&hurray.HostOptions{Release: release, ReleaseAnyThread: true}))(t)
		},
		"empty tensor": func(release func()) {
			_ = value(hurray.FromSlice([]int32{}, []int{0}, &hurray.HostOptions{Release: release, ReleaseAnyThread: true}))(t)
		},
		"buffer": func(release func()) {
			buffer, _, err := hurray.BufferOf(make([]int32, 4), release)
			ok(t, err)
			ok(t, buffer.SetReleaseAnyThread())
		},
		"buffer list": func(release func()) {
			buffer, _, err := hurray.BufferOf(make([]int32, 4), release)
			ok(t, err)
			ok(t, buffer.SetReleaseAnyThread())
			_ = value(hurray.NewBufferList(buffer))(t)
		},
	} {
		t.Run(kind, func(t *testing.T) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			noLeak(t)
			mine := here()
			at := make(chan place, 2)
			forget(func() { at <- here() })
			var finalizers place
			collect(t, "a release without a drain", func() bool {
				finalizers = collectors(t)
				return len(at) != 0
			})
			where := <-at
			if where.goroutine != finalizers.goroutine || where.thread == mine.thread {
				t.Errorf("released by goroutine %s, finalizers are run by %s: %s", where.goroutine, finalizers.goroutine,
					where.stack)
			}
			if _, err := hurray.DrainReleases(); err != nil || len(at) != 0 {
				t.Error("released once more", err)
			}
		})
	}
}

// Consent is the creator's, for memory that was lent, and given before the memory is shared.
func TestConsentIsGivenBeforeSharing(t *testing.T) {
	noLeak(t)
	buffer, _, err := hurray.BufferOf(make([]int32, 4), nil)
	ok(t, err)
	share := value(buffer.Share())(t)
	wants(t, buffer.SetReleaseAnyThread(), hurray.ErrInvalidArgument)
	ok(t, share.Close())
	ok(t, buffer.SetReleaseAnyThread())
	ok(t, buffer.Close())
	wants(t, buffer.SetReleaseAnyThread(), hurray.ErrClosed)
	library := closing(t, value(hurray.AllocateBuffer(64, 0))(t))
	wants(t, library.SetReleaseAnyThread(), hurray.ErrInvalidArgument)
}
