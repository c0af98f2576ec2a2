package hurray

import (
	"errors"
	"fmt"
	"io"
	"testing"
)

func TestErrorsMatchTheirSentinelAndNoOther(t *testing.T) {
	sentinels := map[Status]error{
		StatusInvalidMagic: ErrInvalidMagic, StatusVersionMismatch: ErrVersionMismatch, StatusInvalidLayout: ErrInvalidLayout,
		StatusInvalidType: ErrInvalidType, StatusBufferTooSmall: ErrBufferTooSmall, StatusNullPointer: ErrNullPointer,
		StatusInternalPanic: ErrInternalPanic, StatusInvalidSyncMode: ErrInvalidSyncMode,
		StatusSyncModeMismatch: ErrSyncModeMismatch, StatusInternal: ErrInternal,
		StatusIndexOutOfBounds: ErrIndexOutOfBounds, StatusInvalidHandle: ErrInvalidHandle, StatusOutOfMemory: ErrOutOfMemory,
		StatusIO: ErrIO, StatusUnsupported: ErrUnsupported, StatusCancelled: ErrCancelled, StatusForked: ErrForked,
		StatusInvalidArgument: ErrInvalidArgument, StatusInvalidQuantization: ErrInvalidQuantization,
		StatusInvalidComposite: ErrInvalidComposite, StatusMisaligned: ErrMisaligned, StatusInvalidFormat: ErrInvalidFormat,
		StatusNotFound: ErrNotFound, StatusLimitExceeded: ErrLimitExceeded, StatusTimedOut: ErrTimedOut,
		StatusDisconnected: ErrDisconnected,
	}
	for code := StatusDisconnected; code < StatusOK; code++ {
		if sentinels[code] == nil {
			t.Fatalf("no sentinel for %v", code)
		}
	}
	for code := range sentinels {
		err := fmt.Errorf("wrapped: %w", &Error{Op: "Test", Code: code, Message: "m", Offset: -1})
		for other, sentinel := range sentinels {
			if errors.Is(err, sentinel) != (other == code) {
				t.Errorf("%v matches %v: %v", code, sentinel, other != code)
			}
		}
	}
}

func TestUnknownCodesAreErrorsLikeOthers(t *testing.T) {
	err := error(&Error{Op: "Test", Code: -9999, Message: "from a later version", Offset: -1})
	var failed *Error
	if !errors.As(err, &failed) || failed.Code != -9999 || errors.Is(err, ErrInternal) {
		t.Fatal(err)
	}
	if got := err.Error(); got != "hurray: Test: Status(-9999): from a later version" {
		t.Fatal(got)
	}
}

func TestCausesAreWrapped(t *testing.T) {
	err := &Error{Op: "Test", Code: StatusIO, Message: "m", Offset: -1, Err: io.ErrClosedPipe}
	if !errors.Is(err, io.ErrClosedPipe) || !errors.Is(err, ErrIO) {
		t.Fatal(err)
	}
	closed := closedError("Test", "tensor")
	if !errors.Is(closed, ErrClosed) || !errors.Is(closed, ErrInvalidHandle) {
		t.Fatal(closed)
	}
}

func TestOffsetOfMessage(t *testing.T) {
	for message, want := range map[string]int64{
		"":                                    -1,
		"rank: expected at most 64 [byte 16]": 16,
		"[byte 16]":                           -1,
		"x [byte 0]":                          0,
		"x [byte -1]":                         -1,
		"x [byte ]":                           -1,
		"x [byte 1] and more":                 -1,
		"x [byte 9223372036854775807]":        9223372036854775807,
		"x [byte 18446744073709551615]":       -1,
		"name \"a [byte 7]\" [byte 9]":        9,
	} {
		if got := offsetOf(message); got != want {
			t.Errorf("%q: got %d, want %d", message, got, want)
		}
	}
}

func TestNamesOfConstants(t *testing.T) {
	for _, c := range []struct {
		value fmt.Stringer
		want  string
	}{
		{TypeFloat8E4M3, "float8_e4m3"}, {TypeBFloat16, "bfloat16"}, {TypeBool, "bool"}, {ElementType(0x99), "ElementType(153)"},
		{LayoutColMajor, "col_major"}, {LayoutBlockPaged, "block_paged"}, {DeviceROCm, "rocm"}, {DeviceLevelZero, "level_zero"},
		{SyncProducerSynced, "producer_synced"}, {MemoryHostPinned, "host_pinned"}, {StatusOK, "OK"},
		{StatusIndexOutOfBounds, "INDEX_OUT_OF_BOUNDS"}, {Status(-9999), "Status(-9999)"}, {Status(7), "Status(7)"},
		{ViewReadOnly | ViewPacked, "read_only|packed"}, {ViewFlag(0), "0"}, {ViewFlag(128) | ViewContiguous, "contiguous|128"},
		{HandleTensor, "tensor"}, {AlignRequire, "require"}, {FormatSafetensors, "safetensors"},
	} {
		if got := c.value.String(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
