#include "tools/bench/measure.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace hurray::bench {
namespace {

double median(std::vector<double>& values) {
    if (values.empty()) return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

}  // namespace

std::string size_name(std::size_t bytes) {
    constexpr std::size_t mebi = std::size_t{1} << 20;
    return bytes % mebi == 0 ? std::to_string(bytes / mebi) + "MiB" : std::to_string(bytes / 1024) + "KiB";
}

Bytes::Bytes(std::size_t size)
    : data_(static_cast<std::byte*>(::operator new(size, std::align_val_t{64}))), size_(size) {
    for (std::size_t i = 0; i < size; ++i) data_.get()[i] = static_cast<std::byte>(i % 251);
}

void Turns::add(std::chrono::nanoseconds baseline, std::chrono::nanoseconds subject) {
    baseline_.push_back(static_cast<double>(baseline.count()));
    subject_.push_back(static_cast<double>(subject.count()));
}

void Turns::report(benchmark::State& state, std::size_t bytes, Baseline baseline) {
    const double baseline_ns = median(baseline_);
    const double subject_ns = std::max(median(subject_), 1.0);
    state.counters["baseline_ns"] = baseline_ns;
    state.counters["subject_ns"] = subject_ns;
    state.counters["ratio"] = baseline_ns / subject_ns;
    state.counters["at_least"] = baseline.at_least;
    state.SetBytesProcessed(static_cast<std::int64_t>(bytes) * static_cast<std::int64_t>(state.iterations()));
    state.SetLabel(baseline.name);
}

void give_up(const char* message) {
    std::fprintf(stderr, "%s\n", message);
    std::exit(1);
}

}  // namespace hurray::bench

int main(int argc, char** argv) {
    using namespace hurray::bench;
    std::vector<char*> arguments(argv, argv + argc);
    const bool smoke = std::erase_if(arguments, [](const char* word) { return std::string_view(word) == "--smoke"; }) != 0;
    int count = static_cast<int>(arguments.size());
    arguments.push_back(nullptr);
    benchmark::Initialize(&count, arguments.data());
    if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 1;
    if (smoke) {
        add_benchmarks(std::array{std::size_t{8192}});
    } else {
        add_benchmarks(std::array{small_output, large_output});
    }
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return 0;
}
