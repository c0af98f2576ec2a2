#include "core/hurray/layout/row_major_gather.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace hurray {
namespace {

constexpr std::uint32_t all_bits[] = {1, 2, 4, 6, 8, 16, 24, 32, 64, 128};

// Bit by bit: the oracle.
unsigned bit_at(const std::byte* origin, std::int64_t bit) {
    return (std::to_integer<unsigned>(origin[bit >> 3]) >> (bit & 7)) & 1U;
}

std::vector<std::byte> gather_slowly(const StridedElements& elements) {
    std::uint64_t count = 1;
    for (const auto dimension : elements.shape) count *= dimension;
    std::vector<std::byte> out((count * elements.bits + 7) / 8);
    for (std::uint64_t linear = 0; linear < count; ++linear) {
        std::uint64_t rest = linear;
        std::int64_t element = 0;
        for (std::size_t k = elements.shape.size(); k-- > 0;) {
            element += static_cast<std::int64_t>(rest % elements.shape[k]) * elements.strides[k];
            rest /= elements.shape[k];
        }
        for (std::uint32_t b = 0; b < elements.bits; ++b) {
            const std::uint64_t at = linear * elements.bits + b;
            out[at / 8] |= static_cast<std::byte>(bit_at(elements.origin, element * elements.bits + b) << (at % 8));
        }
    }
    return out;
}

std::vector<std::byte> gather_in_pieces(const StridedElements& elements, std::uint64_t piece) {
    RowMajorGather gather(elements);
    std::vector<std::byte> out;
    while (gather.remaining() != 0) {
        const std::uint64_t count = std::min(piece, gather.remaining());
        std::vector<std::byte> part((count * elements.bits + 7) / 8, std::byte{0xAA});
        gather.next(part, count);
        out.insert(out.end(), part.begin(), part.end());
    }
    return out;
}

struct Case {
    const char* name;
    std::vector<std::uint64_t> shape;
    std::vector<std::int64_t> strides;
};

const Case cases[] = {
    {"scalar", {}, {}},
    {"vector", {29}, {1}},
    {"row-major", {3, 5, 7}, {35, 7, 1}},
    {"column-major", {3, 5, 7}, {1, 3, 15}},
    {"reversed", {13}, {-1}},
    {"reversed in both", {4, 9}, {-9, -1}},
    {"broadcast", {4, 9}, {0, 1}},
    {"all one element", {4, 9}, {0, 0}},
    {"every other", {11}, {2}},
    {"every third, backwards", {11}, {-3}},
    {"rows with a gap", {5, 6}, {8, 1}},
    {"ones in between", {3, 1, 4, 1}, {4, 1000, 1, -7}},
    {"only ones", {1, 1}, {5, 5}},
    {"overlapping windows", {6, 4}, {1, 1}},
    {"empty", {3, 0, 2}, {1, 1, 1}},
    {"window of columns", {4, 3}, {-10, 2}},
};

TEST(RowMajorGather, AgreesWithTheDefinition) {
    std::vector<std::byte> memory(64 * 1024);
    std::uint32_t state = 12345;
    for (auto& byte : memory) {
        state = state * 1664525U + 1013904223U;
        byte = static_cast<std::byte>(state >> 24);
    }
    for (const Case& test : cases) {
        for (const std::uint32_t bits : all_bits) {
            const StridedElements elements{memory.data() + memory.size() / 2, bits, test.shape, test.strides};
            const auto expected = gather_slowly(elements);
            // Pieces of a multiple of 8 elements end at a byte whatever the width is.
            for (const std::uint64_t piece : {8U, 16U, 24U, 1024U}) {
                ASSERT_EQ(gather_in_pieces(elements, piece), expected) << test.name << ", " << bits << " bits, " << piece;
            }
        }
    }
}

TEST(RowMajorGather, MiddleOfARunOfSubByteElements) {
    // A run that is contiguous but starts in the middle of a byte: the origin plus an odd row.
    const std::vector<std::byte> memory{std::byte{0x21}, std::byte{0x43}, std::byte{0x65}, std::byte{0x87}};
    const std::vector<std::uint64_t> shape{2, 3};
    const std::vector<std::int64_t> strides{3, 1};
    const StridedElements elements{memory.data(), 4, shape, strides};
    std::vector<std::byte> out(3);
    RowMajorGather gather(elements);
    EXPECT_EQ(gather.remaining(), 6U);
    gather.next(out, 6);
    EXPECT_EQ(out, (std::vector<std::byte>{std::byte{0x21}, std::byte{0x43}, std::byte{0x65}}));
    EXPECT_EQ(gather.remaining(), 0U);
}

}  // namespace
}  // namespace hurray
