// Runtimes that this process hosts. Each has a stage: it takes a pair of list and context over, reads it through its binding, and
// hands a pair of its own on.
#pragma once

#include <memory>
#include <string>

#include "hurray.h"

namespace hosts {

/// List and context, as they travel between runtimes.
struct Pair {
    HurrayBufferList* list = nullptr;
    HurrayTensorContext* context = nullptr;
};

/// What a shared library of Go or Zig, and C#, export as a stage: the variables are taken over and written anew; `sum` is that of the
/// elements. 0: good.
using PassFunction = int32_t (*)(void** list, void** context, double* sum);
/// Makes a tensor of float32 0 to 11, shape [3, 4], over memory of the runtime.
using MakeFunction = int32_t (*)(void** list, void** context);

class Runtime {
  public:
    virtual ~Runtime() = default;
    Runtime() = default;
    Runtime(const Runtime&) = delete;
    Runtime& operator=(const Runtime&) = delete;

    [[nodiscard]] virtual std::string name() const = 0;
    /// Takes the pair over, and puts another one in its place; returns the sum of the elements. Throws std::runtime_error.
    virtual double pass(Pair& pair) = 0;
    /// A tensor over the runtime's own memory.
    virtual Pair make() = 0;
    /// Collects what is garbage, and runs the releases that wait.
    virtual void settle() = 0;
    /// Ends the runtime for good; false: it cannot end within the process.
    virtual bool end() = 0;
};

std::unique_ptr<Runtime> start_jvm();
std::unique_ptr<Runtime> start_clr();
std::unique_ptr<Runtime> start_python();
/// Go's and Zig's: what the environment variable names.
std::unique_ptr<Runtime> start_library(const std::string& name, const char* variable);

/// An environment variable that must be set.
std::string setting(const char* variable);
/// Opens a shared library and finds a function in it; both throw std::runtime_error.
void* open_library(const std::string& path, bool global = false);
void* find_symbol(void* library, const char* name);

}  // namespace hosts
