#include "core/hurray/io/stream_reader.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <utility>
#include <vector>

#include "core/hurray/base/checked.hpp"
#include "core/hurray/descriptor/codec.hpp"
#include "core/hurray/io/busy.hpp"
#include "core/hurray/io/growing_buffer.hpp"
#include "core/hurray/io/stream_descriptor.hpp"

namespace hurray {
namespace {

using ull = unsigned long long;

// What a descriptor may be without its bytes being there: nearly every one is shorter.
constexpr std::size_t descriptor_step = 64 * 1024;

std::unexpected<Error> ends_inside(std::uint64_t offset, const char* part, std::uint64_t have, std::uint64_t expected) {
    return fail(Status::invalid_format, offset, "the stream ends inside a tensor: %llu of %llu bytes of its %s",
                static_cast<ull>(have), static_cast<ull>(expected), part);
}

std::unexpected<Error> ends_inside_buffer(std::uint64_t offset, std::size_t index, std::uint64_t have, std::uint64_t expected) {
    std::array<char, 32> part{};
    std::snprintf(part.data(), part.size(), "buffer %zu", index);
    return ends_inside(offset, part.data(), have, expected);
}

// Pinned or unified is what the memory was at the sender; here it is plain memory.
Result<Descriptor> plain_memory(Descriptor descriptor) {
    const auto table = descriptor.buffers();
    const bool plain = std::all_of(table.begin(), table.end(), [](const BufferHandle& handle) {
        return handle.memory_class == memory_class::standard;
    });
    if (plain) return descriptor;
    const auto bytes = encode_for_stream(descriptor, 0);
    if (!bytes) return std::unexpected(bytes.error());
    return decode(*bytes, whatever_was_accepted);
}

}  // namespace

StreamReader::StreamReader(std::unique_ptr<ByteSource> source, const StreamLimits& limits) noexcept
    : source_(std::move(source)), limits_(limits) {}

Result<void> StreamReader::check_usable() const {
    if (busy_) {
        return fail(Status::invalid_argument, offset_, "reader: it is reading: its source may not call it from within");
    }
    if (failure_) return std::unexpected(*failure_);
    if (torn_) return fail(Status::out_of_memory, offset_, "memory ran out in the middle of an earlier tensor");
    return {};
}

// Runs a call that reads; one that fails, be it by an exception, leaves a reader that reads no more.
template <typename Body>
auto StreamReader::within_tensor(Body&& body) -> decltype(body()) {
    const BusyMark busy(busy_);
    torn_ = true;
    auto result = body();
    torn_ = false;
    if (!result) {
        failure_ = result.error();
        begun_.reset();
    }
    return result;
}

template <typename Body>
auto StreamReader::between_tensors(Body&& body) -> decltype(body()) {
    if (auto usable = check_usable(); !usable) return std::unexpected(usable.error());
    if (const std::uint64_t rest = left(); rest != 0) {
        return fail(Status::invalid_argument, offset_,
                    "reader: %llu bytes of the tensor that was begun are left: read or skip them first", static_cast<ull>(rest));
    }
    begun_.reset();
    return within_tensor(std::forward<Body>(body));
}

Result<std::optional<Tensor>> StreamReader::next() {
    return between_tensors([this] { return read_tensor(); });
}

Result<std::optional<Descriptor>> StreamReader::begin() {
    return between_tensors([this] { return begin_tensor(); });
}

Result<std::size_t> StreamReader::read(std::span<std::byte> into) {
    if (auto usable = check_usable(); !usable) return std::unexpected(usable.error());
    if (!begun_) return fail(Status::invalid_argument, offset_, "reader: no tensor was begun");
    if (into.empty() || left() == 0) return std::size_t{0};
    return within_tensor([&] { return read_begun(into); });
}

Result<void> StreamReader::skip() {
    if (auto usable = check_usable(); !usable) return usable;
    if (!begun_) return fail(Status::invalid_argument, offset_, "reader: no tensor was begun");
    if (left() == 0) return {};
    return within_tensor([this] { return skip_begun(); });
}

std::uint64_t StreamReader::left() const noexcept {
    if (!begun_) return 0;
    // Their sum was checked with the table.
    std::uint64_t rest = 0;
    for (std::size_t i = begun_->buffer; i < begun_->sizes.size(); ++i) rest += begun_->sizes[i];
    return rest - begun_->have;
}

void StreamReader::stop(const Error& error) noexcept {
    if (!failure_) failure_ = error;
    begun_.reset();
}

Result<std::optional<Descriptor>> StreamReader::read_descriptor() {
    const std::uint64_t start = offset_;
    // Errors of the codec count from the start of the descriptor.
    const auto in_stream = [&](Error error) {
        if (error.offset != Error::no_offset) error.offset += start;
        return std::unexpected(error);
    };
    std::vector<std::byte> bytes(fixed_header_size);
    const auto header = read_fully(*source_, bytes);
    if (!header) return std::unexpected(header.error());
    offset_ += *header;
    if (*header == 0) return std::nullopt;
    if (*header < bytes.size()) return ends_inside(offset_, "descriptor", *header, fixed_header_size);

    DecodeOptions options{.private_tags = limits_.private_tags, .mode = limits_.mode};
    options.max_length = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(limits_.max_descriptor_length, std::numeric_limits<std::uint32_t>::max()));
    const auto length = peek_length(bytes, options);
    if (!length) return in_stream(length.error());
    while (bytes.size() < *length) {
        const std::size_t have = bytes.size();
        bytes.resize(std::min<std::size_t>(*length, std::max(descriptor_step, have * 2)));
        const auto body = read_fully(*source_, std::span(bytes).subspan(have));
        if (!body) return std::unexpected(body.error());
        offset_ += *body;
        if (have + *body < bytes.size()) return ends_inside(offset_, "descriptor", have + *body, *length);
    }
    auto descriptor = decode(bytes, options);
    if (!descriptor) return in_stream(descriptor.error());
    return std::optional<Descriptor>(*std::move(descriptor));
}

