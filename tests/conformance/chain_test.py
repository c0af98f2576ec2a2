"""The whole relay: every language's driver in one chain, on the relay's own model and on files that others wrote."""

import contextlib
import io
import json
import os
import pathlib
import unittest

import relay

CPP = os.environ["HURRAY_CPP_DRIVER"]
# The order of tools/relay.
LANGUAGES = ("java", "go", "csharp", "zig", "python")


class ChainTest(unittest.TestCase):
    def relay(self, *arguments):
        stages = [f"--stage={language}={os.environ['HURRAY_' + language.upper() + '_DRIVER']}" for language in LANGUAGES]
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            code = relay.main([f"--cpp={CPP}", "--json", *stages, *arguments])
        result = json.loads(out.getvalue())
        self.assertEqual(code, 0, result["problems"])
        self.assertEqual([stage["language"] for stage in result["stages"]], ["cpp", *LANGUAGES, "cpp"])
        self.assertEqual({stage["abi_version"] for stage in result["stages"]}, {4})
        self.assertEqual(len({stage["build_id"] for stage in result["stages"]}), 1)
        self.assertTrue(result["end_equals_start"])
        return result

    def test_own_model_with_every_tier_1_type(self):
        result = self.relay()
        self.assertGreaterEqual(result["stages"][0]["tensors"], 19)

    def test_models_that_others_wrote(self):
        folder = os.environ.get("HURRAY_SHARED")
        models = sorted(pathlib.Path(folder).glob("data/safetensors/*.safetensors")) if folder else []
        if not models:
            self.skipTest("the files that others wrote are not beside the project")
        for model in models:
            with self.subTest(model.name):
                self.relay(f"--model={model}")


if __name__ == "__main__":
    unittest.main()
