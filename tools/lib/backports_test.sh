#!/usr/bin/env bash
# The entries for backports and for sources come from the machine's own Debian entry, in both forms of apt's files, and from no other.
set -euo pipefail
hurray_root="$PWD"
export HOME="${TEST_TMPDIR:?}"
# shellcheck source=tools/lib/machine.sh
source tools/lib/machine.sh
# shellcheck source=tools/lib/install.sh
source tools/lib/install.sh

folder="${TEST_TMPDIR:?}/apt"
mkdir -p "$folder"
failures=0
expect() { # name, expected, actual
  if [[ "$2" != "$3" ]]; then
    printf 'FAIL %s\n-- expected:\n%s\n-- got:\n%s\n' "$1" "$2" "$3" >&2
    failures=$((failures + 1))
  fi
}

cat >"$folder/other.sources" <<'TEXT'
Types: deb
URIs: https://packages.example.test/tool
Suites: stable
Components: main
TEXT
cat >"$folder/debian.sources" <<'TEXT'
# a comment: Suites: bookworm
Types: deb-src
URIs: http://mirror.example.test/sources
Suites: bookworm
Components: main

Types: deb deb-src
URIs: http://mirror.example.test/debian
Suites: bookworm bookworm-updates
Components: main contrib
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: http://mirror.example.test/security
Suites: bookworm-security
Components: main
TEXT
expected="Types: deb
URIs: http://mirror.example.test/debian
Suites: bookworm-backports
Components: main contrib
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg"
expect "deb822" "$expected" "$(backports_from bookworm "$folder/other.sources" "$folder/debian.sources")"

sed 's/^Types: deb deb-src/Enabled: no\n&/' "$folder/debian.sources" >"$folder/disabled.sources"
expect "a disabled entry" "" "$(backports_from bookworm "$folder/disabled.sources")"

cat >"$folder/sources.list" <<'TEXT'
# deb http://old.example.test/debian bookworm main
deb-src http://mirror.example.test/debian bookworm main
deb [arch=amd64,arm64 signed-by=/usr/share/keyrings/a.gpg] http://mirror.example.test/debian bookworm main contrib
deb http://mirror.example.test/debian bookworm-updates main
TEXT
expected="Types: deb
URIs: http://mirror.example.test/debian
Suites: bookworm-backports
Components: main contrib
Signed-By: /usr/share/keyrings/a.gpg
Architectures: amd64 arm64"
expect "one line an entry" "$expected" "$(backports_from bookworm "$folder/sources.list")"
expect "the first of several files" "$expected" "$(backports_from bookworm "$folder/sources.list" "$folder/debian.sources")"
expect "no such suite" "" "$(backports_from trixie "$folder/sources.list" "$folder/debian.sources")"
expect "no such file" "" "$(backports_from bookworm "$folder/none.sources")"

expected="Types: deb-src
URIs: http://mirror.example.test/debian
Suites: bookworm
Components: main contrib
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg"
expect "sources" "$expected" "$(sources_from bookworm "$folder/other.sources" "$folder/debian.sources")"
expect "sources of no such suite" "" "$(sources_from trixie "$folder/debian.sources")"

expect "a list of languages" "java go" "$(language_list java,go)"
expect "all languages" "cpp java go csharp zig python" "$(language_list all)"
if language_list java,cobol 2>/dev/null; then expect "an unknown language" "an error" "success"; fi

if ((failures)); then exit 1; fi
