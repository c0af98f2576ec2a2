#include "core/hurray/descriptor/buffer_handle.hpp"

#include <algorithm>
#include <cstdio>

#include "core/hurray/descriptor/handle_check.hpp"

namespace hurray {
namespace {

using ull = unsigned long long;

constexpr bool is_private(std::uint8_t tag) noexcept {
    return tag >= 0xF0 && tag <= 0xFE;
}

// Finds the first fault of a handle, field by field.
class FaultFinder {
  public:
    FaultFinder(const std::byte* bytes, std::uint32_t present, const HandleFaultQuery& query)
        : bytes_(bytes), present_(present), query_(query) {
        if (query.index >= 0) {
            (void)std::snprintf(subject_, sizeof subject_, "buffer %d", query.index);
        } else {
            (void)std::snprintf(subject_, sizeof subject_, "buffer handle");
        }
    }

    Result<void> find() {
        if (present_ < 8) return truncated("byte_size", 0, 8);
        if (present_ < 12) return truncated("alignment", 8, 4);
        if (auto checked = check_alignment(); !checked) return checked;
        if (present_ < 13) return truncated("device_tag", 12, 1);
        if (auto checked = check_device(); !checked) return checked;
        if (present_ < 14) return truncated("sync_mode", 13, 1);
        if (auto checked = check_sync_mode(); !checked) return checked;
        if (present_ < 15) return truncated("memory_class", 14, 1);
        if (auto checked = check_memory_class(); !checked) return checked;
        if (present_ < 16) return truncated("reserved", 15, 1);
        const unsigned reserved = byte_at(15);
        if (reserved != 0) {
            return fail(Status::invalid_layout, query_.at + 15, "%s: reserved byte: expected 0, got %u", subject_,
                        reserved);
        }
        return {};
    }

  private:
    [[nodiscard]] std::uint8_t byte_at(std::uint32_t offset) const { return static_cast<std::uint8_t>(bytes_[offset]); }

    [[nodiscard]] std::unexpected<Error> truncated(const char* field, std::uint32_t offset, unsigned size) const {
        return fail(Status::invalid_layout, query_.at + offset, "%s: %s: truncated, expected %u bytes, got %u",
                    subject_, field, size, present_ - offset);
    }

    [[nodiscard]] Result<void> check_alignment() const {
        const std::uint64_t byte_size = load_le<std::uint64_t>(bytes_);
        const std::uint32_t alignment = load_le<std::uint32_t>(bytes_ + 8);
        if (!is_power_of_two(alignment)) {
            return fail(Status::invalid_layout, query_.at + 8, "%s: alignment: expected a power of two, got %u",
                        subject_, alignment);
        }
        if (byte_size != 0 && alignment < least_alignment) {
            return fail(Status::invalid_layout, query_.at + 8,
                        "%s: alignment: expected at least %u for a buffer that is not empty (%llu bytes), got %u",
                        subject_, least_alignment, static_cast<ull>(byte_size), alignment);
        }
        return {};
    }

    [[nodiscard]] Result<void> check_device() const {
        const std::uint8_t device = byte_at(12);
        if (is_private(device)) {
            if (query_.private_tags == PrivateTags::refuse) {
                return fail(Status::invalid_type, query_.at + 12,
                            "%s: device_tag: private tag %02X, and those are not allowed", subject_, device);
            }
        } else if (device >= memory_classes_of_device.size()) {
            return fail(Status::invalid_type, query_.at + 12,
                        "%s: device_tag: expected 00 to 08 or a private tag, got %02X", subject_, device);
        }
        if (query_.first != nullptr && query_.first->device_tag != device) {
            return fail(Status::invalid_type, query_.at + 12, "%s: device_tag: expected %02X as buffer 0 has, got %02X",
                        subject_, query_.first->device_tag, device);
        }
        return {};
    }

    [[nodiscard]] Result<void> check_sync_mode() const {
        const std::uint8_t mode = byte_at(13);
        if (mode > sync_mode::consumer_stream) {
            return fail(Status::invalid_sync_mode, query_.at + 13, "%s: sync_mode: expected 00 to 02, got %02X",
                        subject_, mode);
        }
        if (byte_at(12) == device_tag::cpu && mode != sync_mode::producer_synced) {
            return fail(Status::invalid_sync_mode, query_.at + 13,
                        "%s: sync_mode: expected 00 (PRODUCER_SYNCED) for the CPU, got %02X", subject_, mode);
        }
        return {};
    }

    [[nodiscard]] Result<void> check_memory_class() const {
        const std::uint8_t device = byte_at(12);
        const std::uint8_t memory = byte_at(14);
        if (is_private(memory)) {
            if (!is_private(device)) {
                return fail(Status::invalid_type, query_.at + 14,
                            "%s: memory_class: private class %02X on device %02X, expected a private device", subject_,
                            memory, device);
            }
        } else if (memory > memory_class::peer) {
            return fail(Status::invalid_type, query_.at + 14, "%s: memory_class: expected 00 to 03, got %02X", subject_,
                        memory);
        } else if (is_private(device) ? memory != memory_class::standard
                                      : (memory_classes_of_device[device] >> memory & 1) == 0) {
            return fail(Status::invalid_type, query_.at + 14, "%s: memory_class: device %02X has no class %02X",
                        subject_, device, memory);
        }
        if (query_.first != nullptr && query_.first->memory_class != memory) {
            return fail(Status::invalid_type, query_.at + 14,
                        "%s: memory_class: expected %02X as buffer 0 has, got %02X", subject_,
                        query_.first->memory_class, memory);
        }
        return {};
    }

    const std::byte* bytes_;
    std::uint32_t present_;
    const HandleFaultQuery& query_;
    char subject_[24];
};

}  // namespace

Result<void> find_handle_fault(const std::byte* bytes, std::uint32_t present, const HandleFaultQuery& query) {
    return FaultFinder(bytes, present, query).find();
}

Result<void> check_buffer_handle(const BufferHandle& handle, std::uint64_t base_offset, PrivateTags private_tags) {
    if (is_plain_handle(handle, std::byte{0}, nullptr)) return {};
    std::byte bytes[BufferHandle::encoded_size];
    encode_buffer_handle(handle, bytes);
    return find_handle_fault(bytes, sizeof bytes, {.at = base_offset, .private_tags = private_tags});
}

Result<BufferHandle> decode_buffer_handle(std::span<const std::byte> bytes, std::uint64_t base_offset,
                                          PrivateTags private_tags) {
    const auto present = static_cast<std::uint32_t>(std::min<std::size_t>(bytes.size(), BufferHandle::encoded_size));
    if (present == BufferHandle::encoded_size) {
        const BufferHandle handle = load_buffer_handle(bytes.data());
        if (is_plain_handle(handle, bytes[15], nullptr)) return handle;
    }
    const HandleFaultQuery query{.at = base_offset, .private_tags = private_tags};
    if (auto checked = find_handle_fault(bytes.data(), present, query); !checked)
        return std::unexpected(checked.error());
    return load_buffer_handle(bytes.data());
}

void encode_buffer_handle(const BufferHandle& handle, std::span<std::byte> out) noexcept {
    store_le(&out[0], handle.byte_size);
    store_le(&out[8], handle.alignment);
    out[12] = std::byte{handle.device_tag};
    out[13] = std::byte{handle.sync_mode};
    out[14] = std::byte{handle.memory_class};
    out[15] = std::byte{0};
}

}  // namespace hurray
