// Callables of C++ behind the function pointers of C. An exception that one throws ends here: it never gets into the
// library.
#ifndef HURRAY_CALLBACK_HPP_
#define HURRAY_CALLBACK_HPP_

#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "hurray/error.hpp"

#if defined(__cpp_exceptions) || defined(_CPPUNWIND)
#define HURRAY_HPP_TRY_ try
#define HURRAY_HPP_CATCH_ALL_ catch (...)
#else
#define HURRAY_HPP_TRY_ if (true)
#define HURRAY_HPP_CATCH_ALL_ else
#endif

namespace hurray {

/// A reference to a callable, valid during a call that takes it; owns nothing.
template <typename Signature>
class FunctionRef;

/// A reference to a callable, valid during a call that takes it; owns nothing.
template <typename R, typename... Arguments>
class FunctionRef<R(Arguments...)> {
  public:
    FunctionRef() noexcept = default;
    template <typename F, typename = std::enable_if_t<!std::is_same_v<std::decay_t<F>, FunctionRef> &&
                                                      std::is_invocable_r_v<R, F&, Arguments...>>>
    FunctionRef(F&& function) noexcept  // NOLINT: converts as std::function does
        : object_(const_cast<void*>(static_cast<const void*>(std::addressof(function)))),
          invoke_([](void* object, Arguments... arguments) -> R {
              return (*static_cast<std::remove_reference_t<F>*>(object))(std::forward<Arguments>(arguments)...);
          }) {}
    explicit operator bool() const noexcept { return invoke_ != nullptr; }
    R operator()(Arguments... arguments) const { return invoke_(object_, std::forward<Arguments>(arguments)...); }

  private:
    void* object_ = nullptr;
    R (*invoke_)(void*, Arguments...) = nullptr;
};

namespace detail {

inline Error out_of_memory() noexcept {
    return {HURRAY_ERR_OUT_OF_MEMORY, "no memory for a callback"};
}
inline Error threw() noexcept {
    return {HURRAY_ERR_INTERNAL_PANIC, "a callback of the caller threw an exception"};
}

/// A callable on the heap as the context of a release callback: called once, then freed. What it throws is dropped: the
/// memory is released, and nobody is there to hear of it.
template <typename F>
struct ReleaseBox {
    F function;
    static void run(void* data, void* context) noexcept {
        const std::unique_ptr<ReleaseBox> self(static_cast<ReleaseBox*>(context));
        HURRAY_HPP_TRY_ {
            if constexpr (std::is_invocable_v<F&, void*>) {
                self->function(data);
            } else {
                self->function();
            }
        }
        HURRAY_HPP_CATCH_ALL_ {}
    }
    /// Of owners, which are the context themselves.
    static void run_owner(void* owner) noexcept { run(nullptr, owner); }
};

/// A callable that is kept: behind a virtual call, so that those that only move can be kept, too.
template <typename Signature>
struct OwnedCall;

template <typename R, typename... Arguments>
struct OwnedCall<R(Arguments...)> {
    virtual ~OwnedCall() = default;
    virtual R operator()(Arguments... arguments) = 0;
};

template <typename F, typename Signature>
struct OwnedCallOf;

template <typename F, typename R, typename... Arguments>
struct OwnedCallOf<F, R(Arguments...)> final : OwnedCall<R(Arguments...)> {
    template <typename G>
    explicit OwnedCallOf(G&& given) : function(std::forward<G>(given)) {}
    R operator()(Arguments... arguments) override {
        if constexpr (std::is_void_v<R>) {
            function(std::forward<Arguments>(arguments)...);
        } else {
            return function(std::forward<Arguments>(arguments)...);
        }
    }
    F function;
};

/// Nothing when there is no memory, or copying the callable threw.
template <typename Signature, typename F>
std::unique_ptr<OwnedCall<Signature>> own(F&& function) noexcept {
    using Call = OwnedCallOf<std::decay_t<F>, Signature>;
    HURRAY_HPP_TRY_ {
        return std::unique_ptr<OwnedCall<Signature>>(new (std::nothrow) Call(std::forward<F>(function)));
    }
    HURRAY_HPP_CATCH_ALL_ {
        return nullptr;
    }
}

/// What a callback that returns a Result said last: the library carries the code only, and the message is kept here.
struct Said {
    Error error;
    /// The error of a call, with the callback's own message where it was the callback that failed.
    Error instead_of(const Error& got) const noexcept {
        return error.code() != HURRAY_OK && error.code() == got.code() ? error : got;
    }
    HurrayStatus say(const Error& what) noexcept {
        error = what;
        return what.code();
    }
};

/// Nothing when there is no memory, or copying the callable threw.
template <typename F>
std::unique_ptr<ReleaseBox<std::decay_t<F>>> box(F&& function) noexcept {
    using Box = ReleaseBox<std::decay_t<F>>;
    HURRAY_HPP_TRY_ {
        return std::unique_ptr<Box>(new (std::nothrow) Box{std::forward<F>(function)});
    }
    HURRAY_HPP_CATCH_ALL_ {
        return nullptr;
    }
}

}  // namespace detail
}  // namespace hurray

#endif  // HURRAY_CALLBACK_HPP_
