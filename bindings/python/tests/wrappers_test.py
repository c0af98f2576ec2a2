"""The generated wrappers: every one of them with too many, too few, wrong and closed arguments; and their type hints."""

import ast
import importlib.resources
import inspect
import os
import socket
import re
import tempfile
import unittest

import hurray
from hurray import _native, _structs
from support import BaseLine

GENERATED = importlib.resources.files("hurray").joinpath("_calls.pyi").read_text(encoding="utf-8")


def signatures():
    """Name and parameters (name, hint) of every generated function."""
    for node in ast.parse(GENERATED).body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, [(a.arg, ast.unparse(a.annotation)) for a in node.args.posonlyargs]


def handles():
    """A closed object of each class of handles, by the name of the class."""
    made = {
        "Buffer": hurray.Buffer.allocate(64),
        "BufferList": hurray.BufferList(),
        "TensorContext": hurray.TensorContext.new(b""),
        "Tensor": hurray.Tensor.wrap(b"abc"),
        "Descriptor": hurray.Descriptor.build("uint8", [1], buffers=[hurray.BufferHandle(1)]),
        "DescriptorBuilder": hurray.DescriptorBuilder("uint8", 1, [1]),
        "ReleaseQueue": hurray.ReleaseQueue(),
        "Reader": hurray.Reader.from_memory(b""),
        "Writer": hurray.Writer.to_memory(),
    }
    ends = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    made["Channel"] = hurray.Channel.from_fd(ends[0])
    for end in ends:
        end.close()
    group = hurray.CompositeHead(hurray.CompositionRule.GROUP, 0)
    with hurray.Descriptor.build("uint8", [1], layout=group) as head:
        made["CompositeBuilder"] = hurray.CompositeBuilder(head)
    made["Composite"] = made["CompositeBuilder"].build()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model")
        hurray.save_file({"a": made["Tensor"]}, path)
        made["File"] = hurray.File.open(path)
        made["FileWriter"] = hurray.FileWriter.create(path)
        made["ChannelListener"] = hurray.ChannelListener.listen(os.path.join(folder, "s"))
        for handle in made.values():
            handle.close()
    return made


