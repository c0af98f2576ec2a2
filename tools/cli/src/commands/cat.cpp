// cat (dump): the values of a tensor as text, .npy or raw bytes.
#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "../shared/elements.hpp"
#include "../shared/exit.hpp"
#include "../shared/interrupt.hpp"
#include "../shared/output.hpp"
#include "../shared/progress.hpp"
#include "../shared/slice.hpp"
#include "../shared/terminal.hpp"
#include "../shared/text.hpp"
#include "commands.hpp"

namespace cli {
namespace {

struct Options {
    std::string path;
    std::string name;
    InputOptions input;
    std::string slice;
    std::string format = "text";
    bool stored = false;
};

constexpr std::uint64_t between_checks = 1 << 16;

// Rows of the last dimension on lines of their own; in front of each matrix of several a line says which it is.
void print_text(const Elements& elements, const std::vector<SliceRange>& ranges) {
    const auto shape = sliced_shape(ranges);
    const std::uint64_t row = shape.empty() ? 1 : shape.back();
    const std::uint64_t matrix = shape.size() < 2 ? 0 : row * shape[shape.size() - 2];
    SliceWalk walk(ranges, elements.shape());
    std::uint64_t place = 0;
    for (std::uint64_t at = 0; walk.next(place); ++at) {
        if (at % between_checks == 0) check_interrupt();
        if (shape.size() > 2 && at % matrix == 0) {
            std::string heading;
            std::uint64_t rest = at / matrix;
            for (std::size_t d = shape.size() - 2; d-- > 0;) {
                heading = fmt::format("{}, {}", rest % shape[d], heading);
                rest /= shape[d];
            }
            print("{}{}\n", at == 0 ? "" : "\n", coloured(Colour::dim, "# [" + heading + ":, :]"));
        }
        standard_output().write(elements.text(place));
        standard_output().write((at + 1) % row == 0 ? "\n" : " ");
    }
}

// NumPy's name for a type, or for the one that its numbers are written as; empty where there is none.
struct NpyType {
    const char* name = "";
    std::uint32_t bytes = 0;
    bool same = true;
};

NpyType npy_type(std::uint8_t type) {
    switch (type) {
        case HURRAY_TYPE_FLOAT16: return {"<f2", 2};
        case HURRAY_TYPE_FLOAT32: return {"<f4", 4};
        case HURRAY_TYPE_FLOAT64: return {"<f8", 8};
        case HURRAY_TYPE_INT8: return {"|i1", 1};
        case HURRAY_TYPE_UINT8: return {"|u1", 1};
        case HURRAY_TYPE_INT16: return {"<i2", 2};
        case HURRAY_TYPE_UINT16: return {"<u2", 2};
        case HURRAY_TYPE_INT32: return {"<i4", 4};
        case HURRAY_TYPE_UINT32: return {"<u4", 4};
        case HURRAY_TYPE_INT64: return {"<i8", 8};
        case HURRAY_TYPE_UINT64: return {"<u8", 8};
        case HURRAY_TYPE_COMPLEX64: return {"<c8", 8};
        case HURRAY_TYPE_COMPLEX128: return {"<c16", 16};
        case HURRAY_TYPE_BOOL: return {"|b1", 1, false};
        case HURRAY_TYPE_INT4:
        case HURRAY_TYPE_INT2: return {"|i1", 1, false};
        case HURRAY_TYPE_UINT4:
        case HURRAY_TYPE_UINT2: return {"|u1", 1, false};
        case HURRAY_TYPE_BFLOAT16:
        case HURRAY_TYPE_FLOAT8_E4M3:
        case HURRAY_TYPE_FLOAT8_E5M2:
        case HURRAY_TYPE_FLOAT8_E8M0:
        case HURRAY_TYPE_FLOAT6_E2M3:
        case HURRAY_TYPE_FLOAT6_E3M2:
        case HURRAY_TYPE_FLOAT4_E2M1: return {"<f4", 4, false};
        default: return {};
    }
}

std::string npy_header(const char* descr, const std::vector<std::uint64_t>& shape) {
    std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': (", descr);
    for (std::size_t i = 0; i < shape.size(); ++i) text += fmt::format("{}{}", i == 0 ? "" : ", ", shape[i]);
    text += shape.size() == 1 ? ",), }" : "), }";
    // Magic, version, length, text and its line end are a multiple of 64.
    text += std::string(63 - (10 + text.size()) % 64, ' ') + "\n";
    std::string header = "\x93NUMPY";
    header += {'\1', '\0', static_cast<char>(text.size() & 0xFF), static_cast<char>(text.size() >> 8)};
    return header + text;
}

std::string element_bytes(const Elements& elements, std::uint64_t place, const NpyType& type) {
    std::string bytes(type.bytes, '\0');
    if (!type.same) {
        const double number = elements.number(place);
        if (type.bytes == 4) {
            const auto value = static_cast<float>(number);
            std::memcpy(bytes.data(), &value, 4);
        } else {
            bytes[0] = static_cast<char>(static_cast<int>(number));
        }
        return bytes;
    }
    std::memcpy(bytes.data(), elements.bytes().data() + place * type.bytes, type.bytes);
    return bytes;
}

void write_npy(const Elements& elements, const std::vector<SliceRange>& ranges, const std::string& subject) {
    const NpyType type = npy_type(elements.type());
    if (type.bytes == 0) {
        throw Failure(failed, subject, fmt::format("NumPy has no type for {}", hurray::type_name(elements.type())));
    }
    if (!type.same) remark(fmt::format("{} as NumPy's {}", hurray::type_name(elements.type()), type.name));
    standard_output().write(npy_header(type.name, sliced_shape(ranges)));
    SliceWalk walk(ranges, elements.shape());
    std::uint64_t place = 0;
    for (std::uint64_t at = 0; walk.next(place); ++at) {
        if (at % between_checks == 0) check_interrupt();
        standard_output().write(element_bytes(elements, place, type));
    }
}

// As the tensor would have them: packed, the lowest bits first.
void write_raw(const Elements& elements, const std::vector<SliceRange>& ranges) {
    SliceWalk walk(ranges, elements.shape());
    std::uint64_t place = 0;
    const std::uint32_t bits = elements.bits();
    std::uint64_t waiting = 0;
    std::uint32_t count = 0;
    for (std::uint64_t at = 0; walk.next(place); ++at) {
        if (at % between_checks == 0) check_interrupt();
        if (bits % 8 == 0) {
            const auto* first = reinterpret_cast<const char*>(elements.bytes().data()) + place * (bits / 8);
            standard_output().write({first, bits / 8});
            continue;
        }
        waiting |= elements.element_bits(place).low << count;
        for (count += bits; count >= 8; count -= 8, waiting >>= 8) {
            const char byte = static_cast<char>(waiting);
            standard_output().write({&byte, 1});
        }
    }
    if (count != 0) {
        const char byte = static_cast<char>(waiting);
        standard_output().write({&byte, 1});
    }
}

void write_bytes(hurray::Span<const std::uint8_t> bytes) {
    constexpr std::size_t step = 1 << 20;
    for (std::size_t at = 0; at < bytes.size(); at += step) {
        check_interrupt();
        standard_output().write({reinterpret_cast<const char*>(bytes.data()) + at, std::min(step, bytes.size() - at)});
    }
}

Entry choose(Input& input, const Options& options) {
    if (!options.name.empty()) return input.find(options.name);
    Entry entry;
    Entry other;
    if (!input.next(entry)) throw Failure(usage, input.path(), "has no tensors");
    if (input.is_file() ? input.file_info().tensor_count > 1 : input.next(other)) {
        throw Failure(usage, input.path(), "has several tensors: name one")
            .with_hint(fmt::format("hurray ls {} lists them", options.path));
    }
    return entry;
}

int run(const Options& options) {
    Input input = Input::open(options.path, options.input.with_blocks(options.stored ? "raw" : "float32"));
    if (input.kind() == InputKind::descriptor) throw Failure(usage, input.path(), "is a descriptor alone, without data");
    const Entry entry = choose(input, options);
    const std::string subject = input.path() + ": " + entry.label();
    if (options.format != "text" && output_is_terminal()) {
        throw Failure(usage, "", "bytes do not go to a terminal: name a file with > or a program with |");
    }
    Meter meter("reading", entry.byte_size());
    const auto progress = [&](std::uint64_t done, std::uint64_t total) { return meter.part(done, total, entry.byte_size()); };
    hurray::WorkOptions work;
    work.progress = progress;
    const Elements elements = Elements::of(entry.item(), options.stored, work, subject);
    meter.clear();
    const auto ranges = parse_slice(options.slice, elements.shape());
    if (options.format == "text") {
        print_text(elements, ranges);
    } else if (options.slice.empty() && (options.format == "raw" || npy_type(elements.type()).same) &&
               (options.format == "raw" || npy_type(elements.type()).bytes != 0)) {
        if (options.format == "npy") standard_output().write(npy_header(npy_type(elements.type()).name, elements.shape()));
        write_bytes(elements.bytes());
    } else if (options.format == "npy") {
        write_npy(elements, ranges, subject);
    } else {
        write_raw(elements, ranges);
    }
    return good;
}

}  // namespace

void add_cat(CLI::App& app, Request& request) {
    const auto options = std::make_shared<Options>();
    CLI::App& command = *app.add_subcommand("cat", "Print a tensor's values: as text, .npy or raw bytes")->alias("dump");
    command.add_option("INPUT", options->path, "File or stream; - for standard input")->required();
    command.add_option("NAME", options->name, "The tensor's name, or its place, such as #0; not needed where there is only one");
    command.add_option("-s,--slice", options->slice, "Which elements, in NumPy's syntax: '0:2, ::2, -1'")->type_name("SLICE");
    command.add_option("-f,--format", options->format, "text; npy: a .npy file; raw: the bytes of the elements, row-major and packed")
        ->type_name("FORMAT")
        ->check(CLI::IsMember({"text", "npy", "raw"}))
        ->capture_default_str();
    command.add_flag("--stored", options->stored, "Of a quantized tensor the stored codes, not the numbers that they stand for");
    add_input_options(command, options->input);
    add_examples(command, {{"hurray cat model.safetensors bias", "all values, a row a line"},
                           {"hurray cat model.hrry weight -s ':3, :8'", "the corner of a matrix"},
                           {"hurray cat model.gguf token_embd.weight -s '-1' -f npy > last.npy", "the last row for NumPy"},
                           {"hurray cat --stored -f raw model.hrry weight | xxd | head", "the codes of a quantized tensor"}});
    command.callback([options, &request] { request.run = [options] { return run(*options); }; });
}

}  // namespace cli
