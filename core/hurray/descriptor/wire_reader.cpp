#include "core/hurray/descriptor/wire_reader.hpp"

namespace hurray {

std::unexpected<Error> truncated_field(const char* field, std::uint64_t offset, std::uint64_t size,
                                       std::uint64_t left) {
    return fail(Status::invalid_layout, offset,
                "%s: truncated, expected %llu bytes, %llu are left of descriptor_length", field,
                static_cast<unsigned long long>(size), static_cast<unsigned long long>(left));
}

std::unexpected<Error> truncated_array(const char* field, std::uint64_t size, std::uint64_t count,
                                       const WireReader& in) {
    const std::uint64_t whole = in.remaining() / size;
    return fail(Status::invalid_layout, in.offset() + whole * size,
                "%s[%llu]: truncated, expected %llu elements of %llu bytes, %llu bytes are left of descriptor_length",
                field, static_cast<unsigned long long>(whole), static_cast<unsigned long long>(count),
                static_cast<unsigned long long>(size), static_cast<unsigned long long>(in.remaining() - whole * size));
}

}  // namespace hurray
