#!/usr/bin/python3 -ISEB
"""Makes one static archive of many: one object with everything in it, the C++ runtime included, of which only the names
that are asked for can be seen from outside. Called by released_archive (tools/bazel/released.bzl).

usage: prelink.py OUT KEEP [FILE ...]     KEEP: pattern of the names that stay visible, such as hurray_*
"""

import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import elf_localize  # noqa: E402
import zigcc  # noqa: E402

# What zig c++ links a C++ library with, beside the C library, which is the user's.
RUNTIME = ("libc++.a", "libc++abi.a", "libunwind.a", "libcompiler_rt.a", "compiler_rt.a")


def runtime(zig, environment, target, scratch):
    """The archives of the target's C++ runtime, optimised and without debug information, which names places of this machine.
    Zig does not say where they are; it shows its call of the linker."""
    source = os.path.join(scratch, "empty.cpp")
    with open(source, "w", encoding="ascii") as file:
        file.write("extern \"C\" int hurray_nothing() { return 0; }\n")
    done = subprocess.run(
        [zig, "c++", "-target", target, "-shared", "-O3", "-s", "-w", "-o", os.path.join(scratch, "empty.so"), source],
        env=dict(environment, ZIG_VERBOSE_LINK="1"),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    words = done.stdout.decode("utf-8", "replace").split()
    found = []
    for name in RUNTIME:
        for word in words:
            if os.path.basename(word) == name and word not in found:
                found.append(word)
    names = {os.path.basename(word) for word in found}
    if done.returncode != 0 or not {"libc++.a", "libc++abi.a"} <= names:
        sys.exit(f"prelink: zig c++ did not say where the C++ runtime for {target} is:\n{done.stdout.decode('utf-8', 'replace')[-2000:]}")
    return found


def run(words, environment):
    """Runs a command of Zig, and shows what it says when it fails."""
    done = subprocess.run(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0:
        sys.exit(f"prelink: {' '.join(words[:3])} failed:\n{done.stdout.decode('utf-8', 'replace')}")


def main():
    out, keep, *files = sys.argv[1:]
    zig, target = os.environ["HURRAY_ZIG"], os.environ["HURRAY_ZIG_TARGET"]
    with tempfile.TemporaryDirectory(prefix="prelink.") as scratch:
        environment = zigcc.environment(scratch)
        whole, linked = os.path.join(scratch, "whole.o"), os.path.join(scratch, "hurray.o")
        archives = runtime(zig, environment, target, scratch)
        run(
            [zig, "ld.lld", "-r", "-S", "-o", whole, "--whole-archive", *files, "--no-whole-archive", "--start-group", *archives, "--end-group"],
            environment,
        )
        with open(whole, "rb") as file:
            local = elf_localize.localize(file.read(), [keep])
        with open(linked, "wb") as file:
            file.write(local)
        if os.path.exists(out):
            os.unlink(out)
        run([zig, "ar", "rcsD", os.path.abspath(out), linked], environment)


if __name__ == "__main__":
    main()
