#!/usr/bin/env bash
# A program made by zig_binary runs from another program's runfiles, from any folder.
set -euo pipefail
program="$PWD/$1"
cd /
[[ "$("$program" 2>&1)" == 42 ]]
