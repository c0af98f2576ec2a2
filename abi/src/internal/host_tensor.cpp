#include "abi/src/internal/host_tensor.hpp"

#include <memory>
#include <span>
#include <utility>

#include "abi/src/internal/objects.hpp"
#include "core/hurray/base/checked.hpp"
#include "core/hurray/descriptor/builder.hpp"

namespace hurray::abi {
namespace {

Result<Descriptor> dense_descriptor(const HurrayDenseSpec& spec, const Buffer& buffer) {
    DescriptorBuilder builder(spec.element_type, spec.layout, std::span(spec.shape, spec.rank));
    if (spec.strides != nullptr) builder.set_strides(std::span(spec.strides, spec.rank));
    const auto byte_offset = checked_add(spec.byte_offset, buffer.prefix);
    if (!byte_offset) return fail(Status::invalid_argument, Error::no_offset, "spec->byte_offset: too large");
    builder.set_byte_offset(*byte_offset);
    if (auto added = builder.add_buffer(buffer.handle); !added) return std::unexpected(added.error());
    return builder.build();
}

}  // namespace

Result<HurrayTensor*> make_host_tensor(const HurrayDenseSpec& spec, void* data, std::uint64_t byte_size, HurrayReleaseCallback release,
                                       void* release_context, const HurrayReleaseQueue* queue) {
    auto buffer = host_buffer(data, byte_size, spec.read_only);
    if (!buffer) return std::unexpected(buffer.error());
    auto descriptor = dense_descriptor(spec, *buffer);
    if (!descriptor) return std::unexpected(descriptor.error());

    auto owned_list = std::make_unique<HurrayBufferList>();
    owned_list->slots.reserve(1);
    owned_list->slots.push_back(new HurrayBuffer(std::move(*buffer)));
    HurrayBuffer& handle = *owned_list->slots[0];
    handle.borrowed = true;
    std::unique_ptr<LentStorage, LentStorage::Forget> storage(new LentStorage(release, data, release_context));
    if (queue != nullptr) storage->policy.queue = queue->queue;
    HurrayBufferList* list = owned_list.get();
    auto tensor = make_tensor(*descriptor, list);
    if (!tensor) return std::unexpected(tensor.error());
    (void)owned_list.release();
    handle.lent = storage.get();
    handle.value.storage = Ref<Storage>::adopt(storage.release());
    return tensor;
}

}  // namespace hurray::abi
