// What quantizing would cost, and how fine quantized tensors are.
#pragma once

#include <cstdint>
#include <hurray.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sample.hpp"

namespace cli::report {

/// A way to quantize that is tried.
struct Attempt {
    const char* name;
    const char* words;
    std::uint8_t scheme;
    std::uint8_t storage_type;
    std::uint8_t scale_type;
    std::uint32_t axis;
    std::uint32_t block_size;
};
hurray::Span<const Attempt> attempts();

/// What an attempt came to, over the elements of a sample.
struct Cost {
    /// Square root of the mean square of the error, and its largest magnitude.
    double rms = 0;
    double largest = 0;
    /// Sums of squares over the sample: of the numbers and of the errors.
    double signal = 0;
    double noise = 0;
    /// Bits that an element takes, with its part of scales.
    double bits = 0;
    /// Why there is none; empty where there is.
    std::string refused;

    /// In decibels; infinite where nothing is lost.
    double signal_to_noise() const;
};

/// One for each of attempts().
std::vector<Cost> costs_of(const Sample& sample);

/// The steps of a quantized tensor.
struct Steps {
    std::uint64_t count = 0;
    /// How many were looked at.
    std::uint64_t seen = 0;
    double least = 0;
    double median = 0;
    double greatest = 0;
};
/// Nothing where there are no scales, or none that can be read.
std::optional<Steps> steps_of(const hurray::Tensor& tensor);

}  // namespace cli::report
