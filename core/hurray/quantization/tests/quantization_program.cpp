// Dequantizes and quantizes what it reads for the test that works out the answers on its own. Standard input is a
// sequence of cases, standard output one answer for each:
//   case: D, target type, kernels (number of the set; 255: dequantize itself), tensor
//         Q, scheme, storage type, scale type, symmetric, u32 axis, u32 block size, tensor
//         C, tensor (checks of the parameters only)
//   tensor: u32 bytes of the descriptor, descriptor, for each buffer of its table its bytes
//   answer: 0 and a tensor (of D with a set of kernels u64 bytes and the bytes; of C nothing), or
//           1, i32 code, u64 offset, u16 bytes of the message, message
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "core/hurray/base/endian.hpp"
#include "core/hurray/descriptor/codec.hpp"
#include "core/hurray/quantization/dequantize.hpp"
#include "core/hurray/quantization/dequantizer.hpp"
#include "core/hurray/quantization/parameter_check.hpp"
#include "core/hurray/quantization/quantize.hpp"
#include "core/hurray/types/element_type.hpp"

namespace {

using Bytes = std::vector<std::byte>;

[[noreturn]] void give_up(const char* message) {
    std::fprintf(stderr, "%s\n", message);
    std::exit(3);
}

class Input {
  public:
    Input() {
        std::byte piece[65536];
        for (std::size_t got; (got = std::fread(piece, 1, sizeof piece, stdin)) != 0;)
            all_.insert(all_.end(), piece, piece + got);
    }
    [[nodiscard]] bool at_end() const { return at_ == all_.size(); }
    std::span<const std::byte> bytes(std::size_t count) {
        if (count > all_.size() - at_) give_up("input ends early");
        at_ += count;
        return std::span(all_).subspan(at_ - count, count);
    }
    template <typename T>
    T number() {
        return hurray::load_le<T>(bytes(sizeof(T)).data());
    }
    hurray::Tensor tensor() {
        const auto encoded = bytes(number<std::uint32_t>());
        auto descriptor = hurray::decode(encoded);
        if (!descriptor) give_up(descriptor.error().message);
        hurray::Tensor tensor{std::move(*descriptor), {}};
        for (const hurray::BufferHandle& handle : tensor.descriptor.buffers()) {
            auto buffer = hurray::allocate_buffer(handle.byte_size, handle.alignment);
            if (!buffer) give_up(buffer.error().message);
            const auto contents = bytes(handle.byte_size);
            if (!contents.empty()) std::memcpy(buffer->data, contents.data(), contents.size());
            tensor.buffers.push_back(std::move(*buffer));
        }
        return tensor;
    }

  private:
    Bytes all_;
    std::size_t at_ = 0;
};

void write(std::span<const std::byte> bytes) {
    if (!bytes.empty() && std::fwrite(bytes.data(), 1, bytes.size(), stdout) != bytes.size()) std::exit(4);
}

template <typename T>
void write_number(T value) {
    std::byte bytes[sizeof(T)];
    hurray::store_le(bytes, value);
    write(bytes);
}

void write_error(const hurray::Error& error) {
    write_number<std::uint8_t>(1);
    write_number(static_cast<std::uint32_t>(error.code));
    write_number(error.offset);
    const std::string_view message = error.message;
    write_number(static_cast<std::uint16_t>(message.size()));
    write(std::as_bytes(std::span(message)));
}

void write_answer(const hurray::Result<hurray::Tensor>& tensor) {
    if (!tensor) return write_error(tensor.error());
    write_number<std::uint8_t>(0);
    Bytes encoded(tensor->descriptor.encoded_length());
    if (!hurray::encode(tensor->descriptor, encoded)) give_up("encode");
    write_number(static_cast<std::uint32_t>(encoded.size()));
    write(encoded);
    for (const hurray::Buffer& buffer : tensor->buffers) write(buffer.bytes());
}

void dequantize_one(Input& input) {
    const auto target = input.number<std::uint8_t>();
    const auto set = input.number<std::uint8_t>();
    const hurray::Tensor tensor = input.tensor();
    if (set == 255) return write_answer(hurray::dequantize(tensor, target));
    const auto* kernels = hurray::quantization_detail::all_kernels();
    for (int i = 0; i < set && kernels[1] != nullptr; ++i) ++kernels;
    const auto count = hurray::dequantized_count(tensor.descriptor);
    if (!count) return write_error(count.error());
    const std::uint64_t size = hurray::packed_byte_size(target, *count).value();
    // Not aligned on purpose, with some sets.
    Bytes memory(size + set);
    const auto out = std::span(memory).subspan(set);
    const auto done = hurray::quantization_detail::dequantize_with(**kernels, tensor, target, out, {});
    if (!done) return write_error(done.error());
    write_number<std::uint8_t>(0);
    write_number(size);
    write(out);
}

void quantize_one(Input& input) {
    hurray::QuantizeSpec spec;
    spec.scheme = input.number<std::uint8_t>();
    spec.storage_type = input.number<std::uint8_t>();
    spec.scale_type = input.number<std::uint8_t>();
    spec.symmetric = input.number<std::uint8_t>() != 0;
    spec.axis = input.number<std::uint32_t>();
    spec.block_size = input.number<std::uint32_t>();
    write_answer(hurray::quantize(input.tensor(), spec));
}

}  // namespace

int main() {
    Input input;
    while (!input.at_end()) {
        switch (input.number<std::uint8_t>()) {
            case 'D':
                dequantize_one(input);
                break;
            case 'Q':
                quantize_one(input);
                break;
            case 'C': {
                const auto checked = hurray::check_quantization_parameters(input.tensor());
                if (!checked) {
                    write_error(checked.error());
                } else {
                    write_number<std::uint8_t>(0);
                }
                break;
            }
            default:
                give_up("not a case");
        }
    }
    return 0;
}
