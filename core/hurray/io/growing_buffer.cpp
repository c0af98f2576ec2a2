#include "core/hurray/io/growing_buffer.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

namespace hurray {
namespace {

class BlockStorage final : public Storage {
public:
    explicit BlockStorage(void* block) noexcept : block_(block) {}

private:
    bool dispose() noexcept override {
        std::free(block_);
        delete this;
        return true;
    }

    void* block_;
};

std::size_t shift_to(const void* block, std::uint32_t alignment) {
    const auto address = reinterpret_cast<std::uintptr_t>(block);
    return static_cast<std::size_t>((alignment - address % alignment) % alignment);
}

}  // namespace

GrowingBuffer::GrowingBuffer(std::uint64_t final_size, std::uint32_t alignment, std::uint64_t trusted) noexcept
    : final_size_(final_size),
      trusted_(std::min(trusted, final_size)),
      alignment_(std::max(alignment, minimum_alignment)) {}

GrowingBuffer::~GrowingBuffer() { std::free(block_); }

Result<void> GrowingBuffer::grow(std::uint64_t capacity) {
    if (capacity > static_cast<std::uint64_t>(PTRDIFF_MAX) - alignment_) {
        return fail(Status::out_of_memory, Error::no_offset, "%llu bytes do not fit the address space",
                    static_cast<unsigned long long>(capacity));
    }
    void* block = std::realloc(block_, static_cast<std::size_t>(capacity) + alignment_);
    if (block == nullptr) {
        return fail(Status::out_of_memory, Error::no_offset, "cannot allocate %llu bytes",
                    static_cast<unsigned long long>(capacity));
    }
    const std::size_t shift = shift_to(block, alignment_);
    auto* bytes = static_cast<std::byte*>(block);
    // realloc keeps the distance from a page's start for large blocks, so this is rare (and never with small alignments
    // in glibc and musl).
    if (filled_ != 0 && shift != shift_) std::memmove(bytes + shift, bytes + shift_, static_cast<std::size_t>(filled_));
    block_ = block;
    shift_ = shift;
    capacity_ = capacity;
    return {};
}

Result<std::span<std::byte>> GrowingBuffer::space() {
    if (filled_ == capacity_ && !full()) {
        const std::uint64_t wanted = std::max({first_step, trusted_, filled_ <= final_size_ / 2 ? filled_ * 2 : final_size_});
        if (auto grown = grow(std::min(wanted, final_size_)); !grown) return std::unexpected(grown.error());
    }
    return std::span(static_cast<std::byte*>(block_) + shift_ + filled_, static_cast<std::size_t>(capacity_ - filled_));
}

Result<Buffer> GrowingBuffer::finish() {
    Buffer buffer;
    buffer.handle.byte_size = final_size_;
    buffer.handle.alignment = alignment_;
    if (final_size_ == 0) return buffer;
    auto* storage = new (std::nothrow) BlockStorage(block_);
    if (storage == nullptr) return fail(Status::out_of_memory, Error::no_offset, "cannot allocate the record of a buffer");
    buffer.data = static_cast<std::byte*>(std::exchange(block_, nullptr)) + shift_;
    buffer.storage = Ref<Storage>::adopt(storage);
    return buffer;
}

}  // namespace hurray
