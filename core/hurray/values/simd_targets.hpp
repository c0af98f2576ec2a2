// Which sets of vector instructions the files are compiled for that include themselves once for each. Comes before
// <hwy/foreach_target.h>.
#pragma once

// Highway's own checks would call into its library, of which nothing but the headers is used.
#define HWY_IS_DEBUG_BUILD 0

// Sets beyond these gain nothing here. Vectors of 64 bytes are left out where they do not work: the stack on which the
// address sanitizer watches for use after return is not aligned for them with GCC 12, whose code then faults; and newer
// clangs (Zig's) want a feature named for them that this Highway does not know of.
#if defined(HURRAY_ASAN) || defined(__clang__)
#define HURRAY_BROKEN_HERE HWY_AVX3
#else
#define HURRAY_BROKEN_HERE 0
#endif
#define HWY_DISABLED_TARGETS \
    (HURRAY_BROKEN_HERE | HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
