#!/usr/bin/env bash
# A program made by java_binary runs from another program's runfiles, from any folder.
set -euo pipefail
program="$PWD/$1"
cd /
[[ "$("$program" 40 2)" == 42 ]]
