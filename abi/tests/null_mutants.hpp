// What the generated wrappers (abi/gen/null_mutants.cpp) are made of: see tools/headergen/emitters/null_mutants.py.
#pragma once

#include <dlfcn.h>

#include <array>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "hurray.h"

namespace hurray_null {

/// One way in which one function breaks what the NULL tests check.
struct Mutant {
    std::string_view function;
    std::string_view kind;
    std::string_view parameter;
};

const std::vector<Mutant>& all_mutants();

/// The one that is active; null: the library as it is.
inline const Mutant*& active_mutant() {
    static const Mutant* active = nullptr;
    return active;
}

/// How often the active mutant spoilt an answer: one that never does proves nothing.
inline int& spoilt_answers() {
    static int count = 0;
    return count;
}

class Call {
public:
    explicit Call(const char* function) : function_(function) {}

    /// The library's own function behind the wrapper of that name.
    template <class Function>
    Function real(Function) const {
        void* found = dlsym(RTLD_NEXT, function_);
        if (found == nullptr) throw std::runtime_error(std::string("not in the library: ") + function_);
        return reinterpret_cast<Function>(found);
    }

    bool is(std::string_view kind, std::string_view parameter) const {
        const Mutant* active = active_mutant();
        if (active == nullptr || active->function != function_ || active->kind != kind || active->parameter != parameter) return false;
        ++spoilt_answers();
        return true;
    }

private:
    const char* function_;
};

/// What an output held before the call.
class Before {
public:
    template <class T>
    explicit Before(T* output) {
        static_assert(sizeof *output <= sizeof bytes_);
        if (output != nullptr) std::memcpy(bytes_.data(), static_cast<const void*>(output), sizeof *output);
    }
    template <class T>
    void restore(T* output) const {
        if (output != nullptr) std::memcpy(static_cast<void*>(const_cast<std::remove_const_t<T>*>(output)), bytes_.data(), sizeof *output);
    }

private:
    std::array<unsigned char, 4096> bytes_{};
};

/// Calls a callback with nothing.
template <class Result, class... Arguments>
void run(Result (*callback)(Arguments...)) {
    (void)callback(Arguments{}...);
}

/// A report whose message does not end.
inline void endless(HurrayError* error) { std::memset(error->message, 'x', sizeof error->message); }

}  // namespace hurray_null
