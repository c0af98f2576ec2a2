// Handles that cross between copies of the library in one process: the frozen prefix and the table of functions that
// stands behind it. docs/abi.md describes both for those who write another implementation.
#pragma once

#include <cstddef>
#include <cstdint>

#include "abi/src/api/annotations.hpp"
#include "abi/src/api/buffer.hpp"
#include "abi/src/api/handles.hpp"
#include "abi/src/api/status.hpp"
#include "abi/src/api/tensor.hpp"

/// The functions of the table: name without hurray_, parameters. The order is frozen: entries are only ever appended.
#define HURRAY_EXCHANGE_FUNCTIONS(ENTRY)                                                                            \
    ENTRY(tensor_context_abi_version, const HurrayTensorContext*, std::uint32_t*)                                   \
    ENTRY(tensor_context_descriptor, const HurrayTensorContext*, const std::uint8_t**, std::uint64_t*)              \
    ENTRY(tensor_context_destroy, HurrayTensorContext**)                                                            \
    ENTRY(tensor_context_destroy_deferred, HurrayTensorContext**, HurrayError*)                                     \
    ENTRY(tensor_context_set_release_queue, HurrayTensorContext*, const HurrayReleaseQueue*, HurrayError*)          \
    ENTRY(buffer_list_new, std::uint64_t, HurrayBufferList**)                                                       \
    ENTRY(buffer_list_push, HurrayBufferList*, HurrayBuffer*)                                                       \
    ENTRY(buffer_list_len, const HurrayBufferList*, std::uint64_t*)                                                 \
    ENTRY(buffer_list_get, const HurrayBufferList*, std::uint64_t, HurrayBuffer**)                                  \
    ENTRY(buffer_list_destroy, HurrayBufferList**)                                                                  \
    ENTRY(buffer_list_destroy_deferred, HurrayBufferList**, HurrayError*)                                           \
    ENTRY(buffer_share, const HurrayBuffer*, HurrayBuffer**, HurrayError*)                                          \
    ENTRY(buffer_slice, const HurrayBuffer*, std::uint64_t, std::uint64_t, HurrayBuffer**, HurrayError*)            \
    ENTRY(buffer_info, const HurrayBuffer*, HurrayBufferInfo*, HurrayError*)                                        \
    ENTRY(buffer_handle_bytes, const HurrayBuffer*, HurrayBufferHandleBytes*, HurrayError*)                         \
    ENTRY(buffer_prefix, const HurrayBuffer*, std::uint64_t*, HurrayError*)                                         \
    ENTRY(buffer_set_read_only, HurrayBuffer*, HurrayError*)                                                        \
    ENTRY(buffer_set_release_queue, HurrayBuffer*, const HurrayReleaseQueue*, HurrayError*)                         \
    ENTRY(buffer_set_release_any_thread, HurrayBuffer*, HurrayError*)                                               \
    ENTRY(buffer_event, const HurrayBuffer*, void**, std::uint8_t*, HurrayError*)                                   \
    ENTRY(buffer_event_release, HurrayBuffer*, HurrayError*)                                                        \
    ENTRY(buffer_stream, const HurrayBuffer*, void**, std::uint8_t*, HurrayError*)                                  \
    ENTRY(buffer_destroy, HurrayBuffer*)                                                                            \
    ENTRY(buffer_destroy_deferred, HurrayBuffer*, HurrayError*)                                                     \
    ENTRY(tensor_export, const HurrayTensor*, HurrayBufferList**, HurrayTensorContext**, HurrayError*)              \
    ENTRY(tensor_share, const HurrayTensor*, HurrayTensor**, HurrayError*)                                          \
    ENTRY(tensor_view, const HurrayTensor*, HurrayView*, HurrayError*)                                              \
    ENTRY(tensor_buffer, const HurrayTensor*, std::uint32_t, HurrayBuffer**, HurrayError*)                          \
    ENTRY(tensor_copy, const HurrayTensor*, std::uint32_t, HurrayTensor**, std::uint64_t*, HurrayError*)            \
    ENTRY(tensor_destroy, HurrayTensor**)                                                                           \
    ENTRY(tensor_destroy_deferred, HurrayTensor**, HurrayError*)

