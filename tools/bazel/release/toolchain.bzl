"""The C++ toolchain of what is released: zig c++ for one platform of tools/bazel/platforms.bzl."""

load("@bazel_tools//tools/build_defs/cc:action_names.bzl", "ACTION_NAMES")
load(
    "@bazel_tools//tools/cpp:cc_toolchain_config_lib.bzl",
    "artifact_name_pattern",
    "env_entry",
    "env_set",
    "feature",
    "flag_group",
    "flag_set",
    "tool_path",
)
load("@local_zig//:defs.bzl", "CACHE", "ZIG")

_CPP = [ACTION_NAMES.cpp_compile, ACTION_NAMES.cpp_header_parsing]
_COMPILE = _CPP + [ACTION_NAMES.c_compile, ACTION_NAMES.assemble, ACTION_NAMES.preprocess_assemble]
_LINK = [
    ACTION_NAMES.cpp_link_executable,
    ACTION_NAMES.cpp_link_dynamic_library,
    ACTION_NAMES.cpp_link_nodeps_dynamic_library,
]

# -fno-sanitize: zig cc turns the sanitizer of undefined behaviour on by itself. -w: GCC's warnings are errors in
# development; another compiler's need not be.
_COMPILE_FLAGS = [
    "-O3",
    "-DNDEBUG",
    "-g0",
    "-fPIC",
    "-fno-sanitize=undefined",
    "-fvisibility=hidden",
    "-ffunction-sections",
    "-fdata-sections",
]

def _flags(name, actions, flags):
    return feature(
        name = name,
        enabled = True,
        flag_sets = [flag_set(actions = actions, flag_groups = [flag_group(flags = flags)])] if flags else [],
    )

def _impl(ctx):
    lib = ZIG.rpartition("/bin/")[0].rpartition("/")[0] + "/lib"
    elf = ctx.attr.os == "linux"
    features = [
        feature(
            name = "zig",
            enabled = True,
            env_sets = [env_set(
                actions = _COMPILE + _LINK + [ACTION_NAMES.cpp_link_static_library, ACTION_NAMES.strip],
                env_entries = [
                    env_entry("HURRAY_ZIG", ZIG),
                    env_entry("HURRAY_ZIG_CACHE", CACHE + "/zig-cache" if CACHE else ""),
                    env_entry("HURRAY_ZIG_TARGET", ctx.attr.target),
                ],
            )],
        ),
        feature(name = "supports_pic", enabled = True),
        _flags("default_compile_flags", _COMPILE, _COMPILE_FLAGS),
        _flags("default_cpp_flags", _CPP, ["-std=c++23", "-fvisibility-inlines-hidden"]),
        _flags("default_link_flags", _LINK, ["-Wl,--gc-sections", "-Wl,-s", "-Wl,--build-id=none"] if elf else []),
        _flags("unfiltered_compile_flags", _COMPILE, [
            "-w",
            # Nothing of the day of the build.
            "-Wno-builtin-macro-redefined",
            '-D__DATE__="1980-01-01"',
            '-D__TIME__="00:00:00"',
            '-D__TIMESTAMP__="1980-01-01 00:00:00"',
        ]),
    ]
    return cc_common.create_cc_toolchain_config_info(
        ctx = ctx,
        toolchain_identifier = "zig-" + ctx.attr.platform,
        host_system_name = "local",
        target_system_name = ctx.attr.target,
        target_cpu = ctx.attr.platform,
        target_libc = ctx.attr.target,
        compiler = "zig",
        abi_version = "local",
        abi_libc_version = "local",
        features = features,
        cxx_builtin_include_directories = [lib],
        tool_paths = [
            tool_path(name = name, path = path)
            for name, path in {
                "ar": "zigar.sh",
                "cpp": "zigcc.py",
                "gcc": "zigcc.py",
                "gcov": "/bin/false",
                "ld": "zigcc.py",
                "nm": "/bin/false",
                "objcopy": "/bin/false",
                "objdump": "/bin/false",
                "strip": "/bin/false",
            }.items()
        ],
        artifact_name_patterns = [
            artifact_name_pattern(category_name = "executable", prefix = "", extension = ".exe"),
        ] if ctx.attr.os == "windows" else [],
    )

zig_toolchain_config = rule(
    implementation = _impl,
    attrs = {
        "os": attr.string(mandatory = True, doc = "As in tools/bazel/platforms.bzl."),
        "platform": attr.string(mandatory = True, doc = "Name of the platform."),
        "target": attr.string(mandatory = True, doc = "The platform as Zig calls it."),
    },
    provides = [CcToolchainConfigInfo],
)
