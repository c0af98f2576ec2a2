// CRC-32C, against a chain of additions that takes one cycle for each 8 bytes: a ratio of 1 is 8 bytes a cycle,
// whatever the clock does.
#include "core/hurray/io/crc32c.hpp"
#include "tools/bench/measure.hpp"

namespace hurray::bench {
namespace {

// Each addition waits for the one before, which is done in the next cycle.
void wait_cycles(std::size_t cycles) {
    constexpr std::size_t unrolled = 16;
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < cycles; i += unrolled) {
        for (std::size_t j = 0; j < unrolled; ++j) {
            sum += 3;
            // No two of them become one.
            benchmark::DoNotOptimize(sum);
        }
    }
}

void checksum(benchmark::State& state, std::size_t size) {
    const Bytes input(size);
    // Beyond the caches memory is waited for.
    const double at_least = size <= small_output ? 1.0 : 0.0;
    compare(
        state, size, {"8 bytes a cycle", at_least}, [&] { benchmark::DoNotOptimize(crc32c(input.span())); },
        [&] { wait_cycles(size / 8); });
}

}  // namespace

void add_benchmarks(std::span<const std::size_t> output_sizes) {
    for (const std::size_t size : output_sizes) {
        add("crc32c/" + size_name(size), [size](benchmark::State& state) { checksum(state, size); });
    }
}

}  // namespace hurray::bench
