// float32 between row-major and the sparse layouts, both ways, against memcpy over the dense bytes: one element of ten
// is stored, which ones looks random.
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "core/hurray/descriptor/builder.hpp"
#include "core/hurray/transcode/transcode.hpp"
#include "tools/bench/measure.hpp"

namespace hurray::bench {
namespace {

struct Case {
    const char* name;
    std::uint8_t layout;
    std::size_t rank;
};

constexpr Case cases[] = {
    {"coo", layout_tag::coo, 2}, {"csr", layout_tag::csr, 2}, {"csc", layout_tag::csc, 2}, {"csf", layout_tag::csf, 3}};

/// A square or cube of about so many bytes.
Tensor tenth_full(std::size_t rank, std::size_t bytes) {
    const auto side = static_cast<std::uint64_t>(std::pow(static_cast<double>(bytes / sizeof(float)), 1.0 / static_cast<double>(rank)));
    const std::vector<std::uint64_t> shape(rank, side);
    std::uint64_t count = 1;
    for (const std::uint64_t size : shape) count *= size;
    auto buffer = allocate_buffer(count * sizeof(float));
    require(buffer);
    auto* elements = reinterpret_cast<float*>(buffer->data);
    std::uint32_t state = 1;
    for (std::uint64_t k = 0; k < count; ++k) {
        state = state * 1664525U + 1013904223U;
        if ((state >> 16) % 10 == 0) elements[k] = static_cast<float>(k + 1);
    }
    DescriptorBuilder builder(0x03, layout_tag::row_major, shape);
    require(builder.add_buffer(buffer->handle));
    auto descriptor = builder.build();
    require(descriptor);
    Tensor tensor{*std::move(descriptor), {}};
    tensor.buffers.push_back(*std::move(buffer));
    return tensor;
}

void run(benchmark::State& state, const Case& what, bool back, std::size_t bytes) {
    const Tensor dense = tenth_full(what.rank, bytes);
    auto sparse = transcode(dense, {.layout = what.layout});
    require(sparse);
    const Tensor& from = back ? *sparse : dense;
    const TranscodeSpec to{.layout = back ? layout_tag::row_major : what.layout};
    Bytes output(dense.buffers[0].bytes().size());
    // It informs only: a sparse tensor has far fewer bytes than memcpy moves.
    compare_with_memcpy(state, dense.buffers[0].bytes(), output.span(), 0, [&] {
        const auto made = transcode(from, to);
        require(made);
        benchmark::DoNotOptimize(made->buffers[0].data);
    });
}

}  // namespace

void add_benchmarks(std::span<const std::size_t> output_sizes) {
    for (const std::size_t size : output_sizes) {
        for (const Case& what : cases) {
            for (const bool back : {false, true}) {
                add(std::string("transcode/") + (back ? what.name : "row_major") + "/to_" +
                        (back ? "row_major" : what.name) + "/" + size_name(size),
                    [&what, back, size](benchmark::State& state) { run(state, what, back, size); });
            }
        }
    }
}

}  // namespace hurray::bench
