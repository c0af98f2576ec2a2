#!/usr/bin/env bash
# Runs a libFuzzer program a fixed number of times with a fixed seed: fuzz_test.sh PROGRAM RUNS SEED_FILE...
set -euo pipefail

program="$1"
runs="$2"
shift 2

# Folders of its own: libFuzzer adds what it finds to its first folder.
work="$(mktemp -d "${TEST_TMPDIR:-/tmp}/fuzz.XXXXXX")"
trap 'rm -rf "$work"' EXIT
mkdir "$work/found" "$work/seeds"
for file in "$@"; do
  # The parent folder's name keeps two files of one name apart.
  cp "$file" "$work/seeds/$(basename "$(dirname "$file")")-$(basename "$file")"
done

"$program" -seed=1 -runs="$runs" -max_len=4096 -timeout=20 -rss_limit_mb=2048 -print_final_stats=1 \
  -artifact_prefix="${TEST_UNDECLARED_OUTPUTS_DIR:-$work}/" "$work/found" "$work/seeds" 2>"$work/log" || {
  tail -n 60 "$work/log"
  exit 1
}
tail -n 8 "$work/log"
executed="$(sed -n 's/^stat::number_of_executed_units: *//p' "$work/log")"
if ((executed < runs)); then
  echo "executed $executed inputs, expected at least $runs"
  exit 1
fi