// The public functions that stand in the table; defined, documented and exported elsewhere.
#define HURRAY_DECLARE_ENTRY(name, ...) extern "C" HURRAY_EXPORT HurrayStatus hurray_##name(__VA_ARGS__) noexcept;
HURRAY_EXCHANGE_FUNCTIONS(HURRAY_DECLARE_ENTRY)
#undef HURRAY_DECLARE_ENTRY
extern "C" HURRAY_EXPORT std::uint8_t hurray_c_abi_supports(std::uint32_t version) noexcept;
extern "C" HURRAY_EXPORT const char* hurray_build_id() noexcept;
extern "C" HURRAY_EXPORT const char* hurray_status_name(HurrayStatus status) noexcept;

namespace hurray::abi {

/// Functions of one copy of the library. A reader looks no further than `size`.
struct ExchangeTable {
    std::uint32_t size;
    std::uint32_t c_abi_version;
    /// hurray_c_abi_supports: whether this copy vouches for a version.
    std::uint8_t (*supports)(std::uint32_t version) noexcept;
    /// hurray_build_id.
    const char* (*build_id)() noexcept;
#define HURRAY_ENTRY_FIELD(name, ...) HurrayStatus (*name)(__VA_ARGS__) noexcept;
    HURRAY_EXCHANGE_FUNCTIONS(HURRAY_ENTRY_FIELD)
#undef HURRAY_ENTRY_FIELD
};

/// This copy's table.
extern const ExchangeTable exchange_table;

/// Start of every handle. Frozen since version 4: another copy of the library reads exactly these fields, in this
/// order, before it trusts anything else.
struct HandlePrefix {
    std::uint64_t magic;
    std::uint32_t generation;
    std::uint32_t version;
    const ExchangeTable* table;
};
static_assert(offsetof(HandlePrefix, magic) == 0 && offsetof(HandlePrefix, generation) == 8);
static_assert(offsetof(HandlePrefix, version) == 12 && offsetof(HandlePrefix, table) == 16);
static_assert(sizeof(HandlePrefix) == 16 + sizeof(void*));

inline constexpr std::uint32_t handle_generation = 1;

/// Magic of a live handle: the six letters of the name and the kind. A destroyed handle is overwritten with `dead_magic`.
constexpr std::uint64_t magic_of(std::uint32_t kind) { return 0x59415252'55480000ULL | kind; }
inline constexpr std::uint64_t dead_magic = 0xDEAD'DEAD'DEAD'DEADULL;

enum class Origin : std::uint8_t { own, foreign, invalid };

/// Whose handle it is. Nothing of a stranger's is read behind the first field that is wrong.
template <typename Handle>
[[nodiscard]] inline Origin origin_of(const Handle* handle) noexcept {
    // Volatile: the memory may be that of a handle which is destroyed, and the compiler knows that nobody reads that.
    const auto* prefix = reinterpret_cast<const volatile HandlePrefix*>(handle);
    if (prefix->magic != magic_of(Handle::kind) || prefix->generation != handle_generation) return Origin::invalid;
    const ExchangeTable* table = prefix->table;
    if (table == &exchange_table) [[likely]] return Origin::own;
    return table == nullptr ? Origin::invalid : Origin::foreign;
}

/// The table of the copy that a handle of another copy belongs to.
template <typename Handle>
[[nodiscard]] inline const ExchangeTable& table_of(const Handle* handle) noexcept {
    return *reinterpret_cast<const HandlePrefix*>(handle)->table;
}

/// The entry of a table; null when the copy is too old to have it.
template <typename Entry>
[[nodiscard]] inline Entry entry_of(const ExchangeTable& table, Entry ExchangeTable::* entry) noexcept {
    const auto offset = reinterpret_cast<const char*>(&(table.*entry)) - reinterpret_cast<const char*>(&table);
    return static_cast<std::size_t>(offset) + sizeof(Entry) <= table.size ? table.*entry : nullptr;
}

/// UNSUPPORTED: the handle's copy of the library has no such function.
HurrayStatus report_missing_entry(const char* function, const ExchangeTable& table, HurrayError* out) noexcept;

/// Calls the function of the copy that the handle belongs to.
template <typename Handle, typename Entry, typename... Arguments>
HurrayStatus dispatch(const Handle* handle, const char* name, Entry ExchangeTable::* entry, HurrayError* error,
                      Arguments... arguments) noexcept {
    const ExchangeTable& table = table_of(handle);
    const Entry function = entry_of(table, entry);
    return function == nullptr ? report_missing_entry(name, table, error) : function(arguments...);
}

}  // namespace hurray::abi
