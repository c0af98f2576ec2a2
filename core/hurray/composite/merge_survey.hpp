// What will be merged, before there is memory for it.
#pragma once

#include <cstdint>

#include "core/hurray/base/error.hpp"
#include "core/hurray/composite/composite.hpp"

namespace hurray {

struct MergeSurvey {
    /// Bytes that are put in place at most; saturates, as it is for reports only.
    std::uint64_t work = 0;
    bool has_sparse = false;
};

[[nodiscard]] bool is_quantized(const Descriptor& descriptor) noexcept;

/// Adds the members of a composite, and of those within it.
/// @param bits of an element of the result
/// @errors unsupported: a rule that does not make one tensor, an opaque member
Result<void> survey_merge(const Composite& composite, std::uint64_t bits, MergeSurvey& found);

}  // namespace hurray
