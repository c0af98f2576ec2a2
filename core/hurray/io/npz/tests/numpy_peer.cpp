// For numpy_test.py: says what is in a file, or writes the tensors of one file into another.
//
//   numpy_peer read map|read FILE FOLDER   one line a tensor: name in hexadecimal, stored type, type tag, layout tag, shape
//                                          (sizes with commas); the bytes of its buffer go to FOLDER/<number>
//   numpy_peer write FILE TARGET npy|npz|npz-compressed
//
// An error is one line on stderr, `<code> <offset> <message>`, and exit code 3.
#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>

#include "core/hurray/io/model_file.hpp"
#include "core/hurray/io/model_file_writer.hpp"

namespace hurray {
namespace {

int report(const Error& error) {
    std::fprintf(stderr, "%d %lld %s\n", static_cast<int>(error.code), static_cast<long long>(error.offset), error.message);
    return 3;
}

int read(std::string_view access, std::string_view path, const std::string& folder) {
    const auto file = open_model_file(path, {.access = access == "read" ? FileAccess::read : FileAccess::map});
    if (!file) return report(file.error());
    for (std::uint64_t k = 0; k < (*file)->tensor_count(); ++k) {
        const auto info = (*file)->tensor_info(k);
        if (!info) return report(info.error());
        const auto tensor = (*file)->tensor(k);
        if (!tensor) return report(tensor.error());
        std::string line;
        for (const char c : info->name) {
            char digits[3];
            std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(c));
            line += digits;
        }
        line += ' ';
        line += info->stored_type;
        line += ' ' + std::to_string(tensor->descriptor.element_type());
        line += ' ' + std::to_string(tensor->descriptor.layout()) + " (";
        for (const auto size : tensor->descriptor.shape()) line += std::to_string(size) + ',';
        std::printf("%s)\n", line.c_str());
        const auto bytes = tensor->buffers[0].bytes().subspan(tensor->buffers[0].prefix);
        std::ofstream(folder + '/' + std::to_string(k), std::ios::binary)
            .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    }
    std::printf("copied %llu\n", static_cast<unsigned long long>((*file)->copied_bytes()));
    return 0;
}

int write(std::string_view path, std::string_view target, std::string_view format) {
    const auto file = open_model_file(path);
    if (!file) return report(file.error());
    FileWriterOptions options;
    options.compress = format == "npz-compressed";
    auto writer = create_model_file(target, format == "npy" ? FileFormat::npy : FileFormat::npz, options);
    if (!writer) return report(writer.error());
    for (std::uint64_t k = 0; k < (*file)->tensor_count(); ++k) {
        const auto info = (*file)->tensor_info(k);
        const auto tensor = (*file)->tensor(k);
        if (!tensor) return report(tensor.error());
        if (auto added = (*writer)->add(info->name, *tensor); !added) return report(added.error());
    }
    if (auto finished = (*writer)->finish(); !finished) return report(finished.error());
    return 0;
}

}  // namespace
}  // namespace hurray

int main(int argc, char** argv) {
    const std::string_view command = argc > 1 ? argv[1] : "";
    if (command == "read" && argc == 5) return hurray::read(argv[2], argv[3], argv[4]);
    if (command == "write" && argc == 5) return hurray::write(argv[2], argv[3], argv[4]);
    std::fprintf(stderr, "usage: numpy_peer read map|read FILE FOLDER | write FILE TARGET npy|npz|npz-compressed\n");
    return 2;
}
