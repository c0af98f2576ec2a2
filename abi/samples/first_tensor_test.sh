#!/usr/bin/env bash
# The sample of the README prints the sum of a known tensor, and names what is wrong otherwise.
set -euo pipefail
program="$1"
model="$TEST_TMPDIR/model.safetensors"
header='{"bias":{"dtype":"F32","shape":[3],"data_offsets":[0,12]},"ids":{"dtype":"I8","shape":[1],"data_offsets":[12,13]}}'
# Header length (little-endian), header, the floats 1.0, 2.0 and -0.5, and one byte.
{
  printf '%b' "\\x$(printf '%02x' "${#header}")\\0\\0\\0\\0\\0\\0\\0"
  printf '%s' "$header"
  printf '\x00\x00\x80\x3f\x00\x00\x00\x40\x00\x00\x00\xbf\x07'
} >"$model"

[[ "$("$program" "$model" bias)" == "bias: 3 elements, sum 2.500" ]]

expect_failure() {
  local text="$1" message
  shift
  if message="$("$program" "$@" 2>&1)"; then
    echo "expected a failure: $*" >&2
    exit 1
  fi
  [[ "$message" == *"$text"* ]] || { echo "expected '$text' in: $message" >&2; exit 1; }
}
expect_failure NOT_FOUND "$model" weight
expect_failure NOT_FOUND "$model.missing" bias
expect_failure INVALID_FORMAT "$program" bias
expect_failure "" "$model" ids
expect_failure usage
