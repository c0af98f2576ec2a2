// Requirements: format, tensor descriptor; hostile input.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "core/hurray/layout/layout.hpp"
#include "core/hurray/tests/golden.hpp"

namespace hurray {
namespace {

using test::Bytes;
using test::fault;
using test::fault_of;

// A row-major float32 [3, 4]: 61 bytes. Offsets of its fields:
constexpr std::size_t length_at = 6;
constexpr std::size_t shape_at = 20;
constexpr std::size_t byte_offset_at = 36;
constexpr std::size_t handle_at = 45;

Bytes plain() {
    return test::encoded(test::build({.shape = {3, 4}, .buffers = {{.byte_size = 48}}}).value());
}

Bytes with_length(Bytes bytes, std::uint32_t length) {
    for (int i = 0; i < 4; ++i) bytes[length_at + i] = static_cast<std::byte>(length >> (8 * i) & 0xFF);
    return bytes;
}

// A decoded descriptor must say exactly what its bytes say.
void expect_same_bytes(const Descriptor& descriptor, std::span<const std::byte> input) {
    const Bytes again = test::encoded(descriptor);
    ASSERT_LE(again.size(), input.size());
    ASSERT_TRUE(std::equal(again.begin(), again.end(), input.begin()));
}

TEST(Decode, EveryTruncationOfEveryValidDescriptorIsRefused) {
    for (const auto& [name, bytes, options, entry] : test::valid_descriptors()) {
        for (std::size_t length = 0; length < bytes.size(); ++length) {
            const auto decoded = test::decode_exact(std::span(bytes).first(length), options);
            ASSERT_FALSE(decoded.has_value());
            // What is missing is missed at the latest where descriptor_length announces it.
            ASSERT_EQ(decoded.error().code, Status::invalid_layout);
            ASSERT_EQ(decoded.error().offset, length < 4 ? 0 : std::min<std::size_t>(length, length_at));
        }
    }
}

TEST(Decode, EveryDescriptorLengthThatIsTooShortIsRefusedWithinTheDescriptor) {
    for (const auto& [name, bytes, options, entry] : test::valid_descriptors()) {
        // What a later minor version put behind the sections, and what is behind an unknown layout, may be cut off.
        const bool may_be_cut = test::decode_exact(bytes, options).value().trailing().size() != 0;
        for (std::size_t length = 0; length < bytes.size(); ++length) {
            const Bytes changed = with_length(bytes, static_cast<std::uint32_t>(length));
            const auto decoded =
                test::decode_exact(std::span(changed).first(std::max<std::size_t>(length, 20)), options);
            if (decoded && may_be_cut) {
                expect_same_bytes(*decoded, changed);
                continue;
            }
            ASSERT_FALSE(decoded.has_value()) << name;
            // What is left of another length may have something else wrong with it.
            ASSERT_EQ(decoded.error().code, Status::invalid_layout) << name << ": " << decoded.error().message;
            ASSERT_LE(decoded.error().offset, std::max<std::size_t>(length, length_at));
        }
    }
}

TEST(Decode, EverySingleByteMutationIsRefusedOrEncodesToTheSameBytes) {
    std::uint64_t accepted = 0;
    std::uint64_t refused = 0;
    std::size_t index = 0;
    for (const auto& [name, bytes, options, entry] : test::valid_descriptors()) {
        // Of most descriptors, the values that are most likely to be special; of each of the others that is not large, all.
        const bool few = ++index % 6 != 0 || bytes.size() > 160;
        Bytes changed = bytes;
        for (std::size_t at = 0; at < bytes.size(); ++at) {
            for (int value = 0; value < 256; ++value) {
                if (few && value > 4 && value < 252 && value != 64 && value != 127 && value != 128) continue;
                changed[at] = static_cast<std::byte>(value);
                const auto decoded = test::decode_exact(changed, options);
                if (decoded) {
                    ++accepted;
                    expect_same_bytes(*decoded, changed);
                    if (HasFatalFailure()) return;
                } else {
                    ++refused;
                    ASSERT_TRUE(decoded.error().offset <= changed.size()) << decoded.error().message;
                    ASSERT_NE(decoded.error().message[0], '\0');
                }
            }
            changed[at] = bytes[at];
        }
    }
    // Both must have happened, or the mutations showed nothing.
    EXPECT_GT(accepted, 100000U);
    EXPECT_GT(refused, 100000U);
}

TEST(Decode, ReadsAtAnyAlignment) {
    const Bytes bytes = plain();
    for (std::size_t shift = 0; shift < 16; ++shift) {
        Bytes moved(shift + bytes.size());
        std::copy(bytes.begin(), bytes.end(), moved.begin() + static_cast<std::ptrdiff_t>(shift));
        const auto decoded = decode(std::span(moved).subspan(shift));
        ASSERT_TRUE(decoded.has_value());
        EXPECT_EQ(test::encoded(*decoded), bytes);
    }
}

TEST(Decode, KeepsNothingOfTheInput) {
    Bytes bytes = plain();
    const auto decoded = decode(bytes);
    const Bytes before = bytes;
    std::fill(bytes.begin(), bytes.end(), std::byte{0xFF});
    EXPECT_EQ(test::encoded(decoded.value()), before);
}

TEST(Decode, IntoAPlaceGivesTheSameDescriptor) {
    Descriptor place = Descriptor::vacant();
    for (const auto& [name, bytes, options, entry] : test::valid_descriptors()) {
        const auto refused = decode_into(std::span(bytes).first(bytes.size() - 1), place, options);
        ASSERT_FALSE(refused.has_value());
        place = Descriptor::vacant();
        const auto decoded = decode_into(bytes, place, options);
        ASSERT_TRUE(decoded.has_value()) << decoded.error().message;
        expect_same_bytes(place, bytes);
        place = Descriptor::vacant();
    }
}

TEST(Decode, TheLengthLimitIsTheCallersAndInclusive) {
    const Bytes bytes = plain();
    EXPECT_TRUE(decode(bytes, {.max_length = 61}).has_value());
    EXPECT_EQ(fault(decode(bytes, {.max_length = 60})), fault_of(Status::limit_exceeded, length_at));
    EXPECT_EQ(fault(peek_length(bytes, {.max_length = 60})), fault_of(Status::limit_exceeded, length_at));
    EXPECT_EQ(fault(decode(std::span(bytes).first(20), {.max_length = 60})),
              fault_of(Status::limit_exceeded, length_at));
    EXPECT_EQ(fault(decode(std::span(bytes).first(12), {.max_length = 60})),
              fault_of(Status::limit_exceeded, length_at));
}

TEST(Decode, TheDefaultLimitIs16MiB) {
    constexpr std::uint32_t limit = 16U << 20;
    const Bytes bytes = plain();
    EXPECT_EQ(peek_length(with_length(bytes, limit)).value(), limit);
    EXPECT_EQ(fault(peek_length(with_length(bytes, limit + 1))), fault_of(Status::limit_exceeded, length_at));
}

TEST(Decode, ALargeTrailingPartOfALaterMinorVersionIsKeptAsItWas) {
    Bytes bytes = plain();
    bytes[5] = std::byte{7};
    const std::size_t size = 16U << 20;
    while (bytes.size() < size) bytes.push_back(static_cast<std::byte>(bytes.size() * 31 & 0xFF));
    bytes = with_length(bytes, static_cast<std::uint32_t>(size));
    const auto decoded = decode(bytes);
    ASSERT_TRUE(decoded.has_value());
    EXPECT_EQ(decoded->version_minor(), 7);
    ASSERT_EQ(decoded->trailing().size(), size - 61);
    EXPECT_TRUE(std::equal(decoded->trailing().begin(), decoded->trailing().end(), bytes.begin() + 61));
    EXPECT_EQ(test::encoded(*decoded), bytes);
}

TEST(PeekLength, NeedsTheFixedHeaderOnly) {
    const Bytes bytes = plain();
    EXPECT_EQ(peek_length(std::span(bytes).first(20)).value(), 61U);
    for (std::size_t length = 0; length < 20; ++length) {
        EXPECT_EQ(fault(peek_length(std::span(bytes).first(length))),
                  fault_of(Status::invalid_layout, length < 4 ? 0 : std::min<std::size_t>(length, length_at)))
            << length;
    }
}

TEST(PeekLength, ChecksMagicVersionAndLength) {
    Bytes bytes = plain();
    bytes[0] = std::byte{'h'};
    EXPECT_EQ(fault(peek_length(bytes)), fault_of(Status::invalid_magic, 0));
    EXPECT_EQ(fault(peek_length(std::span(bytes).first(4))), fault_of(Status::invalid_magic, 0));
    bytes = plain();
    bytes[4] = std::byte{2};
    EXPECT_EQ(fault(peek_length(bytes)), fault_of(Status::version_mismatch, 4));
    EXPECT_EQ(fault(peek_length(std::span(bytes).first(5))), fault_of(Status::version_mismatch, 4));
    EXPECT_EQ(fault(peek_length(with_length(plain(), 19))), fault_of(Status::invalid_layout, length_at));
    EXPECT_EQ(peek_length(with_length(plain(), 20)).value(), 20U);
}

TEST(Decode, PrivateDevicesAreReadWhenTheCallerAllowsThem) {
    for (int device = 0xF0; device <= 0xFF; ++device) {
        for (const int memory : {0x00, 0x03, 0x04, 0xEF, 0xF0, 0xFE, 0xFF}) {
            for (const int sync : {0, 2, 3}) {
                Bytes bytes = plain();
                bytes[handle_at + 12] = static_cast<std::byte>(device);
                bytes[handle_at + 13] = static_cast<std::byte>(sync);
                bytes[handle_at + 14] = static_cast<std::byte>(memory);
                EXPECT_EQ(fault(decode(bytes)), fault_of(Status::invalid_type, handle_at + 12));
                const auto decoded = test::decode_exact(bytes, {.private_tags = PrivateTags::allow});
                if (device == 0xFF) {
                    EXPECT_EQ(fault(decoded), fault_of(Status::invalid_type, handle_at + 12));
                } else if (sync == 3) {
                    EXPECT_EQ(fault(decoded), fault_of(Status::invalid_sync_mode, handle_at + 13));
                } else if (memory != 0x00 && memory != 0xF0 && memory != 0xFE) {
                    EXPECT_EQ(fault(decoded), fault_of(Status::invalid_type, handle_at + 14));
                } else {
                    ASSERT_TRUE(decoded.has_value());
                    EXPECT_EQ(test::encoded(*decoded), bytes);
                }
            }
        }
    }
}

TEST(Decode, EveryTypeTagIsKnownOrRefused) {
    for (int tag = 0; tag < 256; ++tag) {
        Bytes bytes = plain();
        bytes[14] = static_cast<std::byte>(tag);
        const auto decoded = decode(bytes);
        const ElementTypeInfo* type = find_element_type(static_cast<std::uint8_t>(tag));
        if (type == nullptr) {
            EXPECT_EQ(fault(decoded), fault_of(Status::invalid_type, 14)) << tag;
        } else if (type->bits > 32) {
            EXPECT_EQ(fault(decoded), fault_of(Status::invalid_layout, handle_at)) << tag;
        } else {
            EXPECT_TRUE(decoded.has_value()) << tag;
        }
    }
}

TEST(Decode, EveryLayoutTagIsKnownUnsupportedByNameOrRefused) {
    for (int tag = 0; tag < 256; ++tag) {
        Bytes bytes = plain();
        bytes[15] = static_cast<std::byte>(tag);
        const auto decoded = decode(bytes);
        const Layout* layout = find_layout(static_cast<std::uint8_t>(tag));
        if (tag == layout_tag::row_major || tag == layout_tag::col_major) {
            EXPECT_TRUE(decoded.has_value()) << tag;
        } else if (layout == nullptr || layout->tag == layout_tag::private_first) {
            EXPECT_EQ(fault(decoded), fault_of(Status::invalid_layout, 15)) << tag;
        } else if (layout->codec == nullptr) {
            EXPECT_EQ(fault(decoded), fault_of(Status::unsupported, 15)) << tag;
        } else {
            // What follows the shape are not the fields of this layout.
            ASSERT_FALSE(decoded.has_value()) << tag;
            EXPECT_GT(decoded.error().offset, 15U) << tag << ": " << decoded.error().message;
        }
    }
}

TEST(Decode, KnownLayoutTagsAreThoseOfTheFormat) {
    for (int tag = 0; tag < 256; ++tag) {
        const bool known = (tag >= 0x01 && tag <= 0x0B) || tag == 0x40 || (tag >= 0xF0 && tag <= 0xFE);
        EXPECT_EQ(find_layout(static_cast<std::uint8_t>(tag)) != nullptr, known) << tag;
    }
}

TEST(Decode, PrivateLayoutsAreNamed) {
    const auto message = [](std::size_t at, int value) {
        Bytes bytes = plain();
        bytes[at] = static_cast<std::byte>(value);
        return std::string(decode(bytes).error().message);
    };
    EXPECT_EQ(message(15, 0xF7), "layout_tag: expected the tag of a known layout, got the private F7");
}

TEST(Decode, EveryFlagBitIsASectionOrReserved) {
    for (int bit = 0; bit < 32; ++bit) {
        Bytes bytes = plain();
        bytes[10 + bit / 8] = static_cast<std::byte>(1 << bit % 8);
        const auto decoded = decode(bytes);
        if (bit == 2) {
            EXPECT_EQ(fault(decoded), fault_of(Status::invalid_type, 14)) << bit;
        } else if (bit < 5) {
            // The section is not there.
            EXPECT_EQ(fault(decoded), fault_of(Status::invalid_layout, bytes.size())) << bit;
        } else {
            EXPECT_EQ(fault(decoded), fault_of(Status::invalid_layout, 10)) << bit;
        }
    }
}

TEST(Decode, MessagesNameFieldAndExpectation) {
    Bytes bytes = plain();
    bytes[byte_offset_at] = std::byte{49};
    EXPECT_STREQ(decode(bytes).error().message, "byte_offset: expected at most the 48 bytes of buffer 0, got 49");
    bytes = plain();
    bytes[shape_at + 8] = std::byte{5};
    EXPECT_STREQ(decode(bytes).error().message,
                 "buffer 0: byte_size: expected room for 15 elements of float32 from byte_offset 0, got 48");
    EXPECT_STREQ(decode(with_length(plain(), 31)).error().message,
                 "shape[1]: truncated, expected 2 elements of 8 bytes, 3 bytes are left of descriptor_length");
}

}  // namespace
}  // namespace hurray
