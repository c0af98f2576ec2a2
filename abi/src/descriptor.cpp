// Descriptors: decode, read, build, encode. (format: tensor descriptor)
#include <cstddef>
#include <utility>

#include "abi/src/api/annotations.hpp"
#include "abi/src/api/buffer.hpp"
#include "abi/src/api/tags.hpp"
#include "abi/src/api/tensor.hpp"
#include "abi/src/internal/barrier.hpp"
#include "abi/src/internal/descriptor_fields.hpp"
#include "abi/src/internal/objects.hpp"
#include "core/hurray/descriptor/codec.hpp"
#include "core/hurray/descriptor/extension_type_section.hpp"

using namespace hurray;
using namespace hurray::abi;

namespace {

std::span<const std::byte> as_span(const std::uint8_t* bytes, std::uint64_t length) {
    return {reinterpret_cast<const std::byte*>(bytes), static_cast<std::size_t>(length)};
}

// The handle of a descriptor, which is decoded where it stays.
[[gnu::always_inline]] inline Result<void> decode_handle(std::span<const std::byte> bytes, const DecodeOptions& options,
                                                         HurrayDescriptor*& out) {
    auto descriptor = std::make_unique<HurrayDescriptor>();
    Result<void> decoded = decode_into(bytes, descriptor->value, options);
    if (decoded.has_value()) [[likely]] out = descriptor.release();
    return decoded;
}

}  // namespace

/// Decodes and fully validates a descriptor. Bytes behind its descriptor_length are not looked at.
/// @param bytes encoded descriptor, at any alignment
/// @param length how many bytes there are
/// @owner caller; nothing of `bytes` is kept
/// @errors INVALID_MAGIC, VERSION_MISMATCH, INVALID_LAYOUT, INVALID_TYPE, INVALID_SYNC_MODE, UNSUPPORTED,
///     LIMIT_EXCEEDED: the message names the field, the expectation and the byte offset
/// @thread any
/// @since 4
/// @spec format: tensor descriptor
HURRAY_API HurrayStatus hurray_descriptor_decode(HG_IN_ARRAY(length) const uint8_t* bytes, uint64_t length,
                                                 HG_OUT_OWNED(hurray_descriptor_destroy) HurrayDescriptor** out,
                                                 HG_ERROR HurrayError* error) noexcept {
    HURRAY_REQUIRE(out, error);
    *out = nullptr;
    if (bytes == nullptr && length != 0) return report_null("bytes", error);
    return guarded(error, [&]() -> Result<void> { return decode_handle(as_span(bytes, length), {}, *out); });
}

/// Decodes a descriptor as hurray_descriptor_decode does, by the options of the caller: longer ones, private tags, or what
/// is not known (permissive).
/// @param bytes encoded descriptor, at any alignment
/// @param length how many bytes there are
/// @param options null: the defaults, as in hurray_descriptor_decode
/// @owner caller; nothing of `bytes` is kept
/// @errors as hurray_descriptor_decode; INVALID_ARGUMENT: options
/// @thread any
/// @since 4
/// @spec format: tensor descriptor
HURRAY_API HurrayStatus hurray_descriptor_decode_options(HG_IN_ARRAY(length) const uint8_t* bytes, uint64_t length,
                                                         HG_IN_OPT const HurrayDecodeOptions* options,
                                                         HG_OUT_OWNED(hurray_descriptor_destroy) HurrayDescriptor** out,
                                                         HG_ERROR HurrayError* error) noexcept {
    HURRAY_REQUIRE(out, error);
    *out = nullptr;
    if (bytes == nullptr && length != 0) return report_null("bytes", error);
    return guarded(error, [&]() -> Result<void> {
        auto chosen = decode_options(options);
        if (!chosen) return std::unexpected(chosen.error());
        return decode_handle(as_span(bytes, length), *chosen, *out);
    });
}

/// Tells the length of the descriptor that starts at `bytes`, from its first 20 bytes; for readers of streams.
/// @errors as hurray_descriptor_decode, for the fixed header
/// @thread any
/// @since 4
/// @spec format: fixed header
HURRAY_API HurrayStatus hurray_descriptor_peek_length(HG_IN_ARRAY(length) const uint8_t* bytes, uint64_t length,
                                                      HG_OUT uint64_t* out_length, HG_ERROR HurrayError* error) noexcept {
    HURRAY_REQUIRE(out_length, error);
    *out_length = 0;
    if (bytes == nullptr && length != 0) return report_null("bytes", error);
    return guarded(error, [&]() -> Result<void> {
        auto peeked = peek_length(as_span(bytes, length));
        if (!peeked) return std::unexpected(peeked.error());
        *out_length = *peeked;
        return {};
    });
}

