#include "abi/src/internal/work.hpp"

namespace hurray::abi {

Result<void> CallersWork::read(const HurrayWorkOptions* options) {
    auto given = read_sized_struct(options, sizeof(HurrayWorkOptions), "options");
    if (!given) return std::unexpected(given.error());
    if (given->reserved != 0) return fail(Status::invalid_argument, Error::no_offset, "options->reserved: expected 0");
    core_.memory_limit = given->memory_limit;
    progress_ = given->progress;
    context_ = given->context;
    if (progress_ != nullptr) {
        core_.progress = &report;
        core_.context = this;
    }
    return {};
}

bool CallersWork::report(void* self, std::uint64_t done, std::uint64_t total) {
    auto& work = *static_cast<CallersWork*>(self);
    std::uint8_t go_on = 0;
    work.threw_ = !run_callback("progress callback", [&] { go_on = work.progress_(work.context_, done, total); });
    return !work.threw_ && go_on != 0;
}

std::unexpected<Error> CallersWork::failure(const Error& error) const noexcept {
    if (!threw_) return std::unexpected(error);
    return fail(Status::internal_panic, Error::no_offset, "progress callback: it threw an exception, which stopped the work");
}

Tensor shared_tensor(const HurrayTensor& tensor) {
    Tensor result = core_tensor(tensor);
    for (std::size_t i = 0; i < result.buffers.size(); ++i) {
        Ref<Storage>& storage = result.buffers[i].storage;
        const Ref<Storage>& owner = tensor.buffers->slots[i]->context_owner;
        if (owner) storage = storage ? Ref<Storage>::adopt(new JointOwner(storage, owner)) : owner;
    }
    return result;
}

}  // namespace hurray::abi
