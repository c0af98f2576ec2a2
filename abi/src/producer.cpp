// Producers: tensors on request, ordered on the consumer's stream. (seed: SYNC_CONSUMER_STREAM)
#include <cstddef>
#include <charconv>
#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>

#include "abi/src/api/annotations.hpp"
#include "abi/src/api/handoff.hpp"
#include "abi/src/api/version.hpp"
#include "abi/src/internal/barrier.hpp"
#include "abi/src/internal/exchange.hpp"
#include "abi/src/internal/foreign.hpp"
#include "abi/src/internal/objects.hpp"

using namespace hurray;
using namespace hurray::abi;

namespace {

// The struct as it was when it was introduced.
constexpr std::uint32_t first_producer_size = sizeof(HurrayProducer);
constexpr std::uint32_t first_producer_version = 4;

Result<void> check_producer(const HurrayProducer& producer) {
    if (producer.struct_size < first_producer_size || producer.struct_size > largest_struct_size) {
        return fail(Status::invalid_argument, Error::no_offset, "producer->struct_size: expected %u to %u, got %u",
                    first_producer_size, largest_struct_size, producer.struct_size);
    }
    // Its functions are those of version 4; what it exports tells its own version.
    if (producer.abi_version < first_producer_version) {
        return fail(Status::version_mismatch, Error::no_offset,
                    "producer->abi_version: made by C ABI version %u, expected version %u or later", producer.abi_version,
                    first_producer_version);
    }
    return {};
}

// The pair that a producer exported, until a tensor was made of it.
struct Exported {
    HurrayBufferList* list = nullptr;
    HurrayTensorContext* context = nullptr;

    Exported() = default;
    Exported(const Exported&) = delete;
    Exported& operator=(const Exported&) = delete;
    ~Exported() {
        // Both are looked at before either is ended: a producer may have given the same pointer twice.
        const bool ends_list = list != nullptr && origin_of(list) != Origin::invalid;
        const bool ends_context = context != nullptr && origin_of(context) != Origin::invalid;
        // Whatever copy of the library made them: the public functions know.
        if (ends_list) (void)hurray_buffer_list_destroy(&list);
        if (ends_context) (void)hurray_tensor_context_destroy(&context);
    }
};

// Takes the " [byte N]" from the end of a message, so that a longer message around it does not lose it.
std::uint64_t take_offset(char* message) {
    constexpr std::string_view start = " [byte ";
    const std::string_view text(message);
    const std::size_t at = text.rfind(start);
    if (at == std::string_view::npos || !text.ends_with(']')) return Error::no_offset;
    const std::string_view digits = text.substr(at + start.size(), text.size() - at - start.size() - 1);
    std::uint64_t offset = 0;
    const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), offset);
    if (digits.empty() || fault != std::errc() || end != digits.data() + digits.size()) return Error::no_offset;
    message[at] = '\0';
    return offset;
}

Result<void> export_pair(const HurrayProducer& producer, void* stream, std::uint8_t device_tag, Exported& pair) {
    HurrayError report{};
    // Variables apart: what a producer leaves in them when it fails, or throws, is not ours to end.
    HurrayBufferList* list = nullptr;
    HurrayTensorContext* context = nullptr;
    const HurrayStatus status = producer.export_tensor(producer.context, stream, device_tag, &list, &context, &report);
    if (status != HURRAY_OK) {
        report.message[sizeof report.message - 1] = '\0';
        const std::uint64_t offset = take_offset(report.message);
        if (std::strcmp(hurray_status_name(status), "UNKNOWN") == 0) {
            return fail(Status::invalid_argument, offset, "producer->export_tensor: failed with the unknown code %d: %s",
                        status, report.message);
        }
        return fail(static_cast<Status>(status), offset, "producer->export_tensor: %s",
                    report.message[0] == '\0' ? "failed without a message" : report.message);
    }
    pair.list = list;
    pair.context = context;
    if (list == nullptr || context == nullptr) {
        return fail(Status::null_pointer, Error::no_offset, "producer->export_tensor: succeeded without a %s",
                    list == nullptr ? "list" : "context");
    }
    if (origin_of(list) == Origin::invalid || origin_of(context) == Origin::invalid) {
        return invalid_handle("producer->export_tensor", "a live list and a live context");
    }
    return {};
}

