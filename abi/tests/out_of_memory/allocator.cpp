// operator new and, by the linker's --wrap, malloc and its family, which fail on demand. For a test program that is linked to
// the shim itself, not to the shared library, so that one allocator serves both.
#include <cerrno>
#include <cstdlib>
#include <new>

#include "abi/tests/out_of_memory/allocation_failure.hpp"

extern "C" {
void* __real_malloc(std::size_t);
void* __real_calloc(std::size_t, std::size_t);
void* __real_realloc(void*, std::size_t);
void* __real_aligned_alloc(std::size_t, std::size_t);
int __real_posix_memalign(void**, std::size_t, std::size_t);

void* __wrap_malloc(std::size_t size) {
    return hurray_test::allocation_fails() ? nullptr : __real_malloc(size);
}
void* __wrap_calloc(std::size_t count, std::size_t size) {
    return hurray_test::allocation_fails() ? nullptr : __real_calloc(count, size);
}
void* __wrap_realloc(void* memory, std::size_t size) {
    return hurray_test::allocation_fails() ? nullptr : __real_realloc(memory, size);
}
void* __wrap_aligned_alloc(std::size_t alignment, std::size_t size) {
    return hurray_test::allocation_fails() ? nullptr : __real_aligned_alloc(alignment, size);
}
int __wrap_posix_memalign(void** out, std::size_t alignment, std::size_t size) {
    return hurray_test::allocation_fails() ? ENOMEM : __real_posix_memalign(out, alignment, size);
}
}

// Not inlined: GCC would see std::free on what operator new returned, and take the two for a mismatch.
[[gnu::noinline]] void* operator new(std::size_t size) {
    if (hurray_test::allocation_fails()) throw std::bad_alloc();
    if (void* memory = __real_malloc(size == 0 ? 1 : size)) return memory;
    throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    return hurray_test::allocation_fails() ? nullptr : __real_malloc(size == 0 ? 1 : size);
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) {
    if (hurray_test::allocation_fails()) throw std::bad_alloc();
    const auto bytes = static_cast<std::size_t>(alignment);
    if (void* memory = __real_aligned_alloc(bytes, (size + bytes - 1) / bytes * bytes)) return memory;
    throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new[](std::size_t size) { return operator new(size); }
[[gnu::noinline]] void* operator new[](std::size_t size, std::align_val_t alignment) { return operator new(size, alignment); }
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
