// What stands behind the handles of composites.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "abi/src/api/composite.hpp"
#include "abi/src/internal/objects.hpp"
#include "core/hurray/composite/composite.hpp"

namespace hurray::abi {

/// All memory that the tensors of a composite share, each reference once more: those of the core's own cannot be dropped in
/// the deferred way.
class KeptMemory {
public:
    /// Adds what the buffers of a tensor, or of all tensors of a composite, share. On an exception nothing was added.
    void add(const CompositeMember& member);
    void add(const Composite& composite);
    /// Ends all, once nobody else needs it. False: a callback threw an exception.
    static bool drop(KeptMemory kept, bool deferred) noexcept;

private:
    void add(const Tensor& tensor);

    std::vector<Ref<Storage>> references_;
};

}  // namespace hurray::abi

struct HurrayComposite final : hurray::abi::HandleBase<HURRAY_HANDLE_COMPOSITE> {
    explicit HurrayComposite(std::shared_ptr<const hurray::Composite> composite)
        : value(std::move(composite)), head(hurray::Descriptor(value->head())) {
        head.borrowed = true;
        kept.add(*value);
    }

    std::shared_ptr<const hurray::Composite> value;
    HurrayDescriptor head;
    hurray::abi::KeptMemory kept;
};

struct HurrayCompositeBuilder final : hurray::abi::HandleBase<HURRAY_HANDLE_COMPOSITE_BUILDER> {
    explicit HurrayCompositeBuilder(const hurray::Descriptor& descriptor) : head(descriptor) {}

    /// On an exception nothing was added.
    void add(hurray::CompositeMember member);

    hurray::Descriptor head;
    std::vector<hurray::CompositeMember> members;
    hurray::abi::KeptMemory kept;
};

namespace hurray::abi {

/// These return false when a callback threw an exception.
bool destroy_composite(HurrayComposite* composite, bool deferred) noexcept;
bool destroy_composite_builder(HurrayCompositeBuilder* builder, bool deferred) noexcept;

}  // namespace hurray::abi
