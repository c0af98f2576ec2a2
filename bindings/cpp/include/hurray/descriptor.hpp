// Tensor descriptors: decoded, read field by field, built, encoded.
#ifndef HURRAY_DESCRIPTOR_HPP_
#define HURRAY_DESCRIPTOR_HPP_

#include <cstdint>
#include <vector>

#include "hurray/error.hpp"
#include "hurray/handle.hpp"
#include "hurray/span.hpp"

namespace hurray {

namespace detail {

/// What can be read of a descriptor, owned or borrowed. Pointers in the structs live as long as the descriptor.
template <typename Self>
class DescriptorFields {
  public:
    /// Version, type, layout, shape and which sections there are.
    Result<HurrayDescriptorInfo> info() const noexcept {
        return fill<HurrayDescriptorInfo>(hurray_descriptor_info, raw());
    }
    /// What the layout has beside the shape.
    Result<HurrayLayoutFields> layout_fields() const noexcept {
        return fill<HurrayLayoutFields>(hurray_descriptor_layout_fields, raw());
    }
    /// One level of the tiled layout, 0 the outermost.
    Result<HurrayTileLevel> tile_level(std::uint32_t level) const noexcept {
        return fill<HurrayTileLevel>(hurray_descriptor_tile_level, raw(), level);
    }
    /// Entry of the buffer table.
    Result<HurrayBufferHandleBytes> buffer(std::uint32_t index) const noexcept {
        return get<HurrayBufferHandleBytes>(hurray_descriptor_buffer, raw(), index);
    }
    /// `present` is 0 where there is no such section; so it is with the following ones.
    Result<HurrayQuantization> quantization() const noexcept {
        return fill<HurrayQuantization>(hurray_descriptor_quantization, raw());
    }
    /// The statistics section.
    Result<HurrayStatistics> statistics() const noexcept {
        return fill<HurrayStatistics>(hurray_descriptor_statistics, raw());
    }
    /// The extension type section.
    Result<HurrayExtensionType> extension_type() const noexcept {
        return fill<HurrayExtensionType>(hurray_descriptor_extension_type, raw());
    }
    /// The section of a member of a composite.
    Result<HurrayCompositeMember> composite_member() const noexcept {
        return fill<HurrayCompositeMember>(hurray_descriptor_composite_member, raw());
    }
    /// The bytes of the descriptor on the wire.
    Result<std::vector<std::uint8_t>> encode() const {
        const auto facts = info();
        if (!facts) return facts.error();
        std::vector<std::uint8_t> bytes(static_cast<std::size_t>(facts->descriptor_length));
        std::uint64_t length = 0;
        const auto done = call(hurray_descriptor_encode, raw(), bytes.data(), std::uint64_t{bytes.size()}, &length);
        if (!done) return done.error();
        return bytes;
    }

  private:
    const HurrayDescriptor* raw() const noexcept { return static_cast<const Self*>(this)->get(); }
};

}  // namespace detail

/// A borrowed descriptor; valid as long as what it was borrowed from.
class DescriptorRef : public detail::DescriptorFields<DescriptorRef> {
  public:
    explicit DescriptorRef(const HurrayDescriptor* descriptor) noexcept : descriptor_(descriptor) {}
    /// For calls of the C API; stays borrowed.
    const HurrayDescriptor* get() const noexcept { return descriptor_; }

  private:
    const HurrayDescriptor* descriptor_;
};

/// A decoded, validated, immutable descriptor.
class Descriptor : public UniqueHandle<HurrayDescriptor, hurray_descriptor_destroy>,
                   public detail::DescriptorFields<Descriptor> {
  public:
    using UniqueHandle::UniqueHandle;

    /// `flags`: HURRAY_DECODE_ bits; 0 is a strict reader. Bytes behind the descriptor are not looked at.
    static Result<Descriptor> decode(Span<const std::uint8_t> bytes, std::uint32_t flags = 0,
                                     std::uint64_t max_length = 0) noexcept {
        auto options = detail::sized<HurrayDecodeOptions>();
        options.flags = flags;
        options.max_length = max_length;
        return detail::make<Descriptor>(hurray_descriptor_decode_options, bytes.data(), std::uint64_t{bytes.size()},
                                        &options);
    }
    /// Length of the descriptor that starts at `bytes`, from its first 20 bytes.
    static Result<std::uint64_t> peek_length(Span<const std::uint8_t> bytes) noexcept {
        return detail::get<std::uint64_t>(hurray_descriptor_peek_length, bytes.data(), std::uint64_t{bytes.size()});
    }
    /// Borrowed: valid as long as this handle.
    DescriptorRef ref() const noexcept { return DescriptorRef(get()); }
    operator DescriptorRef() const noexcept { return ref(); }  // NOLINT: a descriptor serves where a borrowed one does
};

/// Collects the fields of a descriptor. The first call that fails is what build() reports; later ones do nothing.
class DescriptorBuilder : public UniqueHandle<HurrayDescriptorBuilder, hurray_descriptor_builder_destroy> {
  public:
    using UniqueHandle::UniqueHandle;

