// The 16-bit floating-point types to float32, against memset over the same output.
#include "core/hurray/values/convert.hpp"
#include "tools/bench/measure.hpp"

namespace hurray::bench {
namespace {

void to_float32_from(benchmark::State& state, std::uint8_t tag, std::size_t output_size) {
    const auto format = number_format(tag);
    require(format);
    const Bytes input(output_size / 2);
    Bytes output(output_size);
    compare_with_memset(state, output.span(), 0.5,
                        [&] { require(to_float32(*format, input.span(), 0, output.as<float>())); });
}

}  // namespace

void add_benchmarks(std::span<const std::size_t> output_sizes) {
    constexpr std::pair<const char*, std::uint8_t> types[] = {{"float16", 0x01}, {"bfloat16", 0x02}};
    for (const std::size_t size : output_sizes) {
        for (const auto& [name, tag] : types) {
            add(std::string("to_float32/") + name + "/" + size_name(size),
                [tag = tag, size](benchmark::State& state) { to_float32_from(state, tag, size); });
        }
    }
}

}  // namespace hurray::bench
