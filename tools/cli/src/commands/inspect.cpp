// inspect: the fields of one tensor or descriptor, and its bytes.
#include <fmt/format.h>

#include <algorithm>

#include "../shared/descriptor_json.hpp"
#include "../shared/exit.hpp"
#include "../shared/metadata.hpp"
#include "../shared/output.hpp"
#include "../shared/sha256.hpp"
#include "../shared/summary.hpp"
#include "../shared/table.hpp"
#include "../shared/text.hpp"
#include "../shared/wire_fields.hpp"
#include "commands.hpp"

namespace cli {
namespace {

struct Options {
    std::string path;
    std::string name;
    InputOptions input;
    bool json = false;
    std::uint64_t bytes = 64;
};

std::span<const std::uint8_t> bytes_of(const hurray::Tensor& tensor, std::uint32_t index, const std::string& subject) {
    const auto bytes = take(take(tensor.buffer(index), subject).bytes(), subject);
    return {bytes.data(), bytes.size()};
}

// Where the bytes of a buffer come from; repacked or compressed ones lie there in another form.
std::optional<std::uint64_t> file_offset(const Input& input, const Entry& entry, std::uint32_t buffer) {
    if (!input.is_file()) return std::nullopt;
    const auto range = input.file().buffer_range(entry.index, buffer);
    if (!range) return std::nullopt;
    return range->offset;
}

void write_buffers(JsonWriter& json, const Input& input, const Entry* entry, const hurray::Tensor& tensor) {
    json.key("buffers").begin_array();
    const auto info = take(take(tensor.descriptor(), input.path()).info(), input.path());
    for (std::uint32_t i = 0; i < info.buffer_count; ++i) {
        const auto bytes = bytes_of(tensor, i, input.path());
        json.begin_object();
        if (entry != nullptr && input.is_file()) {
            json.key("file_offset");
            if (const auto offset = file_offset(input, *entry, i)) json.integer(*offset);
            else json.null();
        }
        json.field("byte_size", std::uint64_t{bytes.size()}).field("sha256", sha256(bytes)).end_object();
    }
    json.end_array();
}

void write_item(JsonWriter& json, const Input& input, const Entry* entry, const hurray::Item& item) {
    const std::string& subject = input.path();
    json.key("descriptor");
    // A file's own descriptor: that of the tensor in memory may start in front of data that is not aligned.
    if (entry != nullptr) write_descriptor(json, entry->descriptor(), 0);
    else write_descriptor(json, take(item.tensor ? item.tensor.descriptor() : item.composite.head(), subject), 0);
    if (item.composite && input.is_file()) {
        // The members are entries of their own.
        json.key("buffers").begin_array().end_array();
        return;
    }
    if (item.tensor) {
        write_buffers(json, input, entry, item.tensor);
        if (!input.is_file()) json.key("members").begin_array().end_array();
        return;
    }
    json.key("buffers").begin_array().end_array().key("members").begin_array();
    const auto info = take(item.composite.info(), subject);
    for (std::uint32_t i = 0; i < info.member_count; ++i) {
        json.begin_object();
        write_item(json, input, nullptr, take(item.composite.member(i), subject));
        json.end_object();
    }
    json.end_array();
}

void write_entry(JsonWriter& json, const Input& input, const Entry& entry) {
    json.begin_object();
    if (input.is_file()) json.field("name", entry.name).field("name_hex", hex(as_bytes(entry.name)));
    write_item(json, input, &entry, entry.item());
    json.end_object();
}

int run_json(Input& input, const Options& options) {
    JsonWriter json;
    Entry entry;
    if (input.kind() == InputKind::descriptor) {
        const auto descriptor = take(input.decode(), input.path());
        const auto info = take(descriptor.info(), input.path());
        write_descriptor(json, descriptor, input.size() - info.descriptor_length);
    } else if (!options.name.empty()) {
        write_entry(json, input, input.find(options.name));
    } else if (input.is_file()) {
        json.begin_object().field("format", input.format()).key("tensors").begin_array();
        while (input.next(entry)) write_entry(json, input, entry);
        json.end_array().key("metadata");
        write_metadata(json, input);
        json.end_object();
    } else {
        json.begin_object().key("items").begin_array();
        while (input.next(entry)) write_entry(json, input, entry);
        json.end_array().end_object();
    }
    json.finish();
    return good;
}

void print_fact(std::string_view name, const std::string& value) {
    if (!value.empty()) print("{}  {}\n", coloured(Colour::bold, fmt::format("{:<13}", name)), value);
}

std::string reading_text(std::uint32_t reading) {
    if ((reading & HURRAY_DESCRIPTOR_UNREAD) != 0) return "an unknown layout: what follows byte_offset was not read";
    if ((reading & HURRAY_DESCRIPTOR_OPAQUE) != 0) return "an unknown type or scheme: the data must not be touched";
    return "";
}

void print_facts(hurray::DescriptorRef descriptor) {
    const auto info = take(descriptor.info(), "descriptor");
    print_fact("type", fmt::format("{}, {} bits", hurray::type_name(info.element_type), info.bits));
    print_fact("shape", shape_text(shape_of(info)) +
                            (info.element_count == HURRAY_DIMENSION_DYNAMIC
                                 ? std::string()
                                 : fmt::format(", {}", count_text(info.element_count, "element"))));
    print_fact("layout", layout_text(descriptor));
    print_fact("quantization", quantization_text(descriptor));
    if (info.parent_shape != nullptr) {
        print_fact("shard", fmt::format("at {} of {}", shape_text({info.shard_offset, info.rank}),
                                        shape_text({info.parent_shape, info.rank})));
    }
    print_fact("reading", reading_text(info.reading));
}

void print_descriptor(hurray::DescriptorRef descriptor, std::span<const std::uint8_t> bytes) {
    print("\n{}\n", coloured(Colour::bold, fmt::format("Descriptor, {}", count_text(bytes.size(), "byte"))));
    print_annotated(wire_fields(descriptor, bytes), bytes);
}

void print_item(const Input& input, const Entry* entry, const hurray::Item& item, const Options& options) {
    const std::string& subject = input.path();
    const auto descriptor = entry != nullptr ? entry->descriptor()
                                             : take(item.tensor ? item.tensor.descriptor() : item.composite.head(), subject);
    print_facts(descriptor);
    print_descriptor(descriptor, take(descriptor.encode(), subject));
    const auto count = item.tensor ? take(descriptor.info(), subject).buffer_count : 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        const auto bytes = bytes_of(item.tensor, i, subject);
        const auto offset = entry != nullptr ? file_offset(input, *entry, i) : std::nullopt;
        print("\n{}\n", coloured(Colour::bold, fmt::format("Buffer {}, {}{}", i, count_text(bytes.size(), "byte"),
                                                           offset ? fmt::format(" at byte {} of the file", *offset) : "")));
        const auto shown = bytes.first(static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), options.bytes)));
        print_hex_rows(shown, 0);
        if (shown.size() < bytes.size()) {
            print("{}\n", coloured(Colour::dim, fmt::format("... {} more", count_text(bytes.size() - shown.size(), "byte"))));
        }
    }
    if (!item.composite) return;
    const auto info = take(item.composite.info(), subject);
    for (std::uint32_t i = 0; i < info.member_count; ++i) {
        print("\n{}\n", coloured(Colour::green, fmt::format("Member {}", i)));
        print_item(input, nullptr, take(item.composite.member(i), subject), options);
    }
}

