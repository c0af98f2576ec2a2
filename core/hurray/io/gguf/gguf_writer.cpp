#include "core/hurray/io/gguf/gguf_writer.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/hurray/base/checked.hpp"
#include "core/hurray/base/utf8.hpp"
#include "core/hurray/io/announced_tensor.hpp"
#include "core/hurray/io/gguf/encode_value.hpp"
#include "core/hurray/io/gguf/gguf_file.hpp"
#include "core/hurray/io/gguf/gguf_index.hpp"
#include "core/hurray/io/gguf/stored_tensor.hpp"
#include "core/hurray/io/quoted.hpp"

namespace hurray {
namespace {

using ull = unsigned long long;

constexpr std::uint32_t written_version = 3;

struct Pending {
    std::string name;
    Descriptor descriptor;
    StoredTensor stored;
    /// The tensor, or what makes it.
    std::optional<Tensor> tensor;
    TensorSource source;
};

struct Entry {
    std::string key;
    std::string value;
};

bool is_alignment(std::uint64_t number) noexcept {
    return std::has_single_bit(number) && number >= GgufIndex::least_alignment &&
           number <= GgufIndex::largest_alignment;
}

std::unexpected<Error> no_alignment(const char* what, std::uint64_t number) {
    return fail(Status::invalid_argument, Error::no_offset, "%s: %llu, expected a power of two from %u to %u", what,
                static_cast<ull>(number), GgufIndex::least_alignment, GgufIndex::largest_alignment);
}

std::string alignment_value(std::uint32_t alignment) {
    std::string value;
    append_le(value, std::uint32_t{4});  // uint32
    append_le(value, alignment);
    return value;
}

}  // namespace

struct GgufWriter::State {
    std::unique_ptr<ByteSink> sink;
    std::vector<Pending> tensors;
    std::unordered_set<std::string> names;
    std::vector<Entry> metadata;
    std::unordered_map<std::string, std::size_t> keys;
    std::uint32_t alignment = GgufIndex::default_alignment;
    /// The options said it, so metadata cannot.
    bool alignment_is_given = false;
    std::uint64_t copied_bytes = 0;
    bool finished = false;

    [[nodiscard]] Result<void> check_open() const {
        if (!finished) return {};
        return fail(Status::invalid_argument, Error::no_offset, "the writer has finished");
    }

    [[nodiscard]] Result<void> check_name(std::string_view name) const {
        if (auto open = check_open(); !open) return open;
        const auto refuse = [&](const char* what) {
            return fail(Status::invalid_argument, Error::no_offset, "tensor name %s: %s", Quoted(name).c_str(), what);
        };
        if (find_invalid_utf8(name)) return refuse("invalid UTF-8");
        if (name.size() > longest_name) return refuse("longer than the 63 bytes that ggml has room for");
        if (names.contains(std::string(name))) return refuse("there is one of that name already");
        return {};
    }

    void set(std::string_view key, std::string value) {
        const auto [place, is_new] = keys.try_emplace(std::string(key), metadata.size());
        if (is_new) {
            metadata.push_back({std::string(key), std::move(value)});
        } else {
            metadata[place->second].value = std::move(value);
        }
    }

    Result<void> set_alignment(const MetadataValue& value) {
        const bool positive =
            value.type == MetadataType::uint64 || (value.type == MetadataType::int64 && value.int64 >= 0);
        if (!positive) {
            return fail(Status::invalid_argument, Error::no_offset,
                        "metadata key general.alignment: expected an integer");
        }
        const auto number = value.type == MetadataType::uint64 ? value.uint64 : static_cast<std::uint64_t>(value.int64);
        if (!is_alignment(number)) return no_alignment("metadata key general.alignment", number);
        if (!alignment_is_given) alignment = static_cast<std::uint32_t>(number);
        set(GgufIndex::alignment_key, alignment_value(alignment));
        return {};
    }

    /// Everything before the data, padded.
    [[nodiscard]] Result<std::string> header() const {
        std::string out = "GGUF";
        append_le(out, written_version);
        append_le(out, std::uint64_t{tensors.size()});
        append_le(out, std::uint64_t{metadata.size()});
        for (const Entry& entry : metadata) {
            append_gguf_string(out, entry.key);
            out += entry.value;
        }
        std::uint64_t offset = 0;
        for (const Pending& pending : tensors) {
            append_gguf_string(out, pending.name);
            append_le(out, static_cast<std::uint32_t>(pending.stored.dimensions.size()));
            for (const std::uint64_t dimension : pending.stored.dimensions) append_le(out, dimension);
            append_le(out, pending.stored.type->number);
            append_le(out, offset);
            const auto end = checked_add(offset, pending.stored.byte_size);
            if (!end || *end > std::numeric_limits<std::uint64_t>::max() / 2) {
                return fail(Status::limit_exceeded, Error::no_offset, "the data is more than 2^63-1 bytes");
            }
            offset = padded(*end);
        }
        out.resize(static_cast<std::size_t>(padded(out.size())));
        if (out.size() > GgufFile::default_header_limit) {
            return fail(Status::limit_exceeded, Error::no_offset,
                        "header: %llu bytes, readers accept no more than %llu", static_cast<ull>(out.size()),
                        static_cast<ull>(GgufFile::default_header_limit));
        }
        return out;
    }

