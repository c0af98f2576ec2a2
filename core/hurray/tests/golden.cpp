#include "core/hurray/tests/golden.hpp"

namespace hurray::test {
namespace {

DecodeOptions options_of(const json& entry) {
    DecodeOptions options;
    if (!entry.contains("options")) return options;
    for (const std::string option : entry.at("options")) {
        if (option == "private_tags") {
            options.private_tags = PrivateTags::allow;
        } else if (option == "permissive") {
            options.mode = Mode::permissive;
        } else {
            ADD_FAILURE() << "unknown option " << option;
        }
    }
    return options;
}

std::vector<GoldenVector> vectors(const char* kind) {
    std::vector<GoldenVector> all;
    const Bytes text = read_file(golden_folder / "manifest.json");
    const auto* begin = reinterpret_cast<const char*>(text.data());
    const json manifest = json::parse(begin, begin + text.size());
    for (const json& entry : manifest.at(kind)) {
        all.push_back({.name = entry.at("name"),
                       .bytes = read_file(golden_folder / entry.at("file").get<std::string>()),
                       .options = options_of(entry),
                       .entry = entry});
    }
    return all;
}

}  // namespace

const std::vector<GoldenVector>& valid_vectors() {
    static const auto all = vectors("valid");
    return all;
}

const std::vector<GoldenVector>& invalid_vectors() {
    static const auto all = vectors("invalid");
    return all;
}

std::vector<GoldenVector> valid_descriptors() {
    std::vector<GoldenVector> all = valid_vectors();
    for (GoldenVector& vector : all) vector.bytes.resize(vector.entry.at("descriptor").at("descriptor_length"));
    return all;
}

std::string hex_of(std::span<const std::byte> bytes) {
    constexpr const char* digits = "0123456789abcdef";
    std::string hex;
    for (const std::byte byte : bytes) {
        hex += digits[static_cast<unsigned>(byte) >> 4];
        hex += digits[static_cast<unsigned>(byte) & 15];
    }
    return hex;
}

Bytes bytes_of_hex(const std::string& hex) {
    Bytes bytes(hex.size() / 2);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        bytes[i] = static_cast<std::byte>(std::stoi(hex.substr(2 * i, 2), nullptr, 16));
    }
    return bytes;
}

}  // namespace hurray::test
