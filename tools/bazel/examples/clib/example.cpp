#include "example.h"

#include <stdexcept>
#include <string>

namespace {

// An exception that is caught inside shows that the C++ runtime in the library works.
int64_t sum_or_throw(const int32_t* values, uint64_t count) {
    if (values == nullptr) {
        throw std::invalid_argument(std::string("null"));
    }
    int64_t sum = 0;
    for (uint64_t i = 0; i < count; ++i) {
        sum += values[i];
    }
    return sum;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int64_t example_sum(const int32_t* values, uint64_t count) {
    try {
        return sum_or_throw(values, count);
    } catch (const std::invalid_argument&) {
        return 0;
    }
}

extern "C" __attribute__((visibility("default"))) void example_call(void (*callback)(void*), void* context) {
    callback(context);
}
