"""The chain of runtimes behind tools/relay: starts a process a language, joins neighbours with channels (where both have them,
otherwise with pipes), and compares the end with the start. Standard library only."""

import argparse
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import zlib

LANGUAGE_NAMES = {"cpp": "C++", "java": "Java", "go": "Go", "csharp": "C#", "zig": "Zig", "python": "Python"}
EXIT_EQUAL, EXIT_DIFFERENT, EXIT_UNREADABLE = 0, 1, 3
# What each runtime must agree on, tensor by tensor.
COMPARED = ("name", "type", "shape", "bytes", "crc32", "sum_bits")


class Stage:
    """One process of the chain."""

    def __init__(self, language, title, command, folder, index, channels):
        self.language = language
        # Whether its driver can be an end of a channel; and which of its sides are one in this chain.
        self.channels = channels
        self.receives = self.sends = "pipe"
        self.title = title
        self.report = folder / f"report-{index}"
        self.errors = folder / f"errors-{index}"
        self.command = [str(part).replace("{report}", str(self.report)) for part in command]
        self.process = None
        self.lines = []
        self.problem = ""

    def start(self, stdin, stdout, channel_in, channel_out):
        command, sockets = list(self.command), []
        for option, end in (("--channel-in", channel_in), ("--channel-out", channel_out)):
            if end is not None:
                command += [option, str(end.fileno())]
                sockets.append(end.fileno())
        with open(self.errors, "wb") as errors:
            self.process = subprocess.Popen(command, stdin=stdin, stdout=stdout, stderr=errors, pass_fds=sockets)

    def finish(self):
        """Waits for the end and reads the report; a failure becomes the stage's problem."""
        code = self.process.wait()
        message = self.errors.read_text(encoding="utf-8", errors="replace").strip()
        if code != 0:
            last = message.splitlines()[-1] if message else "no message"
            self.problem = f"exit code {code}: {last}"
            return
        text = self.report.read_text(encoding="utf-8")
        self.lines = [json.loads(line) for line in text.split("\n") if line]
        if not self.lines:
            self.problem = "an empty report"

    @property
    def tensors(self):
        return self.lines[:-1]

    @property
    def totals(self):
        return self.lines[-1]

    def checksum(self):
        """One number over the checksums of all tensors in order."""
        return f"{zlib.crc32(''.join(line['crc32'] for line in self.tensors).encode()):08x}"

    def microseconds_per_tensor(self):
        return sum(line["nanos"] for line in self.tensors) / 1000 / max(1, len(self.tensors))


def has_channels(driver):
    """Whether a driver says of itself that it can be an end of a channel; one that says nothing cannot."""
    try:
        done = subprocess.run([driver, "about"], stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)
        return done.returncode == 0 and json.loads(done.stdout).get("channels") is True
    except (OSError, ValueError, AttributeError, subprocess.TimeoutExpired):
        return False


def chain(cpp, stages, model, folder, use_channels):
    names = folder / "names"
    able = use_channels and has_channels(cpp)
    built = [Stage("cpp", "C++ (start)", [cpp, "source", model, names, "{report}"], folder, 0, able)]
    for language, driver in stages:
        command = [driver, "relay", names, "{report}"]
        speaks = use_channels and has_channels(driver)
        built.append(Stage(language, LANGUAGE_NAMES[language], command, folder, len(built), speaks))
    result = folder / "end.safetensors"
    built.append(Stage("cpp", "C++ (end)", [cpp, "sink", names, "{report}", result], folder, len(built), able))
    built[0].receives, built[-1].sends = "file", "file"
    for before, after in zip(built, built[1:]):
        if before.channels and after.channels:
            before.sends = after.receives = "channel"
    return built, result


def run_chain(stages):
    """Starts all stages, each receiving what the one before it sends, and waits for them."""
    before = subprocess.DEVNULL
    channel_in = None
    started = []
    try:
        for stage in stages:
            ours = channel_out = None
            if stage.sends == "channel":
                channel_out, ours = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            stage.start(before, subprocess.PIPE if stage.sends == "pipe" else subprocess.DEVNULL, channel_in, channel_out)
            started.append(stage)
            # Our own copies must go: otherwise a stage that dies leaves its neighbours waiting.
            for end in (channel_in, channel_out):
                if end is not None:
                    end.close()
            if before is not subprocess.DEVNULL:
                before.close()
            before = stage.process.stdout or subprocess.DEVNULL
            channel_in = ours
        for stage in stages:
            stage.finish()
    finally:
        for stage in started:
            if stage.process.poll() is None:
                stage.process.kill()
                stage.process.wait()


