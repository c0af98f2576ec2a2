"""inspect: --json is the manifest's JSON for every golden descriptor; files and streams; the annotated view."""

import hashlib
import json
import pathlib
import struct
import unittest

import support

GOLDEN = pathlib.Path("tests/golden/descriptors")
FLAGS = {"private_tags": "--private-tags", "permissive": "--permissive"}


def same(got, expected):
    """Whether two JSON values are the same; Python takes True for 1."""
    if isinstance(expected, dict):
        return isinstance(got, dict) and got.keys() == expected.keys() and all(same(got[k], expected[k]) for k in got)
    if isinstance(expected, list):
        return isinstance(got, list) and len(got) == len(expected) and all(map(same, got, expected))
    return isinstance(got, bool) == isinstance(expected, bool) and got == expected


class GoldenTest(unittest.TestCase):
    """Each descriptor is a run of the program: these take some seconds."""

    def setUp(self):
        self.manifest = json.loads((GOLDEN / "manifest.json").read_text())

    def inspect(self, entry, *more):
        flags = [FLAGS[option] for option in entry.get("options", [])]
        return support.run("inspect", *more, *flags, GOLDEN / entry["file"])

    def test_json_of_valid_descriptors_is_that_of_the_manifest(self):
        self.assertGreaterEqual(len(self.manifest["valid"]), 400)
        for entry in self.manifest["valid"]:
            with self.subTest(entry["name"]):
                done = self.inspect(entry, "--json")
                self.assertEqual(done.returncode, support.GOOD, done.stderr)
                got = json.loads(done.stdout)
                self.assertTrue(same(got, entry["descriptor"]), f"got {got}, expected {entry['descriptor']}")

    def test_invalid_descriptors_print_the_error_and_exit_with_3(self):
        self.assertGreaterEqual(len(self.manifest["invalid"]), 400)
        for entry in self.manifest["invalid"]:
            with self.subTest(entry["name"]):
                done = self.inspect(entry, "--json")
                self.assertEqual(done.returncode, support.UNREADABLE)
                error = json.loads(done.stdout)["error"]
                self.assertEqual({key: error[key] for key in ("code", "name", "offset")}, entry["error"])
                self.assertTrue(error["message"])

    def test_the_annotated_view_has_every_byte_once(self):
        for entry in self.manifest["valid"]:
            with self.subTest(entry["name"]):
                done = self.inspect(entry)
                self.assertEqual(done.returncode, support.GOOD, done.stderr)
                text = done.stdout.decode()
                rows = text[text.index("OFFSET"):].splitlines()[1:]
                offsets = [int(row.split()[0]) for row in rows]
                self.assertEqual(offsets[0], 0)
                self.assertEqual(offsets, sorted(set(offsets)))
                data = (GOLDEN / entry["file"]).read_bytes()[: entry["descriptor"]["descriptor_length"]]
                for row, start, end in zip(rows, offsets, offsets[1:] + [len(data)]):
                    shown = data[start:min(end, start + 8)].hex(" ")
                    self.assertIn(shown + " ", row + " ")
                    if end - start <= 8:
                        self.assertNotIn("...", row.split("  ")[1] if "  " in row else row)


