// Heads and members for the tests of composites.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <vector>

#include "core/hurray/composite/composite.hpp"
#include "core/hurray/descriptor/composite_member_section.hpp"
#include "core/hurray/tests/support.hpp"

namespace hurray::test {

using Shape = std::vector<std::uint64_t>;

inline constexpr std::uint8_t float16 = 0x01;
inline constexpr std::uint8_t int8 = 0x10;

inline Descriptor head(const Shape& shape, const CompositeFields& fields, std::uint8_t type = float32,
                       const Shape& parent = {}, const Shape& at = {}) {
    DescriptorBuilder builder(type, layout_tag::composite, shape);
    builder.set_composite(fields);
    if (!parent.empty()) builder.set_shard(parent, at);
    auto built = builder.build(PrivateTags::allow);
    EXPECT_TRUE(built.has_value()) << built.error().message;
    return std::move(*built);
}

/// What a row-major member says of itself.
struct MemberSpec {
    Shape shape;
    std::optional<Shape> parent = {};
    Shape at = {};
    std::optional<MemberRole> role = {};
    std::uint8_t type = float32;
    /// Where not empty, the bytes of the elements; else zeros.
    Bytes bytes = {};
};

inline Tensor tensor_of(const DescriptorBuilder& unfinished, Bytes bytes, std::uint64_t size) {
    DescriptorBuilder builder = unfinished;
    Buffer buffer = allocate_buffer(size).value();
    std::copy(bytes.begin(), bytes.end(), buffer.data);
    EXPECT_TRUE(builder.add_buffer(buffer.handle).has_value());
    auto built = builder.build();
    EXPECT_TRUE(built.has_value()) << built.error().message;
    Tensor tensor{std::move(*built), {}};
    tensor.buffers.push_back(std::move(buffer));
    return tensor;
}

inline Tensor member(const MemberSpec& spec) {
    DescriptorBuilder builder(spec.type, layout_tag::row_major, spec.shape);
    if (spec.parent) builder.set_shard(*spec.parent, spec.at);
    if (spec.role) builder.set_composite_member(*spec.role);
    std::uint64_t count = 1;
    for (const std::uint64_t size : spec.shape) count *= size;
    return tensor_of(builder, spec.bytes, packed_byte_size(spec.type, count).value());
}

/// The members of a partition of float32.
inline std::vector<CompositeMember> parts(const Shape& whole, const std::vector<std::pair<Shape, Shape>>& boxes) {
    std::vector<CompositeMember> members;
    for (const auto& [at, shape] : boxes) members.emplace_back(member({.shape = shape, .parent = whole, .at = at}));
    return members;
}

inline Result<std::shared_ptr<const Composite>> make(Descriptor head, std::vector<CompositeMember> members) {
    return Composite::make(std::move(head), std::move(members));
}

template <typename T>
std::string message_of(const Result<T>& result) {
    return result ? std::string("accepted") : std::string(result.error().message);
}

/// What a composite that is refused says.
inline std::string refusal(const Result<std::shared_ptr<const Composite>>& made) {
    if (made) return "accepted";
    EXPECT_EQ(made.error().code, Status::invalid_composite);
    EXPECT_EQ(made.error().offset, Error::no_offset);
    return made.error().message;
}

}  // namespace hurray::test
