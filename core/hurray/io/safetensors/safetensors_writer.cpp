#include "core/hurray/io/safetensors/safetensors_writer.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/hurray/base/checked.hpp"
#include "core/hurray/io/announced_tensor.hpp"
#include "core/hurray/io/outgoing_elements.hpp"
#include "core/hurray/io/quoted.hpp"
#include "core/hurray/io/safetensors/safetensors_dtype.hpp"
#include "core/hurray/io/safetensors/safetensors_file.hpp"
#include "core/hurray/base/utf8.hpp"
#include "core/hurray/layout/dense_view.hpp"
#include "core/hurray/types/element_type.hpp"

namespace hurray {
namespace {

using ull = unsigned long long;

constexpr const char* format_words = "safetensors";
constexpr std::string_view metadata_name = "__metadata__";
// Spans that are handed to the system in one call.
constexpr std::size_t pieces_at_once = 16;

struct Pending {
    /// Of the tensor, or of the one that is announced.
    Descriptor descriptor;
    /// None: announced, and made when it is written.
    std::optional<Tensor> tensor;
    TensorSource source;
    const SafetensorsDtype* dtype = nullptr;
    /// Bytes in the file.
    std::uint64_t byte_size = 0;
};

using PendingByName = std::map<std::string, Pending, std::less<>>;

void append_string(std::string& json, std::string_view text) {
    json += '"';
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            json += '\\';
            json += c;
        } else if (byte < 0x20) {
            char escaped[8];
            std::snprintf(escaped, sizeof escaped, "\\u%04x", byte);
            json += escaped;
        } else {
            json += c;
        }
    }
    json += '"';
}

void append_tensor(std::string& json, std::string_view name, const Pending& pending, std::uint64_t begin) {
    append_string(json, name);
    json += ":{\"dtype\":\"";
    json += pending.dtype->name;
    json += "\",\"shape\":[";
    bool first = true;
    for (const std::uint64_t dimension : pending.descriptor.shape()) {
        if (!first) json += ',';
        first = false;
        json += std::to_string(dimension);
    }
    json += "],\"data_offsets\":[" + std::to_string(begin) + ',' + std::to_string(begin + pending.byte_size) + "]}";
}

std::unexpected<Error> unsupported(std::string_view name, const char* what) {
    return fail(Status::unsupported, Error::no_offset, "tensor %s: %s", Quoted(name).c_str(), what);
}

// Size of the data in the file. Readers compute the size in bits from all dimensions that are not 0, so that must not
// overflow, even when the tensor is empty.
Result<std::uint64_t> size_in_file(std::string_view name, const Descriptor& descriptor, std::uint64_t element_bits) {
    std::uint64_t bits = element_bits;
    bool empty = false;
    for (const std::uint64_t dimension : descriptor.shape()) {
        if (dimension == 0) {
            empty = true;
            continue;
        }
        const auto next = checked_mul(bits, dimension);
        if (!next) return unsupported(name, "the size in bits is more than 2^64-1");
        bits = *next;
    }
    if (empty) return std::uint64_t{0};
    if (bits % 8 != 0) return unsupported(name, "its data does not end at a byte, as safetensors demands");
    return bits / 8;
}

// What the descriptor alone says.
Result<Pending> make_pending(std::string_view name, const Descriptor& descriptor) {
    Pending pending{descriptor, {}, {}};
    pending.dtype = find_safetensors_dtype(descriptor.element_type());
    if (pending.dtype == nullptr) {
        const ElementTypeInfo* type = find_element_type(descriptor.element_type());
        return fail(Status::unsupported, Error::no_offset, "tensor %s: safetensors cannot hold the element type %s (tag %02x)",
                    Quoted(name).c_str(), type == nullptr ? "of its own" : type->name, descriptor.element_type());
    }
    if (auto checked = check_sections(format_words, name, descriptor); !checked) return std::unexpected(checked.error());
    if (const auto view = dense_view(descriptor); !view) return of_tensor(name, view.error());
    const auto size = size_in_file(name, descriptor, pending.dtype->file_bits);
    if (!size) return std::unexpected(size.error());
    pending.byte_size = *size;
    return pending;
}

// Gathers spans for the system to write at once.
class Output {
public:
    explicit Output(ByteSink& sink) : sink_(sink) {}

    /// The bytes must stay until flush().
    Result<void> add(std::span<const std::byte> bytes) {
        if (bytes.empty()) return {};
        pieces_[count_++] = bytes;
        return count_ == pieces_.size() ? flush() : Result<void>{};
    }

