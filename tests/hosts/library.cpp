// Shared libraries of Go and Zig, and what the other runtimes need of them.
#include <dlfcn.h>

#include <cstdlib>
#include <stdexcept>

#include "runtime.hpp"

namespace hosts {
namespace {

class Library final : public Runtime {
  public:
    Library(std::string name, void* library)
        : name_(std::move(name)),
          pass_(reinterpret_cast<PassFunction>(find_symbol(library, "hosts_pass"))),
          make_(reinterpret_cast<MakeFunction>(find_symbol(library, "hosts_make"))),
          settle_(reinterpret_cast<void (*)()>(find_symbol(library, "hosts_settle"))) {}

    [[nodiscard]] std::string name() const override { return name_; }
    double pass(Pair& pair) override {
        double sum = 0;
        if (pass_(reinterpret_cast<void**>(&pair.list), reinterpret_cast<void**>(&pair.context), &sum) != 0) {
            throw std::runtime_error(name_ + ": pass failed");
        }
        return sum;
    }
    Pair make() override {
        Pair pair;
        if (make_(reinterpret_cast<void**>(&pair.list), reinterpret_cast<void**>(&pair.context)) != 0) {
            throw std::runtime_error(name_ + ": make failed");
        }
        return pair;
    }
    void settle() override { settle_(); }
    // Go's runtime has no end but the process's, and Zig has none.
    bool end() override { return false; }

  private:
    std::string name_;
    PassFunction pass_;
    MakeFunction make_;
    void (*settle_)();
};

}  // namespace

std::string setting(const char* variable) {
    const char* value = std::getenv(variable);
    if (value == nullptr || *value == '\0') throw std::runtime_error(std::string(variable) + " is not set");
    return value;
}

void* open_library(const std::string& path, bool global) {
    void* library = dlopen(path.c_str(), RTLD_NOW | (global ? RTLD_GLOBAL : RTLD_LOCAL));
    if (library == nullptr) throw std::runtime_error(dlerror());
    return library;
}

void* find_symbol(void* library, const char* name) {
    void* symbol = dlsym(library, name);
    if (symbol == nullptr) throw std::runtime_error(dlerror());
    return symbol;
}

std::unique_ptr<Runtime> start_library(const std::string& name, const char* variable) {
    return std::make_unique<Library>(name, open_library(setting(variable)));
}

}  // namespace hosts
