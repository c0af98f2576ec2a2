"""Channels: tensors between two processes, and between two ends in one. (docs/channel.md)"""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import unittest

import numpy as np

import hurray
from hurray import Buffer, Channel, ChannelListener, ChannelOptions, Tensor
from support import BaseLine

# Receives tensors through an inherited socket, checks the bytes, and says which file they are mapped from.
RECEIVER = """
import sys
import numpy as np
import hurray
hurray.load()
before = hurray.live_handles().handles
with hurray.Channel.from_fd(int(sys.argv[1])) as channel:
    for tensor in channel:
        with tensor:
            view = tensor.numpy()
            address = view.ctypes.data
            inodes = [line.split()[4] for line in open("/proc/self/maps")
                      if int(line.split("-")[0], 16) <= address < int(line.split("-")[1].split()[0], 16)]
            print(float(view.sum()), inodes[0], tensor.readonly, flush=True)
            del view
print(hurray.live_handles().handles - before, flush=True)
"""
SLEEPER = "import sys, time, hurray; c = hurray.Channel.from_fd(int(sys.argv[1])); t = c.receive(); print('holds', flush=True); time.sleep(600)"


def pair():
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def start(program, end):
    process = subprocess.Popen([sys.executable, "-P", "-c", program, str(end.fileno())], pass_fds=[end.fileno()],
                               stdout=subprocess.PIPE, text=True)
    end.close()
    return process


def ends(**options):
    """Two channels over one pair of sockets, in this process."""
    left, right = pair()
    with left, right:
        return Channel.from_fd(left, options=ChannelOptions(**options)), Channel.from_fd(right)


def shared(values):
    """A tensor in shared memory."""
    array = np.asarray(values)
    with Buffer.allocate_shared(array.nbytes) as buffer:
        with Tensor.from_bytes_of(buffer) as tensor:
            np.frombuffer(tensor.memoryview(), np.uint8)[:] = array.view(np.uint8)
        buffer.set_readonly()
        return Tensor.from_bytes_of(buffer)


class ProcessTest(BaseLine):
    def test_a_tensor_of_a_file_is_the_same_memory_in_the_other_process_and_nothing_is_copied(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.safetensors")
            hurray.save_file({"x": np.arange(1000, dtype=np.float32)}, path)
            ours, theirs = pair()
            process = start(RECEIVER, theirs)
            with ours, Channel.from_fd(ours) as channel, hurray.File.open(path) as file:
                with file["x"] as tensor:
                    channel.send(tensor)
                channel.finish()
                lines = process.communicate(timeout=60)[0].splitlines()
                channel.process()
                info = channel.info
            self.assertEqual(process.returncode, 0)
            self.assertEqual(lines, [f"{499500.0} {os.stat(path).st_ino} True", "0"])
            self.assertEqual((info.copied_bytes, info.outstanding), (0, 0), "released there, given up here")
            self.assertGreaterEqual(info.passed_bytes, 4000)

    def test_memory_of_this_process_is_copied_once_and_counted(self):
        ours, theirs = pair()
        process = start(RECEIVER, theirs)
        with ours, Channel.from_fd(ours) as channel:
            with Tensor.from_numpy(np.arange(10, dtype=np.float64)) as tensor:
                channel.send(tensor)
            channel.finish()
            lines = process.communicate(timeout=60)[0].splitlines()
            self.assertEqual(channel.info.copied_bytes, 80)
        self.assertEqual(process.returncode, 0)
        self.assertTrue(lines[0].startswith("45.0 "), lines)

    def test_what_a_dead_process_held_comes_back(self):
        ours, theirs = pair()
        process = start(SLEEPER, theirs)
        with ours, Channel.from_fd(ours) as channel:
            with Tensor.from_numpy(np.arange(10, dtype=np.float64)) as tensor:
                channel.send(tensor)
            self.assertEqual(process.stdout.readline(), "holds\n")
            channel.process()
            self.assertEqual(channel.info.outstanding, 1)
            process.send_signal(signal.SIGKILL)
            process.communicate(timeout=60)
            self.refused("DISCONNECTED", channel.receive, 60)
            self.assertEqual(channel.info.outstanding, 0)


class EndsTest(BaseLine):
    def test_received_tensors_outlive_the_channel(self):
        here, there = ends()
        with here, there:
            with Tensor.from_numpy(np.arange(6, dtype=np.int16).reshape(2, 3)) as tensor:
                here.send(tensor)
            received = there.receive(60)
        with received:
            np.testing.assert_array_equal(received.numpy(), np.arange(6, dtype=np.int16).reshape(2, 3))

    def test_every_kind_of_tensor_arrives_as_it_was(self):
        sources = [np.float64(1.5), np.zeros((3, 0), np.int8), np.array([True, False] * 5),
                   np.arange(24, dtype=np.int16).reshape(2, 3, 4)[:, ::-1], np.asfortranarray(np.ones((2, 3)))]
        here, there = ends()
        with here, there:
            for source in sources:
                with Tensor.from_numpy(source) as tensor:
                    here.send(tensor)
                with there.receive(60) as received:
                    np.testing.assert_array_equal(received.numpy(), source)
            here.finish()
            self.assertIsNone(there.receive(60))

    def test_shared_memory_is_passed_and_what_was_received_is_passed_on(self):
        here, there = ends()
        back, again = ends()
        with here, there, back, again:
            with shared(np.arange(8, dtype=np.uint8)) as tensor:
                here.send(tensor)
                with there.receive(60) as received:
                    back.send(received)
                    with again.receive(60) as last:
                        self.assertEqual(bytes(last.memoryview()), bytes(range(8)))
            self.assertEqual((here.info.copied_bytes, back.info.copied_bytes), (0, 0))

    def test_waiting_ends_and_limits_hold(self):
        here, there = ends(max_outstanding=1, send_timeout_ms=20)
        with here, there:
            self.refused("TIMED_OUT", there.receive, 0.01)
            with Tensor.from_numpy(np.ones(3)) as tensor:
                here.send(tensor)
                self.refused("LIMIT_EXCEEDED", here.send, tensor)
                there.receive(60).close()
                here.send(tensor)
                there.receive(60).close()

    def test_a_listener_has_a_file_for_its_user_alone_and_takes_it_away(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "s")
            with ChannelListener.listen(path) as listener:
                self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)
                with Channel.connect(path, timeout=60) as here, listener.accept(60) as there:
                    with Tensor.from_numpy(np.ones(3)) as tensor:
                        there.send(tensor)
                    with here.receive(60) as received:
                        self.assertEqual(received.numpy().sum(), 3)
            self.assertFalse(os.path.exists(path))

    def test_other_sockets_are_refused(self):
        left, right = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        with left, right:
            self.refused("INVALID_ARGUMENT", Channel.from_fd, left)


if __name__ == "__main__":
    unittest.main()
