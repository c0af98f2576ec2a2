#!/usr/bin/env bash
# The shared library exports what its version script names and nothing else, and needs only the C library.
set -euo pipefail
library="$1"
dynamic="$(readelf --dynamic --wide "$library")"
grep -q 'SONAME.*\[libexample.so.1\]' <<<"$dynamic"
grep -q 'NODELETE' <<<"$dynamic"
grep -q 'SYMBOLIC' <<<"$dynamic"
needed="$(sed -nE 's/.*NEEDED.*\[(.*)\]/\1/p' <<<"$dynamic" | grep -vE '^(libc|libm|ld-linux-x86-64|ld-linux-aarch64)\.so\.[0-9]+$' || true)"
if [[ -n "$needed" ]]; then
  echo "needs more than the C library: $needed" >&2
  exit 1
fi
exported="$(nm --dynamic --defined-only --format=posix "$library" | awk '$2 != "A" { print $1 }' | sort | tr '\n' ' ')"
if [[ "$exported" != "example_call@@EXAMPLE_1 example_sum@@EXAMPLE_1 " ]]; then
  echo "exports: $exported" >&2
  exit 1
fi
