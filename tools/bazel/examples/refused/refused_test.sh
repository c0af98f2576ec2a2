#!/usr/bin/env bash
# The given program, a test, fails and says why.
set -euo pipefail
program="$1"
message="$2"
log="${TEST_TMPDIR:?}/refused.log"
if "$program" >"$log" 2>&1; then
  cat "$log" >&2
  echo "$program succeeded" >&2
  exit 1
fi
if ! grep -qF -- "$message" "$log"; then
  cat "$log" >&2
  echo "$program failed, but not with: $message" >&2
  exit 1
fi
