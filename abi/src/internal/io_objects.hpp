// What stands behind the handles of streams.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "abi/src/api/handles.hpp"
#include "abi/src/api/io.hpp"
#include "abi/src/internal/handle.hpp"
#include "abi/src/internal/objects.hpp"
#include "core/hurray/io/byte_sink.hpp"
#include "core/hurray/composite/composite_assembler.hpp"
#include "core/hurray/io/hrry/hrry_sequence.hpp"
#include "core/hurray/io/stream_reader.hpp"
#include "core/hurray/io/stream_writer.hpp"

struct HurrayReader final : hurray::abi::HandleBase<HURRAY_HANDLE_READER> {
    HurrayReader(hurray::StreamReader reader, hurray::Mode reading, const hurray::HrrySequence* file = nullptr) noexcept
        : value(std::move(reader)), assembler({.mode = reading}), mode(reading), sequence(file) {}

    hurray::StreamReader value;
    /// The composite that is open, for hurray_reader_next_item.
    hurray::CompositeAssembler assembler;
    /// What came of composites that are torn, in a permissive reader, the next one last.
    std::vector<hurray::Tensor> loose;
    hurray::Mode mode;
    /// A composite is open whose tensors hurray_reader_begin gives one by one; only their descriptors are known here.
    bool begun_composite = false;
    /// The source of `value` when that is a .hrry file, else null.
    const hurray::HrrySequence* sequence;
};

struct HurrayWriter final : hurray::abi::HandleBase<HURRAY_HANDLE_WRITER> {
    HurrayWriter(hurray::StreamWriter writer, hurray::MemorySink* sink) noexcept
        : value(std::move(writer)), memory(sink) {}

    hurray::StreamWriter value;
    /// The sink of `value` when that is memory, else null.
    hurray::MemorySink* memory;
};

namespace hurray::abi {

Result<HurrayReader*> reader_from_fd(std::int32_t fd, const HurrayStreamOptions* options);
Result<HurrayReader*> reader_from_memory(const void* bytes, std::uint64_t length, const HurrayStreamOptions* options);
Result<HurrayReader*> reader_from_callback(HurrayReadFn read, void* context, const HurrayStreamOptions* options);
Result<HurrayWriter*> writer_to_fd(std::int32_t fd, const HurrayStreamOptions* options);
Result<HurrayWriter*> writer_to_memory();
Result<HurrayWriter*> writer_to_callback(HurrayWriteFn write, void* context, const HurrayStreamOptions* options);

/// Fails with INVALID_ARGUMENT while a call of the handle runs: then its callback calls.
template <typename Handle>
Result<void> check_idle(const Handle& handle, const char* parameter) {
    if (!handle.value.busy()) return {};
    return fail(Status::invalid_argument, Error::no_offset, "%s: a call of it is running: its callback may not use it", parameter);
}

/// Succeeds when the reader stands between two tensors and nothing of an earlier one is still to be taken; `by_parts`: for
/// hurray_reader_begin, which alone may go on with a composite that it began.
/// @errors invalid_argument, upon which nothing has changed
Result<void> check_between_tensors(const HurrayReader& reader, bool by_parts);

/// The next descriptor of a stream that is read by parts; nothing at a clean end. Checks composites when they close.
Result<std::optional<Descriptor>> begin_tensor(HurrayReader& reader);

/// The name of a tensor of a .hrry file that was read to its end.
/// Errors: invalid_argument (no .hrry file, or its end was not reached), index_out_of_bounds.
Result<std::string_view> name_in_sequence(const HurrayReader& reader, std::uint64_t index);

/// What a memory writer has written so far, as a buffer of its own.
Result<HurrayBuffer*> take_written(HurrayWriter& writer);

}  // namespace hurray::abi