def copies(stages, model):
    """What was copied although it could have been passed, in words; proven by counters, and by what the kernel says is mapped."""
    found = []
    inode = os.stat(model).st_ino
    for before, after in zip(stages, stages[1:]):
        if before.sends != "channel" or before.problem or after.problem:
            continue
        totals = before.totals
        # Behind a pipe, and where the file's own form is not the tensor's, the memory is the process's own: copied once.
        own = sum(line["bytes"] for line in before.tensors if not line.get("mapped")) if "mapped" in before.tensors[0] else None
        expected = own if before.receives != "channel" else 0
        if expected is not None and totals["copied_bytes"] != expected:
            found.append(f"{before.title}: {totals['copied_bytes']} bytes copied to be sent, expected {expected}")
        if totals["copied_bytes"] + totals["passed_bytes"] < sum(line["bytes"] for line in before.tensors):
            found.append(f"{before.title}: fewer bytes sent than its tensors have")
        for ours, theirs in zip(before.tensors, after.tensors):
            here, there = ours.get("mapped"), theirs.get("mapped")
            if here and there and here != there:
                found.append(f"{after.title}: tensor {ours['name']!r}: mapped from {there}, where {before.title} has {here}")
    for stage in stages[1:]:
        if stage.problem or stages[0].problem or any(s.receives == "pipe" for s in stages[1 : stages.index(stage) + 1]):
            continue
        for start, line in zip(stages[0].tensors, stage.tensors):
            mapped = line.get("mapped")
            if start.get("mapped") and mapped and not mapped.endswith(f":{inode}"):
                found.append(f"{stage.title}: tensor {line['name']!r}: mapped from {mapped}, which is not the model (inode {inode})")
    return found


def disagreements(stages):
    """What differs from the first stage's report, in words."""
    found = []
    start = stages[0]
    for stage in stages[1:]:
        if stage.problem:
            continue
        if len(stage.tensors) != len(start.tensors):
            found.append(f"{stage.title}: {len(stage.tensors)} tensors, expected {len(start.tensors)}")
            continue
        for ours, theirs in zip(start.tensors, stage.tensors):
            for key in COMPARED:
                if ours[key] != theirs[key]:
                    found.append(f"{stage.title}: tensor {ours['name']!r}: {key} is {theirs[key]}, expected {ours[key]}")
    for stage in stages:
        if not stage.problem and stage.totals["live_handles"] != 0:
            found.append(f"{stage.title}: {stage.totals['live_handles']} handles leaked")
    return found


def compare_files(cpp, model, result):
    done = subprocess.run([cpp, "compare", model, result], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1) or not done.stdout:
        return {"equal": False, "differences": [{"name": "", "what": done.stderr.strip() or "the comparison failed"}]}
    return json.loads(done.stdout)


def row(stage):
    if stage.problem:
        return {"language": stage.language, "stage": stage.title, "error": stage.problem}
    totals = stage.totals
    return {
        "language": stage.language,
        "stage": stage.title,
        "version": totals["version"],
        "abi_version": totals["abi_version"],
        "build_id": totals["build_id"],
        "receives": stage.receives,
        "sends": stage.sends,
        "tensors": totals["tensors"],
        "bytes": totals["bytes"],
        "passed_bytes": totals.get("passed_bytes"),
        "copied_bytes": totals.get("copied_bytes"),
        "checksum": stage.checksum(),
        "microseconds_per_tensor": round(stage.microseconds_per_tensor(), 1),
        "live_handles": totals["live_handles"],
    }


