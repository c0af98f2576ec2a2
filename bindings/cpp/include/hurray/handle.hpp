// Handles of the C API that end exactly once.
#ifndef HURRAY_HANDLE_HPP_
#define HURRAY_HANDLE_HPP_

#include <type_traits>
#include <utility>

#include "hurray/error.hpp"

namespace hurray {

namespace detail {
/// What ends a handle on a thread that must not run callbacks.
template <typename T>
using DestroyDeferred = HurrayStatus (*)(T**, HurrayError*);
}  // namespace detail

/// Owns one handle: moves, never copies, and ends what it holds. A moved-from one is empty.
template <typename T, HurrayStatus (*Destroy)(T**), detail::DestroyDeferred<T> Deferred = nullptr>
class UniqueHandle {
  public:
    /// What the C API calls it.
    using pointer = T*;

    UniqueHandle() noexcept = default;
    /// Takes the handle over.
    explicit UniqueHandle(T* handle) noexcept : handle_(handle) {}
    UniqueHandle(UniqueHandle&& other) noexcept : handle_(other.release()) {}
    UniqueHandle& operator=(UniqueHandle&& other) noexcept {
        if (this != &other) reset(other.release());
        return *this;
    }
    UniqueHandle(const UniqueHandle&) = delete;
    UniqueHandle& operator=(const UniqueHandle&) = delete;
    ~UniqueHandle() { reset(); }

    /// The handle for calls of the C API; stays owned.
    T* get() const noexcept { return handle_; }
    explicit operator bool() const noexcept { return handle_ != nullptr; }
    /// Gives the handle away: the caller ends it.
    [[nodiscard]] T* release() noexcept { return std::exchange(handle_, nullptr); }
    /// Ends the handle now, and takes over another one.
    void reset(T* handle = nullptr) noexcept {
        if (handle_ != nullptr) (void)Destroy(&handle_);
        handle_ = handle;
    }
    /// Ends the handle on a thread that must not run callbacks of others, such as one that holds a lock they take: releases
    /// that become due wait on their release queue. On failure it stays owned.
    template <typename Handle = T>
    Result<void> reset_deferred() noexcept {
        // By type: to compare the function itself is no constant for GCC under -fsanitize=undefined.
        using Function = detail::DestroyDeferred<T>;
        static_assert(!std::is_same_v<std::integral_constant<Function, Deferred>, std::integral_constant<Function, nullptr>>,
                      "handles of this kind run no callbacks when they end: reset()");
        static_assert(std::is_same_v<Handle, T>, "a template only so that it is looked at when it is used");
        if (handle_ == nullptr) return {};
        return detail::call(Deferred, &handle_);
    }

  protected:
    /// For calls that take the handle over and null the variable.
    T** address() noexcept { return &handle_; }

  private:
    T* handle_ = nullptr;
};

}  // namespace hurray

#endif  // HURRAY_HANDLE_HPP_