/// Fills a struct with the fields of the descriptor; one call reads them all.
/// @owner the pointers in the struct belong to `descriptor` and live as long as it does
/// @errors INVALID_ARGUMENT: struct_size is too small
/// @thread one thread at a time
/// @since 4
HURRAY_API HurrayStatus hurray_descriptor_info(HG_IN const HurrayDescriptor* descriptor, HG_OUT HurrayDescriptorInfo* out_info,
                                               HG_ERROR HurrayError* error) noexcept {
    if (out_info != nullptr) clear_sized_struct(out_info);
    HURRAY_REQUIRE_HANDLE(descriptor, error);
    HURRAY_REQUIRE(out_info, error);
    return guarded(error, [&]() -> Result<void> {
        const Descriptor& value = descriptor->value;
        HurrayDescriptorInfo info{};
        info.flags = value.flags();
        info.version_major = value.version_major();
        info.version_minor = value.version_minor();
        info.element_type = value.element_type();
        info.layout = value.layout();
        info.rank = value.rank();
        info.bits = element_type_info(value).bits;
        info.buffer_count = static_cast<std::uint32_t>(value.buffers().size());
        info.descriptor_length = value.encoded_length();
        info.byte_offset = value.byte_offset();
        if (value.is_dynamic()) {
            info.element_count = HURRAY_DIMENSION_DYNAMIC;
        } else {
            auto count = value.element_count();
            if (!count) return std::unexpected(count.error());
            info.element_count = *count;
        }
        if (value.rank() != 0) {
            info.shape = value.shape().data();
            if (!value.strides().empty()) info.strides = value.strides().data();
        }
        if (value.has_shard()) {
            // Not null even for a scalar: that is how callers see that the section is there.
            static constexpr std::uint64_t no_dimensions = 0;
            info.parent_shape = value.rank() == 0 ? &no_dimensions : value.parent_shape().data();
            info.shard_offset = value.rank() == 0 ? &no_dimensions : value.shard_offset().data();
        }
        info.reading = (value.is_opaque() ? HURRAY_DESCRIPTOR_OPAQUE : 0) | (value.is_unread() ? HURRAY_DESCRIPTOR_UNREAD : 0);
        if (const auto trailing = value.trailing(); !trailing.empty()) {
            info.trailing = reinterpret_cast<const std::uint8_t*>(trailing.data());
            info.trailing_length = trailing.size();
        }
        // What the struct was before it told what a permissive reader found.
        constexpr std::uint32_t minimum = offsetof(HurrayDescriptorInfo, reading);
        return fill_sized_struct(out_info, info, minimum, "out_info");
    });
}

/// Copies one entry of the buffer table.
/// @errors INDEX_OUT_OF_BOUNDS
/// @thread one thread at a time
/// @since 4
/// @spec format: buffer table
HURRAY_API HurrayStatus hurray_descriptor_buffer(HG_IN const HurrayDescriptor* descriptor, uint32_t index,
                                                 HG_OUT HurrayBufferHandleBytes* out_handle_bytes,
                                                 HG_ERROR HurrayError* error) noexcept {
    if (out_handle_bytes != nullptr) *out_handle_bytes = HurrayBufferHandleBytes{};
    HURRAY_REQUIRE_HANDLE(descriptor, error);
    HURRAY_REQUIRE(out_handle_bytes, error);
    return guarded(error, [&]() -> Result<void> {
        const auto table = descriptor->value.buffers();
        if (index >= table.size()) {
            return fail(Status::index_out_of_bounds, Error::no_offset, "index: expected less than %zu, got %u", table.size(),
                        index);
        }
        encode_buffer_handle(table[index], std::as_writable_bytes(std::span(out_handle_bytes->bytes)));
        return {};
    });
}