class FileTest(support.CliTest):
    def setUp(self):
        super().setUp()
        self.numbers = struct.pack("<6f", *range(6))
        self.path = self.write("m.safetensors", support.safetensors(
            {"a": ("F32", (2, 3), self.numbers), "n\0\u00e9": ("I8", (), b"\xff"), "leer": ("I64", (0, 4), b"")},
            metadata={"k": "v\u00fc\n"}))

    def test_json_of_a_file(self):
        got = support.json_of("inspect", "--json", self.path)
        self.assertEqual(got["format"], "safetensors")
        self.assertEqual(got["metadata"], [{"key": "k", "type": "string", "value": "v\u00fc\n"}])
        self.assertEqual([tensor["name"] for tensor in got["tensors"]], ["a", "n\0\u00e9", "leer"])
        self.assertEqual(got["tensors"][1]["name_hex"], "n\0\u00e9".encode().hex())
        first = got["tensors"][0]
        self.assertEqual(set(first), {"name", "name_hex", "descriptor", "buffers"})
        self.assertEqual(first["descriptor"]["shape"], [2, 3])
        (buffer,) = first["buffers"]
        self.assertEqual(buffer["byte_size"], 24)
        self.assertEqual(buffer["sha256"], hashlib.sha256(self.numbers).hexdigest())
        offset = buffer["file_offset"]
        self.assertEqual(self.path.read_bytes()[offset:offset + 24], self.numbers)
        self.assertEqual(got["tensors"][2]["buffers"][0]["sha256"], hashlib.sha256().hexdigest())

    def test_json_of_one_tensor_by_name_and_by_place(self):
        by_name = support.json_of("inspect", "--json", self.path, "leer")
        self.assertEqual(by_name["descriptor"]["shape"], [0, 4])
        self.assertEqual(support.json_of("inspect", "--json", self.path, "#2"), by_name)

    def test_several_tensors_need_a_name(self):
        self.assert_fails(support.USAGE, "inspect", self.path, says=("several tensors", "hurray ls"))
        self.assert_fails(support.USAGE, "inspect", self.path, "nobody", says=("no tensor", "nobody"))

    def test_the_text_names_fields_and_bytes(self):
        text = support.output("inspect", self.path, "a")
        for word in ("float32", "[2, 3], 6 elements", "row_major", "descriptor_length", "buffers[0].alignment", "at byte "):
            self.assertIn(word, text)
        self.assertIn("00 00 80 3f", text)
        self.assertNotIn("Buffer 0, 24 bytes at byte", support.output("inspect", "--bytes", "0", self.path, "#1"))
        self.assertIn("more", support.output("inspect", "--bytes", "8", self.path, "a"))

    def test_names_are_shown_without_what_a_terminal_acts_upon(self):
        path = self.write("evil.safetensors", support.safetensors({"\x1b[31mred\u202e": ("I8", (1,), b"\1")}))
        text = support.output("inspect", path)
        self.assertNotIn("\x1b", text)
        self.assertNotIn("\u202e", text)
        self.assertIn("\\x1b[31mred", text)

    def test_standard_input(self):
        data = self.path.read_bytes()
        self.assertEqual(support.json_of("inspect", "--json", "-", stdin=data), support.json_of("inspect", "--json", self.path))


class StreamTest(support.CliTest):
    def setUp(self):
        super().setUp()
        descriptor = (GOLDEN / "valid/type_float16.bin").read_bytes()
        self.data = descriptor[:53] + bytes(range(14)) + (GOLDEN / "valid/type_int8.bin").read_bytes()
        self.first = bytes(range(14))
        manifest = json.loads((GOLDEN / "manifest.json").read_text())["valid"]
        size = next(e for e in manifest if e["name"] == "type_int8")["descriptor"]["buffers"][0]["byte_size"]
        self.data += b"\7" * size

    def test_json_of_a_stream(self):
        path = self.write("x.stream", self.data)
        for got in (support.json_of("inspect", "--json", path), support.json_of("inspect", "--json", "-", stdin=self.data)):
            self.assertEqual(set(got), {"items"})
            self.assertEqual([item["descriptor"]["type"] for item in got["items"]], ["float16", "int8"])
            self.assertEqual(set(got["items"][0]), {"descriptor", "buffers", "members"})
            self.assertEqual(got["items"][0]["buffers"],
                             [{"byte_size": 14, "sha256": hashlib.sha256(self.first).hexdigest()}])

    def test_one_tensor_of_a_stream_by_its_place(self):
        path = self.write("x.stream", self.data)
        self.assertEqual(support.json_of("inspect", "--json", path, "#1")["descriptor"]["type"], "int8")
        self.assert_fails(support.USAGE, "inspect", path, "#2", says="the stream has 2")
        self.assert_fails(support.USAGE, "inspect", path, "name", says="#0")

    def test_a_stream_that_is_cut_is_unreadable(self):
        done = support.run("inspect", "--json", self.write("x.stream", self.data[:-1]), check=support.UNREADABLE)
        self.assertEqual(json.loads(done.stdout)["error"]["name"], "INVALID_FORMAT")


class HostileTest(support.CliTest):
    def test_what_is_no_input_exits_with_3_and_says_so_as_json(self):
        for name, data in {"empty": b"", "text": b"hello world, this is no tensor\n" * 20, "magic.safetensors": b"\xff" * 64,
                           "h.safetensors": struct.pack("<Q", 2**63) + b"{}"}.items():
            with self.subTest(name):
                path = self.write(name, data)
                done = support.run("inspect", "--json", path, check=support.UNREADABLE)
                self.assertEqual(set(json.loads(done.stdout)["error"]), {"code", "name", "message", "offset"})
                self.assert_fails(support.UNREADABLE, "inspect", path, says=str(path))

    def test_missing_files_and_folders(self):
        done = support.run("inspect", "--json", self.folder / "missing", check=support.UNREADABLE)
        self.assertEqual(json.loads(done.stdout)["error"]["name"], "NOT_FOUND")
        self.assert_fails(support.UNREADABLE, "inspect", self.folder, says="directory")


if __name__ == "__main__":
    unittest.main()
