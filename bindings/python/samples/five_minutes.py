"""The code of the README, as a program: five_minutes.py FOLDER."""

import gzip
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

# sample: dlpack
with hurray.Tensor.wrap(array) as tensor:
    other = np.from_dlpack(tensor)                      # or torch's, jax's, cupy's: the same memory
    print(other[0, 0])
    del other                                           # it counts as a view

with hurray.from_dlpack(array) as tensor:               # from whatever has __dlpack__
    print(tensor.shape)
# end sample

# sample: file_objects
with gzip.open(path + ".gz", "wb") as target, hurray.Writer.to_file(target) as writer:
    with hurray.Tensor.wrap(array) as tensor:
        writer.write(tensor)

with gzip.open(path + ".gz", "rb") as source, hurray.Reader.from_file(source) as reader:
    descriptor = reader.begin()                         # before any of the data is there
    data = bytearray(6 * 4)
    print(descriptor.shape, reader.readinto(data), np.frombuffer(data, np.float32).sum())
# end sample

# sample: source
descriptor = hurray.Descriptor.build("float32", array.shape, buffers=[hurray.BufferHandle(array.nbytes, 64)])

with hurray.FileWriter.create(path + ".hrry", format=hurray.FileFormat.HRRY) as writer:
    writer.set_metadata("layers", 2)                    # metadata of .hrry and GGUF files has types
    writer.set_metadata("tokens", ["a", "b"])
    for number in range(2):                             # one tensor in memory at a time, made when it is written
        writer.add_source(f"layer.{number}", descriptor, lambda number=number: array * number)

with hurray.File.open(path + ".hrry") as file, file["layer.1"] as tensor:
    print(file.metadata, tensor.element([0, 0]))
# end sample

# sample: quantize
with hurray.Tensor.wrap(array) as tensor:
    with tensor.quantize(hurray.Scheme.PER_TENSOR_AFFINE, "int8") as small, small.dequantize() as back:
        print(small.nbytes, tensor.nbytes, np.abs(back.numpy() - array).max() < 0.2)
    with tensor.transcode(hurray.Layout.CSR) as sparse:
        print(sparse, tensor.statistics().max)
# end sample
