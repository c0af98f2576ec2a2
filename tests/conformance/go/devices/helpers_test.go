package devices_test

import (
	"errors"
	"os"
	"os/exec"
	"testing"

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

func errorOf[T any](_ T, err error) error { return err }

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
	if !errors.As(err, &failed) || !errors.Is(err, sentinel) || failed.Message == "" {
		t.Fatalf("got %v, want %v", err, sentinel)
	}
	return failed
}

// noLeak fails the test when it ends with more live handles, or bytes, than it began with. Call it first.
func noLeak(t testing.TB) {
	t.Helper()
	handles, bytes, err := hurray.LiveHandles(hurray.HandleAny)
	ok(t, err)
	t.Cleanup(func() {
		h, b, err := hurray.LiveHandles(hurray.HandleAny)
		if err != nil || h != handles || b != bytes {
			t.Errorf("%d handles of %d bytes are live, there were %d of %d bytes: %v", h, b, handles, bytes, err)
		}
	})
}

// child is set in a process of this test binary that shall end in some way.
const child = "HURRAY_GO_TEST_CHILD"

func TestMain(m *testing.M) {
	if mode := os.Getenv(child); mode != "" {
		runChild(mode)
		os.Exit(5)
	}
	os.Exit(m.Run())
}

// inChild runs this test binary in a mode.
func inChild(t *testing.T, mode string) (output string, err error) {
	t.Helper()
	command := exec.Command(value(os.Executable())(t))
	command.Env = append(os.Environ(), child+"="+mode)
	text, err := command.CombinedOutput()
	return string(text), err
}