    Result<void> flush() {
        const std::size_t count = std::exchange(count_, 0);
        if (count == 0) return {};
        return sink_.write(std::span<const std::span<const std::byte>>(pieces_).first(count));
    }

private:
    ByteSink& sink_;
    std::array<std::span<const std::byte>, pieces_at_once> pieces_;
    std::size_t count_ = 0;
};

Result<void> write_gathered(const Tensor& tensor, const SafetensorsDtype& dtype, Output& output,
                            std::uint64_t& copied_bytes) {
    const Descriptor& descriptor = tensor.descriptor;
    std::vector<std::int64_t> strides(descriptor.rank());
    if (auto done = dense_strides(descriptor, strides); !done) return done;
    const std::byte* origin = tensor.buffers.front().data + descriptor.byte_offset();
    const auto take = [&](std::span<const std::byte> piece) {
        auto done = output.add(piece);
        return done ? output.flush() : done;  // the buffer is used again
    };
    return gather_outgoing({origin, dtype.bits, descriptor.shape(), strides}, take, copied_bytes);
}

Result<void> write_tensor(const Tensor& tensor, const Pending& pending, Output& output, std::uint64_t& copied_bytes) {
    const auto view = dense_view(tensor.descriptor);
    if (!view) return std::unexpected(view.error());
    if (!view->contiguous || pending.dtype->file_bits != pending.dtype->bits) {
        return write_gathered(tensor, *pending.dtype, output, copied_bytes);
    }
    return output.add({tensor.buffers.front().data + tensor.descriptor.byte_offset(),
                       static_cast<std::size_t>(pending.byte_size)});
}

// Makes, writes and drops one tensor.
Result<void> write_announced(std::string_view name, const Pending& pending, Output& output, std::uint64_t& copied_bytes) {
    const auto made = make_announced(name, pending.descriptor, pending.source);
    if (!made) return std::unexpected(made.error());
    if (auto checked = check_outgoing_buffers(name, *made); !checked) return checked;
    if (pending.byte_size == 0) return {};
    auto done = write_tensor(*made, pending, output, copied_bytes);
    if (done) done = output.flush();
    return done;
}

}  // namespace

struct SafetensorsWriter::State {
    std::unique_ptr<ByteSink> sink;
    PendingByName tensors;
    std::map<std::string, std::string, std::less<>> metadata;
    std::uint64_t copied_bytes = 0;
    bool finished = false;

    [[nodiscard]] Result<void> check_open() const {
        if (!finished) return {};
        return fail(Status::invalid_argument, Error::no_offset, "the writer has finished");
    }

    [[nodiscard]] Result<void> check_name(std::string_view name) const {
        if (auto open = check_open(); !open) return open;
        if (find_invalid_utf8(name)) {
            return fail(Status::invalid_argument, Error::no_offset, "tensor name %s: invalid UTF-8", Quoted(name).c_str());
        }
        if (name == metadata_name) {
            return fail(Status::invalid_argument, Error::no_offset, "tensor name %s: reserved for the metadata",
                        Quoted(name).c_str());
        }
        if (tensors.contains(name)) {
            return fail(Status::invalid_argument, Error::no_offset, "tensor name %s: there is one of that name already",
                        Quoted(name).c_str());
        }
        return {};
    }

    // The widest first, so that everything is aligned to its element; then by name.
    [[nodiscard]] std::vector<const PendingByName::value_type*> file_order() const {
        std::vector<const PendingByName::value_type*> order;
        order.reserve(tensors.size());
        for (const auto& entry : tensors) order.push_back(&entry);
        std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
            const auto width = [](const auto* entry) { return entry->second.dtype->alignment; };
            return width(a) != width(b) ? width(a) > width(b) : a->first < b->first;
        });
        return order;
    }

    [[nodiscard]] Result<std::string> header(std::span<const PendingByName::value_type* const> order) const {
        std::string json = "{";
        if (!metadata.empty()) {
            append_string(json, metadata_name);
            json += ":{";
            for (const auto& [key, value] : metadata) {
                if (json.back() != '{') json += ',';
                append_string(json, key);
                json += ':';
                append_string(json, value);
            }
            json += '}';
        }
        std::uint64_t begin = 0;
        for (const auto* entry : order) {
            if (json.size() > 1) json += ',';
            append_tensor(json, entry->first, entry->second, begin);
            const auto end = checked_add(begin, entry->second.byte_size);
            if (!end) return fail(Status::limit_exceeded, Error::no_offset, "the data is more than 2^64-1 bytes");
            begin = *end;
        }
        json += '}';
        json.resize((json.size() + 7) / 8 * 8, ' ');
        if (json.size() > SafetensorsFile::default_header_limit) {
            return fail(Status::limit_exceeded, Error::no_offset,
                        "header: %llu bytes, readers accept no more than %llu", static_cast<ull>(json.size()),
                        static_cast<ull>(SafetensorsFile::default_header_limit));
        }
        return json;
    }

    Result<void> write() {
        const auto order = file_order();
        const auto json = header(order);
        if (!json) return std::unexpected(json.error());
        const std::uint64_t length = json->size();
        Output output(*sink);
        auto done = output.add(std::as_bytes(std::span(&length, 1)));
        if (done) done = output.add(std::as_bytes(std::span(*json)));
        for (const auto* entry : order) {
            if (!done) return done;
            const Pending& pending = entry->second;
            if (!pending.tensor) {
                done = write_announced(entry->first, pending, output, copied_bytes);
            } else if (pending.byte_size != 0) {
                done = write_tensor(*pending.tensor, pending, output, copied_bytes);
            }
        }
        if (done) done = output.flush();
        return done;
    }
};

