// convert: any format to any that can hold it, with other numbers, layouts and schemes on the way.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "../shared/exit.hpp"
#include "../shared/formats.hpp"
#include "../shared/interrupt.hpp"
#include "../shared/json_writer.hpp"
#include "../shared/output.hpp"
#include "../shared/progress.hpp"
#include "../shared/sink.hpp"
#include "../shared/text.hpp"
#include "../shared/transform.hpp"
#include "commands.hpp"

namespace cli {
namespace {

struct Options {
    std::string from;
    std::string to;
    InputOptions input;
    std::vector<std::string> only;
    std::string format;
    std::string layout;
    std::string quantize;
    std::string dequantize;
    std::uint32_t alignment = 0;
    bool merge = false;
    bool compress = false;
    bool unsorted_index = false;
    bool verbose = false;
    bool quiet = false;
    bool json = false;
};

struct Tally {
    std::uint64_t tensors = 0;
    std::uint64_t bytes = 0;
    std::uint64_t unchanged = 0;
    std::uint64_t made_bytes = 0;
    std::map<std::string, std::uint64_t> done;
    std::map<std::string, std::uint64_t> left;
    std::vector<std::string> metadata_left;
};

Plan plan_of(const Options& options) {
    Plan plan;
    plan.merge = options.merge;
    if (!options.layout.empty()) plan.layout = LayoutWish::parse(options.layout);
    if (!options.quantize.empty()) plan.quantize = QuantizeWish::parse(options.quantize);
    if (!options.dequantize.empty()) {
        plan.dequantize = hurray::type_named(options.dequantize);
        if (!plan.dequantize || *plan.dequantize == 0) {
            throw Failure(usage, "--dequantize", fmt::format("there is no element type \"{}\"", options.dequantize));
        }
    }
    return plan;
}

SinkOptions sink_options(const Options& options) {
    SinkOptions sink;
    sink.alignment = options.alignment;
    sink.compress = options.compress;
    sink.unsorted_index = options.unsorted_index;
    if (!options.format.empty()) sink.format = format_named(options.format);
    else sink.format = options.to == "-" ? stream_format : format_of_path(options.to);
    if (sink.format == HURRAY_FORMAT_AUTO) {
        throw Failure(usage, options.to, "its name does not tell the format").with_hint("--to names it");
    }
    return sink;
}

std::string name_for(const Entry& entry) { return entry.info ? entry.name : fmt::format("tensor_{}", entry.index); }

// Bytes of memory that an item holds beyond what is mapped: all that was made for it.
std::uint64_t bytes_of(const hurray::Item& item) {
    std::uint64_t total = 0;
    if (item.tensor) {
        for (std::uint32_t i = 0;; ++i) {
            const auto buffer = item.tensor.buffer(i);
            if (!buffer) break;
            if (const auto info = buffer->info()) total += info->byte_size - info->prefix;
        }
    } else if (item.composite) {
        const auto info = item.composite.info();
        for (std::uint32_t i = 0; info && i < info->member_count; ++i) {
            if (const auto member = item.composite.member(i)) total += bytes_of(*member);
        }
    }
    return total;
}

std::uint64_t copied_by(const Input& input) {
    if (!input.is_file()) return 0;
    const auto info = input.file().info();
    return info ? info->copied_bytes : 0;
}

class Converter {
  public:
    Converter(Input& input, Sink& sink, Plan plan)
        : input_(input), sink_(sink), plan_(std::move(plan)), meter_("converting", input.size()) {}

    void entries(const Options& options) {
        Entry each;
        for (std::uint64_t place = 0; go_to(place), input_.next(each); ++place) {
            if (members_.contains(each.index)) continue;
            if (each.info && each.info->layout == HURRAY_LAYOUT_COMPOSITE) note_members(each);
            if (is_wanted(options.only, each)) entry(each, options.verbose);
        }
    }

    void entry(const Entry& entry, bool verbose) {
        const std::string subject = input_.path() + ": " + entry.label();
        const std::uint64_t before = copied_by(input_);
        Transformed made = transform(entry.item(), plan_, meter_, entry.byte_size(), subject);
        const bool costs = !made.done.empty() || copied_by(input_) != before || !input_.is_file();
        MakeAgain again;
        // What a file's tensor was made of can be made again; a stream is gone.
        if (costs && input_.is_file()) {
            again = [this, index = entry.index, subject, bytes = entry.byte_size()] {
                Entry same = input_.find(fmt::format("#{}", index));
                return std::move(transform(same.item(), plan_, meter_, bytes, subject).item);
            };
        }
        const std::uint64_t size = bytes_of(made.item);
        sink_.add(name_for(entry), made.item, again);
        meter_.advance(entry.byte_size());
        ++tally_.tensors;
        tally_.bytes += size;
        if (made.done.empty()) ++tally_.unchanged;
        else tally_.made_bytes += size;
        for (const std::string& what : made.done) ++tally_.done[what];
        for (const std::string& what : made.left) ++tally_.left[what];
        if (verbose) note(entry, made);
    }