class EveryWrapperTest(BaseLine):
    def test_the_hints_name_exactly_the_functions_that_exist(self):
        written_by_hand = set(ast_names("_native.pyi"))
        names = {name for name, _ in signatures()}
        self.assertGreater(len(names), 40)
        functions = {name for name, value in vars(_native).items() if inspect.isbuiltin(value)}
        self.assertEqual(functions, names | written_by_hand)

    def test_every_one_has_a_documentation(self):
        for name, _ in signatures():
            self.assertTrue(getattr(_native, name).__doc__, name)

    def test_the_number_of_arguments_is_checked(self):
        for name, parameters in signatures():
            function = getattr(_native, name)
            for count in (len(parameters) + 1, len(parameters) - 1):
                if count >= 0:
                    with self.subTest((name, count)), self.assertRaises(TypeError) as caught:
                        function(*[None] * count)
                    self.assertIn(name, str(caught.exception))

    def test_objects_of_a_wrong_type_are_type_errors(self):
        checked = 0
        for name, parameters in signatures():
            if not parameters:
                continue
            wrong = object()
            with self.subTest(name), self.assertRaises(TypeError):
                getattr(_native, name)(*[wrong] * len(parameters))
            checked += 1
        self.assertGreater(checked, 40)

    def good_arguments(self, parameters, given):
        """Arguments that convert, so that the handle decides."""
        values = {"int": 1, "bytes": bytes(16), "ReadableBuffer | str": b"x", "Iterable[int]": [1]}
        found = []
        for name, hint in parameters:
            if hint.removesuffix(" | None") in given:
                found.append(given[hint.removesuffix(" | None")])
            elif "PathLike" in hint:
                found.append("/nonexistent")
            elif hint.endswith("| None"):
                found.append(None)
            else:
                found.append(values.get(hint))
        return found

    def test_closed_handles_are_refused_by_every_function(self):
        closed = handles()
        checked = 0
        for name, parameters in signatures():
            if not any(hint.removesuffix(" | None") in closed for _, hint in parameters):
                continue
            with self.subTest(name), self.assertRaises(hurray.ClosedError):
                getattr(_native, name)(*self.good_arguments(parameters, closed))
            checked += 1
        self.assertGreater(checked, 25)

    def test_handles_of_another_kind_are_refused_by_every_function(self):
        with hurray.Reader.from_memory(b"") as reader, hurray.Writer.to_memory() as writer:
            checked, closed_classes = 0, set(handles())
            for name, parameters in signatures():
                hints = [hint.removesuffix(" | None") for _, hint in parameters]
                classes = [hint for hint in hints if hint in closed_classes]
                if not classes or "int" in classes:
                    continue
                other = reader if classes[0] != "Reader" else writer
                given = {hint: other for hint in classes}
                with self.subTest(name), self.assertRaises(TypeError):
                    getattr(_native, name)(*self.good_arguments(parameters, given))
                checked += 1
            self.assertGreater(checked, 25)

    def test_integers_out_of_range(self):
        for name, parameters in signatures():
            if parameters and all(hint == "int" for _, hint in parameters):
                for wrong in (-(2**70), 2**70):
                    with self.subTest((name, wrong)), self.assertRaises(hurray.HurrayError) as caught:
                        getattr(_native, name)(*[wrong] * len(parameters))
                    self.assertEqual(caught.exception.name, "INVALID_ARGUMENT")
                    self.assertIn(str(wrong), caught.exception.message)

    def test_arguments_are_converted_before_handles_are_looked_at(self):
        """A conversion that closes the handle finds that its call refuses it, instead of using freed memory."""
        tensor = hurray.Tensor.wrap(bytes(200))
        (buffer,) = tensor.buffers

        class Closer:
            def __index__(self):
                tensor.close()
                return 0

        with self.assertRaises(hurray.ClosedError):
            buffer.slice(Closer(), 64)
        builder = hurray.DescriptorBuilder("int8", 3, [1])

        class BuilderCloser:
            def __index__(self):
                builder.close()
                return 1

        with self.assertRaises(hurray.ClosedError):
            builder.set_strides([BuilderCloser()])

    def test_the_number_of_bytes_of_a_buffer_handle(self):
        builder = hurray.DescriptorBuilder("int8", 1, [1])
        for size in (0, 15, 17):
            self.refused("INVALID_ARGUMENT", _native.descriptor_builder_add_buffer, builder, bytes(size))

    def test_options_of_a_wrong_length(self):
        for wrong in ((), (1,), (1, 2, 3, 4, 5), [0, 0, 0], "options"):
            with self.assertRaises(TypeError):
                _native.reader_from_fd(0, wrong)


class StructTest(unittest.TestCase):
    def test_tuples_have_the_fields_of_their_hints(self):
        hints = dict(re.findall(r"def (\w+)\(.*?\) -> tuple\[(.*)\]: \.\.\.", GENERATED))
        for function, struct in [("runtime_info", "RuntimeInfo"), ("buffer_info", "BufferInfo"), ("descriptor_info", "DescriptorInfo"),
                                 ("file_info", "FileInfo"), ("file_tensor_info", "FileTensorInfo"),
                                 ("file_metadata", "FileMetadata"), ("diagnostics_read", "Error")]:
            fields = [hint.__forward_arg__ for hint in getattr(_structs, struct).__annotations__.values()]
            self.assertEqual(hints[function], ", ".join(fields))


def ast_names(name):
    text = importlib.resources.files("hurray").joinpath(name).read_text(encoding="utf-8")
    return [node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]


if __name__ == "__main__":
    unittest.main()
