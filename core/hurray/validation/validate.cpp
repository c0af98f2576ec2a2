#include "core/hurray/validation/validate.hpp"

#include <vector>

#include "core/hurray/descriptor/codec.hpp"
#include "core/hurray/validation/buffer_check.hpp"
#include "core/hurray/validation/data_check.hpp"

namespace hurray {
namespace {

// What decode would say to it today: a permissive reader may have made it, and a caller that allowed private tags.
Result<void> check_descriptor(const Descriptor& descriptor, const WorkOptions& options) {
    const std::uint32_t length = descriptor.encoded_length();
    Work work(options, length);
    if (auto reserved = work.reserve(length); !reserved) return reserved;
    std::vector<std::byte> bytes(length);
    if (const auto written = encode(descriptor, bytes); !written) return std::unexpected(written.error());
    const PrivateTags private_tags = descriptor.is_opaque() ? PrivateTags::refuse : PrivateTags::allow;
    const auto decoded = decode(bytes, {.max_length = length, .private_tags = private_tags});
    if (!decoded) return std::unexpected(decoded.error());
    return {};
}

}  // namespace

Result<void> validate(const Tensor& tensor, ValidationLevel level, const WorkOptions& options) {
    if (level < ValidationLevel::descriptor || level > ValidationLevel::data) {
        return fail(Status::invalid_argument, Error::no_offset, "level: expected 1 (descriptor), 2 (buffers) or 3 (data), "
                    "got %u", static_cast<unsigned>(level));
    }
    if (auto checked = check_descriptor(tensor.descriptor, options); !checked) return checked;
    if (level >= ValidationLevel::buffers) {
        if (auto checked = validation_detail::check_buffers(tensor); !checked) return checked;
    }
    if (level >= ValidationLevel::data) return validation_detail::check_data(tensor, options);
    return Work(options, 0).finish();
}

}  // namespace hurray
