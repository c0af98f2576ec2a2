// What a call came to: a value, or an error with code and message. Nothing here throws.
#ifndef HURRAY_ERROR_HPP_
#define HURRAY_ERROR_HPP_

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "hurray.h"

namespace hurray {

/// Report of a failed call: its code, and what is wrong, where, and what was expected. Copies allocate nothing.
class Error {
  public:
    Error() noexcept : raw_{} {}
    explicit Error(const HurrayError& raw) noexcept : raw_(raw) {}
    /// A message that is too long is cut.
    Error(HurrayStatus code, std::string_view message) noexcept : raw_{} {
        raw_.code = code;
        const std::size_t length = message.size() < sizeof raw_.message ? message.size() : sizeof raw_.message - 1;
        if (length != 0) std::memcpy(raw_.message, message.data(), length);
    }

    /// One of the HURRAY_ERR_ codes.
    HurrayStatus code() const noexcept { return raw_.code; }
    /// The code's name without its prefix, such as "INVALID_MAGIC".
    const char* name() const noexcept { return hurray_status_name(raw_.code); }
    /// UTF-8, terminated.
    const char* message() const noexcept { return raw_.message; }
    /// The byte of the input where the fault is: what the message says at its end as " [byte N]".
    std::optional<std::uint64_t> offset() const noexcept {
        const std::string_view text = raw_.message;
        constexpr std::string_view mark = " [byte ";
        const std::size_t at = text.rfind(mark);
        if (at == std::string_view::npos || text.back() != ']') return std::nullopt;
        const std::string_view digits = text.substr(at + mark.size(), text.size() - at - mark.size() - 1);
        if (digits.empty() || digits.size() > 20) return std::nullopt;
        std::uint64_t value = 0;
        for (const char digit : digits) {
            if (digit < '0' || digit > '9') return std::nullopt;
            value = value * 10 + static_cast<std::uint64_t>(digit - '0');
        }
        return value;
    }
    /// As the C API reports it.
    const HurrayError& raw() const noexcept { return raw_; }

  private:
    HurrayError raw_;
};

/// Either a T or an Error, as std::expected is; to look at the wrong one ends the program.
template <typename T>
class [[nodiscard]] Result {
  public:
    /// What a success holds.
    using value_type = T;

    Result(T value) noexcept(std::is_nothrow_move_constructible_v<T>)  // NOLINT: a result is made of its value
        : state_(std::in_place_index<0>, std::move(value)) {}
    Result(Error error) noexcept : state_(std::in_place_index<1>, error) {}  // NOLINT

    /// Whether the call succeeded.
    bool has_value() const noexcept { return state_.index() == 0; }
    explicit operator bool() const noexcept { return has_value(); }

    T& operator*() & noexcept { return checked(); }
    const T& operator*() const& noexcept { return checked(); }
    T&& operator*() && noexcept { return std::move(checked()); }
    T* operator->() noexcept { return &checked(); }
    const T* operator->() const noexcept { return &checked(); }

    /// What went wrong; only where has_value() is false.
    const Error& error() const noexcept {
        const Error* error = std::get_if<1>(&state_);
        if (error == nullptr) std::abort();
        return *error;
    }
    /// The value, or `other` where there is none.
    template <typename U>
    T value_or(U&& other) && {
        return has_value() ? std::move(checked()) : static_cast<T>(std::forward<U>(other));
    }
    /// Goes on with the value: `next` takes it and returns another Result.
    template <typename Next>
    auto and_then(Next&& next) && -> decltype(std::forward<Next>(next)(std::declval<T&&>())) {
        if (!has_value()) return error();
        return std::forward<Next>(next)(std::move(checked()));
    }

  private:
    T& checked() noexcept {
        T* value = std::get_if<0>(&state_);
        if (value == nullptr) std::abort();
        return *value;
    }
    const T& checked() const noexcept {
        const T* value = std::get_if<0>(&state_);
        if (value == nullptr) std::abort();
        return *value;
    }

    std::variant<T, Error> state_;
};

/// Success, or an Error.
template <>
class [[nodiscard]] Result<void> {
  public:
    Result() noexcept = default;
    Result(Error error) noexcept : error_(error) {}  // NOLINT: as above

    /// Whether the call succeeded.
    bool has_value() const noexcept { return !error_.has_value(); }
    explicit operator bool() const noexcept { return has_value(); }
    /// What went wrong; only where has_value() is false.
    const Error& error() const noexcept {
        if (!error_) std::abort();
        return *error_;
    }

  private:
    std::optional<Error> error_;
};

namespace detail {

/// A struct that says how long it is, and is zero otherwise.
template <typename Struct>
Struct sized() noexcept {
    Struct value{};
    value.struct_size = static_cast<std::uint32_t>(sizeof value);
    return value;
}

/// Calls function(arguments..., &error).
template <typename Function, typename... Arguments>
Result<void> call(Function function, Arguments... arguments) noexcept {
    HurrayError error{};
    const HurrayStatus status = function(arguments..., &error);
    if (status == HURRAY_OK) return {};
    error.code = status;
    return Error(error);
}

/// Calls function(arguments..., &value, &error) and gives the value.
template <typename Value, typename Function, typename... Arguments>
Result<Value> get(Function function, Arguments... arguments) noexcept {
    Value value{};
    if (auto done = call(function, arguments..., &value); !done) return done.error();
    return value;
}

/// As get, for structs that start with their size.
template <typename Struct, typename Function, typename... Arguments>
Result<Struct> fill(Function function, Arguments... arguments) noexcept {
    Struct value = sized<Struct>();
    if (auto done = call(function, arguments..., &value); !done) return done.error();
    return value;
}

/// As get, for a new handle that `Owner` ends.
template <typename Owner, typename Function, typename... Arguments>
Result<Owner> make(Function function, Arguments... arguments) noexcept {
    typename Owner::pointer handle = nullptr;
    if (auto done = call(function, arguments..., &handle); !done) return done.error();
    return Owner(handle);
}

/// Of functions that have no HurrayError (those of the C ABI's first versions): the code and the function's name.
inline Result<void> outcome(HurrayStatus status, const char* function) noexcept {
    if (status == HURRAY_OK) return {};
    return Error(status, function);
}

}  // namespace detail
}  // namespace hurray

#endif  // HURRAY_ERROR_HPP_
