// What the benchmarks share: memory to work on, and the comparison with a baseline that runs in turns with the subject,
// so that a ratio holds whatever the clock of the machine does.
#pragma once

#include <benchmark/benchmark.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace hurray::bench {

/// The sizes of output that the figures are for: one beyond all caches, one that a second-level cache holds.
inline constexpr std::size_t large_output = std::size_t{64} << 20;
inline constexpr std::size_t small_output = std::size_t{256} << 10;

/// Every program defines it: calls add() for each of its benchmarks and each of the sizes of output, in bytes (multiples
/// of 4096). Under --smoke, which tests use, they are tiny.
void add_benchmarks(std::span<const std::size_t> output_sizes);

/// A size for the name of a benchmark: 256KiB, 64MiB.
std::string size_name(std::size_t bytes);

/// Bytes aligned to 64 that have been written once, so that no page of them is new. They are neither all zero nor
/// random: their values repeat with a period of 251.
class Bytes {
  public:
    explicit Bytes(std::size_t size);

    [[nodiscard]] std::byte* data() noexcept { return data_.get(); }
    [[nodiscard]] const std::byte* data() const noexcept { return data_.get(); }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] std::span<std::byte> span() noexcept { return {data(), size_}; }
    [[nodiscard]] std::span<const std::byte> span() const noexcept { return {data(), size_}; }
    /// The same bytes as numbers.
    template <typename T>
    [[nodiscard]] std::span<T> as() noexcept {
        return {reinterpret_cast<T*>(data()), size_ / sizeof(T)};
    }

  private:
    struct Free {
        void operator()(std::byte* memory) const noexcept { ::operator delete(memory, std::align_val_t{64}); }
    };
    std::unique_ptr<std::byte, Free> data_;
    std::size_t size_;
};

/// What a subject is compared with, and the least ratio of their rates that it should reach.
struct Baseline {
    const char* name;
    double at_least;
};

/// The durations of one benchmark's turns, in nanoseconds.
class Turns {
  public:
    void add(std::chrono::nanoseconds baseline, std::chrono::nanoseconds subject);
    /// Sets the counters that tools/bench reads: subject_ns, baseline_ns, ratio, at_least.
    void report(benchmark::State& state, std::size_t bytes, Baseline baseline);

  private:
    std::vector<double> baseline_;
    std::vector<double> subject_;
};

/// Measures `subject` and `run_baseline` in turns.
/// @param bytes how many bytes each of them writes or reads in a turn, for the rate
template <typename Subject, typename RunBaseline>
void compare(benchmark::State& state, std::size_t bytes, Baseline baseline, Subject&& subject,
             RunBaseline&& run_baseline) {
    using Clock = std::chrono::steady_clock;
    Turns turns;
    for ([[maybe_unused]] auto turn : state) {
        const auto start = Clock::now();
        run_baseline();
        benchmark::ClobberMemory();
        const auto middle = Clock::now();
        subject();
        benchmark::ClobberMemory();
        const auto end = Clock::now();
        turns.add(middle - start, end - middle);
        state.SetIterationTime(std::chrono::duration<double>(end - middle).count());
    }
    turns.report(state, bytes, baseline);
}

/// As compare, with memset over `output`, which the subject fills.
template <typename Subject>
void compare_with_memset(benchmark::State& state, std::span<std::byte> output, double at_least, Subject&& subject) {
    compare(state, output.size(), {"memset", at_least}, std::forward<Subject>(subject),
            [&] { __builtin_memset(output.data(), 0x5A, output.size()); });
}

/// As compare, with memcpy from `input` to `output`, which are of one size.
template <typename Subject>
void compare_with_memcpy(benchmark::State& state, std::span<const std::byte> input, std::span<std::byte> output,
                         double at_least, Subject&& subject) {
    compare(state, output.size(), {"memcpy", at_least}, std::forward<Subject>(subject),
            [&] { __builtin_memcpy(output.data(), input.data(), output.size()); });
}

/// Adds a benchmark: `body` makes what it needs and calls one of the functions above.
template <typename Body>
void add(const std::string& name, Body&& body) {
    benchmark::RegisterBenchmark(name.c_str(), std::forward<Body>(body))
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond);
}

/// Ends the program, which measures nothing then.
[[noreturn]] void give_up(const char* message);

/// Ends the program with the message of a Result that is an error.
template <typename Result>
void require(const Result& result) {
    if (!result.has_value()) [[unlikely]]
        give_up(result.error().message);
}

}  // namespace hurray::bench
