#!/bin/bash
# The program that was compiled ahead of time says what the same program says on the runtime.
set -euo pipefail

export TMPDIR="$TEST_TMPDIR"
expected="$("./$2")"
got="$("./$1")"
if [[ -z "$expected" || "$got" != "$expected" ]]; then
  diff <(printf '%s\n' "$expected") <(printf '%s\n' "$got") >&2 || true
  echo "ahead_test: the two differ" >&2
  exit 1
fi
# It is a program, and not one that a runtime runs.
program="$(dirname "$1")/ahead.out/Ahead"
if [[ ! -x "$program" || -e "$program.dll" ]]; then
  echo "ahead_test: $program was not compiled ahead of time" >&2
  exit 1
fi
