#include "abi/src/internal/foreign.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "abi/src/api/version.hpp"
#include "abi/src/internal/growth.hpp"
#include "core/hurray/descriptor/codec.hpp"

namespace hurray::abi {
namespace {

// First version that has tensor contexts.
constexpr std::uint32_t first_context_version = 4;
// The format's buffer table counts with one byte.
constexpr std::uint64_t most_buffers = 255;

// Calls a function of another copy; an answer that is no success becomes an error of ours with the same code.
template <typename Entry, typename... Arguments>
Result<void> call(const ExchangeTable& table, const char* name, Entry ExchangeTable::* entry, Arguments... arguments) {
    const Entry function = entry_of(table, entry);
    const HurrayStatus status = function == nullptr ? HURRAY_ERR_UNSUPPORTED : function(arguments...);
    if (status == HURRAY_OK) return {};
    return fail(static_cast<Status>(status), Error::no_offset, "hurray_%s of another copy of the library (C ABI version %u) %s %d",
                name, table.c_abi_version, function == nullptr ? "is missing:" : "answered", status);
}
#define HURRAY_FOREIGN(table, function, ...) call(table, #function, &ExchangeTable::function, __VA_ARGS__)

// Ends a list or context of another copy, once it was taken over, through the table of that copy.
template <typename Handle, auto Destroy, auto DestroyDeferred>
class ForeignHandle final : public Storage {
public:
    explicit ForeignHandle(const ExchangeTable& table) noexcept : table_(&table) {}
    /// From now on the handle is ended with this object; before that, nothing is.
    void own(Handle* handle) noexcept { handle_ = handle; }

private:
    ~ForeignHandle() override = default;
    bool dispose() noexcept override { return end(Destroy); }
    bool dispose_deferred() noexcept override { return end(DestroyDeferred, static_cast<HurrayError*>(nullptr)); }

    template <typename Entry, typename... Report>
    bool end(Entry ExchangeTable::* entry, Report... report) noexcept {
        Handle* handle = handle_;
        const ExchangeTable& table = *table_;
        delete this;
        return handle == nullptr || call(table, "destroy", entry, &handle, report...);
    }

    const ExchangeTable* table_;
    Handle* handle_ = nullptr;
};

using ForeignList =
    ForeignHandle<HurrayBufferList, &ExchangeTable::buffer_list_destroy, &ExchangeTable::buffer_list_destroy_deferred>;
using ForeignContext =
    ForeignHandle<HurrayTensorContext, &ExchangeTable::tensor_context_destroy, &ExchangeTable::tensor_context_destroy_deferred>;

void release_foreign_event(void*, void* context) {
    auto* buffer = static_cast<HurrayBuffer*>(context);
    (void)HURRAY_FOREIGN(table_of(buffer), buffer_event_release, buffer, nullptr);
}

// A handle of ours over a buffer of another copy. It owns nothing yet: neither its memory nor, until it is given the
// payload, the event.
struct WrappedBuffer {
    std::unique_ptr<HurrayBuffer> handle;
    SyncPayload payload;
};

Result<WrappedBuffer> wrap_buffer(HurrayBuffer* buffer) {
    const ExchangeTable& table = table_of(buffer);
    HurrayBufferInfo info{};
    info.struct_size = sizeof info;
    if (auto read = HURRAY_FOREIGN(table, buffer_info, buffer, &info, nullptr); !read) return std::unexpected(read.error());
    HurrayBufferHandleBytes bytes{};
    if (auto read = HURRAY_FOREIGN(table, buffer_handle_bytes, buffer, &bytes, nullptr); !read) {
        return std::unexpected(read.error());
    }
    auto handle = decode_buffer_handle(std::as_bytes(std::span(bytes.bytes)), 0);
    if (!handle) return std::unexpected(handle.error());
    if (info.data == nullptr && handle->byte_size != 0) {
        return fail(Status::null_pointer, Error::no_offset, "buffer of another copy: no memory for %llu bytes",
                    static_cast<unsigned long long>(handle->byte_size));
    }
    if (auto checked = check_address_range(info.data, handle->byte_size); !checked) return std::unexpected(checked.error());
    if (info.prefix >= minimum_alignment || info.prefix > handle->byte_size) {
        return fail(Status::invalid_argument, Error::no_offset, "buffer of another copy: a prefix of %u of its %llu bytes", info.prefix,
                    static_cast<unsigned long long>(handle->byte_size));
    }
    Buffer value;
    value.data = static_cast<std::byte*>(info.data);
    value.handle = *handle;
    value.prefix = info.prefix;
    value.read_only = (info.flags & HURRAY_BUFFER_READ_ONLY) != 0;
    WrappedBuffer wrapped{std::make_unique<HurrayBuffer>(std::move(value)), {}};
    if (handle->sync_mode == sync_mode::event) {
        // Its event stays with the buffer that has it, which counts its releases.
        HurrayEventPayload event{};
        const auto read = HURRAY_FOREIGN(table, buffer_event, buffer, &event.sync_handle, &event.sync_handle_device_tag, nullptr);
        if (read) {
            event.event_release_fn = &release_foreign_event;
            event.event_release_context = buffer;
            wrapped.payload = SyncPayload(event);
        }
    } else if (handle->sync_mode == sync_mode::consumer_stream) {
        HurrayStreamPayload stream{};
        const auto read =
            HURRAY_FOREIGN(table, buffer_stream, buffer, &stream.consumer_stream, &stream.consumer_stream_device_tag, nullptr);
        if (read) wrapped.payload = SyncPayload(stream);
    }
    return wrapped;
}

// Handles of ours over the buffers of a foreign list, which stays the caller's until `own`.
struct WrappedList {
    std::unique_ptr<HurrayBufferList> list;
    std::vector<SyncPayload> payloads;
    ForeignList* keeper = nullptr;
    Ref<Storage> keeper_reference;

