// Composites: made of a head and members, read element by element, merged. (format: composite)
#include <array>
#include <utility>

#include "abi/src/api/annotations.hpp"
#include "abi/src/api/composite.hpp"
#include "abi/src/api/compute.hpp"
#include "abi/src/api/handles.hpp"
#include "abi/src/internal/barrier.hpp"
#include "abi/src/internal/composite_objects.hpp"
#include "abi/src/internal/foreign.hpp"
#include "abi/src/internal/objects.hpp"
#include "abi/src/internal/work.hpp"
#include "core/hurray/composite/elements.hpp"
#include "core/hurray/composite/merge.hpp"
#include "core/hurray/descriptor/extension_type_section.hpp"

using namespace hurray;
using namespace hurray::abi;

/// Starts a composite.
/// @param head a descriptor of layout HURRAY_LAYOUT_COMPOSITE, copied; whether it is one is checked by
///     hurray_composite_builder_build
/// @owner caller
/// @thread one thread at a time
/// @since 4
/// @spec format: composite
HURRAY_API HurrayStatus hurray_composite_builder_new(HG_IN const HurrayDescriptor* head,
                                                     HG_OUT_OWNED(hurray_composite_builder_destroy)
                                                         HurrayCompositeBuilder** out_builder,
                                                     HG_ERROR HurrayError* error) noexcept {
    if (out_builder != nullptr) *out_builder = nullptr;
    HURRAY_REQUIRE_HANDLE(head, error);
    HURRAY_REQUIRE(out_builder, error);
    return guarded(error, [&]() -> Result<void> {
        *out_builder = new HurrayCompositeBuilder(head->value);
        return {};
    });
}

/// Adds a tensor as the next member. Whether it fits is checked by hurray_composite_builder_build.
/// @param tensor shared, of whichever copy of the library
/// @thread one thread at a time
/// @since 4
/// @spec format: composite
HURRAY_API HurrayStatus hurray_composite_builder_add_tensor(HG_INOUT HurrayCompositeBuilder* builder,
                                                            HG_IN const HurrayTensor* tensor,
                                                            HG_ERROR HurrayError* error) noexcept {
    HURRAY_REQUIRE_HANDLE(builder, error);
    HURRAY_REQUIRE_EXCHANGE(tensor, error);
    return guarded(error, [&]() -> Result<void> {
        auto local = LocalTensor::of(tensor);
        if (!local) return std::unexpected(local.error());
        builder->add(CompositeMember(shared_tensor(**local)));
        return {};
    });
}

/// Adds a composite as the next member. Whether it fits is checked by hurray_composite_builder_build.
/// @param member shared
/// @thread one thread at a time
/// @since 4
/// @spec format: composite
HURRAY_API HurrayStatus hurray_composite_builder_add_composite(HG_INOUT HurrayCompositeBuilder* builder,
                                                               HG_IN const HurrayComposite* member,
                                                               HG_ERROR HurrayError* error) noexcept {
    HURRAY_REQUIRE_HANDLE(builder, error);
    HURRAY_REQUIRE_HANDLE(member, error);
    return guarded(error, [&]() -> Result<void> {
        builder->add(CompositeMember(member->value));
        return {};
    });
}

/// Puts head and members together and checks that they fit: their number, their depth, each member's shape, type and sections,
/// and of a partition that the members cover the head exactly and without overlap. The builder stays as it is and may be used
/// again.
/// @owner caller; shares the members' memory
/// @errors INVALID_ARGUMENT: the head is no composite head; INVALID_COMPOSITE: members that do not fit, which the message names
/// @thread one thread at a time
/// @since 4
/// @spec format: composite
HURRAY_API HurrayStatus hurray_composite_builder_build(HG_IN const HurrayCompositeBuilder* builder,
                                                       HG_OUT_OWNED(hurray_composite_destroy) HurrayComposite** out_composite,
                                                       HG_ERROR HurrayError* error) noexcept {
    if (out_composite != nullptr) *out_composite = nullptr;
    HURRAY_REQUIRE_HANDLE(builder, error);
    HURRAY_REQUIRE(out_composite, error);
    return guarded(error, [&]() -> Result<void> {
        auto made = Composite::make(Descriptor(builder->head), std::vector(builder->members));
        if (!made) return std::unexpected(made.error());
        *out_composite = new HurrayComposite(std::move(*made));
        return {};
    });
}

