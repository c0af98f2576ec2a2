// Works out the statistics of tensors for the test that works out the answers on its own.
//   standard input: for each tensor, u32 mask, then u32 length and bytes of the descriptor, then u64 length and bytes
//   of
//                   each buffer; all little-endian
//   standard output: for each tensor a line, ERROR and a code, or computed_mask nnz sparsity_ratio min max abs_max mean
//                   stddev nm_n nm_m has_nan has_inf, floating-point numbers as C's %a has them
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "core/hurray/base/endian.hpp"
#include "core/hurray/descriptor/codec.hpp"
#include "core/hurray/statistics/statistics.hpp"

namespace {

using hurray::Buffer;
using hurray::Tensor;

bool read(void* to, std::size_t size) {
    return size == 0 || std::fread(to, 1, size, stdin) == size;
}

template <typename T>
bool read_number(T& number) {
    std::byte bytes[sizeof(T)];
    if (!read(bytes, sizeof bytes)) return false;
    number = hurray::load_le<T>(bytes);
    return true;
}

[[noreturn]] void give_up(const char* what) {
    std::fprintf(stderr, "%s\n", what);
    std::exit(3);
}

Tensor read_tensor() {
    std::uint32_t length = 0;
    if (!read_number(length)) give_up("no descriptor");
    std::vector<std::byte> bytes(length);
    if (!read(bytes.data(), length)) give_up("half a descriptor");
    auto descriptor = hurray::decode(bytes);
    if (!descriptor) give_up(descriptor.error().message);
    Tensor tensor{std::move(*descriptor), {}};
    for (const hurray::BufferHandle& handle : tensor.descriptor.buffers()) {
        std::uint64_t size = 0;
        if (!read_number(size) || size != handle.byte_size) give_up("a buffer of another size");
        auto buffer = hurray::allocate_buffer(size);
        if (!buffer || !read(buffer->data, size)) give_up("half a buffer");
        tensor.buffers.push_back(std::move(*buffer));
    }
    return tensor;
}

}  // namespace

int main() {
    std::uint32_t mask = 0;
    while (read_number(mask)) {
        const Tensor tensor = read_tensor();
        const auto found = hurray::compute_statistics(tensor, mask);
        if (!found) {
            std::printf("ERROR %d %s\n", static_cast<int>(found.error().code), found.error().message);
            continue;
        }
        std::printf("%u %llu %a %a %a %a %a %a %u %u %d %d\n", found->computed_mask,
                    static_cast<unsigned long long>(found->nnz), found->sparsity_ratio, found->value_min,
                    found->value_max, found->value_abs_max, found->value_mean, found->value_stddev, found->nm_n,
                    found->nm_m, found->has_nan ? 1 : 0, found->has_inf ? 1 : 0);
    }
    return 0;
}
