// Handles of the C API that end by themselves, and status codes that become exceptions of this program.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

#include "hurray.h"

namespace driver {

struct Failure : std::runtime_error {
    Failure(const std::string& what, const HurrayError& error)
        : std::runtime_error(what + ": " + hurray_status_name(error.code) + ": " + error.message) {}
};

/// Calls `function(arguments..., &error)` and throws when it fails.
template <typename Function, typename... Arguments>
void call(const char* what, Function function, Arguments... arguments) {
    HurrayError error{};
    if (function(arguments..., &error) != HURRAY_OK) throw Failure(what, error);
}

template <typename T, HurrayStatus (*Destroy)(T**)>
struct Ender {
    void operator()(T* handle) const noexcept { Destroy(&handle); }
};

using Tensor = std::unique_ptr<HurrayTensor, Ender<HurrayTensor, hurray_tensor_destroy>>;
using BufferList = std::unique_ptr<HurrayBufferList, Ender<HurrayBufferList, hurray_buffer_list_destroy>>;
using Context = std::unique_ptr<HurrayTensorContext, Ender<HurrayTensorContext, hurray_tensor_context_destroy>>;
using Descriptor = std::unique_ptr<HurrayDescriptor, Ender<HurrayDescriptor, hurray_descriptor_destroy>>;
using Builder = std::unique_ptr<HurrayDescriptorBuilder, Ender<HurrayDescriptorBuilder, hurray_descriptor_builder_destroy>>;
using File = std::unique_ptr<HurrayFile, Ender<HurrayFile, hurray_file_destroy>>;
using FileWriter = std::unique_ptr<HurrayFileWriter, Ender<HurrayFileWriter, hurray_file_writer_destroy>>;
using Reader = std::unique_ptr<HurrayReader, Ender<HurrayReader, hurray_reader_destroy>>;
using Writer = std::unique_ptr<HurrayWriter, Ender<HurrayWriter, hurray_writer_destroy>>;

/// Calls a function that makes a handle through its last parameter but the error.
template <typename Owner, typename Function, typename... Arguments>
Owner make(const char* what, Function function, Arguments... arguments) {
    typename Owner::pointer handle = nullptr;
    call(what, function, arguments..., &handle);
    return Owner(handle);
}

template <typename Struct>
Struct sized() {
    Struct value{};
    value.struct_size = sizeof value;
    return value;
}

inline HurrayView view_of(const HurrayTensor* tensor) {
    auto view = sized<HurrayView>();
    call("view", hurray_tensor_view, tensor, &view);
    return view;
}

inline std::uint64_t live_handles() {
    std::uint64_t handles = 0;
    std::uint64_t bytes = 0;
    call("live_handles", hurray_live_handles, HURRAY_HANDLE_ANY, &handles, &bytes);
    return handles;
}

}  // namespace driver
