"""The command line of tools/bench."""

import argparse
import json
import os
import platform
import sys
from pathlib import Path

from runner import instructions, listing, ratios
from runner.rows import chosen, table


def parsed(arguments):
    parser = argparse.ArgumentParser(
        prog="tools/bench/bench",
        description="Measures what docs/benchmarks.md describes, and prints a table of figures and targets.",
    )
    parser.add_argument("names", nargs="*", help="only benchmarks whose names contain one of these, or match it as a pattern")
    parser.add_argument("--json", metavar="FILE", help="write the results there, too")
    parser.add_argument("--list", action="store_true", help="print the names only")
    parser.add_argument("--smoke", action="store_true", help="run everything once with tiny sizes: figures mean nothing")
    return parser.parse_args(arguments)


def measure(options, codec, lister, programs):
    """Yields rows as they become known."""
    yield from instructions.measure(codec, [count for count in instructions.COUNTS if chosen(count.name, options.names)])
    yield from listing.measure(lister, [name for name in listing.NAMES if chosen(name, options.names)], options.smoke)
    for program in programs:
        if options.smoke:
            yield from ratios.run(program, None, smoke=True)
            continue
        names = [name for name in ratios.names_of(program) if chosen(name, options.names)]
        if names:
            yield from ratios.run(program, names, smoke=False)


def listed(programs):
    yield from (count.name for count in instructions.COUNTS)
    yield from listing.NAMES
    for program in programs:
        yield from ratios.names_of(program)


def processor():
    """The name of this machine's processor, as far as it tells."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def main(arguments, environment=os.environ):
    options = parsed(arguments)
    codec = environment["HURRAY_BENCH_CODEC"]
    lister = environment["HURRAY_BENCH_LISTING"]
    programs = environment["HURRAY_BENCH_PROGRAMS"].split()
    if options.list:
        print("\n".join(name for name in listed(programs) if chosen(name, options.names)))
        return 0
    rows = []
    try:
        for row in measure(options, codec, lister, programs):
            print(f"{row.name}: {row.figure()}", file=sys.stderr)
            rows.append(row)
    except ratios.BenchmarkFailed as failure:
        print(f"tools/bench: {failure}", file=sys.stderr)
        return 1
    if not rows:
        print(f"tools/bench: no benchmark is called {' or '.join(options.names)}", file=sys.stderr)
        return 2
    print(table(rows))
    if options.json:
        # Bazel starts programs elsewhere than where the user is.
        path = Path(environment.get("BUILD_WORKING_DIRECTORY", "."), options.json)
        result = {"smoke": options.smoke, "processor": processor(), "rows": [row.as_json() for row in rows]}
        path.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    return 0