    /// For a tensor of that type (HURRAY_TYPE_), layout (HURRAY_LAYOUT_) and shape.
    static Result<DescriptorBuilder> create(std::uint8_t element_type, std::uint8_t layout,
                                            Span<const std::uint64_t> shape) noexcept {
        return detail::make<DescriptorBuilder>(hurray_descriptor_builder_new, element_type, layout, shape.data(),
                                               static_cast<std::uint32_t>(shape.size()));
    }
    /// Where element (0, ..., 0) is in the data buffer.
    DescriptorBuilder& byte_offset(std::uint64_t bytes) noexcept {
        return step(hurray_descriptor_builder_set_byte_offset, bytes);
    }
    /// Of the strided layout: in elements, one a dimension.
    DescriptorBuilder& strides(Span<const std::int64_t> strides) noexcept {
        return step(hurray_descriptor_builder_set_strides, strides.data(), static_cast<std::uint32_t>(strides.size()));
    }
    /// Both have one value a dimension.
    DescriptorBuilder& shard(Span<const std::uint64_t> parent_shape, Span<const std::uint64_t> offset) noexcept {
        if (parent_shape.size() != offset.size()) {
            return fail({HURRAY_ERR_INVALID_ARGUMENT, "parent_shape and shard_offset have different lengths"});
        }
        return step(hurray_descriptor_builder_set_shard, parent_shape.data(), offset.data(),
                    static_cast<std::uint32_t>(offset.size()));
    }
    /// The next entry of the buffer table.
    DescriptorBuilder& add_buffer(const HurrayBufferHandleBytes& handle) noexcept {
        return step(hurray_descriptor_builder_add_buffer, &handle);
    }
    /// A buffer of host memory.
    DescriptorBuilder& add_buffer(std::uint64_t byte_size, std::uint32_t alignment = 64) noexcept {
        HurrayBufferHandleBytes handle{};
        for (int i = 0; i < 8; ++i) handle.bytes[i] = static_cast<std::uint8_t>(byte_size >> (8 * i));
        for (int i = 0; i < 4; ++i) handle.bytes[8 + i] = static_cast<std::uint8_t>(alignment >> (8 * i));
        return add_buffer(handle);
    }
    /// Structs of the C API whose struct_size is set; hurray::sized makes one, and so do the getters of descriptors.
    DescriptorBuilder& layout_fields(const HurrayLayoutFields& fields) noexcept {
        return step(hurray_descriptor_builder_set_layout_fields, &fields);
    }
    /// Of the tiled layout: the next level, the outermost first.
    DescriptorBuilder& add_tile_level(const HurrayTileLevel& level) noexcept {
        return step(hurray_descriptor_builder_add_tile_level, &level);
    }
    /// The quantization section.
    DescriptorBuilder& quantization(const HurrayQuantization& section) noexcept {
        return step(hurray_descriptor_builder_set_quantization, &section);
    }
    /// The statistics section.
    DescriptorBuilder& statistics(const HurrayStatistics& section) noexcept {
        return step(hurray_descriptor_builder_set_statistics, &section);
    }
    /// The extension type section: what an element of a private type is.
    DescriptorBuilder& extension_type(const HurrayExtensionType& section) noexcept {
        return step(hurray_descriptor_builder_set_extension_type, &section);
    }
    /// The section of a member of a composite: its role.
    DescriptorBuilder& composite_member(const HurrayCompositeMember& section) noexcept {
        return step(hurray_descriptor_builder_set_composite_member, &section);
    }
    /// Lets build() accept private layouts, schemes, devices and memory classes.
    DescriptorBuilder& allow_private_tags() noexcept { return step(hurray_descriptor_builder_allow_private_tags); }

    /// Validates what was collected. The builder stays as it is.
    Result<Descriptor> build() const noexcept {
        if (!failed_) return failed_.error();
        return detail::make<Descriptor>(hurray_descriptor_builder_build,
                                        static_cast<const HurrayDescriptorBuilder*>(get()));
    }
    /// What the first call that failed said.
    const Result<void>& status() const noexcept { return failed_; }

  private:
    template <typename Function, typename... Arguments>
    DescriptorBuilder& step(Function function, Arguments... arguments) noexcept {
        if (failed_) failed_ = detail::call(function, get(), arguments...);
        return *this;
    }
    DescriptorBuilder& fail(Error error) noexcept {
        if (failed_) failed_ = error;
        return *this;
    }

    Result<void> failed_;
};

/// A struct of the C API with struct_size set and all else zero.
template <typename Struct>
Struct sized() noexcept {
    return detail::sized<Struct>();
}

}  // namespace hurray

#endif  // HURRAY_DESCRIPTOR_HPP_
