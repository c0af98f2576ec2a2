// Fuzz target: a descriptor of any layout and the bytes of its buffers behind it. What is in them is validated, and every
// element is looked for: nothing is read outside, and what is valid can be read.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "core/hurray/descriptor/codec.hpp"
#include "core/hurray/element.hpp"
#include "core/hurray/host_memory.hpp"
#include "core/hurray/layout/paged_view.hpp"
#include "core/hurray/quantization/fields.hpp"
#include "core/hurray/validation/validate.hpp"
#include "tests/fuzz/check.hpp"

namespace {

using namespace hurray;
using fuzz::require;

// More would only cost time.
constexpr std::uint64_t most_data = 1 << 14;
constexpr std::uint64_t most_elements = 1 << 9;
// The buffers of device memory are not there: nobody may look.
constexpr std::uint64_t nowhere = 1 << 12;

struct Aligned {
    void operator()(std::byte* memory) const { ::operator delete(memory, std::align_val_t{64}); }
};
using Memory = std::unique_ptr<std::byte, Aligned>;

// Buffers of the descriptor, without a byte to spare behind them, filled from `data` as far as that goes.
std::vector<Memory> fill(Tensor& tensor, std::span<const std::byte> data) {
    std::vector<Memory> memory;
    for (const BufferHandle& handle : tensor.descriptor.buffers()) {
        Buffer buffer;
        buffer.handle = handle;
        if (!is_host_accessible(handle)) {
            buffer.data = reinterpret_cast<std::byte*>(std::max<std::uint64_t>(nowhere, handle.alignment));
        } else if (handle.byte_size != 0) {
            const auto size = static_cast<std::size_t>(handle.byte_size);
            buffer.data = static_cast<std::byte*>(::operator new(size, std::align_val_t{64}));
            memory.emplace_back(buffer.data);
            std::memset(buffer.data, 0, size);
            const std::size_t there = std::min(size, data.size());
            if (there != 0) std::memcpy(buffer.data, data.data(), there);
            data = data.subspan(there);
        }
        tensor.buffers.push_back(buffer);
    }
    return memory;
}

void check_error(const Error& error) {
    require(error.code != Status::ok && error.code != Status::internal, "an error has a code for its cause");
    require(std::memchr(error.message, 0, sizeof error.message) != nullptr && error.message[0] != 0,
            "an error has a message");
}

// Each level is right where the next one is; the first one is right here.
bool validate_all(const Tensor& tensor) {
    const auto descriptor = validate(tensor, ValidationLevel::descriptor);
    require(descriptor.has_value(), "what was decoded is right");
    const auto buffers = validate(tensor, ValidationLevel::buffers);
    const auto data = validate(tensor, ValidationLevel::data);
    if (!buffers) check_error(buffers.error());
    if (!data) check_error(data.error());
    require(buffers || !data, "a level includes the one before it");
    return data.has_value();
}

void read_element(const Tensor& tensor, const ElementReader& reader, std::span<const std::uint64_t> index, bool right) {
    const auto address = reader.address(index);
    const auto bits = reader.bits(index);
    const auto number = reader.complex128(index);
    (void)reader.float64(index);
    if (!address) {
        check_error(address.error());
        require(!bits && !number, "what has no place has no bits");
        require(!right || address.error().code == Status::unsupported, "elements of right tensors have places");
        return;
    }
    require(bits || bits.error().code == Status::unsupported, "what has a place has bits");
    if (!number) check_error(number.error());
    if (*address) {
        const std::uint64_t end = (*address)->byte + ((*address)->bit + std::uint64_t{(*address)->bits} + 7) / 8;
        require((*address)->buffer == 0 && end <= tensor.buffers[0].handle.byte_size, "in the buffer");
    }
    if (quantization_fields(tensor.descriptor)) {
        const auto dequantized = reader.dequantized(index);
        if (!dequantized) check_error(dequantized.error());
    }
}

// The first elements and the first one beyond.
void read_all(const Tensor& tensor, bool right) {
    const auto reader = ElementReader::make(tensor);
    if (!reader) {
        check_error(reader.error());
        return;
    }
    const auto shape = tensor.descriptor.shape();
    const std::uint64_t count = tensor.descriptor.element_count().value_or(0);
    std::vector<std::uint64_t> index(shape.size());
    for (std::uint64_t i = 0; i < std::min(count, most_elements); ++i) {
        read_element(tensor, *reader, index, right);
        for (std::size_t k = shape.size(); k > 0; --k) {
            if (++index[k - 1] != shape[k - 1]) break;
            index[k - 1] = 0;
        }
    }
    for (std::size_t k = 0; k < shape.size(); ++k) {
        std::fill(index.begin(), index.end(), 0);
        index[k] = shape[k];
        require(!reader->bits(index), "beyond the shape there is nothing");
    }
}

// By sequence and token; and with numbers of tokens.
void read_pages(const Tensor& tensor, bool right) {
    const auto view = PagedView::make(tensor);
    if (!view) {
        check_error(view.error());
        require(!right, "right tables can be viewed");
        return;
    }
    std::vector<std::uint64_t> counts;
    std::uint64_t left = view->shape()[0];
    for (std::uint64_t s = 0; s < std::min<std::uint64_t>(view->fields().num_seqs, 64); ++s) {
        const auto pages = view->pages(s);
        require(pages || !right, "right pointers lead somewhere");
        if (!pages) break;
        for (std::uint64_t token = 0; token < 64; ++token) {
            const auto slot = view->slot(s, token);
            if (!slot) {
                check_error(slot.error());
                require(!right || slot.error().code == Status::index_out_of_bounds, "right tables lead somewhere");
                break;
            }
            require(*slot < view->slot_count() || view->slot_elements() == 0, "a slot is one of the pool");
        }
        const std::uint64_t room = pages->count < most_data ? pages->count * view->fields().page_size : left;
        counts.push_back(std::min(room, left));
        left -= counts.back();
    }
    if (counts.empty()) return;
    const auto told = PagedView::make(tensor, counts);
    if (!told) {
        check_error(told.error());
        return;
    }
    require(told->knows_tokens(), "told is known");
    for (std::uint64_t token = 0; token < std::min<std::uint64_t>(view->shape()[0], 64); ++token) {
        const auto slot = told->slot_of_token(token);
        require(slot || !right, "every token has a slot");
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::unique_ptr<std::byte[]> copy(new std::byte[size]);
    if (size != 0) std::memcpy(copy.get(), data, size);
    const std::span<const std::byte> bytes(copy.get(), size);
    auto decoded = decode(bytes, {.private_tags = PrivateTags::allow});
    if (!decoded) return 0;
    std::uint64_t total = 0;
    for (const BufferHandle& handle : decoded->buffers()) {
        if (handle.byte_size > most_data) return 0;
        total += handle.byte_size;
    }
    // Strides may lead to the same few bytes again and again.
    if (total > most_data || decoded->element_count().value_or(0) > most_data * 8) return 0;
    const auto rest = bytes.subspan(decoded->encoded_length());
    Tensor tensor{std::move(*decoded), {}};
    const auto memory = fill(tensor, rest);
    const bool right = validate_all(tensor);
    read_all(tensor, right);
    if (tensor.descriptor.layout() == layout_tag::block_paged) read_pages(tensor, right);
    return 0;
}
