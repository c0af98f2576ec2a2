"""doctor: the library that was found, and whether it works."""

import pathlib
import unittest

import support


class DoctorTest(support.CliTest):
    def test_json(self):
        got = support.json_of("doctor", "--json")
        self.assertTrue(got["healthy"])
        self.assertEqual(got["library"]["c_abi_version"], 4)
        self.assertTrue(pathlib.Path(got["library"]["path"]).is_file())
        self.assertTrue(got["library"]["build_id"])
        self.assertIn(got["kernels"]["chosen"], [s["name"] for s in got["kernels"]["sets"] if s["there"]])
        self.assertGreaterEqual(len(got["self_test"]), 7)
        for test in got["self_test"]:
            self.assertTrue(test["passed"], test)
        self.assertTrue(any(t["name"] == "Python" and t["version"] for t in got["toolchains"]))

    def test_text(self):
        text = support.output("doctor")
        for word in ("Library", "Kernels", "Toolchains", "Bindings", "Self-test", "pass"):
            self.assertIn(word, text)

    def test_tools_that_hang_or_fail_do_no_harm(self):
        for name, body in {"javac": "exec sleep 60", "zig": "exit 3", "go": "printf '\\033[31mgo9'"}.items():
            path = self.write(name, f"#!/bin/sh\n{body}\n".encode())
            path.chmod(0o755)
        env = support.environment()
        env["PATH"] = f"{self.folder}:{env['PATH']}"
        tools = {t["name"]: t["version"] for t in support.json_of("doctor", "--json", env=env)["toolchains"]}
        self.assertIsNone(tools["Java"])
        self.assertIsNone(tools["Zig"])
        self.assertEqual(tools["Go"], "\\x1b[31mgo9")


if __name__ == "__main__":
    unittest.main()
