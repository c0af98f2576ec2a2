// Requirements: format, quantization. The short way to accept a payload accepts nothing that the rules refuse.
#include <gtest/gtest.h>

#include "core/hurray/quantization/scheme_check.hpp"
#include "core/hurray/tests/golden.hpp"

namespace hurray {
namespace {

// A descriptor of the golden vectors and the payload of its quantization section.
struct Quantized {
    Descriptor descriptor;
    test::Bytes payload;

    [[nodiscard]] bool is_plain() const {
        return is_plain_payload(descriptor, descriptor.is_dynamic() ? 0 : descriptor.element_count().value(), payload);
    }
    [[nodiscard]] Result<void> check() const {
        const QuantizationScheme* scheme = find_scheme(static_cast<std::uint8_t>(payload[0]));
        if (scheme == nullptr || payload.size() < scheme->size)
            return fail(Status::invalid_quantization, 0, "no scheme, or too short for it");
        const QuantizationFields fields = read_scheme_fields(scheme, payload);
        return check_scheme({.descriptor = descriptor,
                             .scheme = *scheme,
                             .fields = fields,
                             .payload = payload,
                             .payload_at = 0,
                             .buffer_count_at = 0});
    }
};

std::vector<Quantized> quantized_descriptors() {
    std::vector<Quantized> found;
    for (const auto& [name, bytes, options, entry] : test::valid_descriptors()) {
        Descriptor descriptor = test::decode_exact(bytes, options).value();
        const auto words = descriptor.section_words(descriptor_flag::quantization);
        if (words.empty()) continue;
        const auto payload = std::as_bytes(words.subspan(1)).first(words[0]);
        test::Bytes copy(payload.begin(), payload.end());
        found.push_back({std::move(descriptor), std::move(copy)});
    }
    return found;
}

TEST(PlainPayload, IsValid) {
    int plain = 0;
    int other = 0;
    for (const Quantized& quantized : quantized_descriptors()) ++(quantized.is_plain() ? plain : other);
    EXPECT_GT(plain, 10);
    EXPECT_GT(other, 10);
}

TEST(PlainPayload, StaysValidWhateverByteChanges) {
    int plain = 0;
    for (Quantized& quantized : quantized_descriptors()) {
        for (std::byte& byte : quantized.payload) {
            const std::byte before = byte;
            for (int value = 0; value < 256; ++value) {
                byte = static_cast<std::byte>(value);
                if (!quantized.is_plain()) continue;
                ++plain;
                const auto checked = quantized.check();
                ASSERT_TRUE(checked.has_value()) << checked.error().message;
            }
            byte = before;
        }
    }
    EXPECT_GT(plain, 100);
}

TEST(PlainPayload, StaysValidWhateverTensorItBelongsTo) {
    const auto all = quantized_descriptors();
    int plain = 0;
    for (const Quantized& of : all) {
        for (const Quantized& payload : all) {
            const Quantized mixed{of.descriptor, payload.payload};
            if (!mixed.is_plain()) continue;
            ++plain;
            const auto checked = mixed.check();
            ASSERT_TRUE(checked.has_value()) << checked.error().message;
        }
    }
    EXPECT_GT(plain, 10);
}

}  // namespace
}  // namespace hurray
