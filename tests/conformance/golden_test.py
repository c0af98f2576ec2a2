"""A driver decodes every golden descriptor to its manifest, encodes it to the same bytes, builds it from its fields, and
refuses the wrong ones.
"""

import json
import pathlib
import unittest

import driver_support

GOLDEN = pathlib.Path("tests/golden/descriptors")


def replay(paths, options=None):
    """The driver's answer for each path, in order; for some of them with options of the reader."""
    options = options or [[]] * len(paths)
    lines = [f"{path}\t{','.join(chosen)}\n" if chosen else f"{path}\n" for path, chosen in zip(paths, options)]
    answers = driver_support.json_lines(driver_support.run(["golden"], "".join(lines).encode()).stdout)
    assert [answer["path"] for answer in answers] == [str(path) for path in paths], "an answer for each path, in order"
    return answers


def same(got, expected):
    """Whether two JSON values are the same; Python takes True for 1."""
    if isinstance(expected, dict):
        return isinstance(got, dict) and got.keys() == expected.keys() and all(same(got[k], expected[k]) for k in got)
    if isinstance(expected, list):
        return isinstance(got, list) and len(got) == len(expected) and all(map(same, got, expected))
    return isinstance(got, bool) == isinstance(expected, bool) and got == expected


def without_message(error):
    return {key: error[key] for key in ("code", "name", "offset")}


class GoldenTest(unittest.TestCase):
    def setUp(self):
        manifest = json.loads((GOLDEN / "manifest.json").read_text())
        self.valid, self.invalid = manifest["valid"], manifest["invalid"]

    def replay(self, entries):
        paths = [(GOLDEN / entry["file"]).resolve() for entry in entries]
        return zip(entries, replay(paths, [entry.get("options", []) for entry in entries]))

    def test_there_are_at_least_400_of_each(self):
        self.assertGreaterEqual(len(self.valid), 400)
        self.assertGreaterEqual(len(self.invalid), 400)

    def test_valid_descriptors_decode_to_their_manifest_and_encode_to_the_same_bytes(self):
        for entry, answer in self.replay(self.valid):
            with self.subTest(entry["name"]):
                got, expected = answer.get("descriptor"), entry["descriptor"]
                # The difference is easier to read than the fact that there is one.
                self.assertTrue(same(got, expected), f"got {got}, expected {expected}, {answer.get('error')}")
                encoded = (GOLDEN / entry["file"]).read_bytes()[: expected["descriptor_length"]]
                self.assertEqual(answer["reencoded"], encoded.hex())

    def test_valid_descriptors_are_built_from_their_fields(self):
        for entry, answer in self.replay(self.valid):
            with self.subTest(entry["name"]):
                encoded = (GOLDEN / entry["file"]).read_bytes()[: entry["descriptor"]["descriptor_length"]]
                expected = entry.get("rebuilt", encoded.hex())
                if isinstance(expected, dict):
                    self.assertEqual(without_message(answer["rebuilt"]["error"]), expected["error"])
                else:
                    self.assertEqual(answer["rebuilt"], expected)

    def test_what_needs_options_is_refused_without_them(self):
        entries = [entry for entry in self.valid if "options" in entry]
        for entry, answer in zip(entries, replay([(GOLDEN / entry["file"]).resolve() for entry in entries])):
            with self.subTest(entry["name"]):
                self.assertIn("error", answer)

    def test_invalid_descriptors_are_refused_with_code_name_and_offset(self):
        for entry, answer in self.replay(self.invalid):
            with self.subTest(entry["name"]):
                self.assertNotIn("descriptor", answer)
                got = answer["error"]
                self.assertEqual(without_message(got), entry["error"], got["message"])
                self.assertTrue(got["message"])


class SharedVectorsTest(unittest.TestCase):
    """Vectors that another implementation wrote."""

    def test_other_implementations_descriptors(self):
        shared = driver_support.shared_folder()
        if shared is None or not (shared / "conformance" / "manifest.json").is_file():
            self.skipTest("the shared vectors are not beside the project")
        folder = shared / "conformance"
        entries = json.loads((folder / "manifest.json").read_text())["descriptors"]
        for entry, answer in zip(entries, replay([folder / entry["file"] for entry in entries])):
            with self.subTest(entry["file"]):
                expect = entry["expect"]
                got = answer["descriptor"]
                self.assertEqual(got["version_major"], expect["version_major"])
                self.assertEqual(got["version_minor"], expect["version_minor"])
                self.assertEqual(got["type"], expect["element_type"])
                self.assertEqual(got["type_tag"], expect["element_type_tag"])
                self.assertEqual(got["shape"], expect["shape"])
                self.assertEqual(got["byte_offset"], expect["byte_offset"])
                self.assertEqual([b["byte_size"] for b in got["buffers"]], expect["buffer_byte_sizes"])
                self.assertEqual(got["shard"] is not None, expect["has_shard"])
                self.assertEqual(got["quantization"] is not None, expect["has_quantization"])
                self.assertEqual(answer["reencoded"], (folder / entry["file"]).read_bytes().hex())
        self.assertGreaterEqual(len(entries), 11)


class AboutTest(unittest.TestCase):
    def test_about_names_runtime_library_and_versions(self):
        (facts,) = driver_support.json_lines(driver_support.run(["about"]).stdout)
        self.assertEqual(facts["abi_version"], 4)
        for key in ("runtime", "version", "build_id", "library_path"):
            self.assertTrue(facts[key], key)

    def test_wrong_usage_is_exit_code_2(self):
        for arguments in ([], ["no-such-command"], ["relay"]):
            self.assertEqual(driver_support.run(arguments, check=False).returncode, 2, arguments)


if __name__ == "__main__":
    unittest.main()
