// Heap memory of a given alignment, which Windows frees in a way of its own.
#pragma once

#include <cstddef>
#include <cstdlib>

namespace hurray {

#ifdef _WIN32
inline void* allocate_aligned(std::size_t alignment, std::size_t size) noexcept { return ::_aligned_malloc(size, alignment); }
inline void free_aligned(void* memory) noexcept { ::_aligned_free(memory); }
#else
/// `size` is a multiple of `alignment`; null where there is no memory.
inline void* allocate_aligned(std::size_t alignment, std::size_t size) noexcept { return std::aligned_alloc(alignment, size); }
inline void free_aligned(void* memory) noexcept { std::free(memory); }
#endif

}  // namespace hurray
