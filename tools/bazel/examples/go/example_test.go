package example

import "testing"

func TestSum(t *testing.T) {
	if got := Sum([]int32{1, 2, 39}); got != 42 {
		t.Fatalf("Sum = %d, want 42", got)
	}
	if got := Sum(nil); got != 0 {
		t.Fatalf("Sum(nil) = %d, want 0", got)
	}
}
