#include <cstdio>

#include <nlohmann/json.hpp>

#include "about.hpp"
#include "commands.hpp"
#include "handles.hpp"

namespace driver {

nlohmann::ordered_json runtime_facts() {
    auto info = sized<HurrayRuntimeInfo>();
    call("runtime_info", hurray_runtime_info, &info);
    nlohmann::ordered_json facts;
    facts["runtime"] = "c++";
    facts["version"] = std::string("gcc ") + __VERSION__;
    facts["abi_version"] = hurray_c_abi_version();
    facts["build_id"] = info.build_id;
    facts["library_path"] = info.library_path;
    facts["channels"] = true;
    return facts;
}

int about() {
    std::printf("%s\n", runtime_facts().dump().c_str());
    return 0;
}

}  // namespace driver
