// From the data of a .npy file to a tensor.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/hurray/base/error.hpp"
#include "core/hurray/io/alignment_policy.hpp"
#include "core/hurray/io/byte_source.hpp"
#include "core/hurray/io/file_bytes.hpp"
#include "core/hurray/io/npy/npy_header.hpp"
#include "core/hurray/tensor.hpp"

namespace hurray {

/// Reads the data into memory of its own: bools are checked and packed, big-endian numbers turned round, all else taken as
/// it is. The memory is taken when the caller knows that the bytes are there.
/// @param source stands at the first byte of the data
/// @param name of the tensor, for errors
/// @errors invalid_format (a bool that is neither 0 nor 1, data that ends too early), out_of_memory; those of the source
Result<Buffer> read_npy_data(ByteSource& source, const NpyHeader& header, const NpyOrigin& origin, std::string_view name);

/// The data in place, as the alignment policy says; of a file that is mapped or in memory, and of a type that is direct.
/// @errors misaligned, invalid_format (the file is too short)
Result<Buffer> place_npy_data(const FileBytes& bytes, std::uint64_t offset, std::uint64_t size, std::string_view name,
                              AlignmentPolicy alignment);

/// Whether place_npy_data would serve, rather than read_npy_data.
[[nodiscard]] bool npy_data_stays(const FileBytes& bytes, std::uint64_t offset, const NpyHeader& header,
                                  AlignmentPolicy alignment) noexcept;

/// The descriptor of a tensor with that buffer; byte_offset is the buffer's prefix.
/// @errors unsupported: more than the descriptor can say
Result<Descriptor> npy_descriptor(const NpyHeader& header, const Buffer& buffer);

/// The tensor, read-only.
Result<Tensor> npy_tensor(const NpyHeader& header, Buffer buffer);

}  // namespace hurray
