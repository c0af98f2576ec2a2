// Where the loaded copy of the library lies.
#pragma once

namespace hurray::abi {

/// Path of the file that holds this code, in UTF-8; static. Empty where the system does not tell.
const char* library_path();

}  // namespace hurray::abi
