// A program that hosts several runtimes over one copy of the library: one tensor goes through all of them.
#include <dlfcn.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "copy.hpp"
#include "runtime.hpp"

namespace hosts {
namespace {

constexpr double expected_sum = 66;

void require(bool good, const std::string& what) {
    if (!good) throw std::runtime_error(what);
}

// Memory that the host lends, and how often it came back.
struct Lent {
    alignas(64) float values[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    int releases = 0;
};

// A tensor of a copy over memory that the host lends, as a pair.
Pair lend(const Copy& copy, Lent& memory) {
    const uint64_t shape[] = {3, 4};
    HurrayDenseSpec spec{};
    spec.struct_size = sizeof spec;
    spec.element_type = HURRAY_TYPE_FLOAT32;
    spec.layout = HURRAY_LAYOUT_ROW_MAJOR;
    spec.rank = 2;
    spec.shape = shape;
    const auto count = [](void*, void* context) { ++static_cast<Lent*>(context)->releases; };
    HurrayTensor* tensor = nullptr;
    copy.require("tensor_from_host", copy.tensor_from_host, &spec, static_cast<void*>(memory.values), uint64_t{sizeof memory.values},
                 HurrayReleaseCallback{count}, static_cast<void*>(&memory), static_cast<const HurrayReleaseQueue*>(nullptr), &tensor);
    Pair pair;
    copy.require("tensor_export", copy.tensor_export, static_cast<const HurrayTensor*>(tensor), &pair.list, &pair.context);
    require(copy.tensor_destroy(&tensor) == HURRAY_OK, "tensor_destroy");
    return pair;
}

// Takes the pair over by a copy; the elements must lie at `where`, if that is not null, and be those that were lent.
HurrayTensor* take(const Copy& copy, Pair pair, const void* where) {
    HurrayTensor* tensor = nullptr;
    copy.require("tensor_import", copy.tensor_import, &pair.list, &pair.context, &tensor);
    HurrayView view{};
    view.struct_size = sizeof view;
    copy.require("tensor_view", copy.tensor_view, static_cast<const HurrayTensor*>(tensor), &view);
    require(where == nullptr || view.data == where, "the elements do not lie where they lay");
    double sum = 0;
    for (int i = 0; i < 12; ++i) sum += static_cast<const float*>(view.data)[i];
    require(view.element_count == 12 && sum == expected_sum, "other elements came back");
    return tensor;
}

void give_back(const Copy& copy, Pair pair, const void* where) {
    HurrayTensor* tensor = take(copy, pair, where);
    require(copy.tensor_destroy(&tensor) == HURRAY_OK, "tensor_destroy");
}

using Runtimes = std::vector<std::unique_ptr<Runtime>>;

Runtimes start(const std::string& order) {
    Runtimes all;
    std::stringstream names(order);
    for (std::string name; std::getline(names, name, ',');) {
        if (name == "jvm") all.push_back(start_jvm());
        else if (name == "clr") all.push_back(start_clr());
        else if (name == "python") all.push_back(start_python());
        else if (name == "go") all.push_back(start_library(name, "HOSTS_GO"));
        else if (name == "zig") all.push_back(start_library(name, "HOSTS_ZIG"));
        else throw std::runtime_error("no such runtime: " + name);
    }
    return all;
}

// Through all runtimes, beginning with the one at `first`.
void through(const Runtimes& all, std::size_t first, Pair& pair) {
    for (std::size_t i = 0; i < all.size(); ++i) {
        Runtime& runtime = *all[(first + i) % all.size()];
        const double sum = runtime.pass(pair);
        require(sum == expected_sum, runtime.name() + " read the sum " + std::to_string(sum));
    }
}

// Collectors take their time: asks all of them until everything is as it should be, or for long enough. What a collector's thread
// ended waits to be released on the host's.
template <typename Done>
void settle(const Runtimes& all, const Copy& copy, Done&& done) {
    for (int round = 0; round < 500; ++round) {
        for (const auto& runtime : all) runtime->settle();
        copy.drain();
        if (done()) return;
    }
}

// Every runtime once, so that what it makes once and keeps is there.
void warm_up(const Runtimes& all, const Copy& copy) {
    Lent memory;
    Pair pair = lend(copy, memory);
    through(all, 0, pair);
    give_back(copy, pair, memory.values);
    settle(all, copy, [&] { return memory.releases == 1; });
    require(memory.releases == 1, "warming up: releases");
    // What is kept is what stays the same for a while.
    uint64_t live = copy.live();
    for (int same = 0; same < 3;) {
        for (const auto& runtime : all) runtime->settle();
        copy.drain();
        same = copy.live() == live ? same + 1 : 0;
        live = copy.live();
    }
}

void expect_base(const Copy& copy, uint64_t base, const std::string& what) {
    const uint64_t live = copy.live();
    require(live == base, what + ": " + std::to_string(live) + " live handles, " + std::to_string(base) + " before");
}

// One tensor through all, in every rotation of the order; then one of each runtime's own through all others.
int pass(const Runtimes& all, const Copy& copy, int rounds) {
    warm_up(all, copy);
    const uint64_t base = copy.live();
    for (int round = 0; round < rounds; ++round) {
        const std::size_t first = static_cast<std::size_t>(round) % all.size();
        Lent memory;
        Pair pair = lend(copy, memory);
        through(all, first, pair);
        require(memory.releases == 0, "released while it was in use");
        give_back(copy, pair, memory.values);
        settle(all, copy, [&] { return memory.releases == 1 && copy.live() == base; });
        require(memory.releases == 1, "round " + std::to_string(round) + ": " + std::to_string(memory.releases) + " releases");
        expect_base(copy, base, "round " + std::to_string(round));
        pair = all[first]->make();
        through(all, first, pair);
        give_back(copy, pair, nullptr);
        settle(all, copy, [&] { return copy.live() == base; });
        expect_base(copy, base, all[first]->name() + "'s own");
    }
    std::printf("passed: %d rounds through %zu runtimes\n", rounds, all.size());
    return 0;
}

// The end of every runtime that can end, while the host still has a tensor of each: their releases are leaked.
int ends(const Runtimes& all, const Copy& copy) {
    warm_up(all, copy);
    std::vector<HurrayTensor*> kept;
    for (const auto& runtime : all) kept.push_back(take(copy, runtime->make(), nullptr));
    for (const auto& runtime : all) {
        std::printf("%s: %s\n", runtime->name().c_str(), runtime->end() ? "ended" : "stays");
    }
    std::fflush(stdout);
    const uint64_t before = copy.live();
    for (HurrayTensor*& tensor : kept) require(copy.tensor_destroy(&tensor) == HURRAY_OK, "tensor_destroy after the end");
    require(copy.live() < before, "nothing ended");
    // Whoever is still there still works.
    for (const auto& runtime : all) {
        if (runtime->name() == "go" || runtime->name() == "zig" || runtime->name() == "clr") {
            Lent memory;
            Pair pair = lend(copy, memory);
            require(runtime->pass(pair) == expected_sum, runtime->name() + " after the end of others");
            give_back(copy, pair, memory.values);
            for (int round = 0; round < 500 && memory.releases == 0; ++round) {
                runtime->settle();
                copy.drain();
            }
            require(memory.releases == 1, runtime->name() + ": releases after the end of others");
        }
    }
    std::printf("passed: %zu tensors outlived\n", kept.size());
    return 0;
}

// A second copy of the library, of a raised version: what it makes goes through all runtimes and back, and the other way round.
int versions(const Runtimes& all, const Copy& copy) {
    const Copy raised(setting("HOSTS_RAISED").c_str());
    require(raised.version() > copy.version(), "the second copy is of no raised version");
    require(std::strcmp(raised.build(), copy.build()) != 0, "both copies have one build id");
    warm_up(all, copy);
    const uint64_t base = copy.live();
    const uint64_t raised_base = raised.live();
    for (std::size_t first = 0; first < all.size(); ++first) {
        for (const bool back : {false, true}) {
            Lent memory;
            Pair pair = lend(back ? copy : raised, memory);
            through(all, first, pair);
            require(memory.releases == 0, "released while it was in use");
            give_back(back ? raised : copy, pair, memory.values);
            settle(all, copy, [&] {
                raised.drain();
                return memory.releases == 1 && copy.live() == base && raised.live() == raised_base;
            });
            require(memory.releases == 1, "between versions: " + std::to_string(memory.releases) + " releases");
            expect_base(copy, base, "today's copy");
            expect_base(raised, raised_base, "the raised copy");
        }
    }
    std::printf("passed: versions %u and %u\n", copy.version(), raised.version());
    return 0;
}

int run(std::string_view command, const std::string& order, int rounds) {
    // The copy that all bindings open.
    const Copy copy(setting("HURRAY_LIBRARY").c_str());
    const Runtimes all = start(order);
    if (command == "pass") return pass(all, copy, rounds);
    if (command == "ends") return ends(all, copy);
    if (command == "versions") return versions(all, copy);
    return 2;
}

}  // namespace
}  // namespace hosts

int main(int count, char** arguments) {
    if (count < 3) {
        std::fputs("usage: host pass|ends|versions ORDER [ROUNDS]\n", stderr);
        return 2;
    }
    try {
        return hosts::run(arguments[1], arguments[2], count > 3 ? std::stoi(arguments[3]) : 1);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "host: %s\n", error.what());
        return 1;
    }
}
