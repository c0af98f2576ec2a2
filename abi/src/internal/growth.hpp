// Room in a vector that is filled in small steps, each of which must not fail half-way.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace hurray::abi {

/// Makes room for `count` more elements, so that pushing them cannot fail. Grows by doubling: reserve() alone grows by no
/// more than it is asked for, and many small steps would copy everything each time.
template <typename T>
void reserve_more(std::vector<T>& elements, std::size_t count) {
    const std::size_t needed = elements.size() + count;
    if (needed > elements.capacity()) elements.reserve(std::max(needed, 2 * elements.capacity()));
}

}  // namespace hurray::abi
