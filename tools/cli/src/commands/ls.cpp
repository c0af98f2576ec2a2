// ls: names, types, shapes, layouts, sizes, quantization.
#include <fmt/format.h>

#include "../shared/descriptor_json.hpp"
#include "../shared/exit.hpp"
#include "../shared/metadata.hpp"
#include "../shared/output.hpp"
#include "../shared/summary.hpp"
#include "../shared/table.hpp"
#include "../shared/text.hpp"
#include "commands.hpp"

namespace cli {
namespace {

struct Options {
    std::string path;
    std::vector<std::string> patterns;
    InputOptions input;
    bool json = false;
    bool metadata = false;
};

// Large files are listed row by row in tables of this many, so that memory stays small.
constexpr std::size_t rows_at_once = 100'000;

Table new_table() {
    return Table({{"NAME", false, Colour::cyan, true},
                  {"TYPE"},
                  {"SHAPE", false, Colour::none, true},
                  {"LAYOUT", false, Colour::none, true},
                  {"SIZE", true},
                  {"QUANTIZATION", false, Colour::yellow, true}});
}

// Private schemes say nothing by themselves: the file's own word for the type does ("Q4_K").
std::string scheme_of(const Entry& entry, hurray::DescriptorRef descriptor) {
    std::string text = quantization_text(descriptor);
    if (text == "private" && entry.info && entry.info->stored_type_length != 0) {
        text = printable({entry.info->stored_type, static_cast<std::size_t>(entry.info->stored_type_length)});
    }
    return text;
}

void write_json(Input& input, const Options& options) {
    JsonWriter json;
    json.begin_object().field("format", input.format()).key("tensors").begin_array();
    Entry entry;
    while (input.next(entry)) {
        if (!is_wanted(options.patterns, entry)) continue;
        const hurray::DescriptorRef descriptor = entry.descriptor();
        const auto info = take(descriptor.info(), input.path());
        json.begin_object().key("name");
        if (entry.info) json.text(entry.name).field("name_hex", hex(as_bytes(entry.name)));
        else json.null();
        json.field("type", hurray::type_name(info.element_type)).field("layout", hurray::layout_name(info.layout));
        json.key("shape").begin_array(true);
        for (const std::uint64_t dimension : shape_of(info)) json.integer(dimension);
        json.end_array().field("byte_size", entry.byte_size()).key("quantization");
        const auto quantization = take(descriptor.quantization(), input.path());
        if (quantization.present == 0) json.null();
        else json.text(hurray::scheme_name(quantization.scheme));
        json.key("stored_type");
        if (entry.info && entry.info->stored_type_length != 0) {
            json.text({entry.info->stored_type, static_cast<std::size_t>(entry.info->stored_type_length)});
        } else {
            json.null();
        }
        json.end_object();
    }
    json.end_array();
    if (input.is_file()) {
        json.key("metadata");
        write_metadata(json, input);
    }
    json.end_object().finish();
}

void list(Input& input, const Options& options) {
    Table table = new_table();
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
    Entry entry;
    while (input.next(entry)) {
        if (!is_wanted(options.patterns, entry)) continue;
        const hurray::DescriptorRef descriptor = entry.descriptor();
        const auto info = take(descriptor.info(), input.path());
        table.add({entry.label(), hurray::type_name(info.element_type), shape_text(shape_of(info)), layout_text(descriptor),
                   size_text(entry.byte_size()), scheme_of(entry, descriptor)});
        ++count;
        bytes += entry.byte_size();
        if (table.size() == rows_at_once) {
            table.print();
            table = new_table();
        }
    }
    if (table.size() != 0 || count == 0) table.print();
    print("{}\n", coloured(Colour::dim, fmt::format("{}, {} of data; {}{}", count_text(count, "tensor"), size_text(bytes),
                                                    input.format(), metadata_count_text(input))));
    if (options.metadata) print_metadata(input);
}

int run(const Options& options) {
    if (options.json && options.metadata) throw Failure(usage, "", "--json has the metadata already");
    Input input = Input::open(options.path, options.input);
    if (input.kind() == InputKind::descriptor) {
        throw Failure(usage, input.path(), "is a descriptor alone").with_hint("hurray inspect shows it");
    }
    if (options.json) write_json(input, options);
    else list(input, options);
    return good;
}

}  // namespace

void add_ls(CLI::App& app, Request& request) {
    const auto options = std::make_shared<Options>();
    CLI::App& command = *app.add_subcommand("ls", "List tensors: names, types, shapes, layouts, sizes, quantization");
    command.add_option("INPUT", options->path, "File or stream; - for standard input")->required();
    command.add_option("NAME", options->patterns, "Only tensors of these names; * and ? stand for anything, #3 for the fourth");
    command.add_flag("--json", options->json, "Print JSON");
    command.add_flag("-m,--metadata", options->metadata, "Print the file's metadata, too");
    add_input_options(command, options->input);
    add_examples(command, {{"hurray ls model.safetensors", "all tensors of a file"},
                           {"hurray ls model.gguf 'blk.0.*'", "those of the first block"},
                           {"hurray ls --json model.hrry | jq '.tensors[].name'", "for other programs"},
                           {"producer | hurray ls -", "a stream, as it comes"}});
    command.callback([options, &request] {
        request.json = options->json;
        request.run = [options] { return run(*options); };
    });
}

}  // namespace cli
