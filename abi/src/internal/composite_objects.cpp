#include "abi/src/internal/composite_objects.hpp"

#include <utility>

#include "abi/src/internal/growth.hpp"

void HurrayCompositeBuilder::add(hurray::CompositeMember member) {
    hurray::abi::reserve_more(members, 1);
    kept.add(member);
    members.push_back(std::move(member));
}

namespace hurray::abi {

void KeptMemory::add(const Tensor& tensor) {
    reserve_more(references_, tensor.buffers.size());
    for (const Buffer& buffer : tensor.buffers) {
        if (buffer.storage) references_.push_back(buffer.storage);
    }
}

void KeptMemory::add(const CompositeMember& member) {
    if (const Tensor* tensor = member.tensor()) {
        add(*tensor);
    } else {
        add(*member.composite());
    }
}

void KeptMemory::add(const Composite& composite) {
    const std::size_t before = references_.size();
    try {
        // Composites are at most max_composite_depth deep.
        for (const CompositeMember& member : composite.members()) add(member);
    } catch (...) {
        references_.resize(before);
        throw;
    }
}

bool KeptMemory::drop(KeptMemory kept, bool deferred) noexcept {
    bool clean = true;
    for (Ref<Storage>& reference : kept.references_) clean = abi::drop(reference.detach(), deferred) && clean;
    return clean;
}

bool destroy_composite(HurrayComposite* composite, bool deferred) noexcept {
    KeptMemory kept = std::move(composite->kept);
    retire(composite);
    return KeptMemory::drop(std::move(kept), deferred);
}

bool destroy_composite_builder(HurrayCompositeBuilder* builder, bool deferred) noexcept {
    KeptMemory kept = std::move(builder->kept);
    retire(builder);
    return KeptMemory::drop(std::move(kept), deferred);
}

}  // namespace hurray::abi
