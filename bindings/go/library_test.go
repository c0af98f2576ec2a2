package hurray_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"hurray.dev/go/hurray"
)

func TestRuntimeReportsTheLoadedLibrary(t *testing.T) {
	info := value(hurray.Runtime())(t)
	if info.ABIVersion != hurray.CABIVersion || info.Version == "" || info.BuildID == "" {
		t.Fatalf("%+v", info)
	}
	if wanted := os.Getenv("HURRAY_LIBRARY"); wanted != "" {
		loaded := value(filepath.EvalSymlinks(info.LibraryPath))(t)
		if loaded != value(filepath.EvalSymlinks(wanted))(t) {
			t.Fatalf("loaded %s, wanted %s", loaded, wanted)
		}
	}
}

func TestHandleChecksAndDiagnostics(t *testing.T) {
	before := value(hurray.Runtime())(t).HandleChecks
	t.Cleanup(func() { ok(t, hurray.SetHandleChecks(before)) })
	for _, enabled := range []bool{true, false} {
		ok(t, hurray.SetHandleChecks(enabled))
		if got := value(hurray.Runtime())(t).HandleChecks; got != enabled {
			t.Fatalf("handle checks are %v, set to %v", got, enabled)
		}
	}
	for _, d := range value(hurray.Diagnostics())(t) {
		if d.Code == hurray.StatusOK || d.Message == "" {
			t.Errorf("%+v", d)
		}
	}
}

func TestLiveHandlesCountsByKind(t *testing.T) {
	noLeak(t)
	tensors, _, err := hurray.LiveHandles(hurray.HandleTensor)
	ok(t, err)
	tensor := value(hurray.FromSlice([]int8{1}, nil, nil))(t)
	now, _, err := hurray.LiveHandles(hurray.HandleTensor)
	ok(t, err)
	if now != tensors+1 {
		t.Fatalf("%d tensors, there were %d", now, tensors)
	}
	ok(t, tensor.Close())
	_, _, err = hurray.LiveHandles(hurray.HandleKind(9999))
	wants(t, err, hurray.ErrInvalidArgument)
}

// child is set in a process of this test binary that shall try to use a library.
const child = "HURRAY_GO_TEST_CHILD"

func TestMain(m *testing.M) {
	if mode := os.Getenv(child); mode != "" {
		os.Exit(runChild(mode))
	}
	os.Exit(m.Run())
}

// runChild prints what a program gets to see, and exits with 0 when that is right.
func runChild(mode string) int {
	switch mode {
	case "load":
		return loadChild()
	case "path":
		return pathChild()
	case "panic":
		return panicChild()
	case "exit":
		return exitChild(false)
	case "exit with checks":
		return exitChild(true)
	case "channel", "channel of a path", "channel that dies":
		return channelChild(mode)
	}
	return 2
}

func loadChild() int {
	report := func(text string) int { os.Stdout.WriteString(text + "\n"); return 1 }
	first := hurray.Load()
	var failed *hurray.Error
	if !errors.As(first, &failed) || !errors.Is(first, hurray.ErrLibrary) {
		return report("no typed error")
	}
	// Every way in says the same, and none panics.
	ways := map[string]func() error{
		"FromSlice":             func() error { _, err := hurray.FromSlice([]byte{1}, nil, nil); return err },
		"AllocateBuffer":        func() error { _, err := hurray.AllocateBuffer(1, 0); return err },
		"BufferOf":              func() error { _, _, err := hurray.BufferOf([]byte{1}, nil); return err },
		"DecodeDescriptor":      func() error { _, err := hurray.DecodeDescriptor([]byte("HRRY")); return err },
		"NewDescriptor":         func() error { _, err := hurray.NewDescriptor(hurray.DescriptorSpec{}); return err },
		"PeekDescriptorLength":  func() error { _, err := hurray.PeekDescriptorLength(nil); return err },
		"NewBufferList":         func() error { _, err := hurray.NewBufferList(); return err },
		"NewTensorContext":      func() error { _, err := hurray.NewTensorContext(4, nil, nil); return err },
		"ImportPointers":        func() error { _, err := hurray.ImportPointers(nil, nil); return err },
		"BufferListFromPointer": func() error { _, err := hurray.BufferListFromPointer(nil); return err },
		"Open":                  func() error { _, err := hurray.Open("x", nil); return err },
		"CreateFile":            func() error { _, err := hurray.CreateFile("x", hurray.FormatSafetensors); return err },
		"OpenReaderAt": func() error {
			_, err := hurray.OpenReaderAt(context.Background(), strings.NewReader(""), 0, nil)
			return err
		},
		"OpenBytes":            func() error { _, err := hurray.OpenBytes(nil, nil); return err },
		"CreateFileOptions":    func() error { _, err := hurray.CreateFileOptions("x", nil); return err },
		"NewFileWriter":        func() error { _, err := hurray.NewFileWriter(os.Stdout, nil); return err },
		"NewReader":            func() error { _, err := hurray.NewReader(strings.NewReader(""), nil); return err },
		"NewReaderBytes":       func() error { _, err := hurray.NewReaderBytes(nil, nil); return err },
		"NewWriter":            func() error { _, err := hurray.NewWriter(os.Stdout); return err },
		"NewMemoryWriter":      func() error { _, err := hurray.NewMemoryWriter(); return err },
		"Runtime":              func() error { _, err := hurray.Runtime(); return err },
		"LiveHandles":          func() error { _, _, err := hurray.LiveHandles(hurray.HandleAny); return err },
		"Diagnostics":          func() error { _, err := hurray.Diagnostics(); return err },
		"SetHandleChecks":      func() error { return hurray.SetHandleChecks(true) },
		"DrainReleases":        func() error { _, err := hurray.DrainReleases(); return err },
		"HandOff":              func() error { _, err := hurray.HandOff(hurray.Handoff{}); return err },
		"NewProducer":          func() error { _, err := hurray.NewProducer(nil, nil); return err },
		"ProducerFromPointer":  func() error { _, err := hurray.ProducerFromPointer(nil); return err },
		"AllocateSharedBuffer": func() error { _, err := hurray.AllocateSharedBuffer(1, 0); return err },
		"ListenChannel":        func() error { _, err := hurray.ListenChannel("x", nil); return err },
		"ConnectChannel":       func() error { _, err := hurray.ConnectChannel(context.Background(), "x", nil); return err },
		"ChannelFromFile":      func() error { _, err := hurray.ChannelFromFile(os.Stdin, nil); return err },
		"ChannelFromFD":        func() error { _, err := hurray.ChannelFromFD(0, nil); return err },
		"ChannelPair":          func() error { _, _, err := hurray.ChannelPair(nil); return err },
		"SetLog":               func() error { return hurray.SetLog(nil) },
	}
	for name, way := range ways {
		var again *hurray.Error
		if err := way(); !errors.As(err, &again) || again.Code != failed.Code || again.Message != failed.Message {
			return report(name + " says something else")
		}
	}
	os.Stdout.WriteString(failed.Code.String() + " " + failed.Message + "\n")
	return 0
}

