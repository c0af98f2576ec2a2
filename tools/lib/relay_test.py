"""The relay's verdict: good chains pass, and every kind of fault is found and named."""

import contextlib
import io
import json
import os
import pathlib
import stat
import sys
import tempfile
import textwrap
import unittest

import relay

CPP = os.environ["HURRAY_CPP_DRIVER"]

# A stage that passes the stream through its real neighbour and then breaks something.
TAMPERING_STAGE = """
    #!/usr/bin/python3
    import json, subprocess, sys
    command, names, report = sys.argv[1:4]
    done = subprocess.run([{cpp!r}, command, names, report], stdin=sys.stdin, stdout=subprocess.PIPE)
    stream = bytearray(done.stdout)
    lines = [json.loads(line) for line in open(report)]
    {tamper}
    open(report, "w").writelines(json.dumps(line) + "\\n" for line in lines)
    sys.stdout.buffer.write(stream)
"""


# The same over channels.
CHANNEL_STAGE = """
    #!/usr/bin/python3
    import json, subprocess, sys
    options = sys.argv[4:]
    done = subprocess.run([{cpp!r}, *sys.argv[1:]], pass_fds=[int(option) for option in options[1::2]])
    if sys.argv[1] == "relay":
        report = sys.argv[3]
        lines = [json.loads(line) for line in open(report)]
        {tamper}
        open(report, "w").writelines(json.dumps(line) + "\\n" for line in lines)
    sys.exit(done.returncode)
"""


class RelayTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def relay(self, *arguments):
        """Exit code and JSON result of a relay."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = relay.main([f"--cpp={CPP}", "--json", *arguments])
        text = out.getvalue()
        return code, json.loads(text) if text else {"problems": [err.getvalue()]}

    def stage(self, tamper):
        """A driver that does `tamper` to `stream` or `lines`."""
        script = self.folder / "stage"
        script.write_text(textwrap.dedent(TAMPERING_STAGE).lstrip().format(cpp=CPP, tamper=tamper))
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
        return script

    def channel_stage(self, tamper):
        """A driver with channels that does `tamper` to the `lines` of its report."""
        script = self.folder / "channel-stage"
        script.write_text(textwrap.dedent(CHANNEL_STAGE).lstrip().format(cpp=CPP, tamper=tamper))
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
        return script

    def test_chain_of_good_stages_passes(self):
        code, result = self.relay(f"--stage=java={CPP}", f"--stage=zig={CPP}")
        self.assertEqual(code, 0, result["problems"])
        self.assertTrue(result["ok"])
        self.assertTrue(result["end_equals_start"])
        self.assertEqual(len(result["stages"]), 4)
        self.assertEqual(len({stage["checksum"] for stage in result["stages"]}), 1)
        self.assertGreater(result["stages"][0]["bytes"], 100_000)

    def test_neighbours_with_channels_pass_the_models_own_memory(self):
        code, result = self.relay(f"--stage=java={CPP}", f"--stage=zig={CPP}")
        self.assertEqual(code, 0, result["problems"])
        self.assertEqual([stage["sends"] for stage in result["stages"]], ["channel"] * 3 + ["file"])
        self.assertEqual([stage["copied_bytes"] for stage in result["stages"][1:]], [0, 0, None])
        # Booleans are packed when they are read from the file: that memory is copied, once.
        self.assertEqual(result["stages"][0]["copied_bytes"], 15)
        self.assertGreater(result["stages"][0]["passed_bytes"], 100_000)

    def test_the_same_chain_with_pipes(self):
        code, result = self.relay("--pipes", f"--stage=java={CPP}")
        self.assertEqual(code, 0, result["problems"])
        self.assertEqual([stage["sends"] for stage in result["stages"]], ["pipe", "pipe", "file"])
        self.assertEqual([stage["copied_bytes"] for stage in result["stages"]], [None] * 3)

    def test_a_stage_without_channels_is_joined_with_pipes(self):
        code, result = self.relay(f"--stage=java={CPP}", f"--stage=go={self.stage('pass')}", f"--stage=zig={CPP}")
        self.assertEqual(code, 0, result["problems"])
        self.assertEqual([stage["sends"] for stage in result["stages"]], ["channel", "pipe", "pipe", "channel", "file"])
        behind = result["stages"][3]
        self.assertEqual(behind["copied_bytes"], sum(behind[key] for key in ("copied_bytes", "passed_bytes")))

    def test_a_stage_that_copies_or_maps_other_memory_is_found(self):
        for tamper, what in (
            ("lines[-1]['copied_bytes'] = 7", "7 bytes copied"),
            ("lines[0]['mapped'] = '00:01:1'", "mapped from 00:01:1"),
        ):
            with self.subTest(what):
                code, result = self.relay(f"--stage=go={self.channel_stage(tamper)}", f"--stage=zig={CPP}")
                self.assertEqual(code, 1)
                self.assertTrue(any(what in problem for problem in result["problems"]), result["problems"])

    def test_stage_that_changes_nothing_passes(self):
        code, result = self.relay(f"--stage=go={self.stage('pass')}")
        self.assertEqual(code, 0, result["problems"])

    def test_changed_byte_is_found_by_the_next_stage_and_at_the_end(self):
        code, result = self.relay(f"--stage=go={self.stage('stream[-1] ^= 1')}")
        self.assertEqual(code, 1)
        self.assertFalse(result["end_equals_start"])
        self.assertTrue(any("element bytes" in problem for problem in result["problems"]), result["problems"])
        self.assertTrue(any("crc32" in problem for problem in result["problems"]), result["problems"])

    def test_stage_that_read_something_else_is_found(self):
        for key, value in (("sum_bits", "'0' * 16"), ("crc32", "'00000000'"), ("shape", "[1, 2, 3, 4]"), ("type", "'int2'")):
            with self.subTest(key):
                code, result = self.relay(f"--stage=go={self.stage(f'lines[0][{key!r}] = {value}')}")
                self.assertEqual(code, 1)
                self.assertTrue(any(f": {key} is" in problem for problem in result["problems"]), result["problems"])

    def test_leaked_handles_are_found(self):
        code, result = self.relay(f"--stage=go={self.stage('lines[-1][' + repr('live_handles') + '] = 3')}")
        self.assertEqual(code, 1)
        self.assertTrue(any("3 handles leaked" in problem for problem in result["problems"]), result["problems"])

    def test_stage_that_dies_is_a_failure_and_no_hang(self):
        code, result = self.relay("--stage=java=/bin/false", f"--stage=go={CPP}")
        self.assertEqual(code, 1)
        self.assertFalse(result["ok"])
        self.assertTrue(any(problem.startswith("Java: exit code 1") for problem in result["problems"]), result["problems"])

    def test_stage_that_loses_the_end_is_a_failure(self):
        code, result = self.relay(f"--stage=go={self.stage('del stream[-5:]')}")
        self.assertEqual(code, 1)

    def test_file_that_is_no_model_is_exit_code_3(self):
        bad = self.folder / "bad.safetensors"
        for content in (b"", b"not a model", b"\xff" * 64, (10).to_bytes(8, "little") + b"{}"):
            bad.write_bytes(content)
            code, result = self.relay(f"--model={bad}")
            self.assertEqual(code, 3)
            self.assertIn("bad.safetensors", result["problems"][0])

    def test_languages_left_out_are_named(self):
        code, result = self.relay("--left-out=csharp=there is no SDK")
        self.assertEqual(code, 0)
        self.assertEqual(result["left_out"], {"csharp": "there is no SDK"})

    def test_people_get_a_table_and_a_verdict(self):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            code = relay.main([f"--cpp={CPP}", f"--stage=python={CPP}", "--left-out=csharp=there is no SDK"])
        self.assertEqual(code, 0)
        lines = out.getvalue().splitlines()
        self.assertTrue(lines[-1].startswith("PASSED: 2 of 6 runtimes, some left out"), lines[-1])
        self.assertTrue(any(line.startswith("left out: C#: there is no SDK") for line in lines))
        self.assertTrue(any(line.startswith("Python ") for line in lines))


if __name__ == "__main__":
    sys.exit(unittest.main())
