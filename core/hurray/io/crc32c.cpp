#include "core/hurray/io/crc32c.hpp"

#include <array>

#include "core/hurray/base/endian.hpp"
#include "core/hurray/values/x86_features.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>
#endif

// Vectors of 64 bytes are left out where they do not work: see values/simd_targets.hpp. Some clangs want a feature of
// their own for them.
#if defined(__x86_64__) && !defined(HURRAY_ASAN)
#define HURRAY_CRC32C_512 1
#endif
#if defined(__clang__) && __clang_major__ >= 18 && __clang_major__ <= 21
#define HURRAY_EVEX512 ",evex512"
#else
#define HURRAY_EVEX512 ""
#endif

namespace hurray {
namespace crc32c_detail {
namespace {

// Bit i stands for x^(31-i).
constexpr std::uint32_t polynomial = 0x82F63B78;

constexpr std::uint32_t times_x(std::uint32_t value) noexcept {
    return value >> 1 ^ ((value & 1) != 0 ? polynomial : 0);
}

constexpr std::array<std::uint32_t, 256> table = [] {
    std::array<std::uint32_t, 256> made{};
    for (std::uint32_t byte = 0; byte < made.size(); ++byte) {
        std::uint32_t value = byte;
        for (int bit = 0; bit < 8; ++bit) value = times_x(value);
        made[byte] = value;
    }
    return made;
}();

std::uint32_t update_by_table(std::uint32_t state, const std::byte* data, std::size_t size) noexcept {
    for (std::size_t i = 0; i < size; ++i) {
        state = state >> 8 ^ table[(state ^ std::to_integer<std::uint32_t>(data[i])) & 0xFF];
    }
    return state;
}

// a * b modulo the polynomial.
constexpr std::uint32_t multiply(std::uint32_t a, std::uint32_t b) noexcept {
    std::uint32_t product = 0;
    for (int i = 0; i < 32; ++i) {
        product ^= (a >> 31) != 0 ? b : 0;
        b = times_x(b);
        a <<= 1;
    }
    return product;
}

// x^exponent modulo the polynomial.
constexpr std::uint32_t power_of_x(std::uint64_t exponent) noexcept {
    std::uint32_t result = 0x80000000;
    std::uint32_t square = 0x40000000;
    for (; exponent != 0; exponent >>= 1) {
        if ((exponent & 1) != 0) result = multiply(result, square);
        square = multiply(square, square);
    }
    return result;
}

// The checksum instructions take 8 bytes a cycle, but each waits some cycles for the one before. Three runs that know
// nothing of one another keep them busy; then the state of each is moved over the bytes behind it.
[[maybe_unused]] constexpr std::size_t run = 4096;
[[maybe_unused]] constexpr std::uint32_t over_one = power_of_x(run * 8);
[[maybe_unused]] constexpr std::uint32_t over_two = power_of_x(run * 16);

#if defined(__x86_64__)

[[gnu::target("sse4.2,crc32")]] std::uint32_t update_sse4(std::uint32_t state, const std::byte* data,
                                                          std::size_t size) noexcept {
    std::uint64_t first = state;
    for (; size >= 3 * run; size -= 3 * run, data += 3 * run) {
        std::uint64_t second = 0;
        std::uint64_t third = 0;
        for (std::size_t i = 0; i < run; i += 8) {
            first = _mm_crc32_u64(first, load_le<std::uint64_t>(data + i));
            second = _mm_crc32_u64(second, load_le<std::uint64_t>(data + run + i));
            third = _mm_crc32_u64(third, load_le<std::uint64_t>(data + 2 * run + i));
        }
        first = multiply(over_two, static_cast<std::uint32_t>(first)) ^
                multiply(over_one, static_cast<std::uint32_t>(second)) ^ third;
    }
    for (; size >= 8; size -= 8, data += 8) first = _mm_crc32_u64(first, load_le<std::uint64_t>(data));
    return update_by_table(static_cast<std::uint32_t>(first), data, size);
}

// Folding: a block of 128 bits, H * x^64 + L, is moved over the next `bytes` bytes, where H * x^(n+64) + L * x^n stands
// for the same. Registers hold bit i as x^(63-i) of each half, so that a product of halves comes out times x: hence the
// -1.
constexpr long long fold_constant(std::uint64_t exponent) noexcept {
    return static_cast<long long>(std::uint64_t{power_of_x(exponent)} << 32);
}
constexpr long long fold_high(std::uint64_t bytes) noexcept {
    return fold_constant(bytes * 8 + 63);
}
constexpr long long fold_low(std::uint64_t bytes) noexcept {
    return fold_constant(bytes * 8 - 1);
}

#define HURRAY_TARGET_128 [[gnu::target("sse4.2,crc32,pclmul")]]
#define HURRAY_TARGET_256 [[gnu::target("sse4.2,crc32,avx2,pclmul,vpclmulqdq")]]
#define HURRAY_TARGET_512 \
    [[gnu::target("sse4.2,crc32,avx2,avx512f,avx512vl,avx512dq,avx512bw,pclmul,vpclmulqdq" HURRAY_EVEX512)]]

HURRAY_TARGET_128 inline __m128i fold_128(__m128i block, __m128i constants, __m128i next) noexcept {
    return _mm_xor_si128(
        _mm_xor_si128(_mm_clmulepi64_si128(block, constants, 0x00), _mm_clmulepi64_si128(block, constants, 0x11)),
        next);
}

// The state behind a block, and the bytes behind that.
HURRAY_TARGET_128 inline std::uint32_t end_128(__m128i block, const std::byte* data, std::size_t size) noexcept {
    const __m128i over_16 = _mm_set_epi64x(fold_low(16), fold_high(16));
    for (; size >= 16; size -= 16, data += 16) {
        block = fold_128(block, over_16, _mm_loadu_si128(reinterpret_cast<const __m128i*>(data)));
    }
    std::uint64_t state = _mm_crc32_u64(0, static_cast<std::uint64_t>(_mm_extract_epi64(block, 0)));
    state = _mm_crc32_u64(state, static_cast<std::uint64_t>(_mm_extract_epi64(block, 1)));
    if (size >= 8) {
        state = _mm_crc32_u64(state, load_le<std::uint64_t>(data));
        size -= 8;
        data += 8;
    }
    for (; size != 0; --size, ++data) {
        state = _mm_crc32_u8(static_cast<std::uint32_t>(state), std::to_integer<std::uint8_t>(*data));
    }
    return static_cast<std::uint32_t>(state);
}

// Too few bytes to fold.
[[gnu::target("sse4.2,crc32")]] inline std::uint32_t update_short(std::uint64_t state, const std::byte* data,
                                                                  std::size_t size) noexcept {
    for (; size >= 8; size -= 8, data += 8) state = _mm_crc32_u64(state, load_le<std::uint64_t>(data));
    for (; size != 0; --size, ++data) {
        state = _mm_crc32_u8(static_cast<std::uint32_t>(state), std::to_integer<std::uint8_t>(*data));
    }
    return static_cast<std::uint32_t>(state);
}

HURRAY_TARGET_128 inline __m128i load_128(const std::byte* data) noexcept {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(data));
}

HURRAY_TARGET_128 std::uint32_t update_128(std::uint32_t state, const std::byte* data, std::size_t size) noexcept {
    constexpr std::size_t step = 64;
    if (size < step) return update_short(state, data, size);
    __m128i a = _mm_xor_si128(load_128(data), _mm_cvtsi32_si128(static_cast<int>(state)));
    __m128i b = load_128(data + 16);
    __m128i c = load_128(data + 32);
    __m128i d = load_128(data + 48);
    const __m128i over_step = _mm_set_epi64x(fold_low(step), fold_high(step));
    for (data += step, size -= step; size >= step; data += step, size -= step) {
        a = fold_128(a, over_step, load_128(data));
        b = fold_128(b, over_step, load_128(data + 16));
        c = fold_128(c, over_step, load_128(data + 32));
        d = fold_128(d, over_step, load_128(data + 48));
    }
    const __m128i over_16 = _mm_set_epi64x(fold_low(16), fold_high(16));
    return end_128(fold_128(fold_128(fold_128(a, over_16, b), over_16, c), over_16, d), data, size);
}

HURRAY_TARGET_256 inline __m256i fold_256(__m256i block, __m256i constants, __m256i next) noexcept {
    return _mm256_xor_si256(_mm256_xor_si256(_mm256_clmulepi64_epi128(block, constants, 0x00),
                                             _mm256_clmulepi64_epi128(block, constants, 0x11)),
                            next);
}

HURRAY_TARGET_256 inline __m256i load_256(const std::byte* data) noexcept {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(data));
}

HURRAY_TARGET_256 std::uint32_t update_256(std::uint32_t state, const std::byte* data, std::size_t size) noexcept {
    constexpr std::size_t step = 128;
    if (size < step) return update_128(state, data, size);
    __m256i a = _mm256_xor_si256(load_256(data), _mm256_zextsi128_si256(_mm_cvtsi32_si128(static_cast<int>(state))));
    __m256i b = load_256(data + 32);
    __m256i c = load_256(data + 64);
    __m256i d = load_256(data + 96);
    const __m256i over_step = _mm256_broadcastsi128_si256(_mm_set_epi64x(fold_low(step), fold_high(step)));
    for (data += step, size -= step; size >= step; data += step, size -= step) {
        a = fold_256(a, over_step, load_256(data));
        b = fold_256(b, over_step, load_256(data + 32));
        c = fold_256(c, over_step, load_256(data + 64));
        d = fold_256(d, over_step, load_256(data + 96));
    }
    const __m256i over_32 = _mm256_broadcastsi128_si256(_mm_set_epi64x(fold_low(32), fold_high(32)));
    a = fold_256(fold_256(fold_256(a, over_32, b), over_32, c), over_32, d);
    const __m128i over_16 = _mm_set_epi64x(fold_low(16), fold_high(16));
    return end_128(fold_128(_mm256_castsi256_si128(a), over_16, _mm256_extracti128_si256(a, 1)), data, size);
}

#if defined(HURRAY_CRC32C_512)
HURRAY_TARGET_512 inline __m512i fold_512(__m512i block, __m512i constants, __m512i next) noexcept {
    return _mm512_ternarylogic_epi64(_mm512_clmulepi64_epi128(block, constants, 0x00),
                                     _mm512_clmulepi64_epi128(block, constants, 0x11), next, 0x96);
}

// The form with a mask: GCC 12 warns of the other one.
HURRAY_TARGET_512 inline __m512i broadcast_512(__m128i value) noexcept {
    return _mm512_maskz_broadcast_i32x4(0xFFFF, value);
}

HURRAY_TARGET_512 inline __m512i load_512(const std::byte* data) noexcept {
    return _mm512_loadu_si512(data);
}

HURRAY_TARGET_512 std::uint32_t update_512(std::uint32_t state, const std::byte* data, std::size_t size) noexcept {
    constexpr std::size_t step = 256;
    if (size < step) return update_128(state, data, size);
    __m512i a = _mm512_xor_si512(load_512(data), _mm512_zextsi128_si512(_mm_cvtsi32_si128(static_cast<int>(state))));
    __m512i b = load_512(data + 64);
    __m512i c = load_512(data + 128);
    __m512i d = load_512(data + 192);
    const __m512i over_step = broadcast_512(_mm_set_epi64x(fold_low(step), fold_high(step)));
    for (data += step, size -= step; size >= step; data += step, size -= step) {
        a = fold_512(a, over_step, load_512(data));
        b = fold_512(b, over_step, load_512(data + 64));
        c = fold_512(c, over_step, load_512(data + 128));
        d = fold_512(d, over_step, load_512(data + 192));
    }
    const __m512i over_64 = broadcast_512(_mm_set_epi64x(fold_low(64), fold_high(64)));
    a = fold_512(fold_512(fold_512(a, over_64, b), over_64, c), over_64, d);
    const __m128i over_16 = _mm_set_epi64x(fold_low(16), fold_high(16));
    std::array<std::byte, 64> last;
    _mm512_storeu_si512(last.data(), a);
    __m128i block = load_128(last.data());
    for (std::size_t i = 16; i < last.size(); i += 16) block = fold_128(block, over_16, load_128(last.data() + i));
    return end_128(block, data, size);
}
#endif

#elif defined(__ARM_FEATURE_CRC32)

std::uint32_t update_arm(std::uint32_t state, const std::byte* data, std::size_t size) noexcept {
    for (; size >= 3 * run; size -= 3 * run, data += 3 * run) {
        std::uint32_t second = 0;
        std::uint32_t third = 0;
        for (std::size_t i = 0; i < run; i += 8) {
            state = __crc32cd(state, load_le<std::uint64_t>(data + i));
            second = __crc32cd(second, load_le<std::uint64_t>(data + run + i));
            third = __crc32cd(third, load_le<std::uint64_t>(data + 2 * run + i));
        }
        state = multiply(over_two, state) ^ multiply(over_one, second) ^ third;
    }
    for (; size >= 8; size -= 8, data += 8) state = __crc32cd(state, load_le<std::uint64_t>(data));
    return update_by_table(state, data, size);
}

#endif

struct Available {
    std::array<Kernel, 5> list{};
    std::size_t count = 0;

    void add(const char* name, Update update, bool runs = true) noexcept {
        if (runs) list[count++] = {name, update};
    }

    Available() noexcept {
#if defined(__x86_64__)
        const values_detail::X86Features has;
#if defined(HURRAY_CRC32C_512)
        add("VPCLMULQDQ 512", update_512, has.avx512 && has.vpclmul);
#endif
        add("VPCLMULQDQ 256", update_256, has.avx2 && has.vpclmul);
        add("SSE4.2", update_sse4, has.sse4);
        add("PCLMULQDQ", update_128, has.sse4);
#elif defined(__ARM_FEATURE_CRC32)
        add("ARM CRC32", update_arm);
#endif
        add("table", update_by_table);
    }
};

}  // namespace

std::span<const Kernel> kernels() noexcept {
    static const Available available;
    return std::span(available.list).first(available.count);
}

}  // namespace crc32c_detail

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t crc) noexcept {
    static const crc32c_detail::Update update = crc32c_detail::kernels().front().update;
    return ~update(~crc, bytes.data(), bytes.size());
}

}  // namespace hurray
