"""The code of the README, as a program: five_minutes.py FOLDER."""

import os
import sys

import numpy as np

import hurray

folder = sys.argv[1]
path = os.path.join(folder, "model.safetensors")

# sample: wrap
array = np.arange(6, dtype=np.float32).reshape(2, 3)

with hurray.Tensor.wrap(array) as tensor:   # nothing is copied
    view = tensor.numpy()                   # the same memory again
    view[0, 0] = 42
    print(tensor, array[0, 0])              # <hurray.Tensor float32 [2, 3] row_major> 42.0
    del view                                # a tensor cannot be closed under a live view
# end sample

# sample: files
with hurray.FileWriter.create(path) as writer:
    with hurray.Tensor.wrap(array) as tensor:
        writer.add("weights", tensor)
    writer.set_metadata("made by", "hurray")

with hurray.File.open(path) as file:        # mapped: no tensor data is read
    print(file.keys(), file.metadata)
    with file["weights"] as tensor:         # keeps the mapping alive by itself
        print(tensor.tolist())
# end sample

# sample: safe_open
with hurray.safe_open(path, framework="np") as file:
    for name in file.keys():
        weights = file.get_tensor(name)     # a view of the mapping that may outlive the file
print(weights.sum())
# end sample

# sample: stream
read_end, write_end = os.pipe()
with hurray.Writer.to_fd(write_end, close_fd=True) as writer:
    with hurray.Tensor.wrap(array) as tensor:
        writer.write(tensor)

with hurray.Reader.from_fd(read_end, close_fd=True) as reader:
    for tensor in reader:
        with tensor:
            print(tensor.shape)
# end sample

# sample: exchange
with hurray.Tensor.wrap(array) as tensor:
    with hurray.from_hurray(tensor) as taken:           # any object with __hurray__, from any package
        print(taken.shape)
    buffers, context = tensor.export_pair()             # addresses of C handles, for another runtime
with hurray.Tensor.from_pair(buffers, context) as taken:  # which takes both over
    print(taken.shape)
# end sample

# sample: bits
flags = np.array([True, False, True])
with hurray.Tensor.from_numpy(flags) as tensor:         # packed: 1 byte was copied
    print(tensor.copied_bytes, bytes(tensor.raw_bytes()), tensor.tolist())

halves = np.array([0x3F80, 0x4000], np.uint16)          # bfloat16, as NumPy can hold it
with hurray.Tensor.wrap(halves, "bfloat16") as tensor:
    print(tensor.numpy(bits=True).tolist())
# end sample

# sample: errors
try:
    hurray.Descriptor.decode(b"HRRY\x01\x00")
except hurray.HurrayError as error:
    print(error.code.name, error.offset)                # a code, and where in the input the fault lies
# end sample
