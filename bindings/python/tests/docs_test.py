"""The reference: every public name has a docstring, and every public function type hints, which pydoc and editors show."""

import enum
import inspect
import pydoc
import typing
import unittest

import hurray

# Modules whose names are public beside those of the package.
MODULES = (hurray, hurray.safetensors)


def public_names():
    for module in MODULES:
        for name in module.__all__:
            yield f"{module.__name__}.{name}", getattr(module, name)


def is_ours(member):
    return (getattr(member, "__module__", None) or "").startswith("hurray")


def members(owner):
    """Public members that are defined in the package: by the class itself or by what it derives from of ours."""
    for name, kind, home, member in inspect.classify_class_attrs(owner):
        if name.startswith("_") and name not in ("__dlpack__", "__dlpack_device__", "__hurray__", "__array__"):
            continue
        if not is_ours(home) or issubclass(owner, enum.Enum) or home.__module__ == "hurray._native" and name.startswith("_"):
            continue
        yield name, kind, member


def function_of(member):
    if isinstance(member, (classmethod, staticmethod)):
        return member.__func__
    return member.fget if isinstance(member, property) else member


def is_field(owner, name):
    """A field of a named tuple or data class, which a comment documents."""
    return name in getattr(owner, "_fields", ()) or name in getattr(owner, "__dataclass_fields__", ())


class DocsTest(unittest.TestCase):
    def test_every_public_name_is_documented(self):
        missing = []
        for path, found in public_names():
            if inspect.isclass(found) or inspect.isfunction(found):
                if not (found.__doc__ or "").strip():
                    missing.append(path)
            if inspect.isclass(found):
                missing += [f"{path}.{name}" for name, _, member in members(found)
                            if not is_field(found, name) and callable(function_of(member)) and not (inspect.getdoc(function_of(member)) or "").strip()]
        self.assertEqual(missing, [])

    def test_every_public_function_has_type_hints(self):
        missing = []

        def check(path, function):
            if not inspect.isfunction(function):
                return  # of the extension: hints are in its .pyi
            parameters = [p for p in inspect.signature(function).parameters.values() if p.name not in ("self", "cls")]
            missing.extend(f"{path}({p.name})" for p in parameters if p.annotation is p.empty)
            if "return" not in function.__annotations__:
                missing.append(f"{path} -> ?")

        for path, found in public_names():
            if inspect.isfunction(found):
                check(path, found)
            elif inspect.isclass(found):
                for name, _, member in members(found):
                    check(f"{path}.{name}", function_of(member))
        self.assertEqual(missing, [])

    def test_pydoc_writes_the_page_of_every_public_class(self):
        for path, found in public_names():
            if inspect.isclass(found):
                self.assertIn(found.__name__, pydoc.plain(pydoc.render_doc(found)), path)

    def test_all_is_complete_and_sorted(self):
        self.assertEqual(len(set(hurray.__all__)), len(hurray.__all__))
        for name in hurray.__all__:
            self.assertTrue(hasattr(hurray, name), name)
        for name, found in vars(hurray).items():
            if not name.startswith("_") and is_ours(found) and not inspect.ismodule(found) and typing.get_origin(found) is None:
                self.assertIn(name, hurray.__all__)


if __name__ == "__main__":
    unittest.main()
