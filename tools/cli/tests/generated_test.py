"""The manual page and the completions are those that the program writes; shells can read them."""

import os
import pathlib
import shutil
import subprocess
import unittest

import support

SHARE = pathlib.Path("tools/cli/share")
FILES = {"hurray.1": ["man"], "hurray.bash": ["completion", "bash"], "_hurray": ["completion", "zsh"],
         "hurray.fish": ["completion", "fish"]}


class GeneratedTest(support.CliTest):
    def test_files_are_what_the_program_writes(self):
        for name, arguments in FILES.items():
            with self.subTest(name):
                self.assertEqual((SHARE / name).read_text(encoding="utf-8"), support.output(*arguments),
                                 f"stale: hurray {' '.join(arguments)} > tools/cli/share/{name}")

    def test_the_page_has_every_command_and_option(self):
        page = support.output("man").replace("\\-", "-")
        for command in ("ls", "inspect", "cat", "stats", "verify", "convert", "diff", "doctor"):
            self.assertIn(f".SS {command}\n", page)
        for option in ("--quantize", "--slice", "--rtol", "--level"):
            self.assertIn(option, page)
        if shutil.which("groff"):
            done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z"], input=page.encode(), capture_output=True,
                                  check=True, timeout=support.SECONDS)
            self.assertEqual(done.stderr, b"")

    def complete(self, line):
        """What bash offers at the end of a command line."""
        words = line.split(" ")
        script = (f"source '{SHARE / 'hurray.bash'}'; COMP_WORDS=({' '.join(repr(w) for w in words)}); "
                  f"COMP_CWORD={len(words) - 1}; _hurray; printf '%s\\n' \"${{COMPREPLY[@]}}\"")
        done = subprocess.run(["bash", "--norc", "-euo", "pipefail", "-c", script], capture_output=True, text=True, check=True,
                              timeout=support.SECONDS)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_bash_completes_commands_options_values_and_files(self):
        self.assertIn("convert", self.complete("hurray co"))
        self.assertIn("--quantize", self.complete("hurray convert --q"))
        self.assertEqual(self.complete("hurray convert --dequantize float1"), ["float16"])
        self.assertEqual(self.complete("hurray completion z"), ["zsh"])
        self.assertIn("npy", self.complete("hurray cat -f n"))
        self.assertIn("tools/cli/share", self.complete("hurray ls tools/cli/sha"))

    def test_other_shells_read_theirs(self):
        for shell, name in {"zsh": "_hurray", "fish": "hurray.fish"}.items():
            program = shutil.which(shell)
            if program is None:
                print(f"{shell} is not here: its completion is not read by it")
                continue
            subprocess.run([program, "-n", SHARE / name], check=True, timeout=support.SECONDS)


if __name__ == "__main__":
    unittest.main()
