"""The conformance driver of Python: the public API of the package hurray and nothing else. See ../README.md."""

import json
import platform
import struct
import sys
import time

import numpy as np

import elements
import hurray
import passing
from descriptor_json import describe, rebuild
from transport import Input, Output, mapped

USAGE = ("usage: driver about | driver golden < PATHS | "
         "driver relay NAMES REPORT [--channel-in FD] [--channel-out FD] < STREAM > STREAM | driver pass NAMES < ENDS")


def facts():
    """What runs here."""
    info = hurray.runtime_info()
    return {"runtime": "python", "version": platform.python_version(), "abi_version": info.c_abi_version,
            "build_id": info.build_id}


def about():
    print(json.dumps({**facts(), "library_path": hurray.runtime_info().library_path, "channels": True}))


def error_json(error):
    return {"code": int(error.code), "name": error.name, "message": error.message, "offset": error.offset}


def golden():
    for line in sys.stdin:
        path, _, options = line.rstrip("\n").partition("\t")
        if not path:
            continue
        chosen = set(filter(None, options.split(",")))
        if chosen - {"private_tags", "permissive"}:
            print(f"driver: unknown options {options!r}", file=sys.stderr)
            return 2
        with open(path, "rb") as file:
            data = file.read()
        print(json.dumps(answer(path, data, **dict.fromkeys(chosen, True))))
    return 0


def answer(path, data, **options):
    """What the driver says about one vector."""
    try:
        descriptor = hurray.Descriptor.decode(data, **options)
    except hurray.HurrayError as error:
        return {"path": path, "error": error_json(error)}
    result = {"path": path, "descriptor": describe(descriptor, len(data)), "reencoded": descriptor.encode().hex()}
    try:
        rebuilt = rebuild(descriptor, options.get("private_tags", False))
        result["rebuilt"] = None if rebuilt is None else rebuilt.hex()
    except hurray.HurrayError as error:
        result["rebuilt"] = {"error": error_json(error)}
    return result


def read(name, tensor):
    """Every element of a tensor, and the report's line about them."""
    started = time.perf_counter_ns()
    size, crc = elements.checksum(tensor)
    total = elements.sequential_sum(tensor)
    nanos = time.perf_counter_ns() - started
    bits = None
    if total is not None:
        bits = "7ff8000000000000" if total != total else struct.pack(">d", total).hex()
    finite = total is not None and np.isfinite(total)
    return {"name": name, "type": tensor.dtype.name.lower(), "shape": list(tensor.shape), "bytes": size,
            "crc32": f"{crc:08x}", "sum": total if finite else None, "sum_bits": bits, "nanos": nanos,
            "mapped": mapped(tensor)}


def relay(names_path, report_path, channel_in=None, channel_out=None):
    hurray.load()
    before = hurray.live_handles().handles
    started = time.perf_counter_ns()
    with open(names_path, encoding="utf-8") as file:
        names = [json.loads(line) for line in file if line.strip()]
    count, size = 0, 0
    with open(report_path, "w", encoding="utf-8") as report, Input(channel_in) as arriving, Output(channel_out) as leaving:
        for arrived in arriving:
            with arrived:
                if count == len(names):
                    raise ValueError(f"the stream has more tensors than the {len(names)} names")
                with hurray.from_hurray(arrived) as tensor:
                    line = read(names[count], tensor)
                    leaving.put(tensor)
            report.write(json.dumps(line) + "\n")
            count += 1
            size += line["bytes"]
        if count != len(names):
            raise ValueError(f"{len(names)} names, but the stream has only {count} tensors")
        leaving.finish()
        totals = {**arriving.totals(), **leaving.totals()}
        arriving.close()
        leaving.close()
        hurray.drain()
        last = {**facts(), "tensors": count, "bytes": size, "nanos": time.perf_counter_ns() - started,
                "live_handles": hurray.live_handles().handles - before, **totals}
        report.write(json.dumps(last) + "\n")
        if last["live_handles"] != 0:
            raise ValueError(f"{last['live_handles']} handles are still alive")


def channel_ends(options):
    """The keywords for relay that options stand for; None for wrong usage."""
    ends = {}
    while options:
        match options:
            case ["--channel-in" | "--channel-out" as option, number, *options] if number.isascii() and number.isdigit():
                keyword = option.removeprefix("--").replace("-", "_")
                if keyword in ends:
                    return None
                ends[keyword] = int(number)
            case _:
                return None
    return ends


def main(arguments):
    try:
        match arguments:
            case ["about"]:
                about()
            case ["golden"]:
                return golden()
            case ["pass", names]:
                passing.run(names)
            case ["relay", names, report, *options] if (ends := channel_ends(options)) is not None:
                relay(names, report, **ends)
            case _:
                print(USAGE, file=sys.stderr)
                return 2
    except (hurray.HurrayError, OSError, ValueError) as error:
        print(f"driver: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
