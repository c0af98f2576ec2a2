// Runs a fuzz target without a fuzzer: on the files that are named, on all their prefixes, and on mutations of them that
// are the same each time. No coverage guides it; it shows that the target and its seeds work wherever there is a compiler.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr std::size_t mutations = 24'000;  // of all seeds together
constexpr std::size_t longest_prefix = 4096;

class Random {
public:
    std::uint32_t below(std::size_t limit) {
        state_ = state_ * 6364136223846793005U + 1442695040888963407U;
        return limit == 0 ? 0 : static_cast<std::uint32_t>((state_ >> 33) % limit);
    }

private:
    std::uint64_t state_ = 1;
};

void run(const std::string& input) {
    // A copy of exactly its size, so that a sanitizer sees a read behind its end.
    const std::vector<std::uint8_t> bytes(input.begin(), input.end());
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

std::string mutate(std::string input, const std::vector<std::string>& seeds, Random& random) {
    static const std::string tokens[] = {"0", "-1", "18446744073709551615", "9223372036854775808", "1e3", "{}", "[", "\"",
                                         "\\u0000", "null", "BOOL", "F4", std::string(8, '\xFF'), std::string(8, '\0')};
    for (std::uint32_t changes = 1 + random.below(4); changes > 0; --changes) {
        const std::size_t at = random.below(input.size() + 1);
        switch (random.below(6)) {
            case 0:
                if (at < input.size()) input[at] = static_cast<char>(random.below(256));
                break;
            case 1:
                if (at < input.size()) input[at] = static_cast<char>(input[at] ^ (1 << random.below(8)));
                break;
            case 2: input.erase(at, 1 + random.below(16)); break;
            case 3: input.insert(at, tokens[random.below(std::size(tokens))]); break;
            case 4: input.resize(at); break;
            default: {
                const std::string& other = seeds[random.below(seeds.size())];
                const std::size_t from = random.below(other.size() + 1);
                input.insert(at, other.substr(from, 1 + random.below(64)));
            }
        }
    }
    return input;
}

}  // namespace

int main(int count, char** arguments) {
    std::vector<std::string> seeds;
    for (int i = 1; i < count; ++i) {
        std::ifstream file(arguments[i], std::ios::binary);
        if (!file) {
            std::fprintf(stderr, "cannot read %s\n", arguments[i]);
            return 1;
        }
        seeds.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
    if (seeds.empty()) {
        std::fprintf(stderr, "no seeds\n");
        return 1;
    }
    Random random;
    const std::size_t mutations_a_seed = mutations / seeds.size() + 1;
    for (const std::string& seed : seeds) {
        run(seed);
        for (std::size_t length = 0; length < std::min(seed.size(), longest_prefix); ++length) run(seed.substr(0, length));
        for (std::size_t i = 0; i < mutations_a_seed; ++i) run(mutate(seed, seeds, random));
    }
    std::printf("%zu seeds, their prefixes, %zu mutations of each\n", seeds.size(), mutations_a_seed);
    return 0;
}
