"""The emitter of the binding: no function of the C ABI is forgotten, and what it cannot express stops it."""

import copy
import json
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path.cwd()
sys.path.insert(0, str(ROOT / "tools/headergen"))

from emitters import java  # noqa: E402

ABI = json.loads((ROOT / "abi/abi.json").read_text(encoding="utf-8"))
GEN = "bindings/java/gen/"


def function(abi, name):
    return next(f for f in abi["functions"] if f["name"] == name)


class EmitterTest(unittest.TestCase):
    def setUp(self):
        self.files = java.emit(ABI, ROOT)

    def test_every_function_is_wrapped_or_named_as_hand_written_and_used_there(self):
        interface = self.files[GEN + "hurray.i"]
        wrapped = set(re.findall(r"\b(hurray_\w+)\(", interface))
        by_hand = set(re.findall(r"^//   (hurray_\w+)$", interface, re.MULTILINE))
        names = {f["name"] for f in ABI["functions"]}
        self.assertEqual(wrapped | by_hand, names)
        self.assertEqual(wrapped & by_hand, set())
        sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "bindings/java/jni").glob("*.cpp"))
        # What is not offered says so, with the reason, in the table that //tools/headergen:coverage_test compares with the sources.
        not_offered = json.loads((ROOT / "bindings/java/coverage.json").read_text(encoding="utf-8"))["-"]
        for name in by_hand - set(not_offered):
            self.assertTrue(name + "(" in sources, name)

    def test_every_function_is_forwarded_and_looked_up(self):
        text = self.files[GEN + "forward.c"]
        for f in ABI["functions"]:
            self.assertIn(f'{{"{f["name"]}", &bound.{f["name"]}}}', text)
            self.assertRegex(text, rf"(?m)^\S.*\b{f['name']}\(.*\) {{$")

    def test_every_constant_is_there_once_with_its_value(self):
        plain = self.files[GEN + "dev/hurray/Abi.java"]
        for group in ABI["groups"]:
            prefix = java.common.group_prefix(ABI, group)
            name = {"HurrayStatus": "StatusCode"}.get(group["name"], group["name"][len("Hurray"):])
            for c in (c for c in ABI["constants"] if c["group"] == group["name"]):
                member = java.common.strip_prefix(c["name"], prefix, "HURRAY_")
                if GEN + f"dev/hurray/{name}.java" in self.files:
                    text, pattern = self.files[GEN + f"dev/hurray/{name}.java"], rf"(?m)^    {member}\((.*)\)[,;]$"
                else:
                    text, pattern = plain, rf"(?m)^    static final \w+ {c['name'][len('HURRAY_'):]} = (.*?)L?;$"
                found = re.findall(pattern, text)
                values = 2 ** (64 if c["type"].get("bits") == 64 else 32)
                self.assertEqual([int(value, 0) % values for value in found], [c["value"] % values], c["name"])

    def test_every_field_has_its_offset(self):
        text = self.files[GEN + "dev/hurray/Structs.java"]
        for s in ABI["structs"]:
            body = text.split(f"static final class {s['name'][6:]} {{")[1].split("\n    }\n")[0]
            self.assertIn(f"static final int SIZE = {s['size']};", body)
            for f in s["fields"]:
                self.assertIn(f"static final int {f['name'].upper()} = {f['offset']};", body)

    def test_numbers_beyond_the_signed_range_keep_their_bits(self):
        self.assertIn("static final long DIMENSION_DYNAMIC = -1L;", self.files[GEN + "dev/hurray/Abi.java"])
        self.assertIn("static final int NO_BUFFER = -1;", self.files[GEN + "dev/hurray/Abi.java"])

    def test_a_pointer_without_a_typemap_is_refused(self):
        abi = copy.deepcopy(ABI)
        out = function(abi, "hurray_live_handles")["params"][1]
        out["type"]["to"] = {"kind": "int", "name": "int16_t", "bits": 16, "signed": True}
        with self.assertRaisesRegex(ValueError, "hurray_live_handles.*no typemap"):
            java.emit(abi, ROOT)

    def test_documentation_cannot_end_a_comment(self):
        abi = copy.deepcopy(ABI)
        abi["groups"][0]["doc"] = "ends */ here <b> @link"
        text = java.emit(abi, ROOT)[GEN + "dev/hurray/StatusCode.java"]
        self.assertIn("ends *&#47; here &lt;b&gt; &#64;link", text)


if __name__ == "__main__":
    unittest.main()