    void metadata() {
        const std::uint64_t count = input_.is_file() ? input_.file_info().metadata_count : 0;
        for (std::uint64_t i = 0; i < count; ++i) {
            check_interrupt();
            if (sink_.set_metadata(input_, i)) continue;
            const auto entry = take(input_.file().metadata(i), input_.path());
            tally_.metadata_left.emplace_back(entry.key, static_cast<std::size_t>(entry.key_length));
        }
    }
    void finish() {
        check_interrupt();
        sink_.finish();
        meter_.clear();
    }
    const Tally& tally() const { return tally_; }

  private:
    // Making an entry again moves the place in a file.
    void go_to(std::uint64_t place) {
        if (input_.is_file()) input_.go_to(place);
    }

    // A file lists the members of a composite as entries of their own, and they are written with their head. They are named after
    // it, or, where another writer named them otherwise, are those whose data follow.
    void note_members(const Entry& head) {
        const std::uint64_t wanted = take(head.item().composite.info(), head.label()).descriptor_count - 1;
        std::set<std::uint64_t> named;
        std::vector<std::pair<std::uint64_t, std::uint64_t>> behind;
        for (std::uint64_t i = 0; i < input_.file_info().tensor_count; ++i) {
            const auto info = take(input_.file().tensor_info(i), input_.path());
            if (i == head.index) continue;
            if (hurray::name_of(info).starts_with(head.name + "/")) named.insert(i);
            if (info.file_offset >= head.info->file_offset) behind.emplace_back(info.file_offset, i);
        }
        if (named.size() == wanted) {
            members_.merge(named);
            return;
        }
        std::ranges::sort(behind);
        for (std::uint64_t i = 0; i < wanted && i < behind.size(); ++i) members_.insert(behind[i].second);
    }

    static void note(const Entry& entry, const Transformed& made) {
        std::string text;
        for (const std::string& what : made.done) text += (text.empty() ? "" : ", ") + what;
        for (const std::string& what : made.left) text += (text.empty() ? "" : ", ") + what;
        remark(fmt::format("{}: {}", entry.label(), text.empty() ? "as it is" : text));
    }

