# shellcheck shell=bash
# What this machine has and lacks. Sourced by tools/setup, tools/test and tools/relay; changes nothing.
# The same questions are asked by Bazel's repository rules (tools/bazel/toolchains): what counts as there is alike.

: "${hurray_root:?is set by whoever sources this}"
hurray_cache="${HURRAY_CACHE:-${XDG_CACHE_HOME:-${HOME:?HOME is not set}/.cache}/hurray}"
export zig_version=0.16.0
readonly all_languages=(cpp java go csharp zig python)

# Name of this Debian, such as bookworm; empty elsewhere.
debian_codename() {
  local name value
  [[ -r /etc/os-release ]] || return 0
  while IFS='=' read -r name value; do
    if [[ "$name" == VERSION_CODENAME ]]; then printf '%s\n' "${value//\"/}"; fi
  done </etc/os-release
}

# Where a JDK of at least the given version lies; fails when there is none. Reads the JDK's own release file: starting
# java takes longer than everything else here.
jdk_home() {
  local least="$1" home version
  for home in "${HURRAY_JDK:-}" "${HURRAY_NEWER_JDK:-}" "${JAVA_HOME:-}" /usr/lib/jvm/*; do
    [[ -n "$home" && -x "$home/bin/javac" && -r "$home/release" ]] || continue
    version=""
    while IFS='=' read -r name value; do
      if [[ "$name" == JAVA_VERSION ]]; then version="${value//\"/}"; fi
    done <"$home/release"
    version="${version%%[!0-9]*}"
    if [[ -n "$version" && "$version" -ge "$least" ]]; then
      printf '%s\n' "$home"
      return 0
    fi
  done
  return 1
}

go_command() {
  local go minor
  for go in "${HURRAY_GO:-}" /usr/lib/go-1.{26,25,24,23}/bin/go "$(command -v go || true)"; do
    [[ -n "$go" && -x "$go" ]] || continue
    minor="$(GOTOOLCHAIN=local "$go" env GOVERSION 2>/dev/null)" || continue
    minor="${minor#go1.}"
    minor="${minor%%[!0-9]*}"
    if [[ -n "$minor" && "$minor" -ge 23 ]]; then
      printf '%s\n' "$go"
      return 0
    fi
  done
  return 1
}

zig_folder() { printf '%s\n' "$hurray_cache/zig/$zig_version"; }

zig_command() {
  local zig
  for zig in "${HURRAY_ZIG:-}" "$(zig_folder)"/node_modules/@zigc/linux-*/bin/zig; do
    if [[ -n "$zig" && -x "$zig" ]]; then
      printf '%s\n' "$zig"
      return 0
    fi
  done
  # Zig writes to a file at its start, whatever is there: a pipe is safe.
  zig="$(command -v zig || true)"
  if [[ -n "$zig" && "$("$zig" version | cat)" == "$zig_version" ]]; then
    printf '%s\n' "$zig"
    return 0
  fi
  return 1
}