def table(rows):
    columns = [
        ("runtime", "stage"),
        ("version", "version"),
        ("ABI", "abi_version"),
        ("build", "build_id"),
        ("tensors", "tensors"),
        ("bytes", "bytes"),
        ("sends by", "sends"),
        ("copied", "copied_bytes"),
        ("checksum", "checksum"),
        ("us/tensor", "microseconds_per_tensor"),
    ]
    texts = [[title for title, _ in columns]]
    for entry in rows:
        texts.append(["-" if entry.get(key) is None else str(entry[key]) for _, key in columns])
    widths = [max(len(line[i]) for line in texts) for i in range(len(columns))]
    numeric = {"tensors", "bytes", "copied", "us/tensor"}
    for line in texts:
        cells = []
        for (title, _), cell, width in zip(columns, line, widths):
            cells.append(cell.rjust(width) if title in numeric else cell.ljust(width))
        print("  ".join(cells).rstrip())


def made_model(cpp, folder):
    model = folder / "model.safetensors"
    subprocess.run([cpp, "make-model", model], check=True)
    return model


def unreadable(cpp, model):
    """Why the model cannot be read, or nothing: comparing it with itself reads all of it."""
    done = subprocess.run([cpp, "compare", model, model], capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stderr.strip() or "cannot be read"


def run(options):
    with tempfile.TemporaryDirectory(prefix="hurray-relay-") as temporary:
        folder = pathlib.Path(temporary)
        model = options.model or made_model(options.cpp, folder)
        why = unreadable(options.cpp, model)
        if why:
            print(f"tools/relay: {model}: {why}", file=sys.stderr)
            return EXIT_UNREADABLE
        stages, result = chain(options.cpp, options.stage, model, folder, not options.pipes)
        run_chain(stages)
        problems = [f"{stage.title}: {stage.problem}" for stage in stages if stage.problem]
        comparison = {"equal": False, "differences": []}
        if not problems:
            problems = disagreements(stages) + copies(stages, model)
            comparison = compare_files(options.cpp, model, result)
            problems += [f"end and start: {d['name']!r}: {d['what']}" for d in comparison["differences"]]
        rows = [row(stage) for stage in stages]
        good = not problems and comparison["equal"]
        if options.json:
            report = {
                "model": str(options.model) if options.model else "made by the relay",
                "stages": rows,
                "end_equals_start": comparison["equal"],
                "left_out": dict(options.left_out),
                "problems": problems,
                "ok": good,
            }
            print(json.dumps(report, indent=2))
        else:
            print(f"model: {options.model or 'made by the relay: every tier-1 element type'}")
            table(rows)
            print_verdict(good, comparison, problems, options.left_out, stages)
        return EXIT_EQUAL if good else EXIT_DIFFERENT


def print_verdict(good, comparison, problems, left_out, stages):
    print()
    if comparison["equal"]:
        print(
            f"end and start: equal: {comparison['tensors']} tensors, {comparison['bytes']} element bytes, "
            "names, types, shapes and the safetensors file written from the end"
        )
    for problem in problems:
        print(f"problem: {problem}")
    joined = [stage for stage in stages if stage.sends == "channel"]
    if joined:
        print(f"channels: {len(joined)} of {len(stages) - 1} hops; the same memory, mapped by every process")
    for language, why in left_out:
        print(f"left out: {LANGUAGE_NAMES[language]}: {why}")
    runtimes = len({stage.language for stage in stages})
    verdict = "PASSED" if good else "FAILED"
    print(f"{verdict}: {runtimes} of {len(LANGUAGE_NAMES)} runtimes" + (", some left out" if left_out else ""))


def pair(text):
    key, separator, value = text.partition("=")
    if not separator or key not in LANGUAGE_NAMES:
        raise argparse.ArgumentTypeError(f"{text!r} is not LANGUAGE=VALUE")
    return key, value


def main(arguments):
    parser = argparse.ArgumentParser(prog="relay.py", description=__doc__)
    parser.add_argument("--cpp", required=True, help="the C++ driver, start and end of the chain")
    parser.add_argument("--stage", action="append", type=pair, default=[], help="LANGUAGE=DRIVER, in order")
    parser.add_argument("--left-out", action="append", type=pair, default=[], help="LANGUAGE=WHY")
    parser.add_argument("--model", type=pathlib.Path)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--pipes", action="store_true", help="streams through pipes, also where channels are possible")
    options = parser.parse_args(arguments)
    options.cpp = os.path.abspath(options.cpp)
    options.stage = [(language, os.path.abspath(driver)) for language, driver in options.stage]
    return run(options)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
