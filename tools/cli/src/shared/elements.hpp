// The elements of a tensor one after another, in row-major order, whatever its layout: as numbers, texts or bits.
#pragma once

#include <complex>
#include <cstdint>
#include <functional>
#include <hurray.hpp>
#include <memory>
#include <string>
#include <vector>

namespace cli {

class Elements {
  public:
    /// `stored`: of a quantized tensor the stored codes, else the numbers that they stand for (float32). Composites are merged.
    /// A tensor that is row-major is used where it lies. Throws a Failure about `subject`.
    static Elements of(const hurray::Item& item, bool stored, const hurray::WorkOptions& work, const std::string& subject);

    std::uint8_t type() const { return type_; }
    std::uint32_t bits() const { return bits_; }
    const std::vector<std::uint64_t>& shape() const { return shape_; }
    std::uint64_t count() const { return count_; }
    bool is_complex() const;
    /// All of them, packed.
    hurray::Span<const std::uint8_t> bytes() const { return {data_, byte_size_}; }

    /// The element as a number, rounded where a double cannot hold it; NaN for a pattern that is no element. Complex: the real part.
    double number(std::uint64_t at) const;
    std::complex<double> complex(std::uint64_t at) const;
    /// The element's bits; at most 128.
    HurrayElementBits element_bits(std::uint64_t at) const;
    /// As short as reads back; integers exactly.
    std::string text(std::uint64_t at) const;

  private:
    enum class Way { table, float32, float64, int32, uint32, int64, uint64, call };

    std::uint64_t raw(std::uint64_t at) const;
    std::vector<std::uint64_t> index_of(std::uint64_t at) const;

    hurray::Tensor tensor_;
    std::string subject_;
    std::uint8_t type_ = 0;
    std::uint32_t bits_ = 0;
    std::vector<std::uint64_t> shape_;
    std::uint64_t count_ = 0;
    const std::uint8_t* data_ = nullptr;
    std::size_t byte_size_ = 0;
    Way way_ = Way::call;
    /// The number of every pattern, of types of up to 16 bits.
    std::shared_ptr<const std::vector<double>> table_;
};

}  // namespace cli
