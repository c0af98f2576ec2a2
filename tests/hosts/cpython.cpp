// CPython in this process.
#include <cstdint>
#include <stdexcept>

#include "runtime.hpp"

namespace hosts {
namespace {

class Python final : public Runtime {
  public:
    // Extension modules find the symbols of the interpreter in the process: hence global.
    Python() : library_(open_library(setting("HOSTS_PYTHON"), true)) {
        // 0: the signal handlers stay the host's.
        function<void (*)(int)>("Py_InitializeEx")(0);
        run("import stage");
        // Every call takes the lock: the host has other threads.
        function<void* (*)()>("PyEval_SaveThread")();
    }

    [[nodiscard]] std::string name() const override { return "python"; }
    double pass(Pair& pair) override {
        double sum = 0;
        locked("stage.pass_on(" + address(&pair.list) + ", " + address(&pair.context) + ", " + address(&sum) + ")");
        return sum;
    }
    Pair make() override {
        Pair pair;
        locked("stage.make(" + address(&pair.list) + ", " + address(&pair.context) + ")");
        return pair;
    }
    void settle() override { locked("stage.settle()"); }
    bool end() override {
        function<int (*)()>("PyGILState_Ensure")();
        if (function<int (*)()>("Py_FinalizeEx")() != 0) throw std::runtime_error("python: Py_FinalizeEx failed");
        return true;
    }

  private:
    template <typename Function>
    Function function(const char* name) const {
        return reinterpret_cast<Function>(find_symbol(library_, name));
    }
    static std::string address(const void* pointer) { return std::to_string(reinterpret_cast<std::uintptr_t>(pointer)); }
    void run(const std::string& code) const {
        if (function<int (*)(const char*, void*)>("PyRun_SimpleStringFlags")(code.c_str(), nullptr) != 0) {
            throw std::runtime_error("python: " + code);
        }
    }
    void locked(const std::string& code) const {
        const int state = function<int (*)()>("PyGILState_Ensure")();
        try {
            run(code);
        } catch (...) {
            function<void (*)(int)>("PyGILState_Release")(state);
            throw;
        }
        function<void (*)(int)>("PyGILState_Release")(state);
    }

    void* library_;
};

}  // namespace

std::unique_ptr<Runtime> start_python() { return std::make_unique<Python>(); }

}  // namespace hosts
