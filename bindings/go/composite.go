package hurray

import (
	"context"
	"runtime"
	"unsafe"

	"hurray.dev/go/hurray/internal/capi"
	"hurray.dev/go/hurray/internal/native"
)

// A Composite is a head with all of its members, which fit; it does not change. (format: composite) Several goroutines may
// use it. It is ended by Close. Since version 4 of the C ABI.
type Composite struct {
	owned[*capi.Composite]
}

// CompositeInfo holds facts about a composite.
type CompositeInfo struct {
	// Members of the head, not of those inside of them; Descriptors in all, the head's included.
	Members, Descriptors int
	// Depth is the number of heads on the longest way down, this one included: 1 to 8.
	Depth     int
	Rule      CompositionRule
	CombineOp CombineOp
	// HasElements: there is a number at each index of the head.
	HasElements bool
}

func newComposite(handle *capi.Composite) *Composite {
	c := &Composite{owned[*capi.Composite]{handle: handle, what: "composite"}}
	runtime.SetFinalizer(c, func(c *Composite) {
		if handle := c.take(); handle != nil {
			capi.CallCompositeDestroyDeferred(&handle, nil)
			native.MarkDeferred()
		}
	})
	return c
}

// CompositeMember is what a composite has as a member: a *Tensor or a *Composite.
type CompositeMember interface {
	Close() error
	addTo(op string, builder *capi.CompositeBuilder) error
}

func (t *Tensor) addTo(op string, builder *capi.CompositeBuilder) error {
	return t.use(op, func(handle *capi.Tensor, report *capi.Error) int32 {
		return capi.CallCompositeBuilderAddTensor(builder, handle, report)
	})
}

func (c *Composite) addTo(op string, builder *capi.CompositeBuilder) error {
	err := c.use(op, func(handle *capi.Composite) error {
		return call(op, func(report *capi.Error) int32 { return capi.CallCompositeBuilderAddComposite(builder, handle, report) })
	})
	runtime.KeepAlive(c)
	return err
}

// NewComposite puts a head, a descriptor of LayoutComposite, and its members together, and checks that they fit. All stay
// the caller's; the members' memory is shared.
//
// Errors: ErrInvalidArgument when the head is none; ErrInvalidComposite for members that do not fit.
func NewComposite(head *Descriptor, members ...CompositeMember) (*Composite, error) {
	const op = "NewComposite"
	var builder *capi.CompositeBuilder
	err := head.use(op, func(handle *capi.Descriptor) error {
		return call(op, func(report *capi.Error) int32 { return capi.CallCompositeBuilderNew(handle, &builder, report) })
	})
	runtime.KeepAlive(head)
	if err != nil {
		return nil, err
	}
	defer capi.CallCompositeBuilderDestroy(&builder)
	for _, member := range members {
		if err := member.addTo(op, builder); err != nil {
			return nil, err
		}
	}
	var composite *capi.Composite
	err = call(op, func(report *capi.Error) int32 { return capi.CallCompositeBuilderBuild(builder, &composite, report) })
	if err != nil {
		return nil, err
	}
	return newComposite(composite), nil
}

// Info returns facts about the composite.
func (c *Composite) Info() (CompositeInfo, error) {
	const op = "Composite.Info"
	info := &capi.CompositeInfo{StructSize: uint32(unsafe.Sizeof(capi.CompositeInfo{}))}
	err := c.use(op, func(handle *capi.Composite) error {
		return call(op, func(report *capi.Error) int32 { return capi.CallCompositeInfo(handle, info, report) })
	})
	runtime.KeepAlive(c)
	if err != nil {
		return CompositeInfo{}, err
	}
	return CompositeInfo{
		Members:     int(info.MemberCount),
		Descriptors: int(info.DescriptorCount),
		Depth:       int(info.Depth),
		Rule:        CompositionRule(info.CompositionRule),
		CombineOp:   CombineOp(info.CombineOp),
		HasElements: info.HasElements != 0,
	}, nil
}

