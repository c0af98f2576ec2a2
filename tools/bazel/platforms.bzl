"""The one table of platforms that are released, and what every language's tools call them."""

# name:        ours, in file names of packages
# os, cpu:     as in @platforms
# zig:         target of zig c++ and zig build-lib
# library:     file name of the shared library there
# java:        classifier of the jar with the natives
# rid:         .NET's runtime identifier
# go_os, go_arch: GOOS and GOARCH
# wheel:       platform tag of a Python wheel
def _platform(name, os, cpu, zig, library, java, rid, go_os, go_arch, wheel):
    return struct(
        name = name,
        os = os,
        cpu = cpu,
        zig = zig,
        library = library,
        java = java,
        rid = rid,
        go_os = go_os,
        go_arch = go_arch,
        wheel = wheel,
    )

PLATFORMS = [
    _platform("linux-x86_64", "linux", "x86_64", "x86_64-linux-gnu.2.31", "libhurray.so.1", "linux-x86_64", "linux-x64", "linux", "amd64", "manylinux_2_31_x86_64"),
    _platform("linux-aarch64", "linux", "aarch64", "aarch64-linux-gnu.2.31", "libhurray.so.1", "linux-aarch_64", "linux-arm64", "linux", "arm64", "manylinux_2_31_aarch64"),
    _platform("linux-musl-x86_64", "linux", "x86_64", "x86_64-linux-musl", "libhurray.so.1", "linux-musl-x86_64", "linux-musl-x64", "linux", "amd64", "musllinux_1_2_x86_64"),
    _platform("linux-musl-aarch64", "linux", "aarch64", "aarch64-linux-musl", "libhurray.so.1", "linux-musl-aarch_64", "linux-musl-arm64", "linux", "arm64", "musllinux_1_2_aarch64"),
    _platform("macos-aarch64", "macos", "aarch64", "aarch64-macos", "libhurray.1.dylib", "osx-aarch_64", "osx-arm64", "darwin", "arm64", "macosx_13_0_arm64"),
    _platform("windows-x86_64", "windows", "x86_64", "x86_64-windows-gnu", "hurray.dll", "windows-x86_64", "win-x64", "windows", "amd64", "win_amd64"),
]
