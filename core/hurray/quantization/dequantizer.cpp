#include "core/hurray/quantization/dequantizer.hpp"

namespace hurray::quantization_detail {
namespace {

const std::byte* bytes_of(const float* numbers) noexcept {
    return reinterpret_cast<const std::byte*>(numbers);
}
const std::byte* bytes_of(const std::int32_t* numbers) noexcept {
    return reinterpret_cast<const std::byte*>(numbers);
}

}  // namespace

bool Dequantizer::one_entry(const std::byte* codes, std::size_t count, std::uint64_t entry) {
    return blocks(codes, count, entry, count);
}

bool Dequantizer::blocks(const std::byte* codes, std::size_t count, std::uint64_t first_entry, std::size_t block) {
    if (block < small_block && block < count) {
        const std::size_t entries = count / block + (count % block != 0 ? 1 : 0);
        arrays_.read_scales(first_entry, entries, scales_.data());
        // From the end on, so that what is still to be read is not written over.
        for (std::size_t i = count; i-- > 0;) scales_[i] = scales_[i / block];
        if (arrays_.has_zeros()) {
            arrays_.gather_zeros(first_entry, 1, entries, zeros_.data());
            for (std::size_t i = count; i-- > 0;) zeros_[i] = zeros_[i / block];
        }
        return elements(codes, count, scales_.data(), arrays_.has_zeros() ? zeros_.data() : nullptr);
    }
    Run run = this->run(codes);
    run.zeros = arrays_.direct_zeros(first_entry);
    run.scales = arrays_.direct_scales(first_entry);
    if (run.scales == nullptr) {
        arrays_.read_scales(first_entry, count / block + (count % block != 0 ? 1 : 0), scales_.data());
        run.scales = bytes_of(scales_.data());
    }
    blocks_(run, block, count);
    return finish(count);
}

bool Dequantizer::consecutive_entries(const std::byte* codes, std::size_t count, std::uint64_t first_entry) {
    Run run = this->run(codes);
    run.zeros = arrays_.direct_zeros(first_entry);
    run.scales = arrays_.direct_scales(first_entry);
    if (run.scales == nullptr) {
        arrays_.read_scales(first_entry, count, scales_.data());
        run.scales = bytes_of(scales_.data());
    }
    elements_(run, count);
    return finish(count);
}

bool Dequantizer::elements(const std::byte* codes, std::size_t count, const float* scales, const std::int32_t* zeros) {
    Run run = this->run(codes);
    run.scales = bytes_of(scales);
    run.zeros = zeros == nullptr ? nullptr : bytes_of(zeros);
    elements_(run, count);
    return finish(count);
}

}  // namespace hurray::quantization_detail
