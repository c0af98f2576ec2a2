// All the states of the cells of a Hilbert curve of few dimensions, and how they follow from each other, worked out by
// the compiler.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "core/hurray/layout/hilbert_walk.hpp"

namespace hurray {

/// State 0 is that of the whole curve.
template <std::uint32_t rank>
struct HilbertStates {
    static_assert(rank >= 2 && rank <= 4);
    /// Parts of a cell, one for each digit.
    static constexpr std::size_t parts = std::size_t{1} << rank;
    /// 2, 6 and 24 orders of the dimensions, each 2^rank times with some of them turned around.
    static constexpr std::size_t most = (rank == 2 ? 2 : rank == 3 ? 6 : 24) * parts;

    std::size_t count = 0;
    /// The state of each part.
    std::array<std::array<std::uint16_t, parts>, most> next{};
    /// Where it lies: bit k for the upper half in dimension k.
    std::array<std::array<std::uint8_t, parts>, most> halves{};
};

template <std::uint32_t rank>
constexpr HilbertStates<rank> make_hilbert_states() {
    using States = HilbertStates<rank>;
    States states;
    struct Known {
        std::array<std::uint16_t, std::size_t{1} << 13> number{};
        std::array<HilbertState, States::most> state;
    };
    const auto fill = []<std::size_t... i>(const HilbertState& state, std::index_sequence<i...>) {
        return std::array<HilbertState, States::most>{(static_cast<void>(i), state)...};
    };
    Known known{{}, fill(HilbertState(rank), std::make_index_sequence<States::most>())};
    known.number[HilbertState(rank).small_key()] = 1;
    states.count = 1;
    for (std::size_t s = 0; s < states.count; ++s) {
        const HilbertState state = known.state[s];
        for (std::uint64_t digit = 0; digit < States::parts; ++digit) {
            const HilbertState part = state.part(digit);
            std::uint16_t& number = known.number[part.small_key()];
            if (number == 0) {
                known.state[states.count] = part;
                number = static_cast<std::uint16_t>(++states.count);
            }
            states.next[s][digit] = static_cast<std::uint16_t>(number - 1);
            const std::uint64_t code = state.code(digit);
            unsigned halves = 0;
            for (std::uint32_t i = 0; i < rank; ++i) halves |= unsigned{state.value(i, code)} << state.axis(i);
            states.halves[s][digit] = static_cast<std::uint8_t>(halves);
        }
    }
    return states;
}

template <std::uint32_t rank>
inline constexpr HilbertStates<rank> hilbert_states = make_hilbert_states<rank>();

}  // namespace hurray
