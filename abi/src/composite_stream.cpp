// Composites in streams: a head, and behind it its members. (format: stream, composite)
#include <algorithm>
#include <utility>

#include "abi/src/api/annotations.hpp"
#include "abi/src/api/handles.hpp"
#include "abi/src/internal/barrier.hpp"
#include "abi/src/internal/composite_objects.hpp"
#include "abi/src/internal/objects.hpp"
#include "abi/src/internal/io_objects.hpp"
#include "core/hurray/composite/composite_assembler.hpp"
#include "core/hurray/host_memory.hpp"

using namespace hurray;
using namespace hurray::abi;

namespace {

// What there is of a composite that is torn becomes tensors of their own; a strict reader refuses it.
Result<void> take_loose(HurrayReader& reader, const Error& fault) {
    if (reader.mode == Mode::strict) return std::unexpected(fault);
    auto tensors = reader.assembler.take_loose();
    if (!tensors) return std::unexpected(tensors.error());
    reader.loose = std::move(*tensors);
    std::ranges::reverse(reader.loose);
    return {};
}

// The next tensor or composite; nothing at a clean end.
Result<std::optional<CompositeMember>> next_item(HurrayReader& reader) {
    for (;;) {
        if (!reader.loose.empty()) {
            CompositeMember tensor(std::move(reader.loose.back()));
            reader.loose.pop_back();
            return tensor;
        }
        auto next = reader.value.next();
        if (!next) return std::unexpected(next.error());
        if (!next->has_value()) {
            if (!reader.assembler.is_open()) return std::nullopt;
            const auto finished = reader.assembler.finish();
            if (finished) return std::nullopt;
            if (auto taken = take_loose(reader, finished.error()); !taken) return std::unexpected(taken.error());
            continue;
        }
        auto item = reader.assembler.add(std::move(**next));
        if (!item) {
            if (auto taken = take_loose(reader, item.error()); !taken) return std::unexpected(taken.error());
        } else if (item->has_value()) {
            return std::move(*item);
        }
    }
}

}  // namespace

/// Reads the next tensor or, where a head comes, the whole composite; both variables are null at a clean end. A reader is used
/// with this function or with hurray_reader_next, which gives heads and members as tensors; hurray_reader_begin gives their
/// descriptors before their data.
/// A composite that is torn, or whose members do not fit, is refused; a permissive reader (HURRAY_STREAM_PERMISSIVE) gives what
/// came of it as tensors, without the heads.
/// @owner caller; independent of the reader
/// @errors those of hurray_reader_next; INVALID_COMPOSITE; LIMIT_EXCEEDED: a composite of more than 2^20 descriptors. After an
///     error the reader can only be destroyed
/// @thread one thread at a time
/// @since 4
/// @spec format: stream, composite
HURRAY_API HurrayStatus hurray_reader_next_item(HG_INOUT HurrayReader* reader,
                                                HG_OUT_OWNED(hurray_tensor_destroy) HurrayTensor** out_tensor,
                                                HG_OUT_OWNED(hurray_composite_destroy) HurrayComposite** out_composite,
                                                HG_ERROR HurrayError* error) noexcept {
    if (out_tensor != nullptr) *out_tensor = nullptr;
    if (out_composite != nullptr) *out_composite = nullptr;
    HURRAY_REQUIRE_HANDLE(reader, error);
    HURRAY_REQUIRE(out_tensor, error);
    HURRAY_REQUIRE(out_composite, error);
    if (auto checked = check_between_tensors(*reader, false); !checked) return report(checked.error(), error);
    const HurrayStatus status = guarded(error, [&]() -> Result<void> {
        auto item = next_item(*reader);
        if (!item) return std::unexpected(item.error());
        if (!item->has_value()) return {};
        if (const Tensor* tensor = (*item)->tensor()) {
            auto handle = make_tensor(Tensor(*tensor));
            if (!handle) return std::unexpected(handle.error());
            *out_tensor = *handle;
        } else {
            *out_composite = new HurrayComposite((*item)->shared_composite());
        }
        return {};
    });
    if (status != HURRAY_OK) {
        // What was read and could not be handed over is lost; the next one must not stand in its place.
        reader->value.stop(make_error(static_cast<Status>(status), reader->value.offset(), "an earlier tensor of the stream was lost"));
        reader->loose.clear();
    }
    return status;
}

/// Writes a composite: its head, and behind it its members, those of inner composites behind their heads.
/// @errors UNSUPPORTED: memory that the CPU cannot read, nothing is written then; IO: the stream ends torn, and the writer takes
///     nothing more
/// @thread one thread at a time
/// @since 4
/// @spec format: stream, composite
HURRAY_API HurrayStatus hurray_writer_write_composite(HG_INOUT HurrayWriter* writer, HG_IN const HurrayComposite* composite,
                                                      HG_ERROR HurrayError* error) noexcept {
    HURRAY_REQUIRE_HANDLE(writer, error);
    HURRAY_REQUIRE_HANDLE(composite, error);
    return guarded(error, [&]() -> Result<void> {
        const std::vector<Tensor> tensors = pre_order(*composite->value);
        for (const Tensor& tensor : tensors) {
            if (auto checked = check_host_buffers(tensor); !checked) return checked;
        }
        for (const Tensor& tensor : tensors) {
            if (auto written = writer->value.write(tensor); !written) return written;
        }
        return {};
    });
}
