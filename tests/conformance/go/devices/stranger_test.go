package devices_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"hurray.dev/go/conformance/devices"
	"hurray.dev/go/hurray"
)

// Handles that this copy of the library did not make. (C ABI contract: Tensor Context)

// lines are the calls that a spy saw.
func lines(s *devices.Spy) []string {
	return strings.Fields(strings.ReplaceAll(s.Log(), "supports ", "supports="))
}

// Contexts of version 3, and of 5 by a copy that vouches for nothing, are refused after the question for the version:
// nobody calls another accessor, and both parts stay the caller's.
func TestContextsOfVersions3And5AreRefusedAndNothingElseIsAsked(t *testing.T) {
	for name, refused := range map[string]func(s *devices.Spy) error{
		"ImportPointers": func(s *devices.Spy) error {
			list, context := s.Pair()
			defer end(t, list, context)
			return errorOf(hurray.ImportPointers(list, context))
		},
		"Import": func(s *devices.Spy) error {
			list, context := s.Pair()
			l := value(hurray.BufferListFromPointer(list))(t)
			c := value(hurray.TensorContextFromPointer(context))(t)
			err := errorOf(hurray.Import(l, c))
			// Neither has moved.
			if value(c.ABIVersion())(t) < 3 {
				t.Error("another version")
			}
			check(t, s)
			ok(t, errors.Join(l.Close(), c.Close()))
			return err
		},
		"TensorContext.Descriptor": func(s *devices.Spy) error {
			list, context := s.Pair()
			c := value(hurray.TensorContextFromPointer(context))(t)
			err := errorOf(c.Descriptor())
			check(t, s)
			ok(t, c.Close())
			end(t, list, nil)
			return err
		},
		"Producer.Request": func(s *devices.Spy) error {
			producer := value(hurray.NewProducer(hurray.ExporterFunc(
				func(hurray.Stream) (*hurray.BufferList, *hurray.TensorContext, error) {
					list, context := s.Pair()
					l, err1 := hurray.BufferListFromPointer(list)
					c, err2 := hurray.TensorContextFromPointer(context)
					return l, c, errors.Join(err1, err2)
				}), nil))(t)
			defer producer.Close()
			return errorOf(producer.Request(hurray.Stream{}))
		},
	} {
		for _, version := range []uint32{3, 5} {
			t.Run(name, func(t *testing.T) {
				noLeak(t)
				spy := devices.NewSpy(version)
				defer spy.Destroy()
				failed := wants(t, refused(spy), hurray.ErrVersionMismatch)
				for _, number := range []string{string(rune('0' + version)), "4"} {
					if !strings.Contains(failed.Message, number) {
						t.Errorf("%q does not name %s", failed.Message, number)
					}
				}
				calls := lines(spy)
				if len(calls) == 0 || calls[0] != "tensor_context_abi_version" {
					t.Errorf("the version was not asked first: %q", calls)
				}
				for _, call := range calls {
					asked := call == "tensor_context_abi_version" || strings.HasPrefix(call, "supports=") || call == "build_id"
					ended := call == "buffer_list_destroy" || call == "tensor_context_destroy"
					if !asked && !ended {
						t.Errorf("%s was called: %q", call, calls)
					}
				}
				if spy.LiveHandles() != 0 || spy.Misuses() != 0 {
					t.Errorf("%d live handles, %d misuses: %q", spy.LiveHandles(), spy.Misuses(), calls)
				}
			})
		}
	}
}

// check expects that nobody has gone past the question for the version yet.
func check(t *testing.T, s *devices.Spy) {
	t.Helper()
	if n := s.AccessorCalls(); n != 0 {
		t.Errorf("%d calls went past the question for the version: %q", n, lines(s))
	}
}

// end ends a pair that is still the caller's.
func end(t *testing.T, list, context unsafe.Pointer) {
	t.Helper()
	ok(t, value(hurray.BufferListFromPointer(list))(t).Close())
	if context != nil {
		ok(t, value(hurray.TensorContextFromPointer(context))(t).Close())
	}
}

// A copy of a later version that vouches for ours is served through its own table; the version is asked first.
func TestContextOfALaterVersionThatVouchesIsAccepted(t *testing.T) {
	for _, version := range []uint32{4, 5} {
		noLeak(t)
		spy := devices.NewSpy(version)
		spy.Vouch(4, version)
		list, context := spy.Pair()
		c := value(hurray.TensorContextFromPointer(context))(t)
		if encoded := value(c.Descriptor())(t); string(encoded[:4]) != "HRRY" {
			t.Errorf("% x", encoded)
		}
		spy.ClearLog()
		tensor := value(hurray.Import(value(hurray.BufferListFromPointer(list))(t), c))(t)
		if calls := lines(spy); calls[0] != "tensor_context_abi_version" {
			t.Errorf("the version was not asked first: %q", calls)
		}
		ok(t, hurray.Borrow(tensor, func(elements []float32) error {
			if !slices.Equal(elements, []float32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}) {
				t.Error(elements)
			}
			return nil
		}))
		share := value(tensor.Share())(t)
		ok(t, errors.Join(tensor.Close(), share.Close()))
		if spy.LiveHandles() != 0 || spy.Misuses() != 0 {
			t.Errorf("%d live handles, %d misuses: %q", spy.LiveHandles(), spy.Misuses(), lines(spy))
		}
		spy.Destroy()
	}
}

