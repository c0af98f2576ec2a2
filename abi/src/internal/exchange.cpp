#include "abi/src/internal/exchange.hpp"

#include "abi/src/api/version.hpp"
#include "abi/src/internal/barrier.hpp"

namespace hurray::abi {

constinit const ExchangeTable exchange_table{
    sizeof(ExchangeTable),
    HURRAY_C_ABI_VERSION,
    &hurray_c_abi_supports,
    &hurray_build_id,
#define HURRAY_ENTRY_VALUE(name, ...) &hurray_##name,
    HURRAY_EXCHANGE_FUNCTIONS(HURRAY_ENTRY_VALUE)
#undef HURRAY_ENTRY_VALUE
};

HurrayStatus report_missing_entry(const char* function, const ExchangeTable& table, HurrayError* out) noexcept {
    return report(make_error(Status::unsupported, Error::no_offset,
                             "hurray_%s: the handle's copy of the library (C ABI version %u) has no such function", function,
                             table.c_abi_version),
                  out);
}

}  // namespace hurray::abi