    /// The foreign list is ours now, and so are the events of its buffers.
    void own(HurrayBufferList* foreign) noexcept {
        for (std::size_t i = 0; i < payloads.size(); ++i) list->slots[i]->sync = payloads[i];
        keeper->own(foreign);
    }
};

Result<WrappedList> wrap_list(const HurrayBufferList* list) {
    const ExchangeTable& table = table_of(list);
    std::uint64_t length = 0;
    if (auto read = HURRAY_FOREIGN(table, buffer_list_len, list, &length); !read) return std::unexpected(read.error());
    if (length > most_buffers) {
        return fail(Status::limit_exceeded, Error::no_offset, "buffer list: expected at most %llu buffers, got %llu",
                    static_cast<unsigned long long>(most_buffers), static_cast<unsigned long long>(length));
    }
    WrappedList result;
    result.list = std::make_unique<HurrayBufferList>();
    result.list->slots.reserve(static_cast<std::size_t>(length));
    result.payloads.reserve(static_cast<std::size_t>(length));
    result.keeper = new ForeignList(table);
    result.keeper_reference = Ref<Storage>::adopt(result.keeper);
    for (std::uint64_t i = 0; i < length; ++i) {
        HurrayBuffer* buffer = nullptr;
        if (auto got = HURRAY_FOREIGN(table, buffer_list_get, list, i, &buffer); !got) return std::unexpected(got.error());
        if (buffer == nullptr || origin_of(buffer) != Origin::foreign) {
            return invalid_handle("buffer of another copy", "a live handle of that copy");
        }
        auto wrapped = wrap_buffer(buffer);
        if (!wrapped) return std::unexpected(wrapped.error());
        wrapped->handle->value.storage = result.keeper_reference;
        wrapped->handle->borrowed = true;
        result.payloads.push_back(wrapped->payload);
        result.list->slots.push_back(wrapped->handle.release());
    }
    return result;
}

struct DescriptorBytes {
    const std::uint8_t* bytes = nullptr;
    std::uint64_t length = 0;
};

Result<DescriptorBytes> descriptor_of(const HurrayTensorContext* context) {
    if (origin_of(context) == Origin::own) return DescriptorBytes{context->descriptor.data(), context->descriptor.size()};
    DescriptorBytes result;
    auto read = HURRAY_FOREIGN(table_of(context), tensor_context_descriptor, context, &result.bytes, &result.length);
    if (!read) return std::unexpected(read.error());
    if (result.bytes == nullptr && result.length != 0) {
        return fail(Status::null_pointer, Error::no_offset, "context: its copy of the library gave no descriptor");
    }
    return result;
}

// Attaches the context's owner to every buffer of the list, so that shares of them keep it too. A buffer that came
// with an owner already gets one that keeps both. Everything that can fail comes before the first change.
void attach_owner(HurrayBufferList& list, const Ref<Storage>& owner) {
    if (!owner) return;
    std::vector<Ref<Storage>> owners;
    owners.reserve(list.slots.size());
    for (const HurrayBuffer* buffer : list.slots) {
        owners.push_back(buffer->context_owner ? Ref<Storage>::adopt(new JointOwner(buffer->context_owner, owner)) : owner);
    }
    for (std::size_t i = 0; i < owners.size(); ++i) list.slots[i]->context_owner = std::move(owners[i]);
}

}  // namespace

Result<std::uint32_t> accepted_version(const HurrayTensorContext* context) {
    std::uint32_t version = 0;
    const ExchangeTable* table = &exchange_table;
    if (origin_of(context) == Origin::own) {
        version = context->producer_version;
    } else {
        table = &table_of(context);
        auto read = HURRAY_FOREIGN(*table, tensor_context_abi_version, context, &version);
        if (!read) return std::unexpected(read.error());
    }
    if (version == HURRAY_C_ABI_VERSION) return version;
    if (version < first_context_version) {
        return fail(Status::version_mismatch, Error::no_offset, "context: made by C ABI version %u, expected version %u to %u",
                    version, first_context_version, HURRAY_C_ABI_VERSION);
    }
    if (version < HURRAY_C_ABI_VERSION) {
        if (exchange_table.supports(version) != 0) return version;
    } else {
        const auto supports = entry_of(*table, &ExchangeTable::supports);
        if (supports != nullptr && supports(version) != 0 && supports(HURRAY_C_ABI_VERSION) != 0) return version;
    }
    return fail(Status::version_mismatch, Error::no_offset,
                "context: made by C ABI version %u, expected version %u or a later one that its maker vouches for", version,
                HURRAY_C_ABI_VERSION);
}

Result<bool> context_supports(const HurrayTensorContext* context, std::uint32_t version) {
    const ExchangeTable& table = table_of(context);
    std::uint32_t made_by = 0;
    if (origin_of(context) == Origin::own) {
        made_by = context->producer_version;
    } else if (auto read = HURRAY_FOREIGN(table, tensor_context_abi_version, context, &made_by); !read) {
        return std::unexpected(read.error());
    }
    if (made_by < first_context_version || version < first_context_version) return false;
    const auto supports = entry_of(table, &ExchangeTable::supports);
    return supports != nullptr && supports(version) != 0 && supports(made_by) != 0;
}

Result<void> push_foreign(HurrayBufferList& list, HurrayBuffer* buffer) {
    const ExchangeTable& table = table_of(buffer);
    auto wrapped = wrap_buffer(buffer);
    if (!wrapped) return std::unexpected(wrapped.error());
    reserve_more(list.slots, 1);
    auto* keeper = new ForeignList(table);
    wrapped->handle->value.storage = Ref<Storage>::adopt(keeper);
    wrapped->handle->borrowed = true;
    // A list of its own copy takes the buffer, so that over there it is borrowed, as it would be in ours.
    HurrayBufferList* holder = nullptr;
    if (auto made = HURRAY_FOREIGN(table, buffer_list_new, std::uint64_t{1}, &holder); !made) return made;
    if (auto pushed = HURRAY_FOREIGN(table, buffer_list_push, holder, buffer); !pushed) {
        (void)HURRAY_FOREIGN(table, buffer_list_destroy, &holder);
        return pushed;
    }
    keeper->own(holder);
    wrapped->handle->sync = wrapped->payload;
    list.slots.push_back(wrapped->handle.release());
    return {};
}

Result<HurrayTensor*> make_tensor_of(const Descriptor& descriptor, HurrayBufferList*& list, const Ref<Storage>& owner) {
    const bool foreign = origin_of(list) == Origin::foreign;
    WrappedList wrapped;
    HurrayBufferList* taken = list;
    if (foreign) {
        auto result = wrap_list(list);
        if (!result) return std::unexpected(result.error());
        wrapped = std::move(*result);
        taken = wrapped.list.get();
    } else if (list->borrowed || list->closing) {
        return invalid_handle("list", "a list that the caller owns");
    }
    auto tensor = make_tensor(descriptor, taken);
    if (!tensor) return tensor;
    try {
        attach_owner(*(*tensor)->buffers, owner);
    } catch (...) {
        // The list is the caller's again; a wrapped one goes, without what it wrapped.
        (void)take_list_back(*tensor);
        throw;
    }
    // From here on nothing fails.
    if ((*tensor)->buffers->slots.empty()) (*tensor)->context_owner = owner;
    if (foreign) {
        wrapped.own(list);
        (void)wrapped.list.release();
    }
    list = nullptr;
    return tensor;
}

Result<HurrayTensor*> import_pair(HurrayBufferList*& list, HurrayTensorContext*& context, const DecodeOptions& options) {
    if (auto version = accepted_version(context); !version) return std::unexpected(version.error());
    auto bytes = descriptor_of(context);
    if (!bytes) return std::unexpected(bytes.error());
    auto descriptor = decode(std::as_bytes(std::span(bytes->bytes, static_cast<std::size_t>(bytes->length))), options);
    if (!descriptor) return std::unexpected(descriptor.error());

    if (origin_of(context) == Origin::own) {
        auto tensor = make_tensor_of(*descriptor, list, context->owner);
        // Its owner lives on with the tensor: no callback runs.
        if (tensor) (void)destroy_context(std::exchange(context, nullptr), false);
        return tensor;
    }
    auto* keeper = new ForeignContext(table_of(context));
    const Ref<Storage> owner = Ref<Storage>::adopt(keeper);
    auto tensor = make_tensor_of(*descriptor, list, owner);
    if (tensor) keeper->own(std::exchange(context, nullptr));
    return tensor;
}

Result<Buffer> shared_memory(const HurrayBuffer* buffer) {
    if (origin_of(buffer) == Origin::own) {
        Buffer memory = buffer->value;
        if (buffer->context_owner) {
            memory.storage = memory.storage ? Ref<Storage>::adopt(new JointOwner(buffer->context_owner, memory.storage))
                                            : buffer->context_owner;
        }
        return memory;
    }
    const ExchangeTable& table = table_of(buffer);
    const auto list = std::make_unique<HurrayBufferList>();
    HurrayBuffer* share = nullptr;
    if (auto shared = HURRAY_FOREIGN(table, buffer_share, buffer, &share, static_cast<HurrayError*>(nullptr)); !shared) {
        return std::unexpected(shared.error());
    }
    if (share == nullptr || origin_of(share) != Origin::foreign) {
        return invalid_handle("buffer of another copy", "a live share of it");
    }
    const auto end_share = [&] { (void)HURRAY_FOREIGN(table, buffer_destroy, share); };
    try {
        if (auto pushed = push_foreign(*list, share); !pushed) {
            end_share();
            return std::unexpected(pushed.error());
        }
    } catch (...) {
        end_share();
        throw;
    }
    return list->slots.front()->value;
}

Result<LocalTensor> LocalTensor::of(const HurrayTensor* tensor) {
    if (origin_of(tensor) == Origin::own) return LocalTensor(tensor, nullptr);
    const ExchangeTable& table = table_of(tensor);
    HurrayBufferList* list = nullptr;
    HurrayTensorContext* context = nullptr;
    if (auto exported = HURRAY_FOREIGN(table, tensor_export, tensor, &list, &context, nullptr); !exported) {
        return std::unexpected(exported.error());
    }
    if (list == nullptr || context == nullptr || origin_of(list) != Origin::foreign || origin_of(context) != Origin::foreign) {
        return invalid_handle("tensor of another copy", "a list and a context of that copy from its export");
    }
    const auto end_both = [&] {
        if (list != nullptr) (void)HURRAY_FOREIGN(table, buffer_list_destroy, &list);
        if (context != nullptr) (void)HURRAY_FOREIGN(table, tensor_context_destroy, &context);
    };
    try {
        // The tensor is there: whatever its own copy was told to accept.
        auto share = import_pair(list, context, whatever_was_accepted);
        if (share) return LocalTensor(*share, *share);
        end_both();
        return std::unexpected(share.error());
    } catch (...) {
        end_both();
        throw;
    }
}

LocalTensor::LocalTensor(LocalTensor&& other) noexcept : tensor_(other.tensor_), share_(std::exchange(other.share_, nullptr)) {}

LocalTensor::~LocalTensor() {
    if (share_ != nullptr) (void)destroy_tensor(share_, false);
}

}  // namespace hurray::abi
