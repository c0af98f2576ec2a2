#include "abi/src/internal/build_info.hpp"

// The build system passes the contents of VERSION; nothing else knows the number.
#ifndef HURRAY_VERSION
#error "HURRAY_VERSION must be defined by the build (contents of the file VERSION, quoted)"
#endif

#define HURRAY_TEXT_OF(x) #x
#define HURRAY_TEXT(x) HURRAY_TEXT_OF(x)

#if defined(HURRAY_HANDLE_CHECKS) && HURRAY_HANDLE_CHECKS
#define HURRAY_CHECKS_NAME "+checks"
#else
#define HURRAY_CHECKS_NAME ""
#endif
#if defined(__OPTIMIZE__)
#define HURRAY_MODE_NAME "opt"
#else
#define HURRAY_MODE_NAME "noopt"
#endif
#if defined(__clang__)
#define HURRAY_COMPILER_NAME "clang-" HURRAY_TEXT(__clang_major__)
#else
#define HURRAY_COMPILER_NAME "gcc-" HURRAY_TEXT(__GNUC__)
#endif
#ifndef HURRAY_BUILD_LABEL
#define HURRAY_BUILD_LABEL "local"
#endif

namespace hurray::abi {

const char* library_version() noexcept { return HURRAY_VERSION; }

const char* build_id() noexcept {
    return "hurray-" HURRAY_VERSION "-abi4-" HURRAY_COMPILER_NAME "-" HURRAY_MODE_NAME HURRAY_CHECKS_NAME
           "-" HURRAY_BUILD_LABEL;
}

}  // namespace hurray::abi
