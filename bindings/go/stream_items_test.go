package hurray_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"hurray.dev/go/hurray"
)

func TestCompositesGoThroughStreams(t *testing.T) {
	noLeak(t)
	var network bytes.Buffer
	writer := value(hurray.NewWriter(&network))(t)
	whole := partition(t, []float32{1, 2}, []float32{3})
	alone := value(hurray.FromSlice([]int8{7}, nil, nil))(t)
	ok(t, errors.Join(writer.WriteComposite(whole), writer.Write(alone), whole.Close(), alone.Close()))
	wants(t, writer.WriteComposite(whole), hurray.ErrClosed)
	ok(t, writer.Close())
	sent := network.Bytes()

	reader := closing(t, value(hurray.NewReader(bytes.NewReader(sent), nil))(t))
	var kinds []string
	for item, err := range reader.Items() {
		ok(t, err)
		switch item := item.(type) {
		case *hurray.Tensor:
			kinds = append(kinds, "tensor")
		case *hurray.Composite:
			kinds = append(kinds, "composite")
			if got := value(item.Float64At(2))(t); got != 3 {
				t.Error(got)
			}
		}
	}
	if len(kinds) != 2 || kinds[0] != "composite" || kinds[1] != "tensor" {
		t.Error(kinds)
	}
	if _, err := reader.NextItem(); err != io.EOF {
		t.Error(err)
	}

	// Leaving the loop closes what it is at; the rest can be read.
	reader = closing(t, value(hurray.NewReaderBytes(sent, nil))(t))
	for _, err := range reader.Items() {
		ok(t, err)
		break
	}
	ok(t, value(reader.NextItem())(t).Close())

	// Torn within the composite.
	reader = closing(t, value(hurray.NewReaderBytes(sent[:len(sent)/2], nil))(t))
	for _, err := range reader.Items() {
		if err == nil {
			t.Fatal("an item of a torn stream")
		}
		wants(t, err, hurray.ErrInvalidFormat)
	}
	wants(t, errorOf(reader.NextItem()), hurray.ErrInvalidFormat)
}
