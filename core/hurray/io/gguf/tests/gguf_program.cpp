// For gguf_oracle_test.py: says what a file holds, or writes what it holds into another.
//
//   gguf_program dump FILE raw|float32|float16 schemes|blocks
//       a line for each metadata entry and tensor, bytes in hexadecimal
//   gguf_program copy FILE raw|float32|float16 schemes|blocks TARGET
//       reads FILE and writes TARGET
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#include "core/hurray/io/model_file.hpp"
#include "core/hurray/io/model_file_writer.hpp"
#include "core/hurray/quantization/dequantize.hpp"
#include "core/hurray/quantization/fields.hpp"
#include "core/hurray/types/element_type.hpp"

namespace hurray {
namespace {

void print_bytes(std::span<const std::byte> bytes) {
    for (const std::byte byte : bytes) std::printf("%02x", std::to_integer<unsigned>(byte));
}

void print_text(std::string_view text) {
    print_bytes(std::as_bytes(std::span(text)));
}

void print_value(const MetadataView& value) {
    switch (value.type) {
        case MetadataType::uint64:
            std::printf(" u%" PRIu64, value.uint64);
            break;
        case MetadataType::int64:
            std::printf(" i%" PRId64, value.int64);
            break;
        case MetadataType::float64:
            std::printf(" f%a", value.float64);
            break;
        case MetadataType::boolean:
            std::printf(" b%d", value.boolean ? 1 : 0);
            break;
        default:
            std::printf(" s");
            print_text(value.text);
            break;
    }
}

int complain(const Error& error) {
    std::fprintf(stderr, "error %d at %" PRIu64 ": %s\n", static_cast<int>(error.code), error.offset, error.message);
    return 1;
}

int dump_metadata(const ModelFile& file) {
    for (std::uint64_t i = 0; i < file.metadata_count(); ++i) {
        const auto entry = file.metadata(i);
        if (!entry) return complain(entry.error());
        std::printf("entry ");
        print_text(entry->key);
        if (entry->value.type != MetadataType::array) {
            print_value(entry->value);
        } else {
            std::printf(" a%u", static_cast<unsigned>(entry->value.element_type));
            for (std::uint64_t e = 0; e < entry->value.count; ++e) {
                const auto element = file.metadata_element(i, e);
                if (!element) return complain(element.error());
                print_value(*element);
            }
        }
        std::printf("\n");
    }
    return 0;
}

// name, type in the file, element type, scheme, shape, bytes of the elements, float32 numbers of a scheme of Hurray
int dump_tensor(const ModelFile& file, std::uint64_t index) {
    const auto info = file.tensor_info(index);
    if (!info) return complain(info.error());
    const auto tensor = file.tensor(index);
    if (!tensor) return complain(tensor.error());
    std::printf("tensor ");
    print_text(info->name);
    std::printf(" %.*s %u %u [", static_cast<int>(info->stored_type.size()), info->stored_type.data(), info->type_tag,
                info->scheme_tag);
    for (const std::uint64_t dimension : info->shape) std::printf(" %" PRIu64, dimension);
    std::printf(" ] ");
    const std::uint64_t count = tensor->descriptor.element_count().value();
    const std::uint64_t size = packed_byte_size(info->type_tag, count).value();
    if (size != 0) print_bytes(tensor->buffers[0].bytes().subspan(tensor->descriptor.byte_offset(), size));
    std::printf(" ");
    if (info->scheme_tag != 0 && !is_private_scheme(info->scheme_tag)) {
        std::string numbers(count * 4, '\0');
        const auto done = dequantize_into(*tensor, 0x03, std::as_writable_bytes(std::span(numbers)));
        if (!done) return complain(done.error());
        print_text(numbers);
    }
    std::printf(".\n");
    return 0;
}

MetadataValue value_of(const MetadataView& view) {
    MetadataValue value;
    value.type = view.type;
    value.element_type = view.element_type;
    value.boolean = view.boolean;
    value.int64 = view.int64;
    value.uint64 = view.uint64;
    value.float64 = view.float64;
    value.text = view.text;
    return value;
}

int copy(const ModelFile& file, const char* target) {
    auto writer = create_model_file(target, FileFormat::gguf);
    if (!writer) return complain(writer.error());
    for (std::uint64_t i = 0; i < file.metadata_count(); ++i) {
        const auto entry = file.metadata(i);
        if (!entry) return complain(entry.error());
        MetadataValue value = value_of(entry->value);
        for (std::uint64_t e = 0; e < entry->value.count; ++e) {
            value.elements.push_back(value_of(file.metadata_element(i, e).value()));
        }
        if (auto done = (*writer)->set_metadata(entry->key, value); !done) return complain(done.error());
    }
    for (std::uint64_t i = 0; i < file.tensor_count(); ++i) {
        const auto tensor = file.tensor(i);
        if (!tensor) return complain(tensor.error());
        if (auto done = (*writer)->add(file.tensor_info(i)->name, *tensor); !done) return complain(done.error());
    }
    const auto done = (*writer)->finish();
    return done ? 0 : complain(done.error());
}

}  // namespace
}  // namespace hurray

int main(int argc, char** argv) {
    using namespace hurray;
    if (argc < 5) return 2;
    const std::string_view blocks = argv[3];
    FileOptions options;
    options.inexact_blocks = blocks == "float32"   ? InexactBlocks::float32
                             : blocks == "float16" ? InexactBlocks::float16
                                                   : InexactBlocks::raw;
    options.exact_schemes = std::strcmp(argv[4], "schemes") == 0;
    const auto file = open_model_file(argv[2], options);
    if (!file) return complain(file.error());
    if (argc == 6) return copy(**file, argv[5]);
    if (int failed = dump_metadata(**file); failed != 0) return failed;
    for (std::uint64_t i = 0; i < (*file)->tensor_count(); ++i) {
        if (int failed = dump_tensor(**file, i); failed != 0) return failed;
    }
    return 0;
}
