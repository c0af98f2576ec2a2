#!/usr/bin/env bash
# A program may end with live tensors, with releases that wait, and with threads that hold shares: it ends with code 0, and
# nothing is called back. Argument: the program.
set -euo pipefail
program="$1"

# Runs the program and compares what it writes and how it ends.
expect() {
  local way="$1" expected="$2" got code=0
  got="$("$program" "$way" 2>&1)" || code=$?
  if [[ "$code" != 0 || "$got" != "$expected" ]]; then
    printf '%s: exit code %s, expected 0; it wrote\n%s\n-- expected\n%s\n' "$way" "$code" "$got" "$expected" >&2
    exit 1
  fi
}

expect return $'ready\nexit handlers run'
expect exit $'ready\nexit handlers run'
expect quick 'ready'
# The callbacks would be seen: draining runs them.
expect drain $'ready\nowner released\nmemory released\nmemory released\nexit handlers run'
echo "PASS"
