package native

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"unsafe"

	"hurray.dev/go/hurray/internal/capi"
)

func TestMain(m *testing.M) {
	if err := Load(); err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func TestLoadHappensOnce(t *testing.T) {
	if Load() != nil || Queue() == nil || Version() < capi.ABIVersion {
		t.Fatal(Load(), Queue(), Version())
	}
}

// A loan keeps what it holds until it is released or cancelled, and not longer.
func TestLoansAreGivenBack(t *testing.T) {
	for _, cancelled := range []bool{false, true} {
		releases := 0
		collected := make(chan struct{})
		func() {
			data := make([]byte, 1<<16)
			runtime.SetFinalizer(&data[0], func(*byte) { close(collected) })
			loan := NewLoan(data, unsafe.Pointer(&data[0]), func() { releases++ })
			for range 3 {
				runtime.GC()
			}
			select {
			case <-collected:
				t.Error("the memory went while it was lent")
			default:
			}
			if cancelled {
				loan.Cancel()
			} else {
				released(loan.Context())
			}
		}()
		if want := map[bool]int{true: 0, false: 1}[cancelled]; releases != want {
			t.Errorf("released %d times, want %d", releases, want)
		}
		for range 100 {
			runtime.GC()
			select {
			case <-collected:
				return
			default:
			}
		}
		t.Error("the memory stays for ever")
	}
}

func TestDrainOnlyWhenSomethingMayWait(t *testing.T) {
	before := runtime.NumCgoCall()
	if Drain() != 0 || runtime.NumCgoCall() != before {
		t.Error("a call into C for nothing")
	}
	MarkDeferred()
	if Drain() != 0 || runtime.NumCgoCall() == before || Pending() != 0 {
		t.Error("no call into C")
	}
}

func TestTextsOfTheLibrary(t *testing.T) {
	if String(0) != "" || Text(0, 0) != "" || Slice[uint64](0, 0) != nil || Slice[uint64](0, 3) != nil {
		t.Error("something of nothing")
	}
	text := []byte("a\x00b\x00")
	address := uintptr(unsafe.Pointer(&text[0]))
	if String(address) != "a" || Text(address, 3) != "a\x00b" || len(Slice[byte](address, 4)) != 4 {
		t.Error(String(address), Text(address, 3))
	}
	var report capi.Error
	for i := range report.Message {
		report.Message[i] = 'x'
	}
	if got := Message(&report); len(got) != len(report.Message) {
		t.Error("a report that fills its room is cut")
	}
	report.Message[2] = 0
	if got := Message(&report); got != "xx" {
		t.Error(got)
	}
	runtime.KeepAlive(text)
}

func TestDescriptorsAreDuplicated(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	copied, err := Duplicate(file)
	if err != nil || copied < 0 || uintptr(copied) == file.Fd() {
		t.Fatal(copied, err)
	}
	CloseDescriptor(copied)
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Duplicate(file); err != os.ErrClosed {
		t.Fatal(err)
	}
}
