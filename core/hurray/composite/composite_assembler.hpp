// Composites out of tensors that come one after the other, as streams and files have them: a head, then its members.
// (format: composite, binding)
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/hurray/base/error.hpp"
#include "core/hurray/composite/composite.hpp"
#include "core/hurray/descriptor/descriptor.hpp"
#include "core/hurray/tensor.hpp"

namespace hurray {

struct AssemblyOptions {
    /// Descriptors of one composite, its heads included: the most that are kept before it is complete.
    std::uint64_t max_descriptors = std::uint64_t{1} << 20;
    /// Permissive reading gives what came of a composite that is not complete, or whose members do not fit, as tensors
    /// of their own: see take_loose.
    Mode mode = Mode::strict;
};

/// Takes tensors in their order and gives out what they are: tensors by themselves, and composites as soon as their
/// last member is there. Memory grows with what came, never with what a head announces. What can be said about a member
/// is said when it comes.
///
/// Thread rule: one thread at a time.
class CompositeAssembler {
  public:
    explicit CompositeAssembler(const AssemblyOptions& options = {}) noexcept : options_(options) {}

    /// Takes the next tensor. After an error nothing more is taken, and the same error is given again, until
    /// take_loose.
    /// @param tensor with its buffers; a head has none
    /// @returns the tensor when no composite is open, or the outermost composite when this was the last that it lacked;
    ///     nothing while a composite is open
    /// @errors invalid_composite: a member that does not fit, or more than 8 heads inside of one another;
    ///     limit_exceeded: more than max_descriptors; no byte offset
    Result<std::optional<CompositeMember>> add(Tensor tensor);

    /// Whether a composite waits for members.
    [[nodiscard]] bool is_open() const noexcept { return !open_.empty(); }
    /// How many of them it waits for at least: members that are heads bring others. 0 when none is open.
    [[nodiscard]] std::uint64_t missing() const noexcept;

    /// Says that no more will come.
    /// @errors invalid_composite: the composite that is open is torn
    Result<void> finish() const;

    /// What there is of the composite that is open or at fault: its tensors in the order in which they came, without
    /// the heads. Nobody may take them for a whole. Ready for the next tensor afterwards; what else is part of the
    /// composite is for the caller to know.
    /// @errors invalid_composite: strict reading, which refuses what is torn
    Result<std::vector<Tensor>> take_loose();

  private:
    // A head and those of its members that came.
    struct Open {
        Descriptor head;
        std::uint32_t count;
        std::vector<CompositeMember> members;
    };

    Result<void> check_place(const Descriptor& descriptor) const;
    Result<std::optional<CompositeMember>> close_what_is_complete();
    [[nodiscard]] std::unexpected<Error> keep(const Error& fault);
    [[nodiscard]] std::unexpected<Error> torn() const;

    AssemblyOptions options_;
    // From the outermost one to the innermost.
    std::vector<Open> open_;
    std::uint64_t descriptors_ = 0;
    std::optional<Error> fault_;
    // The tensor that did not fit.
    std::optional<Tensor> misfit_;
};

/// Takes all tensors of a sequence.
/// @errors as CompositeAssembler::add; invalid_composite: the last composite is torn (in permissive mode, too, since
/// its
///     loose tensors would look like any others)
Result<std::vector<CompositeMember>> assemble(std::span<const Tensor> tensors, const AssemblyOptions& options = {});

}  // namespace hurray
