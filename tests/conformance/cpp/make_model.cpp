// The demonstration's own model: every tier-1 element type and the shapes that break readers.
#include <cstring>
#include <string>
#include <vector>

#include "commands.hpp"
#include "handles.hpp"

namespace driver {
namespace {

struct Entry {
    std::string name;
    std::uint8_t type;
    std::vector<std::uint64_t> shape;
    std::uint32_t bits;
};

// A small generator with a fixed seed: the same model every time.
class Bits {
public:
    std::uint64_t next() {
        state_ ^= state_ << 13;
        state_ ^= state_ >> 7;
        state_ ^= state_ << 17;
        return state_;
    }

private:
    std::uint64_t state_ = 0x9E3779B97F4A7C15U;
};

bool is_float(std::uint8_t type) { return type <= HURRAY_TYPE_FLOAT64; }

// Random bits; floats get a middling exponent, so that sums stay finite.
std::vector<std::uint8_t> random_elements(const Entry& entry, std::uint64_t count, Bits& random) {
    std::vector<std::uint8_t> bytes((count * entry.bits + 7) / 8);
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random.next() >> 32);
    if (is_float(entry.type)) {
        const std::size_t width = entry.bits / 8;
        for (std::size_t i = width - 1; i < bytes.size(); i += width) {
            bytes[i] = static_cast<std::uint8_t>((bytes[i] & 0x80) | 0x3B | (bytes[i] & 0x04));
        }
    }
    if (entry.bits == 1 && count % 8 != 0 && !bytes.empty()) {
        bytes.back() = static_cast<std::uint8_t>(bytes.back() & ((1U << (count % 8)) - 1U));
    }
    return bytes;
}

std::uint64_t element_count(const Entry& entry) {
    std::uint64_t count = 1;
    for (const std::uint64_t size : entry.shape) count *= size;
    return count;
}

}  // namespace

int make_model(const std::string& model) {
    const std::vector<Entry> entries = {
        {"embedding.weight", HURRAY_TYPE_FLOAT32, {512, 96}, 32},
        {"layer.0.attention", HURRAY_TYPE_FLOAT16, {96, 288}, 16},
        {"layer.0.mlp", HURRAY_TYPE_BFLOAT16, {96, 384}, 16},
        {"statistics", HURRAY_TYPE_FLOAT64, {7, 11, 3}, 64},
        {"signed.8", HURRAY_TYPE_INT8, {1001}, 8},
        {"unsigned.8", HURRAY_TYPE_UINT8, {13, 77}, 8},
        {"signed.16", HURRAY_TYPE_INT16, {333}, 16},
        {"unsigned.16", HURRAY_TYPE_UINT16, {333}, 16},
        {"signed.32", HURRAY_TYPE_INT32, {5, 5, 5}, 32},
        {"unsigned.32", HURRAY_TYPE_UINT32, {125}, 32},
        {"tokens", HURRAY_TYPE_INT64, {1, 64}, 64},
        {"unsigned.64", HURRAY_TYPE_UINT64, {17}, 64},
        {"mask", HURRAY_TYPE_BOOL, {9, 13}, 1},
        {"scalar", HURRAY_TYPE_FLOAT32, {}, 32},
        {"empty", HURRAY_TYPE_INT16, {4, 0, 3}, 16},
        {"empty.mask", HURRAY_TYPE_BOOL, {0}, 1},
        {"n\xC3\xA4me \xE2\x86\x92 \xF0\x9F\x98\x80", HURRAY_TYPE_FLOAT32, {3}, 32},
        {std::string("with\0nul", 8), HURRAY_TYPE_UINT8, {1}, 8},
        {"line\xE2\x80\xA8separators\xC2\x85", HURRAY_TYPE_INT8, {2}, 8},
        {"quote\" and \\ and\nline", HURRAY_TYPE_UINT8, {2}, 8},
    };
    const auto writer =
        make<FileWriter>("create", hurray_file_writer_create, model.c_str(), std::uint32_t{HURRAY_FORMAT_SAFETENSORS});
    const std::string key = "made_by";
    const std::string value = "hurray relay";
    call("metadata", hurray_file_writer_set_metadata, writer.get(), key.data(), std::uint64_t{key.size()}, value.data(),
         std::uint64_t{value.size()});
    Bits random;
    std::vector<std::vector<std::uint8_t>> memory;  // kept until the file is written
    memory.reserve(entries.size());
    for (const Entry& entry : entries) {
        memory.push_back(random_elements(entry, element_count(entry), random));
        auto spec = sized<HurrayDenseSpec>();
        spec.element_type = entry.type;
        spec.layout = HURRAY_LAYOUT_ROW_MAJOR;
        spec.read_only = 1;
        spec.rank = static_cast<std::uint32_t>(entry.shape.size());
        spec.shape = entry.shape.data();
        const auto tensor = make<Tensor>(
            "tensor", hurray_tensor_from_host, static_cast<const HurrayDenseSpec*>(&spec),
            static_cast<void*>(memory.back().data()), std::uint64_t{memory.back().size()}, HurrayReleaseCallback{nullptr},
            static_cast<void*>(nullptr), static_cast<const HurrayReleaseQueue*>(nullptr));
        call("add", hurray_file_writer_add, writer.get(), entry.name.data(), std::uint64_t{entry.name.size()}, tensor.get());
    }
    call("finish", hurray_file_writer_finish, writer.get());
    return 0;
}

}  // namespace driver