/// Encodes the descriptor into memory of the caller.
/// @param capacity how many bytes `bytes` has room for; HurrayDescriptorInfo.descriptor_length are needed
/// @param out_length how many bytes were written; on BUFFER_TOO_SMALL how many are needed
/// @errors BUFFER_TOO_SMALL: nothing was written
/// @thread one thread at a time
/// @since 4
/// @spec format: tensor descriptor
HURRAY_API HurrayStatus hurray_descriptor_encode(HG_IN const HurrayDescriptor* descriptor,
                                                 HG_OUT_ARRAY(capacity) uint8_t* bytes, uint64_t capacity,
                                                 HG_OUT uint64_t* out_length, HG_ERROR HurrayError* error) noexcept {
    if (out_length != nullptr) *out_length = 0;
    HURRAY_REQUIRE_HANDLE(descriptor, error);
    HURRAY_REQUIRE(out_length, error);
    if (bytes == nullptr && capacity != 0) return report_null("bytes", error);
    return guarded(error, [&]() -> Result<void> {
        *out_length = descriptor->value.encoded_length();
        auto written =
            encode(descriptor->value, {reinterpret_cast<std::byte*>(bytes), static_cast<std::size_t>(capacity)});
        if (!written) return std::unexpected(written.error());
        return {};
    });
}

/// Ends a descriptor.
/// @owner ends the caller's ownership; nulls the variable; a null variable is a no-op
/// @errors INVALID_HANDLE: borrowed from a tensor, or (checked builds) already destroyed
/// @thread any
/// @since 4
HURRAY_API HurrayStatus hurray_descriptor_destroy(HG_DESTROYED_VAR HurrayDescriptor** descriptor) noexcept {
    if (descriptor == nullptr || *descriptor == nullptr) return HURRAY_OK;
    HURRAY_REQUIRE_HANDLE(*descriptor, nullptr);
    if ((*descriptor)->borrowed) return HURRAY_ERR_INVALID_HANDLE;
    retire(std::exchange(*descriptor, nullptr));
    return HURRAY_OK;
}

/// Starts a descriptor of a layout and shape.
/// @param element_type HURRAY_TYPE_ tag
/// @param layout HURRAY_LAYOUT_ tag
/// @param shape `rank` sizes; HURRAY_DIMENSION_DYNAMIC for one that is not known
/// @owner caller
/// @errors INVALID_ARGUMENT: rank is above HURRAY_MAX_RANK. All else is checked by hurray_descriptor_builder_build
/// @thread any
/// @since 4
HURRAY_API HurrayStatus hurray_descriptor_builder_new(uint8_t element_type, uint8_t layout,
                                                      HG_IN_ARRAY(rank) const uint64_t* shape, uint32_t rank,
                                                      HG_OUT_OWNED(hurray_descriptor_builder_destroy)
                                                          HurrayDescriptorBuilder** out_builder,
                                                      HG_ERROR HurrayError* error) noexcept {
    HURRAY_REQUIRE(out_builder, error);
    *out_builder = nullptr;
    if (shape == nullptr && rank != 0) return report_null("shape", error);
    return guarded(error, [&]() -> Result<void> {
        if (rank > HURRAY_MAX_RANK) {
            return fail(Status::invalid_argument, Error::no_offset, "rank: expected at most %u, got %u", HURRAY_MAX_RANK, rank);
        }
        *out_builder = new HurrayDescriptorBuilder(element_type, layout, std::span(shape, rank));
        return {};
    });
}

/// Sets the offset of the first element in buffer 0, in bytes.
/// @thread one thread at a time
/// @since 4
HURRAY_API HurrayStatus hurray_descriptor_builder_set_byte_offset(HG_INOUT HurrayDescriptorBuilder* builder,
                                                                  uint64_t byte_offset, HG_ERROR HurrayError* error) noexcept {
    HURRAY_REQUIRE_HANDLE(builder, error);
    return guarded(error, [&]() -> Result<void> {
        builder->value.set_byte_offset(byte_offset);
        return {};
    });
}

/// Sets the strides of the strided layout.
/// @param strides `rank` strides in elements, copied
/// @errors INVALID_ARGUMENT: rank is above HURRAY_MAX_RANK
/// @thread one thread at a time
/// @since 4
HURRAY_API HurrayStatus hurray_descriptor_builder_set_strides(HG_INOUT HurrayDescriptorBuilder* builder,
                                                              HG_IN_ARRAY(rank) const int64_t* strides, uint32_t rank,
                                                              HG_ERROR HurrayError* error) noexcept {
    HURRAY_REQUIRE_HANDLE(builder, error);
    if (strides == nullptr && rank != 0) return report_null("strides", error);
    return guarded(error, [&]() -> Result<void> {
        if (rank > HURRAY_MAX_RANK) {
            return fail(Status::invalid_argument, Error::no_offset, "rank: expected at most %u, got %u", HURRAY_MAX_RANK, rank);
        }
        set_strides(*builder, std::span(strides, rank));
        return {};
    });
}

