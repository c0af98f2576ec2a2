#ifdef _WIN32
#include <atomic>
#include <memory>

#include "abi/src/internal/library_path.hpp"
#include "core/hurray/io/windows_system.hpp"

namespace hurray::abi {
namespace {

constinit std::atomic<const std::string*> known{nullptr};

std::string find_path() {
    HMODULE module = nullptr;
    const DWORD how = GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT;
    if (::GetModuleHandleExW(how, reinterpret_cast<const wchar_t*>(&library_path), &module) == 0) return {};
    // The longest path that there is.
    std::wstring path(32768, L'\0');
    path.resize(::GetModuleFileNameW(module, path.data(), static_cast<DWORD>(path.size())));
    return utf8_of(path);
}

}  // namespace

// Found once, and never freed: nothing of the library runs at the end of the process.
const char* library_path() {
    const std::string* path = known.load(std::memory_order_acquire);
    if (path != nullptr) return path->c_str();
    auto found = std::make_unique<const std::string>(find_path());
    if (known.compare_exchange_strong(path, found.get(), std::memory_order_acq_rel)) path = found.release();
    return path->c_str();
}

}  // namespace hurray::abi
#endif
