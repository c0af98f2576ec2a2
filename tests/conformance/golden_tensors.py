"""The golden descriptors as tensors with data, made by the plain Python encoder, and what they look like in files.

A stream is the descriptors and their data back to back. A head of a composite is followed by its members.
"""

import dataclasses
import json
import struct

import generate
import hrry_oracle
import wire
from indexed_layouts import ADD, GROUP, OVERLAY, PARTITION, REPLACE, Composite, Coo, indexed
from sections import member

# Larger ones add bytes, and nothing else.
LARGEST = 1 << 14
F32 = wire.TAG_OF_TYPE["float32"]


@dataclasses.dataclass
class Tensor:
    """Name, descriptor and the bytes of each buffer."""

    name: str
    descriptor: wire.Descriptor
    buffers: list

    def encoded(self):
        return self.descriptor.encoded() + b"".join(self.buffers)


def pattern(size, seed):
    """Bytes that look random, are the same every time, and differ from one tensor to the next."""
    state = (seed + 1) * 0x9E3779B97F4A7C15 % 2**64
    words = []
    for _ in range(-(-size // 8)):
        state = (state ^ (state << 13)) % 2**64
        state ^= state >> 7
        state = (state ^ (state << 17)) % 2**64
        words.append(state)
    return struct.pack(f"<{len(words)}Q", *words)[:size]


def travels(descriptor, options):
    """Whether a tensor of this descriptor can go through streams, files and channels as it is: host memory that is complete, of a
    size that is known, aligned to what files give, without the options that readers must be given."""
    fields = descriptor.as_json()
    return not (
        options
        or descriptor.after
        or descriptor.layout_tag == Composite.tag
        or wire.DYNAMIC in descriptor.shape
        or any(buffer.device_tag or buffer.sync_mode or buffer.memory_class or buffer.alignment > 4096 for buffer in descriptor.table())
        or sum(buffer["byte_size"] for buffer in fields["buffers"]) > LARGEST
    )


def composites():
    """Heads with their members: each rule, and one inside another."""
    def head(shape, rule, members, operation=0):
        return wire.Descriptor(F32, shape, Composite.tag, layout=Composite(rule, operation, members))

    def box(offset, shape, parent=(4, 4), role=None):
        section = None if role is None else member(role)
        return wire.Descriptor(F32, shape, parent_shape=parent, shard_offset=offset, composite_member=section)

    yield "partition", [head((4, 4), PARTITION, 2), box((0, 0), (1, 4)), box((1, 0), (3, 4))]
    for operation in (ADD, REPLACE):
        correction = dataclasses.replace(indexed(F32, (4, 4), Coo(3)), parent_shape=(4, 4), shard_offset=(0, 0), composite_member=member(0))
        yield f"overlay {operation}", [head((4, 4), OVERLAY, 2, operation), box((0, 0), (4, 4), role=1), correction]
    yield "group", [head((4, 4), GROUP, 3), wire.Descriptor(F32, ()), head((2,), GROUP, 1), wire.Descriptor(F32, (2,)),
                    wire.Descriptor(wire.TAG_OF_TYPE["uint4"], (5,))]
    yield "group of nothing", [head((1,), GROUP, 0)]


def all_tensors():
    """In the order of their names, which is that of a file's index."""
    found = [(name, [descriptor]) for name, _, descriptor, options in generate.all_valid() if travels(descriptor, options)]
    found += composites()
    result = []
    for name, descriptors in found:
        for descriptor in descriptors:
            seed = len(result)
            buffers = [pattern(handle.byte_size, 16 * seed + i) for i, handle in enumerate(descriptor.table())]
            # Names that are no ASCII, and one with NUL.
            odd = {1: "\u00e4\u2192\U0001f600", 2: "\0 \u2028"}.get(seed, "")
            result.append(Tensor(f"{seed:04} {name}{odd}", descriptor, buffers))
    return result


def names_of(tensors):
    """The list of names that drivers are given."""
    return "".join(json.dumps(tensor.name, ensure_ascii=False) + "\n" for tensor in tensors)


def stream_of(tensors):
    return b"".join(tensor.encoded() for tensor in tensors)


def file_of(tensors):
    """The .hrry file that a writer makes of them."""
    return hrry_oracle.encode([hrry_oracle.Tensor(t.name, t.descriptor.encoded(), t.buffers) for t in tensors], [])
