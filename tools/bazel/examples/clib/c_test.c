#include "example.h"

int main(void) {
    const int32_t values[] = {40, 2};
    return example_sum(values, 2) == 42 ? 0 : 1;
}
