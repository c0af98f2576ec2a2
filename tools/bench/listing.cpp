// What tools/bench measures the opening of .hrry files with.
//   listing write PATH COUNT packed|spaced   a file of so many tensors; packed: without data, so that they follow at
//   once listing list PATH TIMES                  opens it and asks for names, types and shapes; prints how many bytes
//   became
//                                            resident and how many nanoseconds it took, of the last time
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string_view>

#include "core/hurray/descriptor/builder.hpp"
#include "core/hurray/io/hrry/hrry_file.hpp"
#include "core/hurray/io/model_file_writer.hpp"
#include "core/hurray/layout/composite.hpp"

namespace {

using namespace hurray;

template <typename Result>
void need(const Result& result) {
    if (result) return;
    std::fprintf(stderr, "%s\n", result.error().message);
    std::exit(1);
}

Tensor tensor_of(bool packed) {
    const std::uint64_t shape[] = {2, 3};
    DescriptorBuilder builder(0x03, packed ? layout_tag::composite : layout_tag::row_major, shape);
    std::vector<Buffer> buffers;
    if (packed) {
        builder.set_composite({.rule = composition_rule::group});
    } else {
        buffers.push_back(allocate_buffer(24).value());
        need(builder.add_buffer(buffers[0].handle));
    }
    auto descriptor = builder.build();
    need(descriptor);
    return {*std::move(descriptor), std::move(buffers)};
}

void write(const char* path, unsigned long count, bool packed) {
    const auto writer = create_model_file(path, FileFormat::hrry);
    need(writer);
    const Tensor tensor = tensor_of(packed);
    for (unsigned long i = 0; i < count; ++i) {
        char name[48];
        std::snprintf(name, sizeof name, "model.layers.%07lu.weight", i);
        need((*writer)->add(name, tensor));
    }
    need((*writer)->finish());
}

std::uint64_t resident_bytes() {
    std::ifstream file("/proc/self/statm");
    std::uint64_t all = 0;
    std::uint64_t resident = 0;
    file >> all >> resident;
    return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

void list(const char* path, unsigned long times) {
    std::uint64_t resident = 0;
    std::chrono::nanoseconds took{};
    std::uint64_t sum = 0;
    for (unsigned long time = 0; time < times; ++time) {
        const std::uint64_t before = resident_bytes();
        const auto start = std::chrono::steady_clock::now();
        auto bytes = FileBytes::open(path);
        need(bytes);
        const auto file = HrryFile::open(*std::move(bytes));
        need(file);
        const std::uint64_t count = (*file)->tensor_count();
        for (std::uint64_t i = 0; i < count; ++i) {
            const auto info = (*file)->tensor_info(i);
            need(info);
            sum += info->name.size() + info->type_tag + info->shape[1];
        }
        took = std::chrono::steady_clock::now() - start;
        const std::uint64_t after = resident_bytes();
        resident = after > before ? after - before : 0;
    }
    // The sum is printed so that it is needed.
    std::printf("%llu %lld %llu\n", static_cast<unsigned long long>(resident), static_cast<long long>(took.count()),
                static_cast<unsigned long long>(sum));
}

}  // namespace

int main(int argc, char** argv) {
    const std::string_view action = argc > 1 ? argv[1] : "";
    if (argc == 5 && action == "write") {
        write(argv[2], std::strtoul(argv[3], nullptr, 10), std::string_view(argv[4]) == "packed");
    } else if (argc == 4 && action == "list") {
        list(argv[2], std::strtoul(argv[3], nullptr, 10));
    } else {
        std::fprintf(stderr, "usage: listing write PATH COUNT packed|spaced | listing list PATH TIMES\n");
        return 2;
    }
    return 0;
}