/// Makes the tensor a shard of a larger one.
/// @param parent_shape `rank` sizes of the whole tensor, copied
/// @param shard_offset `rank` offsets of this shard in it, copied
/// @errors INVALID_ARGUMENT: rank is above HURRAY_MAX_RANK
/// @thread one thread at a time
/// @since 4
/// @spec format: shard
HURRAY_API HurrayStatus hurray_descriptor_builder_set_shard(HG_INOUT HurrayDescriptorBuilder* builder,
                                                            HG_IN_ARRAY(rank) const uint64_t* parent_shape,
                                                            HG_IN_ARRAY(rank) const uint64_t* shard_offset, uint32_t rank,
                                                            HG_ERROR HurrayError* error) noexcept {
    HURRAY_REQUIRE_HANDLE(builder, error);
    if (parent_shape == nullptr && rank != 0) return report_null("parent_shape", error);
    if (shard_offset == nullptr && rank != 0) return report_null("shard_offset", error);
    return guarded(error, [&]() -> Result<void> {
        if (rank > HURRAY_MAX_RANK) {
            return fail(Status::invalid_argument, Error::no_offset, "rank: expected at most %u, got %u", HURRAY_MAX_RANK, rank);
        }
        builder->value.set_shard(std::span(parent_shape, rank), std::span(shard_offset, rank));
        return {};
    });
}

/// Appends an entry to the buffer table.
/// @errors INVALID_LAYOUT: byte 15 is not 0, or the table is full (255 entries); INVALID_TYPE, INVALID_SYNC_MODE: what the other
///     bytes say
/// @thread one thread at a time
/// @since 4
/// @spec format: buffer table
HURRAY_API HurrayStatus hurray_descriptor_builder_add_buffer(HG_INOUT HurrayDescriptorBuilder* builder,
                                                             HG_IN const HurrayBufferHandleBytes* handle_bytes,
                                                             HG_ERROR HurrayError* error) noexcept {
    HURRAY_REQUIRE_HANDLE(builder, error);
    HURRAY_REQUIRE(handle_bytes, error);
    return guarded(error, [&]() -> Result<void> {
        auto handle = decode_buffer_handle(std::as_bytes(std::span(handle_bytes->bytes)), 0, builder->private_tags);
        if (!handle) return std::unexpected(handle.error());
        return builder->value.add_buffer(*handle);
    });
}

/// Validates what was collected and makes the descriptor. The builder stays as it is and may be used again.
/// @owner caller
/// @errors as hurray_descriptor_decode
/// @thread one thread at a time
/// @since 4
HURRAY_API HurrayStatus hurray_descriptor_builder_build(HG_IN const HurrayDescriptorBuilder* builder,
                                                        HG_OUT_OWNED(hurray_descriptor_destroy) HurrayDescriptor** out,
                                                        HG_ERROR HurrayError* error) noexcept {
    if (out != nullptr) *out = nullptr;
    HURRAY_REQUIRE_HANDLE(builder, error);
    HURRAY_REQUIRE(out, error);
    return guarded(error, [&]() -> Result<void> {
        auto built = builder->value.build(builder->private_tags);
        if (!built) return std::unexpected(built.error());
        *out = new HurrayDescriptor(std::move(*built));
        return {};
    });
}

/// Ends a builder.
/// @owner ends the caller's ownership; nulls the variable; a null variable is a no-op
/// @errors INVALID_HANDLE: (checked builds) already destroyed
/// @thread any
/// @since 4
HURRAY_API HurrayStatus hurray_descriptor_builder_destroy(HG_DESTROYED_VAR HurrayDescriptorBuilder** builder) noexcept {
    if (builder == nullptr || *builder == nullptr) return HURRAY_OK;
    HURRAY_REQUIRE_HANDLE(*builder, nullptr);
    retire(std::exchange(*builder, nullptr));
    return HURRAY_OK;
}
