#include "core/hurray/host_memory.hpp"

namespace hurray {

bool is_host_accessible(const BufferHandle& handle) noexcept {
    return handle.device_tag == device_tag::cpu || handle.memory_class == memory_class::host_pinned ||
           handle.memory_class == memory_class::unified;
}

Result<void> check_host_buffers(const Tensor& tensor) {
    using ull = unsigned long long;
    const auto table = tensor.descriptor.buffers();
    if (tensor.buffers.size() != table.size()) {
        return fail(Status::invalid_argument, Error::no_offset, "buffers: %zu, but the descriptor lists %zu",
                    tensor.buffers.size(), table.size());
    }
    for (std::size_t i = 0; i < table.size(); ++i) {
        const Buffer& buffer = tensor.buffers[i];
        if (buffer.handle.byte_size != table[i].byte_size) {
            return fail(Status::invalid_argument, Error::no_offset,
                        "buffer %zu: byte_size: %llu, but the descriptor says %llu", i,
                        static_cast<ull>(buffer.handle.byte_size), static_cast<ull>(table[i].byte_size));
        }
        if (buffer.data == nullptr && buffer.handle.byte_size != 0) {
            return fail(Status::null_pointer, Error::no_offset, "buffer %zu: no memory behind %llu bytes", i,
                        static_cast<ull>(buffer.handle.byte_size));
        }
        if (buffer.prefix > buffer.handle.byte_size) {
            return fail(Status::invalid_argument, Error::no_offset, "buffer %zu: prefix: %u bytes of a buffer of %llu", i,
                        buffer.prefix, static_cast<ull>(buffer.handle.byte_size));
        }
        for (const BufferHandle& handle : {buffer.handle, table[i]}) {
            if (handle.sync_mode != sync_mode::producer_synced) {
                return fail(Status::invalid_sync_mode, Error::no_offset,
                            "buffer %zu: sync_mode: %02x, expected 00 (PRODUCER_SYNCED): the data must be complete", i,
                            handle.sync_mode);
            }
            if (!is_host_accessible(handle)) {
                return fail(Status::unsupported, Error::no_offset,
                            "buffer %zu: memory class %02x of device %02x cannot be read by the CPU: copy it first", i,
                            handle.memory_class, handle.device_tag);
            }
        }
    }
    return {};
}

}  // namespace hurray
