"""The code of the README about devices, as a program: the driver is one that only says what it would do."""

import hurray


class Driver:
    """Stands for a driver's Python package: streams, events and memory by their addresses."""

    memory, stream, consumer = 0x10000, 0x51, 0x52

    def write(self, memory, stream):
        print(f"write {memory:#x} on {stream:#x}")

    def record(self, stream):
        print(f"record an event on {stream:#x}")
        return 0xE1

    def wait(self, stream, event):
        print(f"{stream:#x} waits for {event:#x}")

    def read(self, memory, stream):
        print(f"read {memory:#x} on {stream:#x}")

    def release(self, event):
        print(f"release event {event:#x}")

    def free(self, memory):
        print(f"free {memory:#x}")


driver = Driver()

# sample: produce
driver.write(driver.memory, driver.stream)
event = driver.record(driver.stream)                    # before the handoff, on the stream that writes
buffer = hurray.Buffer.handoff(
    hurray.BufferHandle(4096, 64, hurray.Device.CUDA, hurray.SyncMode.EVENT),
    driver.memory,
    release=driver.free,                                # exactly once, when nobody uses the memory any more
    event=hurray.EventPayload(event, driver.release, hurray.Device.CUDA),
)
descriptor = hurray.Descriptor.build("float32", [1024], buffers=[buffer.handle])
parts = hurray.BufferList()
parts.append(buffer)                                    # parts and a context travel to whoever consumes them
# end sample

# sample: consume
with hurray.Tensor.from_list(descriptor, parts) as tensor:
    (buffer,) = tensor.buffers
    with buffer.waiting() as event:                     # released at the end of the block, exactly once
        driver.wait(driver.consumer, event.sync_handle)
    driver.read(buffer.info.data, driver.consumer)
# end sample


# sample: request
class Weights:                                          # any object with export_tensor is a producer
    def export_tensor(self, stream):
        driver.write(driver.memory, driver.stream)
        driver.wait(stream.consumer_stream, driver.stream)  # ordered on the device before this returns
        buffer = hurray.Buffer.handoff(
            hurray.BufferHandle(4096, 64, hurray.Device.CUDA, hurray.SyncMode.CONSUMER_STREAM),
            driver.memory, release=driver.free, stream=stream)
        descriptor = hurray.Descriptor.build("float32", [1024], buffers=[buffer.handle])
        parts = hurray.BufferList()
        parts.append(buffer)
        return parts, hurray.TensorContext.new(descriptor.encode())


with hurray.request(Weights(), hurray.StreamPayload(driver.consumer, hurray.Device.CUDA)) as tensor:
    driver.read(tensor.buffers[0].info.data, driver.consumer)
# end sample
