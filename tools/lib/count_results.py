"""Counts test results in the files that bazel test --build_event_json_file writes, one for each configuration.

usage: count_results.py [--require LANGUAGES] [--without-tags TAGS] NAME=FILE ...

Prints what failed, what was left out, one line for each configuration, and last the line that programs read:
"N passed, N failed", with ", N skipped" when tests of a missing language were left out. Exits with 0 only if every build
succeeded, nothing failed, at least one test ran, and nothing was skipped that --require names.
"""

import argparse
import collections
import json
import sys

LANGUAGES = {
    "cpp": "C++",
    "java": "Java",
    "go": "Go",
    "csharp": "C#",
    "zig": "Zig",
    "python": "Python",
}

# Exit codes of bazel test that tell of tests, not of a broken build.
FINE = {"SUCCESS", "TESTS_FAILED", "NO_TESTS_FOUND"}


class Configuration:
    """The results of one invocation of bazel."""

    def __init__(self, name, without_tags=()):
        self.name = name
        self.without_tags = set(without_tags)
        self.passed = []
        self.failed = {}  # label -> what happened
        self.skipped = {}  # label -> languages
        self.broken = None  # why the build itself is broken

    def read(self, path):
        tags = {}
        completed = {}
        summaries = {}
        finished = None
        try:
            with open(path, encoding="utf-8") as file:
                for line in file:
                    if not line.strip():
                        continue
                    event = json.loads(line)
                    ident = event["id"]
                    if "targetConfigured" in ident and "configured" in event:
                        kind = event["configured"].get("targetKind", "")
                        if kind.endswith("_test rule") or kind == "test_suite rule":
                            tags[ident["targetConfigured"]["label"]] = event["configured"].get("tag", [])
                    elif "targetCompleted" in ident:
                        completed[ident["targetCompleted"]["label"]] = event
                    elif "testSummary" in ident:
                        summaries[ident["testSummary"]["label"]] = event["testSummary"]["overallStatus"]
                    elif "buildFinished" in ident:
                        finished = event["finished"].get("exitCode", {}).get("name", "UNKNOWN")
        except (OSError, ValueError, KeyError, TypeError) as error:
            self.broken = f"its results cannot be read: {error}"
        for label, status in summaries.items():
            if status == "PASSED":
                self.passed.append(label)
            else:
                self.failed[label] = status.replace("_", " ").lower()
        for label, its_tags in tags.items():
            if label in summaries or label not in completed:
                continue
            event = completed[label]
            if event.get("aborted", {}).get("reason") == "SKIPPED":
                # A test that this configuration or tier does not have is no test left out.
                if "only_sanitizer" not in its_tags and not self.without_tags.intersection(its_tags):
                    self.skipped[label] = its_tags
            elif not event.get("completed", {}).get("success", False):
                self.failed[label] = "not built"
            # Else it was built, and is not of this tier.
        if self.broken is None:
            if finished is None:
                self.broken = "bazel did not finish"
            elif finished not in FINE:
                self.broken = f"bazel ended with {finished}"
            elif finished == "TESTS_FAILED" and not self.failed:
                self.broken = "bazel tells of failed tests, its results of none"


def languages_of(tags):
    return [tag[len("lang_") :] for tag in tags if tag.startswith("lang_")]


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--require", default="", help="languages of which nothing may be skipped, with commas")
    parser.add_argument("--without-tags", default="", help="tags of tests that were not asked for, with commas")
    parser.add_argument("results", nargs="+", metavar="NAME=FILE")
    options = parser.parse_args(arguments)
    required = {language for language in options.require.split(",") if language}
    without_tags = [tag for tag in options.without_tags.split(",") if tag]

    configurations = []
    for result in options.results:
        name, _, path = result.partition("=")
        configuration = Configuration(name, without_tags)
        configuration.read(path)
        configurations.append(configuration)

    wrong = False
    left_out = collections.Counter()
    newer_jdk = 0
    for configuration in configurations:
        for label, status in sorted(configuration.failed.items()):
            print(f"FAILED ({configuration.name}): {label}: {status}")
        if configuration.broken:
            print(f"FAILED ({configuration.name}): {configuration.broken}")
        for label, tags in sorted(configuration.skipped.items()):
            if "needs_newer_jdk" in tags:
                # No package of Debian 12 brings such a JDK: no language is missing.
                newer_jdk += 1
                continue
            names = languages_of(tags)
            left_out.update(names or ["other"])
            if required.intersection(names):
                print(f"FAILED ({configuration.name}): {label}: skipped, but required")
                wrong = True
    for configuration in configurations:
        failed = len(configuration.failed) + (1 if configuration.broken and not configuration.failed else 0)
        text = f"{configuration.name}: {len(configuration.passed)} passed, {failed} failed"
        if configuration.skipped:
            text += f", {len(configuration.skipped)} skipped"
        print(text)
    for language, number in sorted(left_out.items()):
        print(f"left out: {LANGUAGES.get(language, language)} ({number} tests)")
    if newer_jdk:
        print(f"left out: the part of the Java binding for Java 22 and newer ({newer_jdk} tests)")

    passed = sum(len(configuration.passed) for configuration in configurations)
    # A build that broke without a failed test is a failure, too: the last line must not read "0 failed".
    failed = sum(len(c.failed) or (1 if c.broken else 0) for c in configurations)
    skipped = sum(len(configuration.skipped) for configuration in configurations)
    if passed + failed == 0:
        print("no test ran")
    text = f"{passed} passed, {failed} failed"
    if skipped:
        text += f", {skipped} skipped"
    print(text)
    if wrong or failed or passed == 0 or any(c.broken for c in configurations):
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