Result<void> check_stream_table(const Descriptor& descriptor, const StreamLimits& limits, std::uint64_t start) {
    if (descriptor.is_unread()) {
        return fail(Status::unsupported, start,
                    "layout_tag: %02X is not known, and so is how long its buffers are: the stream cannot be read on",
                    descriptor.layout());
    }
    const auto table = descriptor.buffers();
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < table.size(); ++i) {
        const BufferHandle& handle = table[i];
        if (handle.sync_mode != sync_mode::producer_synced) {
            return fail(Status::invalid_sync_mode, start,
                        "buffer %zu: sync_mode: %02x, expected 00 (PRODUCER_SYNCED), the only one in a stream", i,
                        handle.sync_mode);
        }
        if (handle.device_tag != device_tag::cpu) {
            return fail(Status::unsupported, start,
                        "buffer %zu: device_tag: %02x, expected 00 (CPU): a stream is read into the CPU's memory", i,
                        handle.device_tag);
        }
        if (handle.alignment > limits.max_alignment) {
            return fail(Status::limit_exceeded, start, "buffer %zu: alignment: %u bytes, the limit is %u", i,
                        handle.alignment, limits.max_alignment);
        }
        const auto sum = checked_add(total, handle.byte_size);
        if (!sum || *sum > limits.max_tensor_bytes) {
            return fail(Status::limit_exceeded, start,
                        "buffer %zu: byte_size: %llu bytes make the tensor larger than the limit of %llu", i,
                        static_cast<ull>(handle.byte_size), static_cast<ull>(limits.max_tensor_bytes));
        }
        total = *sum;
    }
    return {};
}

Result<Buffer> StreamReader::read_buffer(const BufferHandle& handle, std::size_t index) {
    GrowingBuffer memory(handle.byte_size, handle.alignment, source_->remaining().value_or(0));
    std::uint64_t have = 0;
    while (!memory.full()) {
        const auto space = memory.space();
        if (!space) return std::unexpected(space.error());
        const auto count = source_->read_some(*space);
        if (!count) return std::unexpected(count.error());
        if (*count == 0) {
            return ends_inside_buffer(offset_, index, have, handle.byte_size);
        }
        memory.fill(*count);
        have += *count;
        offset_ += *count;
    }
    auto buffer = memory.finish();
    if (buffer) buffer->handle.alignment = handle.alignment;
    return buffer;
}

// The descriptor of the next tensor as a receiver must see it, its table checked; nothing at a clean end.
Result<std::optional<Descriptor>> StreamReader::read_checked_descriptor() {
    const std::uint64_t start = offset_;
    auto descriptor = read_descriptor();
    if (!descriptor || !*descriptor) return descriptor;
    if (auto checked = check_stream_table(**descriptor, limits_, start); !checked) return std::unexpected(checked.error());
    auto own = plain_memory(**std::move(descriptor));
    if (!own) return std::unexpected(own.error());
    return std::optional<Descriptor>(*std::move(own));
}

Result<std::optional<Tensor>> StreamReader::read_tensor() {
    auto descriptor = read_checked_descriptor();
    if (!descriptor) return std::unexpected(descriptor.error());
    if (!*descriptor) return std::nullopt;
    Tensor tensor{**std::move(descriptor), {}};
    tensor.buffers.reserve(tensor.descriptor.buffers().size());
    for (const BufferHandle& handle : tensor.descriptor.buffers()) {
        auto buffer = read_buffer(handle, tensor.buffers.size());
        if (!buffer) return std::unexpected(buffer.error());
        tensor.buffers.push_back(*std::move(buffer));
    }
    return std::optional<Tensor>(std::move(tensor));
}

Result<std::optional<Descriptor>> StreamReader::begin_tensor() {
    auto descriptor = read_checked_descriptor();
    if (!descriptor || !*descriptor) return descriptor;
    Begun begun;
    begun.sizes.reserve((*descriptor)->buffers().size());
    for (const BufferHandle& handle : (*descriptor)->buffers()) begun.sizes.push_back(handle.byte_size);
    begun_ = std::move(begun);
    advance(0);
    return descriptor;
}

// Moves on in the tensor that was begun, and over what has no bytes left in it.
void StreamReader::advance(std::uint64_t count) noexcept {
    begun_->have += count;
    offset_ += count;
    while (begun_->buffer < begun_->sizes.size() && begun_->have == begun_->sizes[begun_->buffer]) {
        ++begun_->buffer;
        begun_->have = 0;
    }
}

Result<std::size_t> StreamReader::read_begun(std::span<std::byte> into) {
    const std::uint64_t rest = begun_->sizes[begun_->buffer] - begun_->have;
    const auto count = source_->read_some(into.first(static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), rest))));
    if (!count) return count;
    if (*count == 0) return ends_inside_buffer(offset_, begun_->buffer, begun_->have, begun_->sizes[begun_->buffer]);
    advance(*count);
    return count;
}

Result<void> StreamReader::skip_begun() {
    while (begun_->buffer < begun_->sizes.size()) {
        const std::size_t buffer = begun_->buffer;
        const std::uint64_t size = begun_->sizes[buffer];
        const std::uint64_t have = begun_->have;
        const auto skipped = source_->skip(size - have);
        if (!skipped) return std::unexpected(skipped.error());
        advance(*skipped);
        if (*skipped < size - have) return ends_inside_buffer(offset_, buffer, have + *skipped, size);
    }
    return {};
}

}  // namespace hurray
