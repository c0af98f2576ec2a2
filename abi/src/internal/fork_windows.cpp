#ifdef _WIN32
#include "abi/src/internal/fork.hpp"

namespace hurray::abi {

// There are no forks.
std::uint32_t fork_generation() noexcept { return 0; }

}  // namespace hurray::abi
#endif
