#!/usr/bin/env bash
# Every shell script that is named on the command line is free of shellcheck's findings and stops at errors.
set -euo pipefail
(($# > 0))
shellcheck --external-sources --source-path="$PWD" --shell=bash "$@"
for script in "$@"; do
  # A sourced file leaves it to its reader.
  if [[ "$(head -n 1 "$script")" == '#!'* ]] && ! grep -q '^set -euo pipefail$' "$script"; then
    echo "$script: lacks set -euo pipefail" >&2
    exit 1
  fi
done
