"""convert: formats, layouts, schemes; what is said of them; nothing half is left behind."""

import json
import pathlib
import signal
import struct
import subprocess
import time
import unittest

import numpy

import support


def names_of(folder):
    return sorted(path.name for path in folder.iterdir())


class ConvertTest(support.CliTest):
    def setUp(self):
        super().setUp()
        self.array = numpy.sin(numpy.arange(64 * 64, dtype=numpy.float32)).reshape(64, 64)
        self.path = self.write("m.safetensors", support.safetensors(
            {"w": ("F32", (64, 64), self.array.tobytes()), "i": ("I64", (3,), [1, 2, 3]), "s": ("F64", (), [0.5]),
             "e": ("F32", (0, 4), []), "m": ("BOOL", (9,), [1, 0, 1, 0, 1, 0, 1, 0, 1])}, metadata={"k": "v"}))

    def same(self, other, *options):
        support.output("diff", *options, self.path, other)

    def test_every_format_and_back_is_bit_for_bit(self):
        for name in ("x.hrry", "x.safetensors", "x.npz", "x.gguf"):
            with self.subTest(name):
                only = [] if name != "x.gguf" else ["--only", "w", "--only", "i"]
                text = support.output("convert", *only, self.path, self.folder / name)
                self.assertIn("bit for bit", text)
                support.output("verify", self.folder / name)
                support.output("convert", self.folder / name, self.folder / "back.safetensors")
                self.same(self.folder / "back.safetensors", "--values-only", *only)

    def test_one_tensor_becomes_npy_that_numpy_reads(self):
        support.output("convert", "--only", "w", self.path, self.folder / "w.npy")
        self.assertTrue((numpy.load(self.folder / "w.npy") == self.array).all())
        numpy.save(self.folder / "f.npy", numpy.asfortranarray(self.array))
        support.output("convert", self.folder / "f.npy", self.folder / "f.hrry")
        self.assertEqual(support.json_of("ls", "--json", self.folder / "f.hrry")["tensors"][0]["layout"], "col_major")
        self.assert_fails(support.FAILED, "convert", self.path, self.folder / "all.npy")
        self.assertNotIn("all.npy", names_of(self.folder))

    def test_streams_through_pipes(self):
        stream = support.run("convert", self.path, "-", check=0)
        self.assertIn(b"names left out", stream.stderr)
        support.output("convert", "-", self.folder / "back.hrry", stdin=stream.stdout)
        got = support.json_of("ls", "--json", self.folder / "back.hrry")["tensors"]
        self.assertEqual(sorted(t["name"] for t in got), [f"tensor_{i}" for i in range(5)])
        support.output("convert", self.path, self.folder / "x.stream")
        self.assertEqual((self.folder / "x.stream").read_bytes(), stream.stdout)

    def test_files_through_pipes(self):
        data = support.run("convert", "--to", "hrry", self.path, "-", check=0).stdout
        self.assertTrue(data.startswith(b"HRRYFILE"))
        path = self.write("x.hrry", data)
        self.same(path, "--values-only")
        self.assertEqual(len(support.json_of("ls", "--json", "-", stdin=data)["tensors"]), 5)

    def test_layouts(self):
        for layout in ("col_major", "tiled:8x8", "morton", "hilbert", "coo", "csr", "csc"):
            with self.subTest(layout):
                path = self.folder / "l.hrry"
                text = support.output("convert", "--layout", layout, self.path, path)
                self.assertIn("laid out " + layout, text)
                support.output("verify", path)
                tensors = {t["name"]: t for t in support.json_of("ls", "--json", path)["tensors"]}
                self.assertEqual(tensors["w"]["layout"], layout.partition(":")[0])
                self.assertEqual(tensors["s"]["layout"], "row_major")
                self.same(path, "--values-only")
        for wrong in ("nonsense", "tiled", "tiled:0x8", "tiled:axb", "strided", "composite", "morton:3"):
            self.assert_fails(support.USAGE, "convert", "--layout", wrong, self.path, self.folder / "n.hrry")
        self.assertNotIn("n.hrry", names_of(self.folder))

    def test_schemes_and_what_they_change(self):
        for scheme, error in {"per_tensor_affine": 0.01, "per_channel_affine:int8,axis=1": 0.01, "per_block_affine": 0.01,
                              "per_block_affine:int4,block=16,scale=float32,symmetric": 0.1, "nf4": 0.16,
                              "mxfp": 0.3, "mxfp:float8_e4m3": 0.13}.items():
            with self.subTest(scheme):
                path = self.folder / "q.hrry"
                said = support.json_of("convert", "--json", "--quantize", scheme, self.path, path)
                # Blocks do not fit the scalar and the empty matrix, which other schemes take, too.
                self.assertIn(said["changed"], [[{"what": "quantized, " + scheme.partition(":")[0].partition(",")[0],
                                                  "tensors": count}] for count in (1, 2, 3)])
                self.assertGreater(said["made_bytes"], 0)
                support.output("verify", path)
                support.output("diff", "--values-only", "--atol", error, "--only", "w", self.path, path)
                support.run("diff", "--only", "w", self.path, path, check=support.FINDING)
                support.output("convert", "--dequantize", "float32", path, self.folder / "d.safetensors")
                support.output("diff", "--values-only", "--atol", error, self.path, self.folder / "d.safetensors")
        self.assert_fails(support.FAILED, "convert", self.folder / "q.hrry", self.folder / "n.safetensors", says="--dequantize")
        for wrong in ("nonsense", "nf4:nothing", "per_block_affine,block=x", "mxfp,colour=red", ""):
            if wrong:
                self.assert_fails(support.USAGE, "convert", "--quantize", wrong, self.path, self.folder / "n.hrry")
        self.assertNotIn("n.hrry", names_of(self.folder))
        self.assertNotIn("n.safetensors", names_of(self.folder))

    def test_alignment(self):
        support.output("convert", "--align", "65536", self.path, self.folder / "a.hrry")
        for tensor in support.json_of("inspect", "--json", self.folder / "a.hrry")["tensors"]:
            for buffer in tensor["buffers"]:
                if buffer["byte_size"]:
                    self.assertEqual(buffer["file_offset"] % 65536, 0)
        self.assert_fails(support.FAILED, "convert", "--align", "100", self.path, self.folder / "n.hrry")

    def test_the_output_may_be_the_input(self):
        before = self.path.read_bytes()
        copy = self.write("c.safetensors", before)
        support.output("convert", copy, copy)
        self.same(copy)

    def test_metadata_is_kept_or_named(self):
        support.output("convert", self.path, self.folder / "x.hrry")
        self.assertEqual(support.json_of("ls", "--json", self.folder / "x.hrry")["metadata"],
                         [{"key": "k", "type": "string", "value": "v"}])
        self.assertIn("metadata left out", support.output("convert", self.path, self.folder / "x.npz"))

    def test_a_failure_leaves_the_old_file_and_nothing_else(self):
        old = self.write("o.safetensors", b"old")
        bad = self.write("bad.safetensors", support.safetensors({"x": ("F32", (1,), [1]), "y": ("BOOL", (1,), [7])}))
        before = names_of(self.folder)
        self.assert_fails(support.UNREADABLE, "convert", bad, old, says="y")
        self.assertEqual(old.read_bytes(), b"old")
        self.assert_fails(support.FAILED, "convert", bad, self.folder / "no" / "such.hrry")
        self.assertEqual(names_of(self.folder), before)
        self.assert_fails(support.USAGE, "convert", self.path, self.folder / "x.unknown", says="--to")
        self.assert_fails(support.UNREADABLE, "convert", self.folder / "missing", self.folder / "x.hrry")
        self.assertEqual(names_of(self.folder), before)

    def test_ctrl_c_leaves_no_half_file(self):
        # A sparse file of 2 GiB takes long enough to be interrupted.
        size = 2 << 30
        header = b'{"w":{"dtype":"U8","shape":[%d],"data_offsets":[0,%d]}}' % (size, size)
        big = self.folder / "big.safetensors"
        with big.open("wb") as file:
            file.write(struct.pack("<Q", len(header)) + header)
            file.truncate(8 + len(header) + size)
        before = names_of(self.folder)
        for out in ("out.hrry", "out.stream"):
            with subprocess.Popen([support.PROGRAM, "convert", "--layout", "coo", big, self.folder / out],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=support.environment()) as program:
                time.sleep(0.5)
                program.send_signal(signal.SIGINT)
                _, error = program.communicate(timeout=support.SECONDS)
            self.assertEqual(program.returncode, support.INTERRUPTED, error)
            self.assertEqual(names_of(self.folder), before)

    def test_composites_stay_whole(self):
        golden = pathlib.Path("tests/golden/descriptors")
        entries = {e["name"]: e for e in json.loads((golden / "manifest.json").read_text())["valid"]}

        def part(name, fill):
            descriptor = entries[name]["descriptor"]
            data = (golden / entries[name]["file"]).read_bytes()[: descriptor["descriptor_length"]]
            return data + b"".join(fill * buffer["byte_size"] for buffer in descriptor["buffers"])

        members = entries["composite_group"]["descriptor"]["layout_fields"]["member_count"]
        data = part("composite_group", b"") + b"".join(part("type_int8", bytes([i])) for i in range(members)) + part("type_int8", b"x")
        path = self.write("c.stream", data)
        self.assertEqual(len(support.json_of("inspect", "--json", path)["items"][0]["members"]), members)
        support.output("convert", path, self.folder / "c.hrry")
        self.assertEqual([t["name"] for t in support.json_of("ls", "--json", self.folder / "c.hrry")["tensors"]],
                         ["tensor_0", *(f"tensor_0/{i}" for i in range(members)), "tensor_1"])
        support.output("verify", self.folder / "c.hrry")
        support.output("convert", self.folder / "c.hrry", self.folder / "d.stream")
        self.assertEqual((self.folder / "d.stream").read_bytes(), data)
        other = self.write("e.stream", data[:-1] + b"y")
        support.output("diff", path, self.folder / "d.stream")
        support.output("diff", path, other, check=support.FINDING)
        changed = bytearray(data)
        changed[len(part("composite_group", b"")) + len(part("type_int8", b"\0")) - 1] ^= 1
        self.assertIn("member 0", support.output("diff", path, self.write("f.stream", bytes(changed)), check=support.FINDING))
        self.assert_fails(support.FAILED, "convert", path, self.folder / "g.safetensors")

    def test_nothing_is_shown_of_progress_in_a_pipe(self):
        self.assertEqual(support.run("convert", "-q", self.path, self.folder / "x.hrry", check=0).stderr, b"")


if __name__ == "__main__":
    unittest.main()