    [[nodiscard]] std::uint64_t padded(std::uint64_t size) const noexcept {
        return (size + alignment - 1) / alignment * alignment;
    }

    Result<void> write_data(const Pending& pending, std::span<const std::byte> zeros) {
        std::optional<Tensor> made;
        if (!pending.tensor) {
            auto tensor = make_announced(pending.name, pending.descriptor, pending.source);
            if (!tensor) return std::unexpected(tensor.error());
            if (auto checked = check_stored(pending.name, *tensor, pending.stored); !checked) return checked;
            made = *std::move(tensor);
        }
        auto done = write_stored(made ? *made : *pending.tensor, pending.stored, *sink, copied_bytes);
        const std::uint64_t padding = padded(pending.stored.byte_size) - pending.stored.byte_size;
        if (done && padding != 0) done = sink->write(zeros.first(static_cast<std::size_t>(padding)));
        return done;
    }

    Result<void> write() {
        if (alignment != GgufIndex::default_alignment) set(GgufIndex::alignment_key, alignment_value(alignment));
        auto start = header();
        if (!start) return std::unexpected(start.error());
        auto done = sink->write(std::as_bytes(std::span(*start)));
        start->clear();
        start->shrink_to_fit();
        const std::vector<std::byte> zeros(alignment);
        for (Pending& pending : tensors) {
            if (done) done = write_data(pending, zeros);
            pending.tensor.reset();  // its share is not needed any more
            pending.source = nullptr;
        }
        return done;
    }
};

GgufWriter::GgufWriter(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
GgufWriter::~GgufWriter() = default;

Result<std::unique_ptr<GgufWriter>> GgufWriter::create(std::unique_ptr<ByteSink> sink,
                                                       const FileWriterOptions& options) {
    if (options.data_alignment != 0 && !is_alignment(options.data_alignment)) {
        return no_alignment("data_alignment", options.data_alignment);
    }
    if (!options.sorted_index) {
        return fail(Status::invalid_argument, Error::no_offset, "sorted_index: GGUF has no choice of its order");
    }
    if (options.compress) {
        return fail(Status::invalid_argument, Error::no_offset, "compress: GGUF is never compressed");
    }
    auto state = std::make_unique<State>();
    state->sink = std::move(sink);
    if (options.data_alignment != 0) {
        state->alignment = options.data_alignment;
        state->alignment_is_given = true;
    }
    return std::unique_ptr<GgufWriter>(new GgufWriter(std::move(state)));
}

Result<std::unique_ptr<ModelFileWriter>> write_gguf(std::unique_ptr<ByteSink> sink, const FileWriterOptions& options) {
    return GgufWriter::create(std::move(sink), options);
}

Result<void> GgufWriter::set_metadata(std::string_view key, const MetadataValue& value) {
    if (auto open = state_->check_open(); !open) return open;
    if (key.empty() || key.size() > GgufIndex::longest_key) {
        return fail(Status::invalid_argument, Error::no_offset, "metadata key %s: %llu bytes, expected 1 to %llu",
                    Quoted(key).c_str(), static_cast<ull>(key.size()), static_cast<ull>(GgufIndex::longest_key));
    }
    if (find_invalid_utf8(key)) {
        return fail(Status::invalid_argument, Error::no_offset, "metadata key %s: invalid UTF-8", Quoted(key).c_str());
    }
    if (key == GgufIndex::alignment_key) return state_->set_alignment(value);
    auto encoded = encode_gguf_value(key, value);
    if (!encoded) return std::unexpected(encoded.error());
    state_->set(key, *std::move(encoded));
    return {};
}

Result<void> GgufWriter::add(std::string_view name, const Tensor& tensor) {
    if (auto checked = state_->check_name(name); !checked) return checked;
    auto stored = store_as_gguf(name, tensor.descriptor);
    if (!stored) return std::unexpected(stored.error());
    if (auto checked = check_stored(name, tensor, *stored); !checked) return checked;
    state_->tensors.push_back({std::string(name), Descriptor::vacant(), *std::move(stored), tensor, {}});
    state_->names.emplace(name);
    return {};
}

Result<void> GgufWriter::add(std::string_view name, const Descriptor& descriptor, TensorSource source) {
    if (auto checked = state_->check_name(name); !checked) return checked;
    auto stored = store_as_gguf(name, descriptor);
    if (!stored) return std::unexpected(stored.error());
    state_->tensors.push_back({std::string(name), descriptor, *std::move(stored), {}, std::move(source)});
    state_->names.emplace(name);
    return {};
}

Result<void> GgufWriter::finish() {
    if (auto open = state_->check_open(); !open) return open;
    state_->finished = true;
    auto done = state_->write();
    if (done) done = state_->sink->commit();
    state_->sink.reset();
    state_->tensors.clear();
    return done;
}

std::uint64_t GgufWriter::copied_bytes() const noexcept {
    return state_->copied_bytes;
}

}  // namespace hurray
