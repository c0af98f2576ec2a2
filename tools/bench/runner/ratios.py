"""Rows from the benchmark programs: see measure.hpp for what those report."""

import json
import statistics
import subprocess

from runner.rows import Row

# Repetitions of one benchmark are spread over the run (random interleaving), and the medians of them are taken.
REPETITIONS = 5
SECONDS = 0.2


class BenchmarkFailed(Exception):
    """A program that did not end well, or printed what is no result."""


def names_of(program):
    """The names of a program's benchmarks."""
    listed = subprocess.run([program, "--benchmark_list_tests=true"], capture_output=True, text=True, check=True)
    return [without_suffix(line) for line in listed.stdout.split()]


def without_suffix(name):
    return name.removesuffix("/manual_time")


def run(program, names, smoke):
    """Runs the benchmarks of these exact names (all of them for None); yields their rows in the program's order."""
    options = ["--benchmark_format=json"]
    if smoke:
        options += ["--smoke", "--benchmark_min_time=0"]
    else:
        options += [
            f"--benchmark_repetitions={REPETITIONS}",
            f"--benchmark_min_time={SECONDS}",
            "--benchmark_enable_random_interleaving=true",
        ]
    if names is not None:
        # Names consist of letters, digits, "/", "_", "." and "-": only the point means something else in a pattern.
        options.append("--benchmark_filter=^(" + "|".join(name.replace(".", "[.]") for name in names) + ")/manual_time$")
    ran = subprocess.run([program, *options], stdout=subprocess.PIPE, text=True, check=False)
    if ran.returncode != 0:
        raise BenchmarkFailed(f"{program}: ended with {ran.returncode}")
    return rows_of(ran.stdout)


def rows_of(text):
    """Rows from the JSON that Google Benchmark prints."""
    repetitions = {}
    for result in json.loads(text)["benchmarks"]:
        if result.get("error_occurred"):
            raise BenchmarkFailed(f"{result['name']}: {result['error_message']}")
        if result["run_type"] == "iteration":
            repetitions.setdefault(without_suffix(result["run_name"]), []).append(result)
    # In the order of the program, whatever the order of the repetitions was.
    ordered = sorted(repetitions.items(), key=lambda item: item[1][0]["family_index"])
    return [row_of(name, results) for name, results in ordered]


def row_of(name, results):
    def median(counter):
        return statistics.median(result[counter] for result in results)

    details = {
        "baseline": results[0]["label"],
        "subject_ns": median("subject_ns"),
        "baseline_ns": median("baseline_ns"),
        "bytes_per_second": median("bytes_per_second"),
        "lowest_ratio": min(result["ratio"] for result in results),
        "highest_ratio": max(result["ratio"] for result in results),
        "repetitions": len(results),
    }
    return Row(name, "ratio", median("ratio"), results[0]["at_least"], details)
