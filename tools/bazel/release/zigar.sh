#!/usr/bin/env bash
# zig ar; see zigcc.py, which lies beside it.
set -euo pipefail
exec "${BASH_SOURCE[0]%/*}/zigcc.py" --archive "$@"
