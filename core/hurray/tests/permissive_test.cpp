// Requirements: format, modes: a permissive reader keeps what it does not know, and touches no data of it.
#include <gtest/gtest.h>

#include "core/hurray/layout/address.hpp"
#include "core/hurray/layout/dense_view.hpp"
#include "core/hurray/layout/layout.hpp"
#include "core/hurray/quantization/fields.hpp"
#include "core/hurray/quantization/scheme.hpp"
#include "core/hurray/tests/support.hpp"

namespace hurray {
namespace {

using test::Bytes;
using test::fault;
using test::fault_of;

constexpr DecodeOptions permissive = {.mode = Mode::permissive};
constexpr std::uint8_t int8 = 0x10;

Bytes plain() {
    return test::encoded(
        test::build({.shape = {3, 4}, .buffers = {{.byte_size = 48}}, .parent_shape = {{3, 8}}, .shard_offset = {0, 4}})
            .value());
}

Bytes quantized(std::uint8_t scheme) {
    DescriptorBuilder builder(int8, layout_tag::row_major, std::array<std::uint64_t, 1>{4});
    EXPECT_TRUE(builder.add_buffer({.byte_size = 4}).has_value());
    builder.set_quantization({.scheme = scheme_tag::per_tensor_affine, .scale = 1});
    Bytes bytes = test::encoded(builder.build().value());
    bytes[36 + 17 + 4] = static_cast<std::byte>(scheme);
    return bytes;
}

void expect_no_data(const Descriptor& descriptor) {
    EXPECT_TRUE(descriptor.is_opaque());
    EXPECT_FALSE(has_dense_view(descriptor));
    EXPECT_EQ(dense_view(descriptor).error().code, Status::unsupported);
    EXPECT_EQ(AddressMap::make(descriptor).error().code, Status::unsupported);
}

TEST(Permissive, UnknownTypesAreKept) {
    for (int tag = 0; tag < 256; ++tag) {
        Bytes bytes = plain();
        bytes[14] = static_cast<std::byte>(tag);
        const auto strict = test::decode_exact(bytes);
        const auto decoded = test::decode_exact(bytes, permissive);
        const auto type = static_cast<std::uint8_t>(tag);
        if (find_element_type(type) != nullptr) {
            EXPECT_EQ(fault(decoded), fault(strict)) << tag;
            EXPECT_FALSE(decoded.has_value() && decoded->is_opaque()) << tag;
        } else if (tag == 0x00 || tag == 0xFF || is_private_element_type(type)) {
            EXPECT_EQ(fault(decoded), fault_of(Status::invalid_type, 14)) << tag;
        } else {
            EXPECT_EQ(fault(strict), fault_of(Status::invalid_type, 14)) << tag;
            ASSERT_TRUE(decoded.has_value()) << decoded.error().message;
            expect_no_data(*decoded);
            EXPECT_EQ(decoded->buffers().size(), 1U);
            EXPECT_EQ(decoded->shard_offset()[1], 4U);
            EXPECT_EQ(test::encoded(*decoded), bytes);
        }
    }
}

TEST(Permissive, UnknownLayoutsAreKeptUnread) {
    for (int tag = 0; tag < 256; ++tag) {
        Bytes bytes = plain();
        bytes[15] = static_cast<std::byte>(tag);
        const Layout* layout = find_layout(static_cast<std::uint8_t>(tag));
        const auto strict = test::decode_exact(bytes);
        const auto decoded = test::decode_exact(bytes, permissive);
        if (layout != nullptr && (layout->codec != nullptr || layout->min_rank > 2 || layout->max_rank < 2)) {
            EXPECT_EQ(decoded.has_value(), strict.has_value()) << tag;
        } else if (tag == 0x00 || tag == 0xFF) {
            EXPECT_EQ(fault(decoded), fault_of(Status::invalid_layout, 15)) << tag;
        } else {
            EXPECT_EQ(fault(strict).second, 15U) << tag;
            ASSERT_TRUE(decoded.has_value()) << tag << ": " << decoded.error().message;
            expect_no_data(*decoded);
            EXPECT_TRUE(decoded->is_unread());
            EXPECT_FALSE(decoded->has_shard());
            EXPECT_TRUE(decoded->parent_shape().empty());
            EXPECT_TRUE(decoded->buffers().empty());
            EXPECT_TRUE(decoded->layout_words().empty());
            EXPECT_EQ(decoded->trailing().size(), bytes.size() - 44);
            EXPECT_EQ(test::encoded(*decoded), bytes);
            const Descriptor copy = *decoded;
            EXPECT_EQ(test::encoded(copy), bytes);
        }
    }
}

TEST(Permissive, UnknownSchemesAreKept) {
    for (int tag = 0; tag < 256; ++tag) {
        const Bytes bytes = quantized(static_cast<std::uint8_t>(tag));
        const auto decoded = test::decode_exact(bytes, permissive);
        if (tag == 0x00 || tag == 0xFF) {
            EXPECT_EQ(fault(decoded), fault_of(Status::invalid_quantization, 57)) << tag;
        } else if (find_scheme(static_cast<std::uint8_t>(tag)) == nullptr) {
            ASSERT_TRUE(decoded.has_value()) << decoded.error().message;
            expect_no_data(*decoded);
            EXPECT_EQ(quantization_fields(*decoded)->scheme, tag);
            EXPECT_EQ(test::encoded(*decoded), bytes);
        } else {
            EXPECT_EQ(fault(decoded), fault(test::decode_exact(bytes))) << tag;
        }
    }
}

TEST(Permissive, AllOtherRulesStay) {
    for (std::size_t bit = 5; bit < 32; ++bit) {
        Bytes bytes = plain();
        bytes[10 + bit / 8] |= static_cast<std::byte>(1 << bit % 8);
        EXPECT_EQ(fault(test::decode_exact(bytes, permissive)), fault_of(Status::invalid_layout, 10));
    }
    Bytes bytes = plain();
    bytes[15] = std::byte{0x3F};
    for (std::size_t length = 0; length < 44; ++length) {
        Bytes cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length));
        EXPECT_FALSE(test::decode_exact(cut, permissive).has_value());
        if (length < 20) continue;
        store_le(cut.data() + 6, static_cast<std::uint32_t>(length));
        EXPECT_EQ(test::decode_exact(cut, permissive).error().code, Status::invalid_layout);
    }
    bytes[16] = std::byte{65};
    EXPECT_EQ(fault(test::decode_exact(bytes, permissive)), fault_of(Status::invalid_layout, 16));
}

TEST(Permissive, EverySingleByteMutationIsRefusedOrEncodesToTheSameBytes) {
    std::uint64_t opaque = 0;
    for (Bytes bytes : {plain(), quantized(scheme_tag::per_tensor_affine), quantized(0x40)}) {
        for (std::byte& at : bytes) {
            const std::byte before = at;
            for (int value = 0; value < 256; ++value) {
                at = static_cast<std::byte>(value);
                const auto decoded = test::decode_exact(bytes, permissive);
                if (!decoded) continue;
                opaque += decoded->is_opaque() ? 1 : 0;
                const Bytes again = test::encoded(*decoded);
                ASSERT_TRUE(std::equal(again.begin(), again.end(), bytes.begin()));
            }
            at = before;
        }
    }
    EXPECT_GT(opaque, 1000U);
}

}  // namespace
}  // namespace hurray
