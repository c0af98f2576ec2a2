import contextlib
import io
import json
import os
import tempfile
import unittest

import count_results


def configured(label, tags=("lang_cpp",), kind="cc_test rule"):
    return {"id": {"targetConfigured": {"label": label}}, "configured": {"targetKind": kind, "tag": list(tags)}}


def completed(label, success=True):
    return {"id": {"targetCompleted": {"label": label}}, "completed": {"success": success}}


def skipped(label):
    return {"id": {"targetCompleted": {"label": label}}, "aborted": {"reason": "SKIPPED"}}


def summary(label, status="PASSED"):
    return {"id": {"testSummary": {"label": label}}, "testSummary": {"overallStatus": status}}


def finished(name="SUCCESS"):
    return {"id": {"buildFinished": {}}, "finished": {"exitCode": {"name": name}}}


def passing(label, tags=("lang_cpp",)):
    return [configured(label, tags), completed(label), summary(label)]


class CountResultsTest(unittest.TestCase):
    def run_on(self, *streams, options=(), raw=None):
        """Runs it on one file for each list of events; returns (exit code, lines of output)."""
        with tempfile.TemporaryDirectory() as folder:
            arguments = list(options)
            for number, events in enumerate(streams):
                path = os.path.join(folder, f"{number}.json")
                with open(path, "w", encoding="utf-8") as file:
                    file.write(raw if raw is not None else "".join(json.dumps(event) + "\n" for event in events))
                arguments.append(f"c{number}={path}")
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                code = count_results.main(arguments)
        return code, output.getvalue().splitlines()

    def test_all_pass(self):
        code, lines = self.run_on(passing("//a:x") + passing("//a:y") + [finished()])
        self.assertEqual((code, lines[-1]), (0, "2 passed, 0 failed"))

    def test_sums_over_configurations(self):
        code, lines = self.run_on(passing("//a:x") + [finished()], passing("//a:x") + [finished()])
        self.assertEqual((code, lines[-1]), (0, "2 passed, 0 failed"))

    def test_failed_test(self):
        for status in ["FAILED", "TIMEOUT", "NO_STATUS", "FLAKY", "INCOMPLETE"]:
            with self.subTest(status):
                events = passing("//a:x") + [configured("//a:y"), completed("//a:y"), summary("//a:y", status), finished("TESTS_FAILED")]
                code, lines = self.run_on(events)
                self.assertEqual((code, lines[-1]), (1, "1 passed, 1 failed"))
                self.assertTrue(any("//a:y" in line for line in lines))

    def test_failure_in_one_of_two_configurations(self):
        bad = [configured("//a:x"), completed("//a:x"), summary("//a:x", "FAILED"), finished("TESTS_FAILED")]
        code, lines = self.run_on(passing("//a:x") + [finished()], bad)
        self.assertEqual((code, lines[-1]), (1, "1 passed, 1 failed"))

    def test_test_that_does_not_build(self):
        events = passing("//a:x") + [configured("//a:y"), completed("//a:y", False), finished("BUILD_FAILURE")]
        code, lines = self.run_on(events)
        self.assertEqual((code, lines[-1]), (1, "1 passed, 1 failed"))

    def test_other_target_that_does_not_build(self):
        events = passing("//a:x") + [configured("//a:lib", kind="cc_library rule"), completed("//a:lib", False), finished("BUILD_FAILURE")]
        code, lines = self.run_on(events)
        self.assertEqual((code, lines[-1]), (1, "1 passed, 1 failed"))
        self.assertIn("FAILED (c0): bazel ended with BUILD_FAILURE", lines)

    def test_analysis_that_fails(self):
        code, lines = self.run_on([finished("PARSING_FAILURE")])
        self.assertEqual((code, lines[-1]), (1, "0 passed, 1 failed"))

    def test_no_test_at_all(self):
        code, lines = self.run_on([finished("NO_TESTS_FOUND")])
        self.assertEqual(code, 1)
        self.assertEqual(lines[-2:], ["no test ran", "0 passed, 0 failed"])

    def test_configuration_without_tests_beside_one_with(self):
        code, lines = self.run_on(passing("//a:x") + [finished()], [finished("NO_TESTS_FOUND")])
        self.assertEqual((code, lines[-1]), (0, "1 passed, 0 failed"))

    def test_bazel_that_died(self):
        code, lines = self.run_on(passing("//a:x"))
        self.assertEqual((code, lines[-1]), (1, "1 passed, 1 failed"))

    def test_no_file(self):
        with contextlib.redirect_stdout(io.StringIO()) as output:
            code = count_results.main(["dev=/nonexistent/results.json"])
        self.assertEqual((code, output.getvalue().splitlines()[-1]), (1, "0 passed, 1 failed"))

    def test_file_that_was_cut(self):
        text = "".join(json.dumps(event) + "\n" for event in passing("//a:x") + [finished()])
        code, lines = self.run_on([], raw=text[:-5])
        self.assertEqual(code, 1)
        self.assertEqual(lines[-1], "1 passed, 1 failed")

    def test_bazel_says_failed_without_saying_what(self):
        code, lines = self.run_on(passing("//a:x") + [finished("TESTS_FAILED")])
        self.assertEqual((code, lines[-1]), (1, "1 passed, 1 failed"))

    def test_language_left_out(self):
        events = passing("//a:x") + [configured("//z:t", ["lang_zig"], "_zig_test rule"), skipped("//z:t"), finished()]
        code, lines = self.run_on(events)
        self.assertEqual((code, lines[-1]), (0, "1 passed, 0 failed, 1 skipped"))
        self.assertIn("left out: Zig (1 tests)", lines)

    def test_language_left_out_that_is_required(self):
        events = passing("//a:x") + [configured("//z:t", ["lang_zig"], "_zig_test rule"), skipped("//z:t"), finished()]
        code, _ = self.run_on(events, options=["--require", "java,zig"])
        self.assertEqual(code, 1)
        code, _ = self.run_on(events, options=["--require", "java"])
        self.assertEqual(code, 0)

    def test_newer_jdk_is_no_language(self):
        events = passing("//a:x") + [configured("//j:t", ["lang_java", "needs_newer_jdk"], "_java_test rule"), skipped("//j:t"), finished()]
        code, lines = self.run_on(events, options=["--require", "java"])
        self.assertEqual((code, lines[-1]), (0, "1 passed, 0 failed, 1 skipped"))

    def test_only_skipped(self):
        events = [configured("//z:t", ["lang_zig"], "_zig_test rule"), skipped("//z:t"), finished()]
        code, lines = self.run_on(events)
        self.assertEqual((code, lines[-1]), (1, "0 passed, 0 failed, 1 skipped"))

    def test_tests_of_other_tiers_do_not_count(self):
        events = passing("//a:x") + [
            configured("//a:long", ["lang_cpp", "tier_long"]),
            completed("//a:long"),
            configured("//z:long", ["lang_zig", "tier_long"], "_zig_test rule"),
            skipped("//z:long"),
            configured("//a:s", ["only_sanitizer"]),
            skipped("//a:s"),
            finished(),
        ]
        code, lines = self.run_on(events, options=["--without-tags", "tier_medium,tier_long"])
        self.assertEqual((code, lines[-1]), (0, "1 passed, 0 failed"))
