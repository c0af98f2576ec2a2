#include "core/hurray/composite/composite_assembler.hpp"

#include <utility>

namespace hurray {
namespace {

using ull = unsigned long long;

void append_leaves(const CompositeMember& member, std::vector<Tensor>& out) {
    if (member.tensor() != nullptr) {
        out.push_back(*member.tensor());
        return;
    }
    for (const CompositeMember& inner : member.composite()->members()) append_leaves(inner, out);
}

}  // namespace

Result<std::optional<CompositeMember>> CompositeAssembler::add(Tensor tensor) {
    if (fault_) return std::unexpected(*fault_);
    const bool is_head = tensor.descriptor.layout() == layout_tag::composite && !tensor.descriptor.is_unread();
    if (open_.empty() && !is_head) return CompositeMember(std::move(tensor));
    if (auto checked = check_place(tensor.descriptor); !checked) {
        if (!is_head) misfit_.emplace(std::move(tensor));
        return keep(checked.error());
    }
    ++descriptors_;
    if (is_head) {
        const std::uint32_t count = composite_fields(tensor.descriptor).member_count;
        open_.push_back({std::move(tensor.descriptor), count, {}});
    } else {
        open_.back().members.emplace_back(std::move(tensor));
    }
    return close_what_is_complete();
}

Result<void> CompositeAssembler::check_place(const Descriptor& descriptor) const {
    if (descriptors_ >= options_.max_descriptors) {
        return fail(Status::limit_exceeded, Error::no_offset,
                    "composite: expected at most %llu descriptors (the reader's limit)",
                    static_cast<ull>(options_.max_descriptors));
    }
    if (descriptor.layout() == layout_tag::composite && open_.size() == max_composite_depth) {
        return fail(Status::invalid_composite, Error::no_offset,
                    "composite: expected at most %u heads inside of one another, got one more", max_composite_depth);
    }
    if (open_.empty()) return {};
    return check_member(open_.back().head, open_.back().members.size(), descriptor);
}

Result<std::optional<CompositeMember>> CompositeAssembler::close_what_is_complete() {
    while (open_.back().members.size() == open_.back().count) {
        auto made = Composite::make(std::move(open_.back().head), std::move(open_.back().members));
        if (!made) return keep(made.error());
        open_.pop_back();
        if (open_.empty()) {
            descriptors_ = 0;
            return Result<std::optional<CompositeMember>>(std::in_place, std::in_place, std::move(*made));
        }
        open_.back().members.emplace_back(std::move(*made));
    }
    return std::nullopt;
}

std::unexpected<Error> CompositeAssembler::keep(const Error& fault) {
    fault_ = fault;
    return std::unexpected(fault);
}

std::uint64_t CompositeAssembler::missing() const noexcept {
    std::uint64_t sum = 0;
    // A head that came is a member that did, though it is not complete.
    for (const Open& open : open_) sum += open.count - open.members.size() - (&open == &open_.back() ? 0 : 1);
    return sum;
}

std::unexpected<Error> CompositeAssembler::torn() const {
    return fail(Status::invalid_composite, Error::no_offset,
                "member_count: expected %u members, got %zu: the composite is torn, %llu tensors at least are missing",
                open_.back().count, open_.back().members.size(), static_cast<ull>(missing()));
}

Result<void> CompositeAssembler::finish() const {
    if (fault_) return std::unexpected(*fault_);
    if (is_open()) return torn();
    return {};
}

Result<std::vector<Tensor>> CompositeAssembler::take_loose() {
    if (options_.mode == Mode::strict) {
        if (fault_) return std::unexpected(*fault_);
        if (is_open()) return torn();
    }
    std::vector<Tensor> loose;
    for (const Open& open : open_) {
        for (const CompositeMember& member : open.members) append_leaves(member, loose);
    }
    if (misfit_) loose.push_back(std::move(*misfit_));
    open_.clear();
    misfit_.reset();
    fault_.reset();
    descriptors_ = 0;
    return loose;
}

Result<std::vector<CompositeMember>> assemble(std::span<const Tensor> tensors, const AssemblyOptions& options) {
    CompositeAssembler assembler(options);
    std::vector<CompositeMember> all;
    for (const Tensor& tensor : tensors) {
        auto added = assembler.add(tensor);
        if (!added) return std::unexpected(added.error());
        if (*added) all.push_back(std::move(**added));
    }
    if (auto finished = assembler.finish(); !finished) return std::unexpected(finished.error());
    return all;
}

}  // namespace hurray
