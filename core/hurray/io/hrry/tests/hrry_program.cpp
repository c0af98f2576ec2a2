// hrry_program map|read|sequence INPUT OUTPUT sorted|unsorted ALIGNMENT: reads a .hrry file and writes it again,
// tensors and metadata in the order of the file. Exits with 3 and the error when it cannot be read.
#include <unistd.h>

#include <fcntl.h>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/hurray/io/hrry/hrry_file.hpp"
#include "core/hurray/io/hrry/hrry_sequence.hpp"
#include "core/hurray/io/model_file_writer.hpp"

namespace {

using namespace hurray;

[[noreturn]] void stop(int code, const Error& error) {
    std::fprintf(stderr, "%d at %lld: %s\n", static_cast<int>(error.code), static_cast<long long>(error.offset),
                 error.message);
    std::exit(code);
}

template <typename T>
T need(Result<T> result, int code) {
    if (!result) stop(code, result.error());
    return *std::move(result);
}

void need(const Result<void>& result) {
    if (!result) stop(1, result.error());
}

template <typename ElementOf>
MetadataValue value_of(const MetadataView& view, ElementOf element_of) {
    MetadataValue value;
    value.type = view.type;
    value.element_type = view.element_type;
    value.boolean = view.boolean;
    value.int64 = view.int64;
    value.uint64 = view.uint64;
    value.float64 = view.float64;
    value.text = view.text;
    for (std::uint64_t i = 0; i < view.count; ++i) value.elements.push_back(value_of(element_of(i), element_of));
    return value;
}

void rewrite(const HrryFile& file, ModelFileWriter& writer) {
    for (auto next = file.first_in_file(); next; next = file.next_in_file(*next)) {
        const auto info = need(file.tensor_info(*next), 3);
        if (file.find(info.name) != *next) std::exit(1);
        need(writer.add(info.name, need(file.tensor(*next), 3)));
    }
    for (std::uint64_t i = 0; i < file.metadata_count(); ++i) {
        const auto [key, view] = need(file.metadata(i), 3);
        if (file.find_metadata(key) != i) std::exit(1);
        const auto element = [&](std::uint64_t e) { return need(file.metadata_element(i, e), 3); };
        need(writer.set_metadata(key, value_of(view, element)));
    }
}

void rewrite(HrryStreamReader& reader, ModelFileWriter& writer) {
    std::vector<Tensor> tensors;
    while (auto tensor = need(reader.next(), 3)) tensors.push_back(*std::move(tensor));
    const HrrySequence& sequence = reader.sequence();
    for (std::size_t i = 0; i < tensors.size(); ++i) need(writer.add(sequence.name(i).value(), tensors[i]));
    const auto& metadata = sequence.metadata();
    for (std::uint64_t i = 0; i < metadata.count(); ++i) {
        const auto element = [&](std::uint64_t e) { return metadata.element(i, e); };
        need(writer.set_metadata(metadata.key(i), value_of(metadata.value(i), element)));
    }
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 6) return 2;
    const std::string_view mode = arguments[1];
    const FileWriterOptions options{.data_alignment = static_cast<std::uint32_t>(std::atoi(arguments[5])),
                                    .sorted_index = std::string_view(arguments[4]) == "sorted"};
    const auto writer = need(create_model_file(arguments[3], FileFormat::hrry, options), 1);
    if (mode == "sequence") {
        const int fd = ::open(arguments[2], O_RDONLY | O_CLOEXEC);
        HrryStreamReader reader(std::make_unique<FdSource>(fd, FdOwnership::close));
        rewrite(reader, *writer);
    } else {
        const FileAccess access = mode == "map" ? FileAccess::map : FileAccess::read;
        rewrite(*need(HrryFile::open(need(FileBytes::open(arguments[2], access), 3)), 3), *writer);
    }
    need(writer->finish());
    return 0;
}
