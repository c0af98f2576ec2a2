"""Composites: put together, refused, read element by element and as one tensor."""

import unittest

import numpy as np

import hurray
from hurray import (
    BufferHandle,
    CombineOp,
    CompositeBuilder,
    CompositeHead,
    CompositionRule,
    Descriptor,
    MemberRole,
    Shard,
    Tensor,
)
from support import BaseLine


def head(rule, count, shape, combine_op=CombineOp.NONE):
    return Descriptor.build("float32", shape, layout=CompositeHead(rule, count, combine_op))


def tensor(array, **fields):
    """A tensor that owns its memory, with sections in its descriptor."""
    array = np.ascontiguousarray(array, np.float32)
    descriptor = Descriptor.build("float32", array.shape, buffers=[BufferHandle(array.nbytes)], **fields)
    with Tensor.from_numpy(array, alignment=hurray.AlignmentPolicy.COPY) as plain:
        return Tensor.from_buffers(descriptor, plain.buffers)


def build(descriptor, members):
    with CompositeBuilder(descriptor) as builder:
        for member in members:
            with member:
                builder.add(member)
        return builder.build()


class CompositeTest(BaseLine):
    whole = np.arange(24, dtype=np.float32).reshape(4, 6)

    def partition(self):
        parts = [tensor(self.whole[:, :4], shard=Shard((4, 6), (0, 0))), tensor(self.whole[:, 4:], shard=Shard((4, 6), (0, 4)))]
        return build(head(CompositionRule.PARTITION, 2, [4, 6]), parts)

    def test_a_partition_is_read_as_one_tensor(self):
        with self.partition() as composite:
            self.assertEqual((len(composite), composite.info.has_elements, composite.head.shape), (2, 1, (4, 6)))
            self.assertEqual([composite.member_at([1, 3]), composite.member_at([1, 4])], [0, 1])
            self.assertEqual(composite.element([2, 5]), 17.0)
            with composite.merged() as merged:
                np.testing.assert_array_equal(merged.numpy(), self.whole)
            for member in composite:
                with member:
                    self.assertIsNotNone(member.shard)

    def test_corrections_of_an_overlay_add_up(self):
        place = Shard((4, 6), (0, 0))
        members = [tensor(self.whole, member_role=MemberRole.BASE, shard=place)]
        members += [tensor(np.full((4, 6), 0.5), member_role=MemberRole.CORRECTION, shard=place) for _ in range(2)]
        with build(head(CompositionRule.OVERLAY, 3, [4, 6], CombineOp.ADD), members) as composite:
            self.assertEqual(composite.element([0, 1]), 2.0)
            with composite.merged() as merged:
                np.testing.assert_array_equal(merged.numpy(), self.whole + 1)

    def test_composites_may_be_members(self):
        with self.partition() as inner, build(head(CompositionRule.GROUP, 1, [1]), [inner]) as outer:
            self.assertEqual((outer.info.depth, outer.info.descriptor_count, outer.info.has_elements), (2, 4, 0))
            with outer[0] as again:
                self.assertEqual(len(again), 2)
            self.refused("UNSUPPORTED", outer.merged)
            with self.assertRaises(IndexError):
                outer[1]

    def test_what_does_not_fit_is_refused(self):
        part = {"shard": Shard((4, 6), (0, 0))}
        self.refused("INVALID_COMPOSITE", build, head(CompositionRule.PARTITION, 1, [4, 6]), [tensor(self.whole[:, :4], **part)])
        self.refused("INVALID_COMPOSITE", build, head(CompositionRule.PARTITION, 2, [4, 6]), [tensor(self.whole, **part)])
        self.refused("INVALID_COMPOSITE", build, head(CompositionRule.OVERLAY, 1, [4, 6], CombineOp.ADD), [tensor(self.whole)])
        plain = Descriptor.build("float32", [1], buffers=[BufferHandle(4)])
        self.refused("INVALID_ARGUMENT", build, plain, [])

    def test_work_has_a_limit_and_can_be_stopped(self):
        with self.partition() as composite:
            self.refused("LIMIT_EXCEEDED", composite.merged, memory_limit=10)
            self.refused("CANCELLED", composite.merged, progress=lambda done, total: False)
            with self.assertRaises(ZeroDivisionError):
                composite.merged(progress=lambda done, total: 1 // 0)
            seen = []
            composite.merged(progress=lambda done, total: seen.append((done, total)) or True).close()
            self.assertEqual(seen[-1][0], seen[-1][1])

    def test_a_merged_tensor_outlives_its_composite(self):
        with self.partition() as composite:
            merged = composite.merged()
        with merged:
            np.testing.assert_array_equal(merged.numpy(), self.whole)


if __name__ == "__main__":
    unittest.main()
