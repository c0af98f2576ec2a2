// The table of functions behind the frozen prefix: entries are appended and never move, since copies of the library that
// were built years apart read one another's.
#include "abi/src/internal/exchange.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string_view>

#include "abi/src/api/version.hpp"

namespace {

using hurray::abi::exchange_table;
using hurray::abi::ExchangeTable;

// Written down by hand, once for ever.
constexpr std::array<std::string_view, 31> frozen_order = {
    "tensor_context_abi_version",
    "tensor_context_descriptor",
    "tensor_context_destroy",
    "tensor_context_destroy_deferred",
    "tensor_context_set_release_queue",
    "buffer_list_new",
    "buffer_list_push",
    "buffer_list_len",
    "buffer_list_get",
    "buffer_list_destroy",
    "buffer_list_destroy_deferred",
    "buffer_share",
    "buffer_slice",
    "buffer_info",
    "buffer_handle_bytes",
    "buffer_prefix",
    "buffer_set_read_only",
    "buffer_set_release_queue",
    "buffer_set_release_any_thread",
    "buffer_event",
    "buffer_event_release",
    "buffer_stream",
    "buffer_destroy",
    "buffer_destroy_deferred",
    "tensor_export",
    "tensor_share",
    "tensor_view",
    "tensor_buffer",
    "tensor_copy",
    "tensor_destroy",
    "tensor_destroy_deferred",
};

constexpr std::array present_order = {
#define HURRAY_ENTRY_NAME(name, ...) std::string_view(#name),
    HURRAY_EXCHANGE_FUNCTIONS(HURRAY_ENTRY_NAME)
#undef HURRAY_ENTRY_NAME
};

TEST(ExchangeTable, EntriesStandWhereTheyWereFrozen) {
    ASSERT_GE(present_order.size(), frozen_order.size());
    for (std::size_t i = 0; i < frozen_order.size(); ++i) EXPECT_EQ(present_order[i], frozen_order[i]) << "entry " << i;
}

TEST(ExchangeTable, HeadIsSizeVersionSupportsAndBuildId) {
    static_assert(offsetof(ExchangeTable, size) == 0);
    static_assert(offsetof(ExchangeTable, c_abi_version) == 4);
    static_assert(offsetof(ExchangeTable, supports) == 8);
    static_assert(offsetof(ExchangeTable, build_id) == 8 + sizeof(void*));
    static_assert(offsetof(ExchangeTable, tensor_context_abi_version) == 8 + 2 * sizeof(void*));
    static_assert(sizeof(ExchangeTable) == 8 + (2 + present_order.size()) * sizeof(void*));
    EXPECT_EQ(exchange_table.size, sizeof(ExchangeTable));
    EXPECT_EQ(exchange_table.c_abi_version, HURRAY_C_ABI_VERSION);
    EXPECT_EQ(exchange_table.supports(HURRAY_C_ABI_VERSION), 1);
    EXPECT_EQ(exchange_table.build_id(), hurray_build_id());
}

TEST(ExchangeTable, EveryEntryIsThePublicFunction) {
#define HURRAY_ENTRY_CHECK(name, ...) EXPECT_EQ(exchange_table.name, &hurray_##name);
    HURRAY_EXCHANGE_FUNCTIONS(HURRAY_ENTRY_CHECK)
#undef HURRAY_ENTRY_CHECK
}

TEST(ExchangeTable, EntryBehindTheEndOfAnOlderTableIsNull) {
    ExchangeTable older = exchange_table;
    older.size = offsetof(ExchangeTable, tensor_copy);
    EXPECT_EQ(entry_of(older, &ExchangeTable::tensor_buffer), exchange_table.tensor_buffer);
    EXPECT_EQ(entry_of(older, &ExchangeTable::tensor_copy), nullptr);
    older.size = offsetof(ExchangeTable, tensor_copy) + 1;
    EXPECT_EQ(entry_of(older, &ExchangeTable::tensor_copy), nullptr) << "half an entry is none";
}

}  // namespace
