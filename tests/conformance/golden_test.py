"""A driver decodes every golden descriptor to its manifest, encodes it to the same bytes, and refuses the wrong ones."""

import json
import pathlib
import unittest

import driver_support

GOLDEN = pathlib.Path("tests/golden/descriptors")


def replay(paths):
    """The driver's answer for each path, in order."""
    text = "".join(f"{path}\n" for path in paths).encode()
    answers = driver_support.json_lines(driver_support.run(["golden"], text).stdout)
    assert [answer["path"] for answer in answers] == [str(path) for path in paths], "an answer for each path, in order"
    return answers


class GoldenTest(unittest.TestCase):
    def setUp(self):
        self.manifest = json.loads((GOLDEN / "manifest.json").read_text())

    def test_manifest_is_not_empty(self):
        self.assertGreaterEqual(len(self.manifest["valid"]), 80)
        self.assertGreaterEqual(len(self.manifest["invalid"]), 80)

    def test_valid_descriptors_decode_to_their_manifest_and_encode_to_the_same_bytes(self):
        entries = self.manifest["valid"]
        answers = replay([(GOLDEN / entry["file"]).resolve() for entry in entries])
        for entry, answer in zip(entries, answers):
            with self.subTest(entry["name"]):
                self.assertEqual(answer.get("descriptor"), entry["descriptor"], answer.get("error"))
                length = entry["descriptor"]["descriptor_length"]
                expected = (GOLDEN / entry["file"]).read_bytes()[:length]
                self.assertEqual(answer["reencoded"], expected.hex())

    def test_invalid_descriptors_are_refused_with_code_name_and_offset(self):
        entries = self.manifest["invalid"]
        answers = replay([(GOLDEN / entry["file"]).resolve() for entry in entries])
        for entry, answer in zip(entries, answers):
            with self.subTest(entry["name"]):
                self.assertNotIn("descriptor", answer)
                got = answer["error"]
                self.assertEqual({key: got[key] for key in ("code", "name", "offset")}, entry["error"], got["message"])
                self.assertTrue(got["message"])


class SharedVectorsTest(unittest.TestCase):
    """Vectors that another implementation wrote."""

    # What the drivers print every field of; of the others they need to give some answer.
    COVERED_LAYOUTS = (1, 2, 3)

    def test_other_implementations_descriptors(self):
        shared = driver_support.shared_folder()
        if shared is None or not (shared / "conformance" / "manifest.json").is_file():
            self.skipTest("the shared vectors are not beside the project")
        folder = shared / "conformance"
        entries = json.loads((folder / "manifest.json").read_text())["descriptors"]
        covered = 0
        for entry, answer in zip(entries, replay([folder / entry["file"] for entry in entries])):
            with self.subTest(entry["file"]):
                expect = entry["expect"]
                if expect["layout_tag"] not in self.COVERED_LAYOUTS or expect["has_quantization"]:
                    continue
                covered += 1
                got = answer["descriptor"]
                self.assertEqual(got["version_major"], expect["version_major"])
                self.assertEqual(got["version_minor"], expect["version_minor"])
                self.assertEqual(got["type"], expect["element_type"])
                self.assertEqual(got["type_tag"], expect["element_type_tag"])
                self.assertEqual(got["shape"], expect["shape"])
                self.assertEqual(got["byte_offset"], expect["byte_offset"])
                self.assertEqual([b["byte_size"] for b in got["buffers"]], expect["buffer_byte_sizes"])
                self.assertEqual(got["shard"] is not None, expect["has_shard"])
                self.assertEqual(answer["reencoded"], (folder / entry["file"]).read_bytes().hex())
        self.assertGreaterEqual(covered, 7)


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
