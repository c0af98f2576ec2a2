// One copy of the library, opened by its path.
#pragma once

#include <stdexcept>
#include <string>

#include "runtime.hpp"

namespace hosts {

/// The functions that the host itself needs.
struct Copy {
    explicit Copy(const char* path)
        : library(open_library(path)),
          tensor_from_host(find<decltype(tensor_from_host)>("hurray_tensor_from_host")),
          tensor_export(find<decltype(tensor_export)>("hurray_tensor_export")),
          tensor_import(find<decltype(tensor_import)>("hurray_tensor_import")),
          tensor_view(find<decltype(tensor_view)>("hurray_tensor_view")),
          tensor_destroy(find<decltype(tensor_destroy)>("hurray_tensor_destroy")),
          release_queue_drain(find<decltype(release_queue_drain)>("hurray_release_queue_drain")),
          live_handles(find<decltype(live_handles)>("hurray_live_handles")),
          version(find<decltype(version)>("hurray_c_abi_version")),
          build(find<decltype(build)>("hurray_build_id")) {}

    /// Calls a function with an error report, and throws what that says.
    template <typename Function, typename... Arguments>
    void require(const char* what, Function function, Arguments... arguments) const {
        HurrayError error{};
        if (function(arguments..., &error) != HURRAY_OK) throw std::runtime_error(std::string(what) + ": " + error.message);
    }

    /// Runs the releases of memory that was lent without a queue, where a collector's thread ended the last share.
    void drain() const {
        uint64_t released = 0;
        require("release_queue_drain", release_queue_drain, static_cast<const HurrayReleaseQueue*>(nullptr), UINT64_MAX, &released);
    }

    [[nodiscard]] uint64_t live() const {
        uint64_t handles = 0;
        uint64_t bytes = 0;
        require("live_handles", live_handles, uint32_t{HURRAY_HANDLE_ANY}, &handles, &bytes);
        return handles;
    }

    void* library;
    decltype(&hurray_tensor_from_host) tensor_from_host;
    decltype(&hurray_tensor_export) tensor_export;
    decltype(&hurray_tensor_import) tensor_import;
    decltype(&hurray_tensor_view) tensor_view;
    decltype(&hurray_tensor_destroy) tensor_destroy;
    decltype(&hurray_release_queue_drain) release_queue_drain;
    decltype(&hurray_live_handles) live_handles;
    decltype(&hurray_c_abi_version) version;
    decltype(&hurray_build_id) build;

  private:
    template <typename Function>
    Function find(const char* name) const {
        return reinterpret_cast<Function>(find_symbol(library, name));
    }
};

}  // namespace hosts