// Head copies the fields of the head's descriptor: shape and type of the whole.
func (c *Composite) Head() (DescriptorFields, error) {
	const op = "Composite.Head"
	var fields DescriptorFields
	err := c.use(op, func(handle *capi.Composite) error {
		var head *capi.Descriptor
		err := call(op, func(report *capi.Error) int32 { return capi.CallCompositeHead(handle, &head, report) })
		if err == nil {
			fields, err = readFields(op, head)
		}
		return err
	})
	runtime.KeepAlive(c)
	return fields, err
}

// Member makes a share of member i, which the caller closes: a *Tensor or a *Composite.
//
// Errors: ErrIndexOutOfBounds.
func (c *Composite) Member(i int) (CompositeMember, error) {
	const op = "Composite.Member"
	if i < 0 || uint64(i) > 0xffffffff {
		return nil, &Error{Op: op, Code: StatusIndexOutOfBounds, Message: "there is no member of that index", Offset: -1}
	}
	var tensor *capi.Tensor
	var composite *capi.Composite
	err := c.use(op, func(handle *capi.Composite) error {
		return call(op, func(report *capi.Error) int32 {
			return capi.CallCompositeMember(handle, uint32(i), &tensor, &composite, report)
		})
	})
	runtime.KeepAlive(c)
	switch {
	case err != nil:
		return nil, err
	case tensor != nil:
		return newTensor(tensor), nil
	default:
		return newComposite(composite), nil
	}
}

// Merged copies all elements of a partition or an overlay into one new tensor of the head's shape and type, which the
// caller closes: row-major, in memory of the library. Elements are those of the members bit for bit; quantized members are
// dequantized, corrections applied in their order. The unit of progress is bytes put in place; nobody else may use the
// composite meanwhile, Progress included. Since version 4 of the C ABI.
//
// Errors: ErrUnsupported for a group, a private rule, an opaque member, sums that are not defined, memory that the CPU
// cannot read; ErrInvalidLayout for index arrays that break a rule; ErrInvalidSyncMode; those of Tensor.Dequantize;
// ErrLimitExceeded; ErrOutOfMemory; ErrCancelled.
func (c *Composite) Merged(ctx context.Context, options *WorkOptions) (*Tensor, error) {
	const op = "Composite.Merged"
	var result *capi.Tensor
	err := c.use(op, func(handle *capi.Composite) error {
		return work(op, ctx, options, func(record *capi.WorkOptions, report *capi.Error) int32 {
			return capi.CallCompositeMerged(handle, record, &result, report)
		})
	})
	runtime.KeepAlive(c)
	if err != nil {
		return nil, err
	}
	return newTensor(result), nil
}

// Close ends the composite; its members' memory lives as long as something else shares it. Closing once more does
// nothing.
func (c *Composite) Close() error {
	runtime.SetFinalizer(c, nil)
	return c.end("Composite.Close", func(handle *capi.Composite) int32 { return capi.CallCompositeDestroy(&handle) })
}

// Composite makes a composite of the head at index i and all its members, which the caller closes. It is good after the
// file is closed, too. Since version 4 of the C ABI.
//
// Errors: those of Tensor; ErrInvalidArgument when the tensor is no head; ErrInvalidComposite.
func (f *File) Composite(i int) (*Composite, error) {
	const op = "File.Composite"
	var composite *capi.Composite
	err := f.use(op, func(handle *capi.File) error {
		return call(op, func(report *capi.Error) int32 {
			return capi.CallFileComposite(handle, uint64(i), &composite, report)
		})
	})
	runtime.KeepAlive(f)
	if err != nil {
		return nil, err
	}
	return newComposite(composite), nil
}

// AddComposite adds a composite: its head under the name, its members as name/0, name/1, ..., those of an inner composite
// as name/1/0, ... It stays the caller's and may be closed at once. Since version 4 of the C ABI.
//
// Errors: those of Add; ErrUnsupported for all formats but FormatHrry.
func (w *FileWriter) AddComposite(name string, composite *Composite) error {
	const op = "FileWriter.AddComposite"
	err := composite.use(op, func(c *capi.Composite) error {
		return w.write(op, func(handle *capi.FileWriter, report *capi.Error) int32 {
			return capi.CallFileWriterAddComposite(handle, unsafe.StringData(name), uint64(len(name)), c, report)
		})
	})
	runtime.KeepAlive(composite)
	return err
}
