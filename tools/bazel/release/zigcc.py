#!/usr/bin/python3 -ISEB
"""zig cc, zig c++ and zig ar under the names and options by which Bazel's C++ rules call a compiler.

The toolchain of a platform (BUILD.bazel) says in the environment what to call: HURRAY_ZIG, the program; HURRAY_ZIG_CACHE,
a folder that outlives the sandbox, where Zig keeps the C and C++ runtimes that it compiles for a target;
HURRAY_ZIG_TARGET, as zig has it. Linking is in ziglink.py: an edit there compiles nothing again.
"""

import os
import shlex
import subprocess
import sys
import tempfile


def words_of(arguments):
    """The arguments, with response files (@file) read in."""
    words = []
    for argument in arguments:
        if argument.startswith("@") and os.path.isfile(argument[1:]):
            with open(argument[1:], encoding="utf-8") as file:
                words += [word for line in file if line.strip() for word in shlex.split(line)]
        else:
            words.append(argument)
    return words


def environment(scratch):
    """Zig's environment: runtimes that it compiled outlive the action, everything else does not."""
    result = dict(os.environ)
    cache = os.environ.get("HURRAY_ZIG_CACHE", "")
    try:
        os.makedirs(cache, exist_ok=True)
        writable = os.access(cache, os.W_OK)
    except OSError:
        writable = False
    # Without the cache it is slow and right.
    result["ZIG_GLOBAL_CACHE_DIR"] = cache if writable else os.path.join(scratch, "global")
    result["ZIG_LOCAL_CACHE_DIR"] = os.path.join(scratch, "local")
    result["HOME"] = scratch
    return result


def run(words, scratch):
    """Runs Zig. What it says of the runtimes that it compiles concerns nobody when all went well.

    Its output goes through a pipe: Zig writes to a file at offset 0 and so over what is there.
    """
    done = subprocess.run(words, env=environment(scratch), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0 or "-E" in words or "-v" in words:
        sys.stdout.buffer.write(done.stdout)
        sys.stdout.flush()
    return done.returncode


def compile_command(words):
    """The command that compiles one file, without a path of this machine in what it makes."""
    zig, target = os.environ["HURRAY_ZIG"], os.environ["HURRAY_ZIG_TARGET"]
    plain_c = any(word.endswith((".c", ".S", ".s")) for word in words)
    lib = os.path.dirname(os.path.dirname(os.path.dirname(zig))) + "/lib"
    maps = [f"-ffile-prefix-map={os.getcwd()}=.", f"-ffile-prefix-map={lib}=zig"]
    if "windows" in target:
        # There, code is position-independent anyhow.
        words = [word for word in words if word != "-fPIC"]
    return [zig, "cc" if plain_c else "c++", "-target", target, *maps, *words]


def main():
    # Bazel's rules call one file for everything but archives.
    with tempfile.TemporaryDirectory(prefix="zigcc.") as scratch:
        if sys.argv[1:2] == ["--archive"]:
            return run([os.environ["HURRAY_ZIG"], "ar", *sys.argv[2:]], scratch)
        words = words_of(sys.argv[1:])
        if "-c" in words or "-E" in words or "-S" in words:
            return run(compile_command(words), scratch)
        sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
        import ziglink

        return ziglink.link(words, scratch)


if __name__ == "__main__":
    sys.exit(main())