// pathChild prints where the library was loaded from.
func pathChild() int {
	info, err := hurray.Runtime()
	if err != nil {
		os.Stdout.WriteString(err.Error() + "\n")
		return 1
	}
	os.Stdout.WriteString(info.LibraryPath + "\n")
	return 0
}

// inChild runs this test binary in a mode, with a library.
func inChild(t *testing.T, mode, library string) (output string, err error) {
	t.Helper()
	command := exec.Command(value(os.Executable())(t))
	command.Env = append(os.Environ(), child+"="+mode)
	if library != "" {
		command.Env = append(command.Env, "HURRAY_LIBRARY="+library)
	}
	text, err := command.CombinedOutput()
	return string(text), err
}

func TestOtherVersionIsRefusedAndBothNumbersNamed(t *testing.T) {
	stub := os.Getenv("HURRAY_STUB5")
	if stub == "" {
		// Without Bazel there is no stub, unless one is named; under Bazel the BUILD file names it.
		t.Skip("HURRAY_STUB5 does not name the library that answers 5")
	}
	output, err := inChild(t, "load", stub)
	if err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	for _, part := range []string{"VERSION_MISMATCH", stub, "implements version 5", "built for version 4"} {
		if !strings.Contains(output, part) {
			t.Errorf("%q does not say %q", output, part)
		}
	}
}

func TestMissingLibraryIsATypedError(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "no such library.so")
	output, err := inChild(t, "load", missing)
	if err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	for _, part := range []string{"NOT_FOUND", missing, "HURRAY_LIBRARY"} {
		if !strings.Contains(output, part) {
			t.Errorf("%q does not say %q", output, part)
		}
	}
}

func TestStrangeLibraryIsATypedError(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the stranger is Linux's C library")
	}
	output, err := inChild(t, "load", "libc.so.6")
	if err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	for _, part := range []string{"VERSION_MISMATCH", "libc.so.6", "hurray_c_abi_version", "version 4"} {
		if !strings.Contains(output, part) {
			t.Errorf("%q does not say %q", output, part)
		}
	}
	// Text that is no library at all.
	text := filepath.Join(t.TempDir(), "text.so")
	ok(t, os.WriteFile(text, []byte("no library"), 0o600))
	if output, err = inChild(t, "load", text); err != nil || !strings.Contains(output, "NOT_FOUND") {
		t.Fatalf("%v: %s", err, output)
	}
}

// Without the variable the library is what the operating system finds.
func TestLibraryOfTheOperatingSystem(t *testing.T) {
	path := value(hurray.Runtime())(t).LibraryPath
	if runtime.GOOS != "linux" || filepath.Base(path) != "libhurray.so.1" {
		t.Skipf("%s is not the name that is looked for", path)
	}
	t.Setenv("LD_LIBRARY_PATH", filepath.Dir(path))
	t.Setenv("HURRAY_LIBRARY", "")
	output, err := inChild(t, "path", "")
	if err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	if found := strings.TrimSpace(output); value(filepath.EvalSymlinks(found))(t) != value(filepath.EvalSymlinks(path))(t) {
		t.Fatalf("%s, want %s", found, path)
	}
}

// A later version that vouches for this one is accepted, and then its functions are looked for, all of them.
func TestLibraryThatLacksFunctions(t *testing.T) {
	incomplete := os.Getenv("HURRAY_INCOMPLETE")
	if incomplete == "" {
		t.Skip("HURRAY_INCOMPLETE does not name the library that lacks functions")
	}
	output, err := inChild(t, "load", incomplete)
	if err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	for _, part := range []string{"NOT_FOUND", incomplete, "lacks the function hurray_build_id"} {
		if !strings.Contains(output, part) {
			t.Errorf("%q does not say %q", output, part)
		}
	}
}
