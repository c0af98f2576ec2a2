// What a tensor becomes in a GGUF file, and its bytes there.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/hurray/base/error.hpp"
#include "core/hurray/descriptor/descriptor.hpp"
#include "core/hurray/io/byte_sink.hpp"
#include "core/hurray/io/gguf/gguf_type.hpp"
#include "core/hurray/tensor.hpp"

namespace hurray {

/// How a tensor is stored.
struct StoredTensor {
    const GgufType* type = nullptr;
    /// Raw blocks, which are bytes here and are written as they are.
    bool raw = false;
    /// In elements, the innermost dimension first.
    std::vector<std::uint64_t> dimensions;
    std::uint64_t byte_size = 0;
};

/// What the descriptor alone says.
/// Errors: unsupported (an element type, scheme, layout, section or number of dimensions that GGUF cannot hold);
/// invalid_layout (a dynamic dimension).
Result<StoredTensor> store_as_gguf(std::string_view name, const Descriptor& descriptor);

/// What the buffers say: they are those of the descriptor and can be read; scales are allowed by the scheme, and the
/// blocks of ggml can say them and the zero points.
/// Errors: invalid_argument, invalid_sync_mode, null_pointer, unsupported, invalid_quantization.
Result<void> check_stored(std::string_view name, const Tensor& tensor, const StoredTensor& stored);

/// Writes the bytes of a tensor that passed check_stored; adds what had to be moved to `copied_bytes`.
Result<void> write_stored(const Tensor& tensor, const StoredTensor& stored, ByteSink& sink,
                          std::uint64_t& copied_bytes);

}  // namespace hurray
