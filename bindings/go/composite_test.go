package hurray_test

import (
	"testing"

	"hurray.dev/go/hurray"
)

// partition is a composite of two shards of a vector.
func partition(t testing.TB, values ...[]float32) *hurray.Composite {
	t.Helper()
	total, members := uint64(0), []hurray.CompositeMember{}
	for _, v := range values {
		total += uint64(len(v))
	}
	offset := uint64(0)
	for _, v := range values {
		size := uint64(len(v))
		descriptor := value(hurray.NewDescriptor(hurray.DescriptorSpec{
			ElementType: hurray.TypeFloat32,
			Layout:      hurray.LayoutRowMajor,
			Shape:       []uint64{size},
			Buffers:     []hurray.BufferHandle{{ByteSize: 4 * size, Alignment: 64}},
			Shard:       &hurray.Shard{ParentShape: []uint64{total}, Offset: []uint64{offset}},
		}))(t)
		buffer := value(hurray.AllocateBuffer(4*size, 0))(t)
		members = append(members, value(hurray.NewTensor(descriptor, value(hurray.NewBufferList(buffer))(t)))(t))
		ok(t, hurray.BorrowMutable(members[len(members)-1].(*hurray.Tensor), func(elements []float32) error { copy(elements, v); return nil }))
		ok(t, descriptor.Close())
		offset += size
	}
	head := value(hurray.NewDescriptor(hurray.DescriptorSpec{
		ElementType:  hurray.TypeFloat32,
		Layout:       hurray.LayoutComposite,
		Shape:        []uint64{total},
		LayoutFields: hurray.CompositeLayout{Rule: hurray.CompositionRulePartition, MemberCount: uint32(len(values))},
	}))(t)
	composite := value(hurray.NewComposite(head, members...))(t)
	if len(members) > 1 {
		wants(t, errorOf(hurray.NewComposite(head, members[0])), hurray.ErrInvalidComposite)
	}
	ok(t, head.Close())
	for _, member := range members {
		ok(t, member.Close())
	}
	return composite
}

func TestCompositesGoThroughFiles(t *testing.T) {
	noLeak(t)
	image := written(t, &hurray.FileWriterOptions{Format: hurray.FormatHrry}, func(w *hurray.FileWriter) {
		composite := partition(t, []float32{1, 2}, []float32{3})
		ok(t, w.AddComposite("whole", composite))
		ok(t, composite.Close())
		ok(t, composite.Close())
		wants(t, w.AddComposite("closed", composite), hurray.ErrClosed)
	})
	file := value(hurray.OpenBytes(image, nil))(t)
	composite := closing(t, value(file.Composite(value(file.Find("whole"))(t)))(t))
	wants(t, errorOf(file.Composite(value(file.Find("whole/1"))(t))), hurray.ErrInvalidArgument)
	ok(t, file.Close())
	info := value(composite.Info())(t)
	if info.Members != 2 || info.Descriptors != 3 || info.Depth != 1 || info.Rule != hurray.CompositionRulePartition || !info.HasElements {
		t.Errorf("%+v", info)
	}
	if head := value(composite.Head())(t); len(head.Shape) != 1 || head.Shape[0] != 3 {
		t.Errorf("%+v", head)
	}
	member := closing(t, value(composite.Member(1))(t))
	tensor, is := member.(*hurray.Tensor)
	if !is {
		t.Fatalf("%T", member)
	}
	ok(t, hurray.Borrow(tensor, func(elements []float32) error {
		if len(elements) != 1 || elements[0] != 3 {
			t.Error(elements)
		}
		return nil
	}))
	wants(t, errorOf(composite.Member(2)), hurray.ErrIndexOutOfBounds)
	wants(t, errorOf(composite.Member(-1)), hurray.ErrIndexOutOfBounds)
	ok(t, composite.Close())
	wants(t, errorOf(composite.Info()), hurray.ErrClosed)
	wants(t, errorOf(composite.Head()), hurray.ErrClosed)
	wants(t, errorOf(composite.Member(0)), hurray.ErrClosed)
}

func TestOnlyHrryFilesHoldComposites(t *testing.T) {
	noLeak(t)
	composite := closing(t, partition(t, []float32{1}))
	for _, format := range []hurray.FileFormat{hurray.FormatSafetensors, hurray.FormatGguf, hurray.FormatNpy, hurray.FormatNpz} {
		writer := value(hurray.NewFileWriter(&failing{}, &hurray.FileWriterOptions{Format: format}))(t)
		wants(t, writer.AddComposite("x", composite), hurray.ErrUnsupported)
		ok(t, writer.Close())
	}
}