/// Ends a builder.
/// @owner ends the caller's ownership; nulls the variable; a null variable is a no-op
/// @errors INVALID_HANDLE: (checked builds) already destroyed
/// @thread the thread that runs the releases of members of which the builder held the last share
/// @since 4
HURRAY_API HurrayStatus hurray_composite_builder_destroy(HG_DESTROYED_VAR HurrayCompositeBuilder** builder) noexcept {
    if (builder == nullptr || *builder == nullptr) return HURRAY_OK;
    HURRAY_REQUIRE_HANDLE(*builder, nullptr);
    return report_end(destroy_composite_builder(std::exchange(*builder, nullptr), false), nullptr);
}

/// Ends a builder on a thread that must not run callbacks: see hurray_buffer_destroy_deferred.
/// @owner ends the caller's ownership; nulls the variable; a null variable is a no-op
/// @errors INVALID_HANDLE
/// @thread any
/// @since 4
HURRAY_API HurrayStatus hurray_composite_builder_destroy_deferred(HG_DESTROYED_VAR HurrayCompositeBuilder** builder,
                                                                  HG_ERROR HurrayError* error) noexcept {
    if (builder == nullptr || *builder == nullptr) return succeed(error);
    HURRAY_REQUIRE_HANDLE(*builder, error);
    return report_end(destroy_composite_builder(std::exchange(*builder, nullptr), true), error);
}

/// Fills a struct with facts about a composite.
/// @errors INVALID_ARGUMENT: struct_size is too small
/// @thread one thread at a time
/// @since 4
HURRAY_API HurrayStatus hurray_composite_info(HG_IN const HurrayComposite* composite, HG_OUT HurrayCompositeInfo* out_info,
                                              HG_ERROR HurrayError* error) noexcept {
    if (out_info != nullptr) clear_sized_struct(out_info);
    HURRAY_REQUIRE_HANDLE(composite, error);
    HURRAY_REQUIRE(out_info, error);
    return guarded(error, [&]() -> Result<void> {
        const Composite& value = *composite->value;
        const CompositeFields fields = value.fields();
        HurrayCompositeInfo info{};
        info.member_count = fields.member_count;
        info.descriptor_count = value.descriptor_count();
        info.depth = value.depth();
        info.composition_rule = fields.rule;
        info.combine_op = fields.combine_op;
        info.has_elements = value.has_elements() ? 1 : 0;
        return fill_sized_struct(out_info, info, sizeof info, "out_info");
    });
}

/// Borrows the head's descriptor: shape and type of the whole.
/// @owner the composite; valid until it is destroyed, and not to be destroyed
/// @thread one thread at a time
/// @since 4
HURRAY_API HurrayStatus hurray_composite_head(HG_IN const HurrayComposite* composite,
                                              HG_OUT_BORROWED(composite) const HurrayDescriptor** out_head,
                                              HG_ERROR HurrayError* error) noexcept {
    if (out_head != nullptr) *out_head = nullptr;
    HURRAY_REQUIRE_HANDLE(composite, error);
    HURRAY_REQUIRE(out_head, error);
    *out_head = &composite->head;
    return succeed(error);
}

/// Gives a member: a tensor or a composite, and null in the other variable.
/// @param index below HurrayCompositeInfo.member_count
/// @owner caller; shares the member's memory
/// @errors INDEX_OUT_OF_BOUNDS
/// @thread one thread at a time
/// @since 4
HURRAY_API HurrayStatus hurray_composite_member(HG_IN const HurrayComposite* composite, uint32_t index,
                                                HG_OUT_OWNED(hurray_tensor_destroy) HurrayTensor** out_tensor,
                                                HG_OUT_OWNED(hurray_composite_destroy) HurrayComposite** out_composite,
                                                HG_ERROR HurrayError* error) noexcept {
    if (out_tensor != nullptr) *out_tensor = nullptr;
    if (out_composite != nullptr) *out_composite = nullptr;
    HURRAY_REQUIRE_HANDLE(composite, error);
    HURRAY_REQUIRE(out_tensor, error);
    HURRAY_REQUIRE(out_composite, error);
    return guarded(error, [&]() -> Result<void> {
        const auto members = composite->value->members();
        if (index >= members.size()) {
            return fail(Status::index_out_of_bounds, Error::no_offset, "index: expected less than %zu, got %u", members.size(), index);
        }
        const CompositeMember& member = members[index];
        if (const Tensor* tensor = member.tensor()) {
            auto handle = make_tensor(Tensor(*tensor));
            if (!handle) return std::unexpected(handle.error());
            *out_tensor = *handle;
        } else {
            *out_composite = new HurrayComposite(member.shared_composite());
        }
        return {};
    });
}

