// Memory for a known number of bytes, inside the object when they are few.
#pragma once

#include <cstddef>
#include <cstring>
#include <new>
#include <utility>

namespace hurray {

/// An owned block of bytes, aligned to 8: up to `inline_capacity` bytes lie in the object, more take one allocation.
/// Holds trivially copyable things only; does not initialise them.
template <std::size_t inline_capacity>
class InlineStorage {
  public:
    InlineStorage() noexcept {}  // NOLINT: the bytes are left as they are on purpose
    explicit InlineStorage(std::size_t size) { resize_discarding(size); }
    InlineStorage(const InlineStorage& other) {
        resize_discarding(other.size_);
        if (size_ != 0) std::memcpy(data(), other.data(), size_);
    }
    InlineStorage(InlineStorage&& other) noexcept { take(other); }
    InlineStorage& operator=(const InlineStorage& other) {
        if (this != &other) *this = InlineStorage(other);
        return *this;
    }
    InlineStorage& operator=(InlineStorage&& other) noexcept {
        if (this != &other) {
            free_heap();
            take(other);
        }
        return *this;
    }
    ~InlineStorage() { free_heap(); }

    [[nodiscard]] std::byte* data() noexcept { return heap_ != nullptr ? heap_ : inline_; }
    [[nodiscard]] const std::byte* data() const noexcept { return heap_ != nullptr ? heap_ : inline_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] bool on_heap() const noexcept { return heap_ != nullptr; }

    /// Makes room for `size` bytes; what was there is lost.
    void resize_discarding(std::size_t size) {
        if (size > inline_capacity && size > size_) {
            auto* fresh = static_cast<std::byte*>(::operator new(size));
            free_heap();
            heap_ = fresh;
        }
        size_ = size;
    }

    /// Makes room for `size` bytes; what was there stays.
    void resize(std::size_t size) {
        if (size > inline_capacity && size > size_) {
            auto* fresh = static_cast<std::byte*>(::operator new(size));
            std::memcpy(fresh, data(), size_);
            free_heap();
            heap_ = fresh;
        }
        size_ = size;
    }

    /// Keeps the first `size` bytes, of at least as many.
    void shrink(std::size_t size) noexcept { size_ = size; }

  private:
    void free_heap() noexcept {
        if (heap_ != nullptr) ::operator delete(std::exchange(heap_, nullptr));
    }
    void take(InlineStorage& other) noexcept {
        heap_ = std::exchange(other.heap_, nullptr);
        size_ = std::exchange(other.size_, 0);
        if (heap_ != nullptr) return;
        // Two copies of a fixed size, which are a few instructions; the second is seldom needed.
        std::memcpy(inline_, other.inline_, usual_size);
        if (size_ > usual_size)
            std::memcpy(inline_ + usual_size, other.inline_ + usual_size, inline_capacity - usual_size);
    }

    static constexpr std::size_t usual_size = inline_capacity < 48 ? inline_capacity : 48;

    std::byte* heap_ = nullptr;
    std::size_t size_ = 0;
    alignas(8) std::byte inline_[inline_capacity];
};

}  // namespace hurray