# The dotnet command, when it belongs to an SDK of version 10 or newer.
dotnet_command() {
  local dotnet sdk version
  for dotnet in "${HURRAY_DOTNET:-}" "$(command -v dotnet || true)" /usr/share/dotnet/dotnet /usr/lib/dotnet/dotnet "${HOME:-}/.dotnet/dotnet"; do
    [[ -n "$dotnet" && -x "$dotnet" ]] || continue
    for sdk in "$(dirname "$(readlink -f "$dotnet")")"/sdk/*/; do
      version="$(basename "$sdk")"
      version="${version%%.*}"
      if [[ "$version" =~ ^[0-9]+$ && "$version" -ge 10 && -f "$sdk/dotnet.dll" ]]; then
        printf '%s\n' "$dotnet"
        return 0
      fi
    done
  done
  return 1
}

# Sources that are compiled for other platforms than this one, of which Debian has no libraries here.
zlib_folder() { printf '%s\n' "$hurray_cache/sources/zlib"; }

zlib_there() { [[ -r "$(zlib_folder)/zlib.h" && -r "$(zlib_folder)/inflate.c" && -r "$(zlib_folder)/LICENSE" ]]; }

nuget_folder() { printf '%s\n' "$hurray_cache/nuget"; }

# What the restored packages depend on: the list of packages and the SDKs (each brings its own targeting packs).
nuget_stamp() {
  local dotnet="$1"
  { cat "$hurray_root/tools/bazel/nuget/packages.csproj"; ls "$(dirname "$(readlink -f "$dotnet")")/sdk"; } | sha256sum | cut -d ' ' -f 1
}

nuget_restored() {
  local stamp
  stamp="$(nuget_folder)/.restored"
  [[ -r "$stamp" && "$(<"$stamp")" == "$(nuget_stamp "$1")" ]]
}

python_has() { [[ -x /usr/bin/python3 ]] && /usr/bin/python3 -I -S -c "$1" >/dev/null 2>&1; }

# Debian packages: name | what must be there | languages that need it (all: nothing works without it) | why.
# A file is enough of a question: what another package or hand put there serves as well.
debian_table() {
  # The README's Debian is 12. A newer one has a newer Go and another JDK.
  local go=golang-1.23-go go_why="compiles Go (from bookworm-backports: Debian 12 itself has 1.19)" jdk=openjdk-17-jdk-headless
  if [[ "$(debian_codename)" != bookworm ]]; then
    go=golang-go go_why="compiles Go" jdk=default-jdk-headless
  fi
  cat <<TABLE
bazel-bootstrap|cmd:bazel|all|builds and tests everything
g++|cmd:g++|all|compiles C and C++
python3|/usr/bin/python3|all|headergen, the count of test results, the Python binding
clang-19|/usr/bin/clang-19|all|headergen parses the sources of the C ABI with it
libclang-19-dev|/usr/lib/llvm-19/lib/libclang.so|all|headergen parses the sources of the C ABI with it
libclang-rt-19-dev|/usr/lib/llvm-19/lib/clang/19/lib/linux|cpp|runtime of clang's sanitizers and fuzzer
python3-clang-19|/usr/lib/python3/dist-packages/clang/cindex.py|all|headergen's way to clang
googletest|/usr/src/googletest/googletest|cpp|tests in C++
libhwy-dev|/usr/include/hwy/highway.h|all|vector instructions in the core
rapidjson-dev|/usr/include/rapidjson/reader.h|all|reads the headers of safetensors files
zlib1g-dev|/usr/include/zlib.h|all|packs and unpacks the members of .npz files
nlohmann-json3-dev|/usr/include/nlohmann/json.hpp|cpp|reads JSON in tests
libcli11-dev|/usr/include/CLI/CLI.hpp|cpp|reads the command line of the hurray program
libfmt-dev|/usr/include/fmt/format.h|cpp|formats what the hurray program prints (as headers only)
libbenchmark-dev|/usr/include/benchmark/benchmark.h|cpp|measures in tools/bench
valgrind|cmd:valgrind|cpp|counts instructions in tools/bench
shellcheck|cmd:shellcheck|cpp|checks the shell scripts
chromium|cmd:chromium|cpp|opens the pages of hurray report in a test
cmake|cmd:cmake|cpp|builds programs with the package for C and C++ in a test
make|cmd:make|cpp|the same, for cmake
pkg-config|cmd:pkg-config|cpp|the same, without cmake
python3-dev|glob:/usr/include/python3.*/Python.h|python|C headers for the Python extension
python3-pip|/usr/lib/python3/dist-packages/pip/__init__.py|python|installs the wheel in a test
python3-numpy|/usr/lib/python3/dist-packages/numpy/__init__.py|python|peer of the Python binding in tests
$jdk|jdk|java|compiles and runs Java
swig|cmd:swig|java|writes the lowest layer of the Java binding
junit5|/usr/share/java/junit-platform-console.jar|java|tests in Java
$go|go|go|$go_why
npm|npm|zig|fetches Zig
TABLE
}

there() {
  case "$1" in
    cmd:*) command -v "${1#cmd:}" >/dev/null ;;
    glob:*) compgen -G "${1#glob:}" >/dev/null ;;
    jdk) jdk_home 17 >/dev/null ;;
    go) go_command >/dev/null ;;
    # Only to fetch Zig with.
    npm) zig_command >/dev/null || command -v npm >/dev/null ;;
    *) [[ -e "$1" ]] ;;
  esac
}

# Rows of debian_table that are not there.
missing_debian() {
  local package question languages why
  while IFS='|' read -r package question languages why; do
    if ! there "$question"; then printf '%s|%s|%s|%s\n' "$package" "$question" "$languages" "$why"; fi
  done < <(debian_table)
}

# Why a language cannot be built here, one line; nothing when it can.
language_lacks() {
  local language="$1" package languages
  while IFS='|' read -r package _ languages _; do
    if [[ "$languages" == all || "$languages" == "$language" ]]; then
      printf "Debian's %s is not installed (tools/setup does it)\n" "$package"
      return 0
    fi
  done < <(missing_debian)
  case "$language" in
    cpp)
      if ! zlib_there; then printf "the sources of Debian's zlib are not unpacked (tools/setup does it)\n"; fi
      ;;
    zig)
      if ! zig_command >/dev/null; then printf 'Zig %s is not installed (tools/setup fetches it with npm)\n' "$zig_version"; fi
      ;;
    csharp)
      local dotnet
      if ! dotnet="$(dotnet_command)"; then
        printf 'there is no .NET SDK 10, and Debian has no package of it: install it as Microsoft describes, so that dotnet is on PATH, or name it in HURRAY_DOTNET\n'
      elif ! nuget_restored "$dotnet"; then
        printf 'the NuGet packages of its tests are not restored (tools/setup does it)\n'
      fi
      ;;
  esac
}

# Name of a language for people.
language_name() {
  case "$1" in
    cpp) printf 'C++' ;;
    csharp) printf 'C#' ;;
    *) printf '%s' "${1^}" ;;
  esac
}

# Turns "all" or "java,go" into words; fails on a language that there is not.
language_list() {
  local list="$1" language words=()
  if [[ "$list" == all ]]; then
    printf '%s\n' "${all_languages[*]}"
    return 0
  fi
  IFS=', ' read -r -a words <<<"$list"
  if ((${#words[@]} == 0)); then
    printf 'no language is named (there are: %s, or all)\n' "${all_languages[*]}" >&2
    return 1
  fi
  for language in "${words[@]}"; do
    if [[ " ${all_languages[*]} " != *" $language "* ]]; then
      printf 'no such language: %s (there are: %s, or all)\n' "$language" "${all_languages[*]}" >&2
      return 1
    fi
  done
  printf '%s\n' "${words[*]}"
}
