// Identity of this build.
#pragma once

namespace hurray::abi {

const char* library_version() noexcept;
const char* build_id() noexcept;

}  // namespace hurray::abi
