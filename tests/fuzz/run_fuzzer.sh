#!/usr/bin/env bash
# Runs a fuzzer with a fixed seed: run_fuzzer.sh FUZZER RUNS CORPUS_FILE...
set -euo pipefail

fuzzer="$1"
runs="$2"
shift 2

# A folder of its own: libFuzzer adds what it finds to its first folder.
work="$(mktemp -d "${TEST_TMPDIR:-/tmp}/fuzz.XXXXXX")"
mkdir "$work/found" "$work/corpus"
for file in "$@"; do
  # The parent folder's name keeps two files of one name apart.
  cp "$file" "$work/corpus/$(basename "$(dirname "$file")")-$(basename "$file")"
done

"$fuzzer" -seed=20260101 -runs="$runs" -max_len=4096 -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
  -artifact_prefix="${TEST_UNDECLARED_OUTPUTS_DIR:-$work}/" "$work/found" "$work/corpus" 2>"$work/log" || {
  tail -n 60 "$work/log"
  exit 1
}
tail -n 8 "$work/log"
executed="$(sed -n 's/^stat::number_of_executed_units: *//p' "$work/log")"
if ((executed < runs)); then
  echo "executed $executed inputs, expected at least $runs"
  exit 1
fi
