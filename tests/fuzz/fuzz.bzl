"""Fuzz targets: built with clang's libFuzzer and sanitizers where clang is there, and replayed by plain tests."""

load("//tools/bazel:cc.bzl", "cc_test")
load("@local_clang//:defs.bzl", "CLANG", "COMPATIBLE")

def fuzz_target(name, sources, deps, corpus, runs):
    """A fuzz target NAME.cpp with a short deterministic run.

    Makes these targets:
      name             the fuzzer: bazel-bin/tests/fuzz/NAME FOLDER fuzzes for as long as it is left alone
      name + "_test"   a run of libFuzzer with a fixed seed, starting from the corpus
      name + "_replay_test"   the corpus and its prefixes, with the usual compiler and configurations

    Args:
      name: of the target and of its file.
      sources: filegroups with all that clang compiles.
      deps: the same as cc_library targets.
      corpus: filegroup with inputs.
      runs: how many inputs the test tries.
    """
    native.genrule(
        name = name,
        srcs = [name + ".cpp"] + sources,
        outs = [name + ".fuzzer"],
        cmd = " ".join([
            CLANG or "false",
            "--driver-mode=g++ -std=c++23 -O1 -g -fno-omit-frame-pointer",
            "-fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -Wall -Wextra -Wpedantic -Werror",
            "-I. $$(printf '%s\\n' $(SRCS) | grep '\\.cpp$$') -o $@",
        ]),
        executable = True,
        tags = ["lang_cpp"],
        target_compatible_with = COMPATIBLE,
    )
    native.sh_test(
        name = name + "_test",
        size = "medium",
        srcs = ["run_fuzzer.sh"],
        args = [
            "$(rootpath :{})".format(name),
            str(runs),
            "$(rootpaths {})".format(corpus),
        ],
        data = [
            corpus,
            ":" + name,
        ],
        # It has sanitizers of its own.
        tags = [
            "lang_cpp",
            "no_asan",
            "no_tsan",
            "no_ubsan",
            "tier_medium",
        ],
        target_compatible_with = COMPATIBLE,
    )
    cc_test(
        name = name + "_replay_test",
        size = "small",
        srcs = [
            name + ".cpp",
            "replay_test.cpp",
        ],
        data = [corpus],
        deps = deps + ["@googletest//:gtest_main"],
    )
