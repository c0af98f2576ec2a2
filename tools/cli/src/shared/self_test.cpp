#include "self_test.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <hurray.hpp>
#include <utility>

#include "exit.hpp"

namespace cli {
namespace {

constexpr std::uint64_t matrix[] = {64, 64};

struct Wrong : std::runtime_error {
    using std::runtime_error::runtime_error;
};

void expect(bool condition, const std::string& what) {
    if (!condition) throw Wrong(what);
}

template <typename T>
T must(hurray::Result<T> result) {
    if (!result) throw Wrong(fmt::format("{}: {}", result.error().name(), result.error().message()));
    return std::move(*result);
}
void must(const hurray::Result<void>& result) {
    if (!result) throw Wrong(fmt::format("{}: {}", result.error().name(), result.error().message()));
}

float sample(std::uint64_t i) { return std::sin(static_cast<float>(i) * 0.37F); }

hurray::Tensor numbers() {
    std::vector<float> values(64 * 64);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = sample(i);
    return must(hurray::Tensor::from_container(std::move(values), matrix));
}

void same_numbers(const hurray::Tensor& tensor, double tolerance) {
    for (std::uint64_t i = 0; i < 64 * 64; i += 97) {
        const std::uint64_t index[] = {i / 64, i % 64};
        const double got = must(tensor.element(index));
        const auto expected = static_cast<double>(sample(i));
        expect(std::abs(got - expected) <= tolerance, fmt::format("element {}: expected {}, got {}", i, expected, got));
    }
}

void descriptors() {
    auto builder = must(hurray::DescriptorBuilder::create(HURRAY_TYPE_FLOAT32, HURRAY_LAYOUT_ROW_MAJOR, matrix));
    const auto made = must(builder.add_buffer(4 * 64 * 64).build());
    const auto bytes = must(made.encode());
    const auto again = must(must(hurray::Descriptor::decode(bytes)).encode());
    expect(bytes == again, "a descriptor encodes to other bytes the second time");
    auto broken = bytes;
    broken[0] ^= 1;
    expect(!hurray::Descriptor::decode(broken), "a wrong magic is accepted");
}

void layouts() {
    const auto tensor = numbers();
    for (const int layout : {HURRAY_LAYOUT_COL_MAJOR, HURRAY_LAYOUT_MORTON, HURRAY_LAYOUT_HILBERT, HURRAY_LAYOUT_COO,
                             HURRAY_LAYOUT_CSR, HURRAY_LAYOUT_CSC}) {
        const auto there = must(tensor.transcode(static_cast<std::uint8_t>(layout)));
        must(there.validate(HURRAY_VALIDATE_DATA));
        same_numbers(must(there.transcode(HURRAY_LAYOUT_ROW_MAJOR)), 0);
    }
}

void quantization() {
    const auto tensor = numbers();
    struct Case {
        int scheme;
        int type;
        int scale;
        std::uint32_t block;
        double tolerance;
    };
    for (const Case& each : {Case{HURRAY_SCHEME_PER_TENSOR_AFFINE, HURRAY_TYPE_INT8, 0, 0, 0.005},
                             Case{HURRAY_SCHEME_PER_BLOCK_AFFINE, HURRAY_TYPE_INT8, HURRAY_TYPE_FLOAT16, 32, 0.005},
                             Case{HURRAY_SCHEME_NF4, HURRAY_TYPE_UINT4, 0, 64, 0.16},
                             Case{HURRAY_SCHEME_MXFP, HURRAY_TYPE_FLOAT8_E4M3, 0, 32, 0.13}}) {
        auto spec = hurray::sized<HurrayQuantizeSpec>();
        spec.scheme = static_cast<std::uint8_t>(each.scheme);
        spec.storage_type = static_cast<std::uint8_t>(each.type);
        spec.scale_type = static_cast<std::uint8_t>(each.scale);
        spec.block_size = each.block;
        spec.axis = each.block == 0 ? 0 : 1;
        const auto codes = must(tensor.quantize(spec));
        must(codes.validate(HURRAY_VALIDATE_DATA));
        same_numbers(must(codes.dequantize()), each.tolerance);
    }
}

void statistics() {
    const auto found = must(numbers().statistics(HURRAY_STATISTICS_RANGE | HURRAY_STATISTICS_MOMENTS | HURRAY_STATISTICS_NNZ));
    expect(found.nnz == 64 * 64 - 1, "elements other than 0 are miscounted");
    expect(found.value_max <= 1 && found.value_max > 0.99 && found.value_min < -0.99, "the range is wrong");
}

void streams() {
    auto writer = must(hurray::Writer::to_memory());
    must(writer.write(numbers()));
    const auto buffer = must(writer.take());
    auto reader = must(hurray::Reader::from_memory(must(buffer.bytes())));
    same_numbers(must(reader.next()), 0);
    expect(!must(reader.next()), "the stream does not end");
}

struct Folder {
    Folder() {
        std::string name = (std::filesystem::temp_directory_path() / "hurray-doctor-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) throw Wrong("no folder for temporary files");
        path = name;
    }
    ~Folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path, ignored);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    std::filesystem::path path;
};

void files() {
    const Folder folder;
    const std::string path = (folder.path / "self_test.safetensors").string();
    auto writer = must(hurray::FileWriter::create(path.c_str(), HURRAY_FORMAT_SAFETENSORS));
    must(writer.add("numbers", numbers()));
    must(writer.finish());
    const auto file = must(hurray::File::open(path.c_str()));
    same_numbers(must(file.tensor("numbers")), 0);
    expect(file.find("nothing").error().code() == HURRAY_ERR_NOT_FOUND, "a name is found that is not there");
}

void ownership() {
    int released = 0;
    {
        static float memory[64];
        hurray::DenseSpec spec;
        spec.element_type = HURRAY_TYPE_FLOAT32;
        const std::uint64_t shape[] = {64};
        spec.shape = shape;
        const auto tensor = must(hurray::Tensor::from_host(spec, memory, sizeof memory, [&] { ++released; }));
        const auto share = must(tensor.share());
    }
    expect(released == 1, fmt::format("a release callback ran {} times", released));
}

}  // namespace

std::vector<SelfTest> run_self_tests() {
    const std::pair<const char*, std::function<void()>> tests[] = {
        {"descriptors", descriptors}, {"layouts", layouts}, {"quantization", quantization}, {"statistics", statistics},
        {"streams", streams},         {"files", files},     {"ownership", ownership},
    };
    std::vector<SelfTest> results;
    const auto live = [] { return hurray::live_handles().value_or(hurray::LiveHandles{}).handles; };
    const std::uint64_t before = live();
    for (const auto& [name, test] : tests) {
        try {
            test();
            results.push_back({name, ""});
        } catch (const std::exception& error) {
            results.push_back({name, error.what()});
        }
    }
    const std::uint64_t left = live() - before;
    results.push_back({"handles", left == 0 ? "" : fmt::format("{} were not ended", left)});
    return results;
}

}  // namespace cli
