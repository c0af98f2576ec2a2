"""ls: the table and its JSON, names from strangers, terminals, pipes that close."""

import json
import os
import pty
import select
import struct
import subprocess
import unittest

import support


def on_terminal(columns, *arguments, **more):
    """What the program writes to a terminal of that width."""
    main, child = pty.openpty()
    try:
        import fcntl
        import termios
        fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("4H", 24, columns, 0, 0))
        env = support.environment(TERM="xterm", **more)
        with subprocess.Popen([support.PROGRAM, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=child,
                              stderr=subprocess.DEVNULL, env=env) as program:
            os.close(child)
            child = -1
            text = b""
            while select.select([main], [], [], support.SECONDS)[0]:
                try:
                    part = os.read(main, 65536)
                except OSError:
                    break
                if not part:
                    break
                text += part
            program.wait(support.SECONDS)
        return text.decode().replace("\r\n", "\n")
    finally:
        os.close(main)
        if child >= 0:
            os.close(child)


class LsTest(support.CliTest):
    def setUp(self):
        super().setUp()
        self.path = self.write("m.safetensors", support.safetensors(
            {"layers.0.weight": ("F32", (2, 3), range(6)), "layers.0.bias": ("I8", (3,), [1, 2, 3]),
             "scalar": ("I64", (), [7]), "empty": ("F64", (0, 5), []), "long" * 30: ("U8", (1,), [1])},
            metadata={"author": "nobody"}))

    def test_the_table_has_a_row_for_each_tensor_in_the_order_of_the_file(self):
        lines = support.output("ls", self.path).splitlines()
        self.assertEqual(lines[0].split(), ["NAME", "TYPE", "SHAPE", "LAYOUT", "SIZE", "QUANTIZATION"])
        self.assertEqual([line.split()[0] for line in lines[1:6]],
                         ["layers.0.weight", "layers.0.bias", "scalar", "empty", "long" * 30])
        self.assertIn("[2, 3]", lines[1])
        self.assertIn("24 B", lines[1])
        self.assertIn("5 tensors", lines[-1])
        self.assertIn("1 metadata entry", lines[-1])

    def test_patterns_and_places_choose(self):
        names = [t["name"] for t in support.json_of("ls", "--json", self.path, "layers.*")["tensors"]]
        self.assertEqual(names, ["layers.0.weight", "layers.0.bias"])
        names = [t["name"] for t in support.json_of("ls", "--json", self.path, "#2", "emp?y")["tensors"]]
        self.assertEqual(names, ["scalar", "empty"])

    def test_json(self):
        got = support.json_of("ls", "--json", self.path)
        self.assertEqual(set(got), {"format", "tensors", "metadata"})
        first = got["tensors"][0]
        self.assertEqual((first["type"], first["shape"], first["layout"], first["byte_size"], first["quantization"]),
                         ("float32", [2, 3], "row_major", 24, None))
        self.assertEqual(got["tensors"][2]["shape"], [])
        self.assertEqual(got["metadata"], [{"key": "author", "type": "string", "value": "nobody"}])

    def test_metadata_is_printed_when_it_is_asked_for(self):
        self.assertIn("nobody", support.output("ls", "-m", self.path))
        self.assertNotIn("nobody", support.output("ls", self.path))

    def test_a_file_without_tensors(self):
        path = self.write("none.safetensors", support.safetensors({}))
        self.assertIn("0 tensors", support.output("ls", path))
        self.assertEqual(support.json_of("ls", "--json", path)["tensors"], [])

    def test_names_with_nul_and_controls_are_escaped_for_people_and_whole_for_programs(self):
        name = "a\0b\x1b[2Jc\u202ed"
        path = self.write("x.safetensors", support.safetensors({name: ("U8", (1,), [1])}))
        text = support.output("ls", path)
        self.assertIn("a\\x00b\\x1b[2Jc\\xe2\\x80\\xaed", text)
        self.assertNotIn("\x1b", text)
        (tensor,) = support.json_of("ls", "--json", path)["tensors"]
        self.assertEqual(tensor["name"], name)
        self.assertEqual(bytes.fromhex(tensor["name_hex"]).decode(), name)

    def test_lines_fit_the_terminal(self):
        for columns in (60, 100):
            text = on_terminal(columns, "ls", self.path, NO_COLOR="1")
            self.assertLessEqual(max(len(line) for line in text.splitlines()), columns)
            self.assertIn("\u2026", text)
        self.assertIn("long" * 30, support.output("ls", self.path))

    def test_colours_on_a_terminal_only_and_not_with_no_color(self):
        self.assertIn("\x1b[", on_terminal(80, "ls", self.path))
        self.assertIn("\x1b[", on_terminal(80, "ls", self.path, NO_COLOR=""))
        self.assertNotIn("\x1b", on_terminal(80, "ls", self.path, NO_COLOR="1"))
        self.assertNotIn("\x1b", support.output("ls", self.path, env=support.environment(TERM="xterm")))

    def test_a_reader_that_goes_away_ends_the_program_quietly(self):
        many = self.write("many.safetensors", support.safetensors({f"t{i}": ("U8", (1,), [1]) for i in range(20000)}))
        with subprocess.Popen([support.PROGRAM, "ls", many], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env=support.environment()) as program:
            program.stdout.read(10)
            program.stdout.close()
            self.assertEqual(program.stderr.read(), b"")
            self.assertEqual(program.wait(support.SECONDS), -13)

    def test_a_full_disk_is_an_error(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("there is no /dev/full")
        with open("/dev/full", "wb") as full:
            done = subprocess.run([support.PROGRAM, "ls", self.path], stdout=full, stderr=subprocess.PIPE, check=False,
                                  timeout=support.SECONDS, env=support.environment())
        self.assertEqual(done.returncode, support.FAILED)
        self.assertIn(b"standard output", done.stderr)

    def test_wrong_usage_is_exit_code_2(self):
        for arguments in (["ls"], ["ls", "--nonsense", self.path], ["nonsense"], [], ["ls", "--as", "nonsense", self.path]):
            with self.subTest(arguments):
                text = self.assert_fails(support.USAGE, *arguments)
                self.assertIn("--help", text)

    def test_what_is_no_input_is_exit_code_3(self):
        for name, data in {"text": b"no tensor file at all, but text\n" * 9, "empty": b""}.items():
            self.assert_fails(support.UNREADABLE, "ls", self.write(name, data), says=name)
            self.assert_fails(support.UNREADABLE, "ls", "-", stdin=data, says="standard input")
        self.assert_fails(support.UNREADABLE, "ls", self.folder / "missing", says="NOT_FOUND")

    def test_help_teaches(self):
        text = support.output("ls", "--help")
        self.assertIn("Examples:", text)
        self.assertIn("hurray ls model.safetensors", text)
        self.assertLessEqual(max(len(line) for line in text.splitlines()), 100)
        for command in ("ls", "inspect", "cat", "stats", "verify", "convert", "diff", "doctor"):
            self.assertIn("Examples:", support.output(command, "--help"))
            self.assertIn(command, support.output("--help"))


if __name__ == "__main__":
    unittest.main()
