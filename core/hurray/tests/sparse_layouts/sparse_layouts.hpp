// Reads vectors.json, which a program in Python made from the format's text.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/hurray/layout/coo.hpp"
#include "core/hurray/tensor.hpp"
#include "core/hurray/tests/support.hpp"

namespace hurray::test {

using nlohmann::json;

inline const json& sparse_vectors() {
    static const json parsed = [] {
        const Bytes text = read_file("core/hurray/tests/sparse_layouts/vectors.json");
        const auto* begin = reinterpret_cast<const char*>(text.data());
        return json::parse(begin, begin + text.size());
    }();
    return parsed;
}

inline Bytes from_hex(const std::string& hex) {
    Bytes bytes(hex.size() / 2);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        bytes[i] = static_cast<std::byte>(std::stoi(hex.substr(2 * i, 2), nullptr, 16));
    }
    return bytes;
}

inline Bytes bytes_of(const json& entry) {
    return from_hex(entry.at("bytes"));
}

/// A buffer of new memory with these bytes.
inline Buffer buffer_of(std::span<const std::byte> bytes) {
    Buffer buffer = allocate_buffer(bytes.size()).value();
    std::copy(bytes.begin(), bytes.end(), buffer.bytes().begin());
    return buffer;
}

/// The tensor of a valid vector.
inline Tensor tensor_of(const json& entry) {
    Tensor tensor{decode_exact(bytes_of(entry)).value(), {}};
    for (const json& content : entry.at("buffers")) tensor.buffers.push_back(buffer_of(from_hex(content)));
    return tensor;
}

/// Sets the fields of a vector's layout.
inline void set_fields(DescriptorBuilder& builder, const json& entry) {
    const json& fields = entry.at("layout_fields");
    const std::uint64_t nnz = fields.at("nnz");
    switch (entry.at("layout_tag").get<int>()) {
        case layout_tag::coo:
            builder.set_coo({nnz, fields.at("is_sorted")});
            break;
        case layout_tag::csf:
            builder.set_csf(nnz, fields.at("mode_order").get<std::vector<std::uint32_t>>());
            break;
        default:
            builder.set_compressed(nnz);
    }
}

}  // namespace hurray::test
