// Facts about this runtime, as "about" prints them and reports end with them.
#pragma once

#include <nlohmann/json.hpp>

namespace driver {

nlohmann::ordered_json runtime_facts();

}  // namespace driver
