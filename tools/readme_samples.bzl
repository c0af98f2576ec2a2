"""Tests that the code in a README is that of the samples which it names."""

load("//tools/bazel:python.bzl", "py_test_system")

def readme_test(name, language, readme = "README.md", samples = []):
    """See readme_samples.py.

    Args:
      name: name of the test.
      language: such as "go": the test is tagged lang_go.
      readme: the README.
      samples: the files that its markers name. That they are compiled and run is for other tests.
    """
    py_test_system(
        name = name,
        size = "small",
        data = [readme] + samples,
        env = {"HURRAY_README": "$(rootpath %s)" % readme},
        main = "//tools:readme_samples_test.py",
        tags = ["lang_" + language],
        deps = ["//tools:readme_samples"],
    )