/// Finds the member of a partition that an element lies in, without touching any data.
/// @param index one value a dimension of the head
/// @errors INVALID_ARGUMENT: not one value a dimension; INDEX_OUT_OF_BOUNDS; UNSUPPORTED: no partition
/// @thread one thread at a time
/// @since 4
/// @spec format: composite, partition
HURRAY_API HurrayStatus hurray_composite_member_at(HG_IN const HurrayComposite* composite, HG_IN_ARRAY(rank) const uint64_t* index,
                                                   uint32_t rank, HG_OUT uint32_t* out_member,
                                                   HG_ERROR HurrayError* error) noexcept {
    if (out_member != nullptr) *out_member = 0;
    HURRAY_REQUIRE_HANDLE(composite, error);
    if (index == nullptr && rank != 0) return report_null("index", error);
    HURRAY_REQUIRE(out_member, error);
    return guarded(error, [&]() -> Result<void> {
        const Composite& value = *composite->value;
        const auto shape = value.head().shape();
        if (value.fields().rule != composition_rule::partition) {
            return fail(Status::unsupported, Error::no_offset, "composite: expected a partition, its rule is %02X", value.fields().rule);
        }
        if (rank != shape.size()) {
            return fail(Status::invalid_argument, Error::no_offset, "rank: expected %zu as the head has, got %u", shape.size(), rank);
        }
        for (uint32_t k = 0; k < rank; ++k) {
            if (index[k] < shape[k]) continue;
            return fail(Status::index_out_of_bounds, Error::no_offset, "index[%u]: expected less than %llu, got %llu", k,
                        static_cast<unsigned long long>(shape[k]), static_cast<unsigned long long>(index[k]));
        }
        const auto member = value.member_at(std::span(index, rank));
        if (!member) return fail(Status::internal, Error::no_offset, "index: expected a member of the partition to have it");
        *out_member = static_cast<std::uint32_t>(*member);
        return {};
    });
}

/// Reads an element of a partition or an overlay as a number: that of the member in which it lies, dequantized where that is
/// quantized; of overlays the last correction that has it, or the sum of all.
/// @param index one value a dimension of the head
/// @errors INVALID_ARGUMENT: not one value a dimension; INDEX_OUT_OF_BOUNDS; UNSUPPORTED: a group, a private rule, a complex
///     type, sums that are not defined, memory that the CPU cannot read; INVALID_SYNC_MODE: not PRODUCER_SYNCED; those of reading
///     members that are sparse or quantized
/// @thread one thread at a time
/// @since 4
/// @spec format: composite
HURRAY_API HurrayStatus hurray_composite_element_float64(HG_IN const HurrayComposite* composite,
                                                         HG_IN_ARRAY(rank) const uint64_t* index, uint32_t rank,
                                                         HG_OUT double* out_value, HG_ERROR HurrayError* error) noexcept {
    if (out_value != nullptr) *out_value = 0;
    HURRAY_REQUIRE_HANDLE(composite, error);
    if (index == nullptr && rank != 0) return report_null("index", error);
    HURRAY_REQUIRE(out_value, error);
    return guarded(error, [&]() -> Result<void> {
        auto value = get_float64(*composite->value, std::span(index, rank));
        if (!value) return std::unexpected(value.error());
        *out_value = *value;
        return {};
    });
}

/// As hurray_composite_element_float64, as a complex number; of real types with the imaginary part 0.
/// @param index one value a dimension of the head
/// @errors as hurray_composite_element_float64
/// @thread one thread at a time
/// @since 4
/// @spec format: composite
HURRAY_API HurrayStatus hurray_composite_element_complex128(HG_IN const HurrayComposite* composite,
                                                            HG_IN_ARRAY(rank) const uint64_t* index, uint32_t rank,
                                                            HG_OUT double* out_real, HG_OUT double* out_imaginary,
                                                            HG_ERROR HurrayError* error) noexcept {
    if (out_real != nullptr) *out_real = 0;
    if (out_imaginary != nullptr) *out_imaginary = 0;
    HURRAY_REQUIRE_HANDLE(composite, error);
    if (index == nullptr && rank != 0) return report_null("index", error);
    HURRAY_REQUIRE(out_real, error);
    HURRAY_REQUIRE(out_imaginary, error);
    return guarded(error, [&]() -> Result<void> {
        auto value = get_complex128(*composite->value, std::span(index, rank));
        if (!value) return std::unexpected(value.error());
        *out_real = value->real();
        *out_imaginary = value->imag();
        return {};
    });
}

