#include "core/hurray/memory/buffer.hpp"

#include <bit>
#include <cstring>
#include <new>

#include "core/hurray/memory/aligned_memory.hpp"

namespace hurray {
namespace {

class HeapStorage final : public Storage {
public:
    explicit HeapStorage(void* memory) : memory_(memory) {}

private:
    bool dispose() noexcept override {
        free_aligned(memory_);
        delete this;
        return true;
    }
    void* memory_;
};

}  // namespace

Result<Buffer> allocate_buffer(std::uint64_t byte_size, std::uint32_t alignment, Contents contents) {
    if (alignment == 0) alignment = minimum_alignment;
    if (!std::has_single_bit(alignment)) {
        return fail(Status::invalid_layout, Error::no_offset, "alignment: expected a power of two, got %u", alignment);
    }
    if (alignment < minimum_alignment) alignment = minimum_alignment;
    Buffer buffer;
    buffer.handle.byte_size = byte_size;
    buffer.handle.alignment = alignment;
    if (byte_size == 0) return buffer;
    if (byte_size > static_cast<std::uint64_t>(PTRDIFF_MAX) - alignment) {
        return fail(Status::out_of_memory, Error::no_offset, "byte_size: %llu bytes do not fit the address space",
                    static_cast<unsigned long long>(byte_size));
    }
    // A multiple of the alignment: std::aligned_alloc wants that.
    const std::uint64_t rounded = (byte_size + alignment - 1) / alignment * alignment;
    void* memory = allocate_aligned(alignment, static_cast<std::size_t>(rounded));
    if (memory == nullptr) {
        return fail(Status::out_of_memory, Error::no_offset, "byte_size: cannot allocate %llu bytes",
                    static_cast<unsigned long long>(byte_size));
    }
    auto* storage = new (std::nothrow) HeapStorage(memory);
    if (storage == nullptr) {
        free_aligned(memory);
        return fail(Status::out_of_memory, Error::no_offset, "cannot allocate the record of a buffer");
    }
    const auto written = static_cast<std::size_t>(contents == Contents::zeroed ? 0 : byte_size);
    std::memset(static_cast<std::byte*>(memory) + written, 0, static_cast<std::size_t>(rounded) - written);
    buffer.data = static_cast<std::byte*>(memory);
    buffer.storage = Ref<Storage>::adopt(storage);
    return buffer;
}

Buffer wrap_host_memory(void* data, std::uint64_t byte_size, Ref<Storage> storage) {
    Buffer buffer;
    buffer.storage = std::move(storage);
    buffer.handle.alignment = minimum_alignment;
    if (byte_size == 0) return buffer;
    const auto address = reinterpret_cast<std::uintptr_t>(data);
    buffer.prefix = static_cast<std::uint32_t>(address % minimum_alignment);
    buffer.data = static_cast<std::byte*>(data) - buffer.prefix;
    buffer.handle.byte_size = byte_size + buffer.prefix;
    return buffer;
}

}  // namespace hurray
