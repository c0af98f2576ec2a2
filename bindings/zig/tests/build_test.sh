#!/usr/bin/env bash
# The package builds and passes its tests with plain `zig build`, in both ways to read the C header, and a program of its
# own can depend on it. Arguments: zig, folder of its cache, the library, a library of another version.
set -euo pipefail
zig="$1"
cache="$2/zig-cache"
library="$PWD/$3"
stranger="$PWD/$4"

# The package has the version of everything else.
if ! grep -qF ".version = \"$(cat VERSION)\"," bindings/zig/build.zig.zon; then
  echo "build.zig.zon: expected version $(cat VERSION), as the file VERSION says" >&2
  exit 1
fi

scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
export HOME="$scratch"
if ! mkdir -p "$cache" 2>/dev/null || [[ ! -w "$cache" ]]; then cache="$scratch/cache"; fi
export ZIG_GLOBAL_CACHE_DIR="$cache" ZIG_LOCAL_CACHE_DIR="$scratch/local"

# Copied, because tests make files beside build.zig: the headers too, so that the default finds them.
mkdir "$scratch/workspace"
cp -RL bindings abi "$scratch/workspace"
chmod -R u+w "$scratch/workspace"
cd "$scratch/workspace/bindings/zig"

# Runs zig with its output in the log; shows the log when it fails.
logged() {
  # Zig writes to a file at offset 0: hence the cat.
  if ! "$zig" "$@" 2>&1 | cat >"$scratch/log"; then
    cat "$scratch/log"
    echo "zig $* failed" >&2
    exit 1
  fi
}

for way in -Dtranslate-c=false -Dtranslate-c=true; do
  logged build test --summary all "$way" "-Dhurray-lib=$library" "-Dhurray-stranger=$stranger"
  if ! grep -qE 'Build Summary: .*[1-9][0-9]*/[0-9]+ tests passed' "$scratch/log"; then
    cat "$scratch/log"
    echo "zig build test $way ran no tests" >&2
    exit 1
  fi
done

# A stranger in the library's place must fail the same tests, or they show nothing.
if "$zig" build test "-Dhurray-lib=$stranger" >"$scratch/log" 2>&1; then
  echo "the tests passed on a library of another version" >&2
  exit 1
fi

cd samples/consumer
logged build --prefix "$scratch/out"
got="$(HURRAY_LIBRARY="$library" "$scratch/out/bin/consumer" 2>&1)"
if [[ "$got" != "C ABI 4, "* ]]; then
  echo "the consumer says: $got" >&2
  exit 1
fi
if HURRAY_LIBRARY="$stranger" "$scratch/out/bin/consumer" >"$scratch/log" 2>&1; then
  echo "the consumer accepted a library of another version" >&2
  exit 1
fi
grep -q 'VERSION_MISMATCH: .*version 4 .*version 5' "$scratch/log"
echo "PASS"