// A pair of another copy with an event: the consumer's wait and its release go through that copy's table.
func TestEventOfAnotherCopyIsReleasedExactlyOnce(t *testing.T) {
	for _, explicit := range []bool{true, false} {
		b := newBench(t)
		recorded := b.recorded(b.producer)
		spy := devices.NewSpy(4)
		tensor := value(hurray.ImportPointers(spy.EventPair(b.device, recorded)))(t)
		if got := value(tensor.Event(0))(t); got != (hurray.Event{Handle: recorded, Device: devices.Tag}) {
			t.Errorf("%+v", got)
		}
		if explicit {
			ok(t, tensor.WaitEvents(func(e hurray.Event) error {
				b.device.WaitEvent(b.consumer, e.Handle)
				return nil
			}))
			wants(t, tensor.ReleaseEvent(0), hurray.ErrInvalidHandle)
		}
		ok(t, tensor.Close())
		if n := b.device.EventReleases(recorded); n != 1 {
			t.Errorf("released %d times", n)
		}
		if spy.LiveHandles() != 0 || spy.Misuses() != 0 {
			t.Errorf("%d live handles, %d misuses: %q", spy.LiveHandles(), spy.Misuses(), lines(spy))
		}
		spy.Destroy()
	}
}

func TestStreamOfAnotherCopyIsChecked(t *testing.T) {
	b := newBench(t)
	for _, named := range []uintptr{b.consumer, b.other} {
		spy := devices.NewSpy(4)
		producer := value(hurray.NewProducer(hurray.ExporterFunc(
			func(hurray.Stream) (*hurray.BufferList, *hurray.TensorContext, error) {
				list, context := spy.StreamPair(named)
				l, err1 := hurray.BufferListFromPointer(list)
				c, err2 := hurray.TensorContextFromPointer(context)
				return l, c, errors.Join(err1, err2)
			}), nil))(t)
		tensor, err := producer.Request(b.mine())
		if named == b.consumer {
			ok(t, err)
			if got := value(tensor.Stream(0))(t); got != b.mine() {
				t.Errorf("%+v", got)
			}
			ok(t, tensor.Close())
		} else {
			wants(t, err, hurray.ErrSyncModeMismatch)
		}
		ok(t, producer.Close())
		if spy.LiveHandles() != 0 || spy.Misuses() != 0 {
			t.Errorf("%d live handles, %d misuses: %q", spy.LiveHandles(), spy.Misuses(), lines(spy))
		}
		spy.Destroy()
	}
}

// A capsule of another implementation, whose memory ends behind its magic, is refused before anything else is read:
// whoever reads on dies.
func TestForeignMagicIsRefusedBeforeAnythingElseIsRead(t *testing.T) {
	noLeak(t)
	for name, strangers := range map[string]func(kind uint32) unsafe.Pointer{
		"magic":      func(uint32) unsafe.Pointer { return devices.Foreign() },
		"generation": devices.Generation,
	} {
		list, context := strangers(devices.KindList), strangers(devices.KindContext)
		spy := devices.NewSpy(4)
		ours, theirs := spy.Pair()
		for _, pair := range [][2]unsafe.Pointer{{list, context}, {list, theirs}, {ours, context}} {
			wants(t, errorOf(hurray.ImportPointers(pair[0], pair[1])), hurray.ErrInvalidHandle)
		}
		l := value(hurray.BufferListFromPointer(list))(t)
		c := value(hurray.TensorContextFromPointer(context))(t)
		buffer := value(hurray.AllocateBuffer(64, 0))(t)
		for what, err := range map[string]error{
			"Len":          errorOf(l.Len()),
			"Buffer":       errorOf(l.Buffer(0)),
			"Event":        errorOf(l.Event(0)),
			"ReleaseEvent": l.ReleaseEvent(0),
			"Stream":       errorOf(l.Stream(0)),
			"Push":         l.Push(buffer),
			"ABIVersion":   errorOf(c.ABIVersion()),
			"Descriptor":   errorOf(c.Descriptor()),
			"Import":       errorOf(hurray.Import(l, c)),
			"list.Close":   l.Close(),
			"ctx.Close":    c.Close(),
		} {
			if !errors.Is(err, hurray.ErrInvalidHandle) {
				t.Errorf("%s, %s: got %v", name, what, err)
			}
		}
		ok(t, buffer.Close())
		end(t, ours, theirs)
		spy.Destroy()
		devices.FreeStranger(list)
		devices.FreeStranger(context)
	}
}
