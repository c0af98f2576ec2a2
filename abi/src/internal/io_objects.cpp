#include "abi/src/internal/io_objects.hpp"

#include <cstddef>
#include <cstring>

#include "abi/src/internal/callback_io.hpp"

namespace hurray::abi {
namespace {

constexpr std::uint32_t reader_flags = HURRAY_STREAM_PRIVATE_TAGS | HURRAY_STREAM_PERMISSIVE | HURRAY_STREAM_HRRY_FILE;

Result<void> check_flags(const HurrayStreamOptions& options, std::uint32_t known) {
    if ((options.flags & ~known) == 0) return {};
    return fail(Status::invalid_argument, Error::no_offset, "options->flags: expected none but 0x%x, got 0x%x", known,
                options.flags);
}

Result<FdOwnership> fd_ownership(std::int32_t fd, const HurrayStreamOptions& options, std::uint32_t known) {
    if (fd < 0) return fail(Status::invalid_argument, Error::no_offset, "fd: expected a file descriptor, got %d", fd);
    if (auto checked = check_flags(options, known); !checked) return std::unexpected(checked.error());
    return (options.flags & HURRAY_STREAM_CLOSE_FD) != 0 ? FdOwnership::close : FdOwnership::borrow;
}

Mode reading_mode(const HurrayStreamOptions& options) {
    return (options.flags & HURRAY_STREAM_PERMISSIVE) != 0 ? Mode::permissive : Mode::strict;
}

StreamLimits stream_limits(const HurrayStreamOptions& options) {
    StreamLimits limits;
    if (options.max_descriptor_length != 0) limits.max_descriptor_length = options.max_descriptor_length;
    if (options.max_tensor_bytes != 0) limits.max_tensor_bytes = options.max_tensor_bytes;
    if (options.max_alignment != 0) limits.max_alignment = options.max_alignment;
    if ((options.flags & HURRAY_STREAM_PRIVATE_TAGS) != 0) limits.private_tags = PrivateTags::allow;
    limits.mode = reading_mode(options);
    return limits;
}

Result<HurrayStreamOptions> read_options(const HurrayStreamOptions* options) {
    auto given = read_sized_struct(options, offsetof(HurrayStreamOptions, max_alignment), "options");
    if (given && given->reserved != 0) return fail(Status::invalid_argument, Error::no_offset, "options->reserved: expected 0");
    return given;
}

HurrayReader* make_reader(std::unique_ptr<ByteSource> source, const HurrayStreamOptions& options) {
    const StreamLimits limits = stream_limits(options);
    if ((options.flags & HURRAY_STREAM_HRRY_FILE) == 0) {
        return new HurrayReader(StreamReader(std::move(source), limits), reading_mode(options));
    }
    auto sequence = std::make_unique<HrrySequence>(std::move(source), limits);
    const HrrySequence* file = sequence.get();
    return new HurrayReader(StreamReader(std::move(sequence), limits), reading_mode(options), file);
}

}  // namespace

Result<HurrayReader*> reader_from_fd(std::int32_t fd, const HurrayStreamOptions* options) {
    auto chosen = read_options(options);
    if (!chosen) return std::unexpected(chosen.error());
    auto ownership = fd_ownership(fd, *chosen, HURRAY_STREAM_CLOSE_FD | reader_flags);
    if (!ownership) return std::unexpected(ownership.error());
    return make_reader(std::make_unique<FdSource>(fd, *ownership), *chosen);
}

Result<HurrayReader*> reader_from_memory(const void* bytes, std::uint64_t length, const HurrayStreamOptions* options) {
    auto chosen = read_options(options);
    if (!chosen) return std::unexpected(chosen.error());
    if (auto checked = check_flags(*chosen, reader_flags); !checked) return std::unexpected(checked.error());
    const std::span memory(static_cast<const std::byte*>(bytes), static_cast<std::size_t>(length));
    return make_reader(std::make_unique<MemorySource>(memory), *chosen);
}

Result<HurrayReader*> reader_from_callback(HurrayReadFn read, void* context, const HurrayStreamOptions* options) {
    auto chosen = read_options(options);
    if (!chosen) return std::unexpected(chosen.error());
    if (auto checked = check_flags(*chosen, reader_flags); !checked) return std::unexpected(checked.error());
    return make_reader(std::make_unique<CallbackSource>(read, context), *chosen);
}

Result<void> check_between_tensors(const HurrayReader& reader, bool by_parts) {
    if (auto idle = check_idle(reader, "reader"); !idle) return idle;
    if (const std::uint64_t left = reader.value.left(); left != 0) {
        return fail(Status::invalid_argument, Error::no_offset,
                    "reader: %llu bytes of the tensor that was begun are left: read or skip them first",
                    static_cast<unsigned long long>(left));
    }
    if (reader.begun_composite && !by_parts) {
        return fail(Status::invalid_argument, Error::no_offset,
                    "reader: within a composite that hurray_reader_begin began: expected that function until its last member");
    }
    if (!reader.loose.empty() && by_parts) {
        return fail(Status::invalid_argument, Error::no_offset,
                    "reader: what came of a torn composite is still to be taken with hurray_reader_next_item");
    }
    return {};
}

Result<std::optional<Descriptor>> begin_tensor(HurrayReader& reader) {
    auto descriptor = reader.value.begin();
    if (!descriptor) return descriptor;
    // Whether members fit is written in descriptors alone, so these are all that is kept of them.
    const auto checked = [&]() -> Result<void> {
        if (!*descriptor) return reader.assembler.finish();
        auto added = reader.assembler.add(Tensor{**descriptor, {}});
        if (!added) return std::unexpected(added.error());
        return {};
    }();
    if (!checked) {
        if (reader.mode == Mode::strict) return std::unexpected(checked.error());
        // To a permissive reader the members are tensors of their own.
        if (auto loose = reader.assembler.take_loose(); !loose) return std::unexpected(loose.error());
    }
    reader.begun_composite = reader.assembler.is_open();
    return descriptor;
}

Result<std::string_view> name_in_sequence(const HurrayReader& reader, std::uint64_t index) {
    if (reader.sequence == nullptr) {
        return fail(Status::invalid_argument, Error::no_offset,
                    "reader: a stream has no names: expected one with HURRAY_STREAM_HRRY_FILE");
    }
    if (!reader.sequence->complete()) {
        return fail(Status::invalid_argument, Error::no_offset, "reader: the end was not reached, and the names are there");
    }
    const auto name = reader.sequence->name(index);
    if (!name) {
        return fail(Status::index_out_of_bounds, Error::no_offset, "index: expected less than %llu, got %llu",
                    static_cast<unsigned long long>(reader.sequence->tensor_count()), static_cast<unsigned long long>(index));
    }
    return *name;
}

Result<HurrayWriter*> writer_to_fd(std::int32_t fd, const HurrayStreamOptions* options) {
    auto chosen = read_options(options);
    if (!chosen) return std::unexpected(chosen.error());
    auto ownership = fd_ownership(fd, *chosen, HURRAY_STREAM_CLOSE_FD);
    if (!ownership) return std::unexpected(ownership.error());
    return new HurrayWriter(StreamWriter(std::make_unique<FdSink>(fd, *ownership)), nullptr);
}

Result<HurrayWriter*> writer_to_memory() {
    auto sink = std::make_unique<MemorySink>();
    MemorySink* memory = sink.get();
    return new HurrayWriter(StreamWriter(std::move(sink)), memory);
}

Result<HurrayWriter*> writer_to_callback(HurrayWriteFn write, void* context, const HurrayStreamOptions* options) {
    auto chosen = read_options(options);
    if (!chosen) return std::unexpected(chosen.error());
    if (auto checked = check_flags(*chosen, 0); !checked) return std::unexpected(checked.error());
    return new HurrayWriter(StreamWriter(std::make_unique<CallbackSink>(write, context)), nullptr);
}

Result<HurrayBuffer*> take_written(HurrayWriter& writer) {
    if (writer.memory == nullptr) {
        return fail(Status::invalid_argument, Error::no_offset, "writer: it does not write into memory");
    }
    const auto written = writer.memory->bytes();
    auto buffer = allocate_buffer(written.size());
    if (!buffer) return std::unexpected(buffer.error());
    if (!written.empty()) std::memcpy(buffer->data, written.data(), written.size());
    auto* handle = new HurrayBuffer(std::move(*buffer));
    writer.memory->take();
    return handle;
}

}  // namespace hurray::abi
