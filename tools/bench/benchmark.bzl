"""Programs of benchmarks, and the command that runs them."""

load("//tools/bazel:cc.bzl", "cc_binary")
load("//tools/bazel:python.bzl", "py_binary_system")

def benchmark_programs(name, programs, codec, listing, runner):
    """Makes a C++ program of each file, and the program that runs them all.

    Args:
      name: of the program that runs them.
      programs: file without .cpp: what it needs besides measure.hpp.
      codec: the program whose instructions are counted.
      listing: the program that opens files and lists their tensors.
      runner: the Python library with the command line.
    """
    for program, deps in programs.items():
        cc_binary(
            name = program,
            srcs = [program + ".cpp"],
            deps = deps + [":measure"],
        )
    labels = [":" + program for program in programs]
    py_binary_system(
        name = name,
        data = labels + [codec, listing],
        env = {
            "HURRAY_BENCH_CODEC": "{{ROOT}}/$(rootpath {})".format(codec),
            "HURRAY_BENCH_LISTING": "{{ROOT}}/$(rootpath {})".format(listing),
            "HURRAY_BENCH_PROGRAMS": " ".join(["{{ROOT}}/$(rootpath {})".format(label) for label in labels]),
        },
        main = "main.py",
        deps = [runner],
    )
