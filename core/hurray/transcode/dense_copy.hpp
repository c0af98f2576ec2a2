// Bringing the elements of one dense layout into another.
#pragma once

#include <cstddef>

#include "core/hurray/base/error.hpp"
#include "core/hurray/layout/address.hpp"
#include "core/hurray/transcode/options.hpp"

namespace hurray {

/// Copies every element, bit for bit, from its place in one dense layout to its place in another. What else there is in
/// the target, padding say, stays as it is.
///
/// Takes some memory of a bounded size, less than 4 MiB; none for each element. Thread rule: any number of threads, each
/// with buffers of its own.
/// @param from, to of the same shape and the same size of elements; the elements of `to` do not overlap
/// @param source, target buffer 0 of each: as large as the descriptors say, of which the maps were made; they do not
///     overlap
/// @param work counts the bytes of elements copied; not finished here
/// @errors cancelled, with a part of the target written; invalid_argument: shapes or sizes of elements that differ
Result<void> copy_dense(const AddressMap& from, const std::byte* source, const AddressMap& to, std::byte* target,
                        Work& work);

}  // namespace hurray