// Every buffer that is ordered on a stream must be ordered on the one that was asked for.
Result<void> check_streams(const HurrayTensor& tensor, const void* stream, std::uint8_t device_tag) {
    for (std::size_t i = 0; i < tensor.buffers->slots.size(); ++i) {
        const HurrayBuffer& buffer = *tensor.buffers->slots[i];
        if (buffer.value.handle.sync_mode == sync_mode::event && buffer.sync.event().sync_handle == nullptr) {
            return fail(Status::sync_mode_mismatch, Error::no_offset, "buffer %zu: its sync mode is EVENT, and it carries no event", i);
        }
        if (buffer.value.handle.sync_mode != sync_mode::consumer_stream) continue;
        const HurrayStreamPayload& payload = buffer.sync.stream();
        if (stream == nullptr || payload.consumer_stream != stream || payload.consumer_stream_device_tag != device_tag) {
            return fail(Status::sync_mode_mismatch, Error::no_offset,
                        "buffer %zu: expected it to be ordered on the consumer's stream, it is ordered on %s", i,
                        payload.consumer_stream == nullptr ? "none" : "another");
        }
    }
    return {};
}

}  // namespace

/// Asks a producer for a tensor that is ready for work on the consumer's stream. Calls its export_tensor and checks what
/// comes: the version of the context before anything else, and that every CONSUMER_STREAM buffer is ordered on exactly this
/// stream. Buffers may also be PRODUCER_SYNCED, or carry an event (see hurray_buffer_event).
/// @param consumer_stream the consumer's stream, opaque; null: none, and then no buffer may be CONSUMER_STREAM
/// @param consumer_stream_device_tag HURRAY_DEVICE_ tag of the stream; 0 when there is none
/// @owner the tensor belongs to the caller; the producer stays with whoever holds it. When export_tensor succeeded and this
///     call fails all the same, what was exported has been ended; an export_tensor that fails has made nothing, and what
///     it may have left in its outputs is not touched
/// @errors NULL_POINTER: the producer is released, or exported nothing; INVALID_ARGUMENT: struct_size, or a code that this
///     library does not know; VERSION_MISMATCH; SYNC_MODE_MISMATCH: another stream; INVALID_HANDLE; INTERNAL_PANIC: export_tensor
///     threw an exception; whatever export_tensor reports; those of hurray_tensor_import
/// @thread one thread at a time for a producer; export_tensor runs on it
/// @since 4
/// @spec ABI: Per-Mode Payloads
HURRAY_API HurrayStatus hurray_producer_request(HG_IN const HurrayProducer* producer, HG_OPAQUE void* consumer_stream,
                                                uint8_t consumer_stream_device_tag,
                                                HG_OUT_OWNED(hurray_tensor_destroy) HurrayTensor** out_tensor,
                                                HG_ERROR HurrayError* error) noexcept {
    if (out_tensor != nullptr) *out_tensor = nullptr;
    HURRAY_REQUIRE(producer, error);
    HURRAY_REQUIRE(out_tensor, error);
    return guarded(error, [&]() -> Result<void> {
        if (auto checked = check_producer(*producer); !checked) return checked;
        if (producer->export_tensor == nullptr) {
            return fail(Status::null_pointer, Error::no_offset, "producer->export_tensor: is null, the producer is released");
        }
        if (consumer_stream == nullptr && consumer_stream_device_tag != 0) {
            return fail(Status::invalid_argument, Error::no_offset, "consumer_stream_device_tag: expected 0 without a stream, got %u",
                        consumer_stream_device_tag);
        }
        Exported pair;
        if (auto exported = export_pair(*producer, consumer_stream, consumer_stream_device_tag, pair); !exported) return exported;
        auto tensor = import_pair(pair.list, pair.context);
        if (!tensor) return std::unexpected(tensor.error());
        if (auto checked = check_streams(**tensor, consumer_stream, consumer_stream_device_tag); !checked) {
            (void)destroy_tensor(*tensor, false);
            return checked;
        }
        *out_tensor = *tensor;
        return {};
    });
}

/// Ends a producer: runs its release exactly once and nulls both of its functions, so that a repeated call is a no-op. The
/// struct is the program's: in the child of a fork, too, it is for the program to know whether it may be released.
/// @owner ends the caller's ownership of what the producer keeps; the struct itself stays the caller's
/// @errors INVALID_ARGUMENT: struct_size; INTERNAL_PANIC: the release threw an exception, and counts as run
/// @thread one thread at a time; the release runs on it
/// @since 4
HURRAY_API HurrayStatus hurray_producer_release(HG_INOUT HurrayProducer* producer, HG_ERROR HurrayError* error) noexcept {
    HURRAY_REQUIRE(producer, error);
    if (const auto checked = check_producer(*producer); !checked) return report(checked.error(), error);
    // Nulled first: a release that comes back here finds the producer released.
    const HurrayProducerReleaseFn release = std::exchange(producer->release, nullptr);
    producer->export_tensor = nullptr;
    if (release == nullptr) return succeed(error);
    void* const context = producer->context;
    return report_end(run_callback("producer release callback", [&] { release(context); }), error);
}
