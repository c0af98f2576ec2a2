#ifndef _WIN32
#include <dlfcn.h>

#include "abi/src/internal/library_path.hpp"

namespace hurray::abi {

const char* library_path() {
    Dl_info where{};
    const bool found = ::dladdr(reinterpret_cast<const void*>(&library_path), &where) != 0;
    return found && where.dli_fname != nullptr ? where.dli_fname : "";
}

}  // namespace hurray::abi
#endif
