"""The tests that every language's conformance driver must pass."""

load("//tools/bazel:python.bzl", "py_test_system")

def driver_tests(name, driver, language, **kwargs):
    """Tests name_golden_test and name_stage_test of a driver.

    Args:
      name: prefix of the tests' names.
      driver: label of the program.
      language: such as "java": the tests are tagged lang_java.
      **kwargs: handed on to both (size, tags).
    """
    tags = kwargs.pop("tags", []) + ["lang_" + language]
    for test in ["golden", "stage"]:
        py_test_system(
            name = "{}_{}_test".format(name, test),
            data = [
                driver,
                "//tests/golden:descriptors",
            ],
            env = {"HURRAY_DRIVER": "{ROOT}/$(rootpath %s)" % driver},
            main = "//tests/conformance:{}_test.py".format(test),
            tags = tags,
            deps = ["//tests/conformance:support"],
            **kwargs
        )
