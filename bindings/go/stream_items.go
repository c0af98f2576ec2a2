package hurray

import (
	"iter"
	"runtime"

	"hurray.dev/go/hurray/internal/capi"
	"hurray.dev/go/hurray/internal/native"
)

// NextItem reads the next tensor or, where a head comes, the whole composite: a *Tensor or a *Composite, which the
// caller closes. At the clean end of the stream it returns io.EOF. A reader is used with NextItem or with Next, which gives
// heads and members as tensors. Since version 4 of the C ABI. (format: stream, composite)
//
// Errors: those of Next; ErrInvalidComposite for one that is torn, or whose members do not fit; a permissive reader gives
// what came of it as tensors, without the heads. ErrLimitExceeded for a composite of more than 2^20 descriptors.
func (r *Reader) NextItem() (CompositeMember, error) {
	const op = "Reader.NextItem"
	native.Drain()
	var tensor *capi.Tensor
	var composite *capi.Composite
	err := r.step(op, func(handle *capi.Reader, report *capi.Error) int32 {
		return capi.CallReaderNextItem(handle, &tensor, &composite, report)
	}, func() bool { return tensor == nil && composite == nil })
	switch {
	case err != nil:
		return nil, err
	case tensor != nil:
		return newTensor(tensor), nil
	default:
		return newComposite(composite), nil
	}
}

// Items goes through the tensors and composites of the stream, as NextItem gives them. Each is closed when the body of
// the loop is done with it. It ends at the end of the stream, or after an error.
func (r *Reader) Items() iter.Seq2[CompositeMember, error] { return items(r.NextItem) }

// WriteComposite writes a composite: its head, and behind it its members, those of inner composites behind their heads.
// It stays the caller's and may be closed at once. Since version 4 of the C ABI. (format: stream, composite)
//
// Errors: those of Write.
func (w *Writer) WriteComposite(composite *Composite) error {
	const op = "Writer.WriteComposite"
	err := composite.use(op, func(c *capi.Composite) error {
		return w.step(op, func(handle *capi.Writer, report *capi.Error) int32 {
			return capi.CallWriterWriteComposite(handle, c, report)
		})
	})
	runtime.KeepAlive(composite)
	return err
}
