"""GraalVM's metadata: everything that native code looks up by name is in it, and nothing that is not there."""

import json
import pathlib
import re
import unittest

ROOT = pathlib.Path.cwd()
BINDING = ROOT / "bindings/java"
CONFIG = BINDING / "resources/META-INF/native-image/dev.hurray/hurray/jni-config.json"
PRIMITIVES = {"J": "long", "I": "int", "B": "byte", "Z": "boolean", "D": "double"}


def parameters(signature):
    """(Ljava/lang/Object;[J)I as [java.lang.Object, long[]]."""
    found = []
    for array, primitive, name in re.findall(r"(\[?)(?:([JIBZD])|L([^;]+);)", signature[1 : signature.index(")")]):
        found.append((PRIMITIVES[primitive] if primitive else name.replace("/", ".")) + ("[]" if array else ""))
    return found


class NativeImageTest(unittest.TestCase):
    def setUp(self):
        self.classes = {entry["name"]: entry for entry in json.loads(CONFIG.read_text(encoding="utf-8"))}
        self.sources = "".join(file.read_text(encoding="utf-8") for file in sorted((BINDING / "jni").glob("*.cpp")))

    def test_every_upcall_is_there_with_its_parameters(self):
        upcalls = re.findall(r'\.find\(env, "([^"]+)", "([^"]+)", "([^"]+)"\)', self.sources)
        self.assertGreater(len(upcalls), 5)
        for name, method, signature in upcalls:
            listed = self.classes[name.replace("/", ".")]["methods"]
            self.assertIn({"name": method, "parameterTypes": parameters(signature)}, listed)
        told = sum(len(entry["methods"]) for name, entry in self.classes.items() if name.startswith("dev.hurray"))
        self.assertEqual(told, len(upcalls))

    def test_every_field_and_class_that_is_looked_up_is_there(self):
        for field in re.findall(r'GetFieldID\(type, "(\w+)"', self.sources):
            self.assertIn({"name": field}, self.classes["java.io.FileDescriptor"]["fields"])
        thrown = re.findall(r'FindClass\("([^"]+)"\)', self.sources)
        self.assertTrue(thrown)
        for name in thrown:
            self.assertIn({"name": "<init>", "parameterTypes": ["java.lang.String"]}, self.classes[name.replace("/", ".")]["methods"])

    def test_classes_of_the_binding_have_these_methods(self):
        for name, entry in self.classes.items():
            if name.startswith("dev.hurray."):
                text = (BINDING / "src" / (name.replace(".", "/") + ".java")).read_text(encoding="utf-8")
                for method in entry["methods"]:
                    self.assertRegex(text, rf"static \S+ {method['name']}\(")


if __name__ == "__main__":
    unittest.main()
