// CoreCLR in this process, through hostfxr as any native host starts it.
#include <cstdint>
#include <stdexcept>

#include "runtime.hpp"

namespace hosts {
namespace {

// What hostfxr.h and coreclr_delegates.h declare.
constexpr int32_t load_assembly_and_get_function_pointer = 5;
const char* const unmanaged_callers_only = reinterpret_cast<const char*>(-1);
using Initialize = int32_t (*)(const char* config, const void* parameters, void** out_context);
using GetDelegate = int32_t (*)(void* context, int32_t type, void** out_delegate);
using Close = int32_t (*)(void* context);
using LoadFunction = int32_t (*)(const char* assembly, const char* type, const char* method, const char* delegate_type, void* reserved,
                                 void** out_function);

class Clr final : public Runtime {
  public:
    Clr() {
        void* library = open_library(setting("HOSTS_HOSTFXR"));
        const auto initialize = reinterpret_cast<Initialize>(find_symbol(library, "hostfxr_initialize_for_runtime_config"));
        const auto get_delegate = reinterpret_cast<GetDelegate>(find_symbol(library, "hostfxr_get_runtime_delegate"));
        const auto close = reinterpret_cast<Close>(find_symbol(library, "hostfxr_close"));
        const std::string assembly = setting("HOSTS_CLR") + "/Stage.dll";
        const std::string config = setting("HOSTS_CLR") + "/Stage.runtimeconfig.json";
        void* context = nullptr;
        if (initialize(config.c_str(), nullptr, &context) < 0 || context == nullptr) throw std::runtime_error("clr: " + config);
        void* delegate = nullptr;
        const int32_t status = get_delegate(context, load_assembly_and_get_function_pointer, &delegate);
        close(context);
        if (status != 0) throw std::runtime_error("clr: the runtime does not start");
        const auto load = reinterpret_cast<LoadFunction>(delegate);
        const auto find = [&](const char* method) {
            void* function = nullptr;
            if (load(assembly.c_str(), "Hurray.Hosts.Stage, Stage", method, unmanaged_callers_only, nullptr, &function) != 0) {
                throw std::runtime_error(std::string("clr: there is no method ") + method);
            }
            return function;
        };
        pass_ = reinterpret_cast<PassFunction>(find("Pass"));
        make_ = reinterpret_cast<MakeFunction>(find("Make"));
        settle_ = reinterpret_cast<void (*)()>(find("Settle"));
    }

    [[nodiscard]] std::string name() const override { return "clr"; }
    double pass(Pair& pair) override {
        double sum = 0;
        if (pass_(reinterpret_cast<void**>(&pair.list), reinterpret_cast<void**>(&pair.context), &sum) != 0) {
            throw std::runtime_error("clr: pass failed");
        }
        return sum;
    }
    Pair make() override {
        Pair pair;
        if (make_(reinterpret_cast<void**>(&pair.list), reinterpret_cast<void**>(&pair.context)) != 0) throw std::runtime_error("clr: make failed");
        return pair;
    }
    void settle() override { settle_(); }
    // CoreCLR stays until the process ends: hostfxr_close only ends the host's context.
    bool end() override { return false; }

  private:
    PassFunction pass_ = nullptr;
    MakeFunction make_ = nullptr;
    void (*settle_)() = nullptr;
};

}  // namespace

std::unique_ptr<Runtime> start_clr() { return std::make_unique<Clr>(); }

}  // namespace hosts