int run_text(Input& input, const Options& options) {
    if (input.kind() == InputKind::descriptor) {
        const auto descriptor = take(input.decode(), input.path());
        const auto info = take(descriptor.info(), input.path());
        print_facts(descriptor);
        if (input.size() > info.descriptor_length) {
            print_fact("trailing", count_text(input.size() - info.descriptor_length, "byte") + " follow the descriptor");
        }
        // The bytes of the input, as they are.
        print_descriptor(descriptor, std::span(input.bytes()).first(static_cast<std::size_t>(info.descriptor_length)));
        return good;
    }
    Entry entry;
    if (!options.name.empty()) {
        entry = input.find(options.name);
    } else {
        if (!input.next(entry)) throw Failure(usage, input.path(), "has no tensors");
        Entry other;
        if (input.is_file() ? input.file_info().tensor_count > 1 : input.next(other)) {
            throw Failure(usage, input.path(), "has several tensors: name one")
                .with_hint(fmt::format("hurray ls {} lists them; with --json all are printed", options.path));
        }
    }
    print_fact("name", entry.label());
    if (entry.info && entry.info->stored_type_length != 0) {
        print_fact("stored type", printable({entry.info->stored_type, static_cast<std::size_t>(entry.info->stored_type_length)}));
    }
    print_item(input, &entry, entry.item(), options);
    return good;
}

int run(const Options& options) {
    Input input = Input::open(options.path, options.input);
    if (input.kind() == InputKind::descriptor && !options.name.empty()) {
        throw Failure(usage, input.path(), "is a descriptor alone, which has no name");
    }
    return options.json ? run_json(input, options) : run_text(input, options);
}

}  // namespace

void add_inspect(CLI::App& app, Request& request) {
    const auto options = std::make_shared<Options>();
    CLI::App& command =
        *app.add_subcommand("inspect", "Show one tensor or descriptor: its fields, and its bytes with what they mean");
    command.add_option("INPUT", options->path, "File, stream or descriptor (.bin); - for standard input")->required();
    command.add_option("NAME", options->name, "The tensor's name, or its place, such as #0; not needed where there is only one");
    command.add_flag("--json", options->json, "Print JSON; without NAME of the whole input, with SHA-256 of every buffer");
    command.add_option("--bytes", options->bytes, "How many bytes of each buffer are shown")
        ->type_name("COUNT")
        ->capture_default_str();
    add_input_options(command, options->input);
    add_examples(command, {{"hurray inspect model.safetensors lm_head.weight", "one tensor of a file"},
                           {"hurray inspect descriptor.bin", "an encoded descriptor, byte by byte"},
                           {"hurray inspect --json model.hrry", "everything, for other programs"},
                           {"hurray inspect --bytes 0 model.hrry '#3'", "the fourth tensor, without its data"}});
    command.callback([options, &request] {
        request.json = options->json;
        request.run = [options] { return run(*options); };
    });
}

}  // namespace cli
