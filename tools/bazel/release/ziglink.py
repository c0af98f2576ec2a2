"""Linking with zig c++: the project's rules describe a library with the options of GNU's linker.

What the linker of a target calls differently is translated here, and what it has no counterpart for is left out where
leaving it out is right: nothing else is.
"""

import os
import re
import shutil

import zigcc


def linker_words(words):
    """Splits -Wl,a,b and -Xlinker a into ("linker", [a, b]), everything else into ("driver", word)."""
    result = []
    following = False
    for word in words:
        if following:
            result.append(("linker", [word]))
            following = False
        elif word == "-Xlinker":
            following = True
        elif word.startswith("-Wl,"):
            result.append(("linker", word[4:].split(",")))
        else:
            result.append(("driver", word))
    # An option and its value may come in two pieces: -Wl,-soname -Wl,name.
    joined = []
    for kind, value in result:
        if kind == "linker" and joined and joined[-1][0] == "linker" and joined[-1][1][-1] in ("-soname", "-z", "--version-script", "-rpath"):
            joined[-1][1].extend(value)
        else:
            joined.append((kind, value))
    return joined


def exported(version_script):
    """Names that a version script makes global."""
    with open(version_script, encoding="utf-8") as file:
        text = re.sub(r"/\*.*?\*/|#[^\n]*", "", file.read(), flags=re.S)
    names = []
    for part in re.findall(r"global:(.*?)(?:local:|\})", text, flags=re.S):
        names += [name.strip() for name in part.split(";") if name.strip()]
    return names


def for_elf(words):
    """Options for LLD as zig c++ hands them on."""
    result = []
    for kind, value in linker_words(words):
        if kind == "driver":
            if value not in ("-static-libstdc++", "-static-libgcc"):
                result.append(value)
            continue
        # The version script already makes everything of archives local.
        if value[0] == "--exclude-libs" or value[0].startswith("--exclude-libs="):
            continue
        result.append("-Wl," + ",".join(value))
    return result


def library_name(soname, target):
    """The file name of libX.so.N on another platform."""
    name, number = re.fullmatch(r"lib(.*)\.so(?:\.(\d+))?", soname).groups()
    if "windows" in target:
        return name + ".dll"
    return f"lib{name}.{number}.dylib" if number else f"lib{name}.dylib"


def for_macos(words, target, scratch):
    """Options for Zig's linker of Mach-O."""
    result = []
    whole = False
    shared = "-shared" in words
    for kind, value in linker_words(words):
        if kind == "driver":
            if value in ("-static-libstdc++", "-static-libgcc", "-ldl", "-lpthread", "-pthread", "-lm", "-lrt"):
                continue
            if whole and value.endswith((".a", ".lo")):
                result.append("-Wl,-force_load," + value)
            else:
                result.append(value)
            continue
        if value[0] in ("-whole-archive", "--whole-archive", "-no-whole-archive", "--no-whole-archive"):
            whole = "no-" not in value[0]
        elif value[0] in ("-soname", "-h") and shared:
            result += ["-install_name", "@rpath/" + library_name(value[1], target)]
        elif value[0] == "--version-script":
            listed = os.path.join(scratch, "exported")
            with open(listed, "w", encoding="utf-8") as file:
                file.writelines(f"_{name}\n" for name in exported(value[1]))
            result.append("-Wl,-exported_symbols_list," + listed)
        elif value[0] in ("-z", "-Bsymbolic", "--exclude-libs", "-s", "-S", "--gc-sections", "--start-group", "--end-group", "--build-id=none"):
            continue
        else:
            result.append("-Wl," + ",".join(value))
    return result


def for_windows(words, target):
    """Options for LLD as zig c++ has them for PE; the second result is the library's file name, if it has one."""
    result = []
    soname = None
    for kind, value in linker_words(words):
        if kind == "driver":
            # There, code is position-independent anyhow.
            if value not in ("-static-libstdc++", "-static-libgcc", "-ldl", "-lpthread", "-pthread", "-lm", "-lrt", "-fPIC"):
                result.append(value)
        elif value[0] in ("-soname", "-h"):
            soname = library_name(value[1], target)
        # What is exported, a DLL's sources say themselves (dllexport).
        elif value[0] in ("--version-script", "-z", "-Bsymbolic", "--exclude-libs", "--start-group", "--end-group", "--build-id=none"):
            continue
        elif value[0].startswith("-rpath"):
            continue
        else:
            result.append("-Wl," + ",".join(value))
    return result, soname


def output_of(words):
    return words.index("-o") + 1 if "-o" in words else None


def link(words, scratch):
    """Links one library or program."""
    zig, target = os.environ["HURRAY_ZIG"], os.environ["HURRAY_ZIG_TARGET"]
    moved = None
    if "macos" in target:
        words = for_macos(words, target, scratch)
    elif "windows" in target:
        words, soname = for_windows(words, target)
        at = output_of(words)
        if "-shared" in words and at is not None:
            # The name of the file becomes part of it.
            out = words[at]
            words[at] = os.path.join(scratch, soname or os.path.splitext(os.path.basename(out))[0] + ".dll")
            moved = (words[at], out)
    else:
        words = for_elf(words)
    status = zigcc.run([zig, "c++", "-target", target, *words], scratch)
    if status == 0 and moved:
        shutil.move(*moved)
    return status
