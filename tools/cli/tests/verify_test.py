"""verify: three levels, every problem and not the first only, exit codes."""

import json
import pathlib
import unittest

import support

GOLDEN = pathlib.Path("tests/golden/descriptors")


def stream_of(*names, fill=b"\0"):
    """A stream of golden descriptors with data of zeros, or of `fill`."""
    manifest = {entry["name"]: entry for entry in json.loads((GOLDEN / "manifest.json").read_text())["valid"]}
    data = b""
    for name in names:
        entry = manifest[name]
        data += (GOLDEN / entry["file"]).read_bytes()[: entry["descriptor"]["descriptor_length"]]
        data += b"".join(fill * buffer["byte_size"] for buffer in entry["descriptor"]["buffers"])
    return data


class VerifyTest(support.CliTest):
    def test_a_good_file_is_good(self):
        path = self.write("m.safetensors", support.safetensors({"a": ("F32", (2,), [1, 2]), "b": ("BOOL", (3,), [0, 1, 1])}))
        self.assertIn("2 tensors, level data: no problems", support.output("verify", path))
        got = support.json_of("verify", "--json", path)
        self.assertEqual((got["good"], got["tensors"], got["level"], got["problems"]), (True, 2, "data", []))

    def test_every_problem_of_a_file_is_listed(self):
        path = self.write("m.safetensors", support.safetensors(
            {"bad1": ("BOOL", (3,), [0, 2, 1]), "good": ("F32", (1,), [1]), "bad2": ("BOOL", (1,), [255])}))
        done = support.run("verify", path, check=support.FINDING)
        text = done.stdout.decode()
        self.assertIn("bad1: ", text)
        self.assertIn("bad2: ", text)
        self.assertIn("2 problems", text)
        problems = support.json_of("verify", "--json", path, check=support.FINDING)["problems"]
        self.assertEqual([(p["index"], p["name"]) for p in problems], [(0, "bad1"), (2, "bad2")])
        for problem in problems:
            self.assertLess(problem["code"], 0)
            self.assertTrue(problem["error"] and problem["message"])
        self.assertIn("1 tensor,", support.output("verify", path, "good"))

    def test_levels_look_at_more_and_more(self):
        # float8_e8m0 has no number 00: only the data are wrong.
        path = self.write("x.stream", stream_of("type_float8_e8m0", "type_float16", "type_float8_e8m0"))
        for level in ("descriptor", "buffers"):
            support.output("verify", "--level", level, path)
        problems = support.json_of("verify", "--json", path, check=support.FINDING)["problems"]
        self.assertEqual([p["index"] for p in problems], [0, 2])
        self.assertEqual({p["error"] for p in problems}, {"INVALID_TYPE"})

    def test_a_stream_that_is_cut_is_a_finding_and_what_was_before_is_checked(self):
        data = stream_of("type_float8_e8m0", "type_float16")
        path = self.write("x.stream", data[:-3])
        problems = support.json_of("verify", "--json", path, check=support.FINDING)["problems"]
        self.assertEqual([(p["index"], p["error"]) for p in problems], [(0, "INVALID_TYPE"), (1, "INVALID_FORMAT")])
        self.assertEqual(support.json_of("verify", "--json", "-", stdin=data[:-3], check=support.FINDING)["problems"], problems)

    def test_descriptors(self):
        self.assertIn("no problems", support.output("verify", GOLDEN / "valid/type_float16.bin"))
        self.assert_fails(support.UNREADABLE, "verify", GOLDEN / "invalid/magic_byte_0.bin", says="INVALID_MAGIC")

    def test_what_is_no_input_is_exit_code_3(self):
        self.assert_fails(support.UNREADABLE, "verify", self.write("x", b"text" * 20))
        done = support.run("verify", "--json", self.write("y", b""), check=support.UNREADABLE)
        self.assertIn("error", json.loads(done.stdout))
        self.assert_fails(support.USAGE, "verify", "--level", "everything", self.write("z", b""))


if __name__ == "__main__":
    unittest.main()