/// As hurray_composite_element_float64, as the bits of the head's type.
/// @param index one value a dimension of the head
/// @errors as hurray_composite_element_float64; UNSUPPORTED: elements of more than 128 bits
/// @thread one thread at a time
/// @since 4
/// @spec format: composite
HURRAY_API HurrayStatus hurray_composite_element_bits(HG_IN const HurrayComposite* composite,
                                                      HG_IN_ARRAY(rank) const uint64_t* index, uint32_t rank,
                                                      HG_OUT HurrayElementBits* out_bits, HG_ERROR HurrayError* error) noexcept {
    if (out_bits != nullptr) clear_sized_struct(out_bits);
    HURRAY_REQUIRE_HANDLE(composite, error);
    if (index == nullptr && rank != 0) return report_null("index", error);
    HURRAY_REQUIRE(out_bits, error);
    return guarded(error, [&]() -> Result<void> {
        auto raw = get_bits(*composite->value, std::span(index, rank));
        if (!raw) return std::unexpected(raw.error());
        HurrayElementBits bits{};
        bits.bits = element_type_info(composite->value->head()).bits;
        bits.low = raw->low;
        bits.high = raw->high;
        return fill_sized_struct(out_bits, bits, sizeof bits, "out_bits");
    });
}

/// Copies all elements of a partition or an overlay into one new tensor of the head's shape and type: row-major, in memory of the
/// library. Elements are those of the members bit for bit; quantized members are dequantized, corrections applied in their
/// order. The unit of progress is bytes put in place.
/// @param options null: no limit and no reports
/// @owner caller; independent of the composite
/// @errors UNSUPPORTED: a group, a private rule, an opaque member, sums that are not defined, memory that the CPU cannot read;
///     INVALID_LAYOUT: index arrays that break a rule; INVALID_SYNC_MODE: not PRODUCER_SYNCED; those of hurray_tensor_dequantize;
///     LIMIT_EXCEEDED; OUT_OF_MEMORY; CANCELLED
/// @thread one thread at a time
/// @since 4
/// @spec format: composite
HURRAY_API HurrayStatus hurray_composite_merged(HG_IN const HurrayComposite* composite, HG_IN_OPT const HurrayWorkOptions* options,
                                                HG_OUT_OWNED(hurray_tensor_destroy) HurrayTensor** out_tensor,
                                                HG_ERROR HurrayError* error) noexcept {
    if (out_tensor != nullptr) *out_tensor = nullptr;
    HURRAY_REQUIRE_HANDLE(composite, error);
    HURRAY_REQUIRE(out_tensor, error);
    return guarded(error, [&]() -> Result<void> {
        CallersWork work;
        if (auto read = work.read(options); !read) return read;
        auto result = merged(*composite->value, work.options());
        if (!result) return work.failure(result.error());
        auto handle = make_tensor(std::move(*result));
        if (!handle) return std::unexpected(handle.error());
        *out_tensor = *handle;
        return {};
    });
}

/// Ends a composite. Members that were given out live on.
/// @owner ends the caller's ownership; nulls the variable; a null variable is a no-op
/// @errors INVALID_HANDLE: (checked builds) already destroyed
/// @thread the thread that runs the releases of members of which the composite held the last share
/// @since 4
HURRAY_API HurrayStatus hurray_composite_destroy(HG_DESTROYED_VAR HurrayComposite** composite) noexcept {
    if (composite == nullptr || *composite == nullptr) return HURRAY_OK;
    HURRAY_REQUIRE_HANDLE(*composite, nullptr);
    return report_end(destroy_composite(std::exchange(*composite, nullptr), false), nullptr);
}

/// Ends a composite on a thread that must not run callbacks: see hurray_buffer_destroy_deferred.
/// @owner ends the caller's ownership; nulls the variable; a null variable is a no-op
/// @errors INVALID_HANDLE
/// @thread any
/// @since 4
HURRAY_API HurrayStatus hurray_composite_destroy_deferred(HG_DESTROYED_VAR HurrayComposite** composite,
                                                          HG_ERROR HurrayError* error) noexcept {
    if (composite == nullptr || *composite == nullptr) return succeed(error);
    HURRAY_REQUIRE_HANDLE(*composite, error);
    return report_end(destroy_composite(std::exchange(*composite, nullptr), true), error);
}