SafetensorsWriter::SafetensorsWriter(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
SafetensorsWriter::~SafetensorsWriter() = default;

Result<std::unique_ptr<SafetensorsWriter>> SafetensorsWriter::create(std::unique_ptr<ByteSink> sink,
                                                                     const FileWriterOptions& options) {
    if (options.data_alignment != 0) {
        return fail(Status::invalid_argument, Error::no_offset, "data_alignment: %u, but safetensors has no choice of it",
                    options.data_alignment);
    }
    if (!options.sorted_index) {
        return fail(Status::invalid_argument, Error::no_offset, "sorted_index: safetensors has no choice of its order");
    }
    if (options.compress) {
        return fail(Status::invalid_argument, Error::no_offset, "compress: safetensors is never compressed");
    }
    auto state = std::make_unique<State>();
    state->sink = std::move(sink);
    return std::unique_ptr<SafetensorsWriter>(new SafetensorsWriter(std::move(state)));
}

Result<std::unique_ptr<ModelFileWriter>> write_safetensors(std::unique_ptr<ByteSink> sink, const FileWriterOptions& options) {
    return SafetensorsWriter::create(std::move(sink), options);
}

Result<void> SafetensorsWriter::set_metadata(std::string_view key, const MetadataValue& value) {
    if (auto open = state_->check_open(); !open) return open;
    if (find_invalid_utf8(key)) {
        return fail(Status::invalid_argument, Error::no_offset, "metadata key %s: invalid UTF-8", Quoted(key).c_str());
    }
    if (value.type != MetadataType::string) {
        return fail(Status::unsupported, Error::no_offset, "metadata key %s: safetensors holds strings only, got type %u",
                    Quoted(key).c_str(), static_cast<unsigned>(value.type));
    }
    if (const auto at = find_invalid_utf8(value.text)) {
        return fail(Status::invalid_argument, Error::no_offset, "metadata key %s: invalid UTF-8 at byte %zu of its value",
                    Quoted(key).c_str(), *at);
    }
    state_->metadata.insert_or_assign(std::string(key), value.text);
    return {};
}

Result<void> SafetensorsWriter::add(std::string_view name, const Tensor& tensor) {
    if (auto checked = state_->check_name(name); !checked) return checked;
    auto pending = make_pending(name, tensor.descriptor);
    if (!pending) return std::unexpected(pending.error());
    if (auto checked = check_outgoing_buffers(name, tensor); !checked) return checked;
    pending->tensor = tensor;
    state_->tensors.emplace(std::string(name), *std::move(pending));
    return {};
}

Result<void> SafetensorsWriter::add(std::string_view name, const Descriptor& descriptor, TensorSource source) {
    if (auto checked = state_->check_name(name); !checked) return checked;
    auto pending = make_pending(name, descriptor);
    if (!pending) return std::unexpected(pending.error());
    pending->source = std::move(source);
    state_->tensors.emplace(std::string(name), *std::move(pending));
    return {};
}

Result<void> SafetensorsWriter::finish() {
    if (auto open = state_->check_open(); !open) return open;
    state_->finished = true;
    auto done = state_->write();
    if (done) done = state_->sink->commit();
    state_->sink.reset();
    state_->tensors.clear();  // the shares are not needed any more
    return done;
}

std::uint64_t SafetensorsWriter::copied_bytes() const noexcept { return state_->copied_bytes; }

}  // namespace hurray
