// Requirements: elements of sparse tensors are those that are stored, and 0 elsewhere.
#include <algorithm>
#include <map>

#include "core/hurray/element.hpp"
#include "core/hurray/tests/sparse_layouts/sparse_layouts.hpp"

namespace hurray {
namespace {

using test::fault;
using test::fault_of;
using test::json;

using Index = std::vector<std::uint64_t>;

// The value of a vector's element, a hexadecimal number.
RawBits bits_of(const std::string& hex) {
    const std::size_t low = hex.size() > 16 ? hex.size() - 16 : 0;
    return {std::stoull(hex.substr(low), nullptr, 16), low == 0 ? 0 : std::stoull(hex.substr(0, low), nullptr, 16)};
}

TEST(SparseElements, AreThoseOfTheVectors) {
    int compared = 0;
    int absent = 0;
    for (const json& entry : test::sparse_vectors().at("valid")) {
        const Tensor tensor = test::tensor_of(entry);
        const auto reader = ElementReader::make(tensor);
        ASSERT_TRUE(reader.has_value()) << entry.at("name") << ": " << reader.error().message;
        std::map<Index, RawBits> stored;
        for (const json& element : entry.at("elements")) stored[element.at(0)] = bits_of(element.at(1));
        const auto shape = tensor.descriptor.shape();
        if (std::ranges::find(shape, 0U) != shape.end()) continue;
        Index index(shape.size());
        for (bool more = true; more;) {
            const auto bits = reader->bits(index);
            ASSERT_TRUE(bits.has_value()) << entry.at("name") << ": " << bits.error().message;
            const auto found = stored.find(index);
            ASSERT_EQ(reader->address(index).value().has_value(), found != stored.end()) << entry.at("name");
            if (found != stored.end()) {
                ASSERT_EQ(*bits, found->second) << entry.at("name");
                ++compared;
            } else {
                ASSERT_EQ(*bits, RawBits{}) << entry.at("name");
                ASSERT_EQ(reader->complex128(index).value(), std::complex<double>()) << entry.at("name");
                ++absent;
            }
            more = false;
            for (std::size_t k = shape.size(); k > 0 && !more; --k) {
                more = ++index[k - 1] != shape[k - 1];
                if (!more) index[k - 1] = 0;
            }
        }
    }
    EXPECT_GT(compared, 300);
    EXPECT_GT(absent, 300);
}

TEST(SparseElements, FaultyArraysAreRefusedOrHarmless) {
    for (const json& entry : test::sparse_vectors().at("faulty")) {
        const Tensor tensor = test::tensor_of(entry);
        const auto reader = ElementReader::make(tensor);
        if (!reader) continue;
        if (tensor.descriptor.element_count().value() == 0) continue;
        const Index first(tensor.descriptor.rank());
        const auto bits = reader->bits(first);
        if (!bits) {
            EXPECT_EQ(bits.error().code, Status::invalid_layout) << entry.at("name");
        }
        Index beyond = first;
        beyond.back() = tensor.descriptor.shape().back();
        EXPECT_EQ(reader->bits(beyond).error().code, Status::index_out_of_bounds) << entry.at("name");
    }
}

}  // namespace
}  // namespace hurray
