// The frozen table of functions for handles of other copies of the library: the spies of tests/conformance/device have
// it written down a second time, and the two are the same, name by name and offset by offset. Linked to the shim: the
// table is no part of the public headers.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "abi/src/internal/exchange.hpp"
#include "tests/conformance/device/stranger.h"

namespace {

using hurray::abi::ExchangeTable;

struct Entry {
    std::string name;
    std::size_t offset;
};

std::vector<Entry> entries() {
    return {
        {"supports", offsetof(ExchangeTable, supports)},
        {"build_id", offsetof(ExchangeTable, build_id)},
#define HURRAY_ENTRY(name, ...) {#name, offsetof(ExchangeTable, name)},
        HURRAY_EXCHANGE_FUNCTIONS(HURRAY_ENTRY)
#undef HURRAY_ENTRY
    };
}

TEST(SpyTable, EntriesStandWhereTheSpiesHaveThem) {
    const std::vector<Entry> expected = entries();
    for (std::uint32_t i = 0; i < expected.size(); ++i) {
        EXPECT_EQ(spy_table_entry_name(i), expected[i].name) << i;
        EXPECT_EQ(spy_table_entry_offset(i), expected[i].offset) << expected[i].name;
    }
    EXPECT_EQ(spy_table_entries(), expected.size()) << "entries are appended here and in tests/conformance/device/stranger.c";
    EXPECT_EQ(spy_table_size(), sizeof(ExchangeTable));
}

TEST(SpyTable, MagicsAreThoseOfTheHandles) {
    for (const std::uint32_t kind :
         {HURRAY_HANDLE_BUFFER, HURRAY_HANDLE_BUFFER_LIST, HURRAY_HANDLE_TENSOR_CONTEXT, HURRAY_HANDLE_TENSOR}) {
        EXPECT_EQ(stranger_right_magic(kind), hurray::abi::magic_of(kind));
        EXPECT_NE(stranger_wrong_magic(), hurray::abi::magic_of(kind));
    }
    static_assert(STRANGER_BUFFER == HURRAY_HANDLE_BUFFER && STRANGER_LIST == HURRAY_HANDLE_BUFFER_LIST);
    static_assert(STRANGER_CONTEXT == HURRAY_HANDLE_TENSOR_CONTEXT && STRANGER_TENSOR == HURRAY_HANDLE_TENSOR);
}

}  // namespace