    Input& input_;
    Sink& sink_;
    Plan plan_;
    Meter meter_;
    Tally tally_;
    std::set<std::uint64_t> members_;
};

void report_json(const Options& options, const SinkOptions& sink, const Input& input, const Tally& tally, std::uint64_t copied) {
    JsonWriter json;
    json.begin_object().field("from", input.path()).field("from_format", input.format());
    json.field("to", options.to).field("to_format", format_name(sink.format)).field("tensors", tally.tensors);
    json.field("byte_size", tally.bytes).field("unchanged", tally.unchanged).field("made_bytes", tally.made_bytes);
    json.field("copied_bytes", copied);
    const auto counts = [&](const char* name, const std::map<std::string, std::uint64_t>& map) {
        json.key(name).begin_array();
        for (const auto& [what, count] : map) json.begin_object().field("what", what).field("tensors", count).end_object();
        json.end_array();
    };
    counts("changed", tally.done);
    counts("left", tally.left);
    json.key("metadata_left").begin_array(true);
    for (const std::string& key : tally.metadata_left) json.text(key);
    json.end_array().end_object().finish();
}

void report_text(const Options& options, const SinkOptions& sink, const Input& input, const Tally& tally, std::uint64_t copied) {
    std::string text = fmt::format("{} ({}): {}, {} of data\n", options.to == "-" ? "standard output" : options.to,
                                   format_name(sink.format), count_text(tally.tensors, "tensor"), size_text(tally.bytes));
    for (const auto& [what, count] : tally.done) text += fmt::format("  {}: {}\n", what, count_text(count, "tensor"));
    if (tally.unchanged != 0) text += fmt::format("  bit for bit: {}\n", count_text(tally.unchanged, "tensor"));
    for (const auto& [what, count] : tally.left) text += fmt::format("  {}: {}\n", what, count_text(count, "tensor"));
    if (!tally.metadata_left.empty()) {
        text += fmt::format("  metadata left out, which {} cannot hold: {}\n", format_name(sink.format),
                            tally.metadata_left.size());
    }
    if (sink.format == stream_format && input.is_file() && tally.tensors != 0) text += "  names left out: streams have none\n";
    text += fmt::format("  copied in memory: {} (new numbers or layouts: {})", size_text(copied + tally.made_bytes),
                        size_text(tally.made_bytes));
    if (options.to == "-") remark(text);
    else print("{}\n", text);
}

int run(const Options& options) {
    Plan plan = plan_of(options);
    const SinkOptions sink_choice = sink_options(options);
    // Blocks become numbers where numbers are wanted; the nearer of the two types that the library makes of them.
    const char* blocks = options.dequantize.empty() ? "raw" : options.dequantize == "float16" ? "float16" : "float32";
    Input input = Input::open(options.from, options.input.with_blocks(blocks));
    if (input.kind() == InputKind::descriptor) throw Failure(usage, input.path(), "is a descriptor alone, without data");
    const auto sink = make_sink(options.to, sink_choice);
    Converter converter(input, *sink, std::move(plan));
    try {
        // Formats that are written front to back have it in front.
        converter.metadata();
        converter.entries(options);
        converter.finish();
    } catch (const Failure& failure) {
        if (!failure.error() || failure.error()->code() != HURRAY_ERR_UNSUPPORTED || !failure.hint().empty()) throw;
        throw Failure(failure).with_hint(
            "where the format cannot hold the layout or scheme: --layout row_major, --dequantize float32, --merge");
    }
    const std::uint64_t copied = copied_by(input) + sink->copied_bytes();
    if (options.json) report_json(options, sink_choice, input, converter.tally(), copied);
    else if (!options.quiet) report_text(options, sink_choice, input, converter.tally(), copied);
    return good;
}

}  // namespace

void add_convert(CLI::App& app, Request& request) {
    const auto options = std::make_shared<Options>();
    CLI::App& command = *app.add_subcommand("convert", "Write a file or stream in another format, layout or quantization");
    command.add_option("INPUT", options->from, "File or stream; - for standard input")->required();
    command.add_option("OUTPUT", options->to, "File; - for standard output. It appears when it is complete, and may be the input")
        ->required();
    command.add_option("--to", options->format, "Format of the output, where its name does not tell it: hrry, safetensors, gguf, npy, npz or stream")
        ->type_name("FORMAT")
        ->check(CLI::IsMember({"hrry", "safetensors", "gguf", "npy", "npz", "stream"}));
    command.add_option("--only", options->only, "Only tensors of this name; * and ? stand for anything; may be given several times")
        ->type_name("NAME")
        ->allow_extra_args(false);
    command.add_option("--dequantize", options->dequantize,
                       "The numbers of quantized tensors as float16, bfloat16, float32 or float64")
        ->type_name("TYPE")
        ->check(CLI::IsMember({"float16", "bfloat16", "float32", "float64"}));
    command.add_option("--layout", options->layout,
                       "row_major, col_major, tiled:8x8, morton, hilbert, coo, csr, csc, csf; tensors that cannot have it keep theirs")
        ->type_name("LAYOUT");
    command.add_option("--quantize", options->quantize,
                       "SCHEME[:TYPE][,block=N][,axis=N][,scale=TYPE][,symmetric] for tensors of floating-point numbers; SCHEME is "
                       "per_tensor_affine, per_channel_affine, per_block_affine, nf4 or mxfp")
        ->type_name("SCHEME");
    command.add_option("--align", options->alignment, "Alignment of the data in a .hrry or GGUF file, in bytes")->type_name("BYTES");
    command.add_flag("--merge", options->merge, "Make one tensor of a composite's members");
    command.add_flag("--compress", options->compress, "Compress (.npz)");
    command.add_flag("--unsorted-index", options->unsorted_index, "Leave the index of a .hrry file in the order of the tensors");
    command.add_flag("-v,--verbose", options->verbose, "Say of each tensor what is done to it");
    command.add_flag("-q,--quiet", options->quiet, "Say nothing at the end");
    command.add_flag("--json", options->json, "Say it as JSON")->excludes("--quiet");
    add_input_options(command, options->input);
    add_examples(command,
                 {{"hurray convert model.safetensors model.hrry", "another format, bit for bit"},
                  {"hurray convert --dequantize float16 model.gguf model.safetensors", "numbers instead of blocks"},
                  {"hurray convert --quantize per_block_affine:int8,block=32 in.safetensors out.hrry",
                   "int8 with a float16 scale for each 32"},
                  {"hurray convert --quantize mxfp:float4_e2m1 in.hrry out.hrry", "MXFP4"},
                  {"hurray convert --layout tiled:64x64 in.npy out.hrry", "matrices in tiles"},
                  {"hurray convert model.hrry - | ssh host hurray convert - model.hrry", "as a stream"}});
    command.callback([options, &request] {
        if (options->json && options->to == "-") throw CLI::ValidationError("--json", "the output is on standard output");
        request.json = options->json;
        request.run = [options] { return run(*options); };
    });
}

}  // namespace cli
