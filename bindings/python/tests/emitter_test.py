"""The emitter of the binding: no function of the C ABI is forgotten, and what it cannot express stops it."""

import copy
import json
import pathlib
import re
import sys
import unittest

sys.path.insert(0, "tools/headergen")

from emitters import python, python_native  # noqa: E402

ABI = json.loads(pathlib.Path("abi/abi.json").read_text(encoding="utf-8"))
NATIVE = "".join(path.read_text(encoding="utf-8") for path in sorted(pathlib.Path("bindings/python/native").glob("*.c")))


def function(abi, name):
    return next(f for f in abi["functions"] if f["name"] == name)


class CoverageTest(unittest.TestCase):
    def test_every_function_is_generated_written_by_hand_not_offered_or_an_end(self):
        ends = {h[k]["function"] for h in ABI["handles"] for k in ("destroy", "destroy_deferred") if h[k]}
        generated = {f["name"] for f in python_native.mechanical(ABI)}
        by_hand = set(python_native.HAND_WRITTEN)
        not_offered = set(python_native.NOT_OFFERED)
        self.assertEqual(generated | by_hand | not_offered | ends, {f["name"] for f in ABI["functions"]})
        self.assertFalse(generated & by_hand or generated & ends or by_hand & ends)
        self.assertFalse(not_offered & (generated | by_hand | ends))

    def test_what_is_said_to_be_written_by_hand_is(self):
        for name in python_native.HAND_WRITTEN:
            self.assertRegex(NATIVE, rf"calls->{name}\(")
        for name in python_native.NOT_OFFERED:
            self.assertNotIn(f"calls->{name}(", NATIVE)

    def test_the_table_has_every_function_once(self):
        files = python.emit(ABI, pathlib.Path())
        table = re.findall(r'\{"(\w+)", offsetof', files["bindings/python/gen/calls.c"])
        self.assertEqual(table, [f["name"] for f in ABI["functions"]])

    def test_blocking_functions_run_without_the_gil_and_on_shares_of_tensors(self):
        text = python.emit(ABI, pathlib.Path())["bindings/python/gen/wrappers.c"]
        long_work = [f["name"] for f in ABI["functions"] if any("HurrayWorkOptions" in p["c"] for p in f["params"])]
        self.assertGreaterEqual(len(long_work), 5)
        self.assertEqual(text.count("Py_BEGIN_ALLOW_THREADS"), len(python_native.BLOCKING) + len(long_work))
        for name in [*python_native.BLOCKING, *long_work]:
            call = re.search(rf"Py_BEGIN_ALLOW_THREADS\n    status = calls->{name}\((.*)\);\n    Py_END", text)
            self.assertIsNotNone(call, name)
            self.assertNotIn("tensor->pointer", call[1])


class RefusalTest(unittest.TestCase):
    def refused(self, abi, text):
        with self.assertRaises(ValueError) as caught:
            python.emit(abi, pathlib.Path())
        self.assertIn(text, str(caught.exception))

    def test_a_new_function_that_keeps_something(self):
        for model in ("hurray_buffer_from_ptr", "hurray_descriptor_encode"):
            abi = copy.deepcopy(ABI)
            new = copy.deepcopy(function(abi, model))
            new["name"] = "hurray_new_thing"
            abi["functions"].append(new)
            self.refused(abi, "hurray_new_thing")

    def test_a_function_that_went_away(self):
        abi = copy.deepcopy(ABI)
        abi["functions"] = [f for f in abi["functions"] if f["name"] != "hurray_reader_from_memory"]
        self.refused(abi, "hurray_reader_from_memory")

    def test_a_pointer_in_a_struct_without_a_length(self):
        abi = copy.deepcopy(ABI)
        info = next(s for s in abi["structs"] if s["name"] == "HurrayFileInfo")
        shape = next(f for s in abi["structs"] if s["name"] == "HurrayDescriptorInfo" for f in s["fields"] if f["name"] == "shape")
        info["fields"].append({**shape, "name": "sizes"})
        self.refused(abi, "HurrayFileInfo.sizes")


class ConstantTest(unittest.TestCase):
    def test_members_are_named_without_their_family_also_when_it_has_one_only(self):
        text = python.emit(ABI, pathlib.Path())["bindings/python/gen/constants.py"]
        scope = {}
        exec(compile(text, "constants.py", "exec"), scope)
        self.assertEqual(int(scope["StreamFlags"].CLOSE_FD), 1)
        self.assertEqual(scope["Status"].OK, 0)
        self.assertEqual(scope["Status"](-3).name, "INVALID_LAYOUT")
        for group in ABI["groups"]:
            for name in group["constants"]:
                value = next(c["value"] for c in ABI["constants"] if c["name"] == name)
                enum_name = group["name"].removeprefix("Hurray") + ("s" if group["name"].endswith("Flag") else "")
                if enum_name in scope:
                    self.assertIn(value, list(map(int, scope[enum_name])), name)
                else:
                    self.assertEqual(scope[name.removeprefix("HURRAY_")], value)


if __name__ == "__main__":
    unittest.main()
