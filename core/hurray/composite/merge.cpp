#include "core/hurray/composite/merge.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "core/hurray/base/checked.hpp"
#include "core/hurray/composite/element_adder.hpp"
#include "core/hurray/composite/merge_survey.hpp"
#include "core/hurray/composite/merge_work.hpp"
#include "core/hurray/composite/region.hpp"
#include "core/hurray/descriptor/builder.hpp"
#include "core/hurray/descriptor/extension_type_section.hpp"
#include "core/hurray/element.hpp"
#include "core/hurray/element_format.hpp"
#include "core/hurray/layout/address.hpp"
#include "core/hurray/layout/coo.hpp"
#include "core/hurray/layout/sparse_fields.hpp"
#include "core/hurray/layout/sparse_view.hpp"
#include "core/hurray/quantization/dequantize.hpp"
#include "core/hurray/transcode/dense_copy.hpp"
#include "core/hurray/validation/sparse_data.hpp"
#include "core/hurray/values/convert.hpp"

namespace hurray {
namespace {

using ull = unsigned long long;
using Numbers = std::span<const std::uint64_t>;

constexpr std::uint8_t float32_tag = 0x03;

// What dequantize makes.
bool is_dequantize_target(std::uint8_t type) noexcept {
    return type >= 0x01 && type <= 0x04;
}

class Merge {
  public:
    Merge(const Descriptor& head, const WorkOptions& options, const MergeSurvey& found)
        : head_(head), type_(element_type_info(head)), work_(options, found.work) {}

    Result<Buffer> allocate_result(bool has_sparse) {
        const auto count = head_.element_count();
        if (!count) return std::unexpected(count.error());
        const auto size = packed_byte_size(type_, *count);
        if (!size) return std::unexpected(size.error());
        const bool zeroed = has_sparse || type_.group_shift != 0;
        auto buffer = work_.allocate(*size, zeroed ? Contents::zeroed : Contents::undefined);
        if (buffer) {
            out_ = buffer->bytes();
            out_handle_ = buffer->handle;
        }
        return buffer;
    }

    // Goes down at most max_composite_depth levels.
    // @param origin where the composite starts in the result
    Result<void> put(const Composite& composite, Numbers origin) {
        bool first = true;
        for (const CompositeMember& member : composite.members()) {
            std::array<std::uint64_t, max_rank> storage;
            const std::span low(storage.data(), origin.size());
            const auto start = member.descriptor().shard_offset();
            for (std::size_t k = 0; k < low.size(); ++k) low[k] = origin[k] + start[k];
            const bool add = !first && composite.fields().combine_op == combine_op::add;
            first = false;
            auto done =
                member.composite() != nullptr ? put(*member.composite(), low) : put_tensor(*member.tensor(), low, add);
            if (!done) return done;
        }
        return {};
    }

    Result<void> finish() { return work_.finish(); }

  private:
    Result<void> put_tensor(const Tensor& tensor, Numbers low, bool add) {
        const Descriptor& descriptor = tensor.descriptor;
        const RowMajorRegion region(head_.shape(), low, descriptor.shape());
        if (region.element_count() == 0) return {};
        if (is_sparse_layout(descriptor.layout())) return put_sparse(tensor, region, low, add);
        // Checks the buffers, and that no element lies in bytes of somebody else.
        if (const auto reader = ElementReader::make(tensor); !reader) return std::unexpected(reader.error());
        if (!is_quantized(descriptor)) return put_dense(tensor, region, add);
        return put_quantized(tensor, region, add);
    }

    Result<void> put_quantized(const Tensor& tensor, const RowMajorRegion& region, bool add) {
        const std::uint8_t layout = tensor.descriptor.layout();
        const std::uint8_t decoded_layout =
            layout == layout_tag::col_major ? layout_tag::col_major : layout_tag::row_major;
        if (!add && region.is_one_run() && decoded_layout == layout_tag::row_major &&
            is_dequantize_target(head_.element_type())) {
            const std::uint64_t width = type_.bits / 8;
            return dequantize_to(tensor, head_.element_type(), region.element_count(),
                                 out_.subspan(region.start() * width, region.element_count() * width));
        }
        auto decoded = decode_values(tensor, region.element_count());
        if (!decoded) return std::unexpected(decoded.error());
        DescriptorBuilder builder(head_.element_type(), decoded_layout, tensor.descriptor.shape());
        auto plain = with_buffer(builder, decoded->owned.handle);
        if (!plain) return std::unexpected(plain.error());
        Tensor copy{std::move(*plain), {}};
        copy.buffers.push_back(decoded->owned);
        auto done = put_dense(copy, region, add);
        work_.give_back(*decoded);
        return done;
    }

    // The stored numbers of a quantized tensor in the head's type, in the order of dequantize_into.
    Result<Packed> decode_values(const Tensor& tensor, std::uint64_t count) {
        const auto size = packed_byte_size(type_, count);
        if (!size) return std::unexpected(size.error());
        auto buffer = work_.allocate(*size, type_.group_shift == 0 ? Contents::undefined : Contents::zeroed);
        if (!buffer) return std::unexpected(buffer.error());
        Packed packed{buffer->bytes(), std::move(*buffer)};
        if (is_dequantize_target(head_.element_type())) {
            if (auto done = dequantize_to(tensor, head_.element_type(), count, packed.owned.bytes()); !done)
                return std::unexpected(done.error());
            return packed;
        }
        const auto format = head_format();
        if (!format) return std::unexpected(format.error());
        const auto wide_size = checked_mul(count, 4);
        if (!wide_size)
            return fail(Status::limit_exceeded, Error::no_offset, "member: expected fewer than 2^62 elements");
        auto numbers = work_.allocate(*wide_size, Contents::undefined);
        if (!numbers) return std::unexpected(numbers.error());
        Packed wide{numbers->bytes(), std::move(*numbers)};
        if (auto done = dequantize_to(tensor, float32_tag, count, wide.owned.bytes()); !done)
            return std::unexpected(done.error());
        const std::span floats(reinterpret_cast<const float*>(wide.owned.data), count);
        if (auto written = from_float32(**format, floats, packed.owned.bytes(), 0); !written)
            return std::unexpected(written.error());
        work_.give_back(wide);
        return packed;
    }

    // That no two entries have the same index, which the walk does not find out in an unsorted COO tensor.
    Result<void> check_duplicates(const Tensor& tensor) const {
        if (tensor.descriptor.layout() != layout_tag::coo || coo_fields(tensor.descriptor).is_sorted) return {};
        // No bytes are put in place meanwhile.
        PartReport report = work_.part(0);
        return check_coo_data(tensor, work_.options_of_part(report));
    }

    Result<void> dequantize_to(const Tensor& tensor, std::uint8_t type, std::uint64_t count, std::span<std::byte> out) {
        const std::uint64_t unit = (type_.bits + 7) / 8;
        PartReport report = work_.part(unit);
        const WorkOptions part = work_.options_of_part(report);
        if (auto done = dequantize_into(tensor, type, out, part); !done) return done;
        if (!work_.advance(checked_mul(count, unit).value_or(0))) return work_.cancelled();
        return {};
    }

    Result<void> put_dense(const Tensor& tensor, const RowMajorRegion& region, bool add) {
        const auto map = AddressMap::make(tensor.descriptor);
        if (!map) return std::unexpected(map.error());
        const std::uint64_t start_bit = region.start() * type_.bits;
        if (!add && start_bit % (8 * type_.group_bytes) == 0) return put_at_a_byte(tensor, *map, region);
        auto packed = row_major_elements(tensor, *map, region.element_count());
        if (!packed) return std::unexpected(packed.error());
        auto done = add ? add_runs(packed->bytes, region) : put_runs(packed->bytes, region);
        work_.give_back(*packed);
        return done;
    }

    // The region as a strided tensor, which starts at a byte.
    Result<void> put_at_a_byte(const Tensor& tensor, const AddressMap& map, const RowMajorRegion& region) {
        std::array<std::int64_t, max_rank> storage;
        const std::span strides(storage.data(), region.strides().size());
        for (std::size_t k = 0; k < strides.size(); ++k) strides[k] = static_cast<std::int64_t>(region.strides()[k]);
        DescriptorBuilder builder(head_.element_type(), layout_tag::strided, map.shape());
        builder.set_strides(strides).set_byte_offset(region.start() * type_.bits / 8);
        const auto target = with_buffer(builder, out_handle_);
        if (!target) return std::unexpected(target.error());
        const auto to = AddressMap::make(*target);
        if (!to) return std::unexpected(to.error());
        auto copied = copy_dense(map, tensor.buffers[0].data, *to, out_.data(), work_.work());
        work_.count(region.element_count() * ((type_.bits + 7) / 8));
        return copied;
    }

    // All elements in row-major order and without gaps: where they are, or in a copy.
    Result<Packed> row_major_elements(const Tensor& tensor, const AddressMap& map, std::uint64_t count) {
        const Descriptor& descriptor = tensor.descriptor;
        if (descriptor.layout() == layout_tag::row_major) {
            return Packed{std::span<const std::byte>(tensor.buffers[0].bytes()).subspan(map.byte_offset()), {}};
        }
        const auto size = packed_byte_size(type_, count);
        if (!size) return std::unexpected(size.error());
        auto buffer = work_.allocate(*size, Contents::zeroed);
        if (!buffer) return std::unexpected(buffer.error());
        Packed packed{buffer->bytes(), std::move(*buffer)};
        DescriptorBuilder builder(head_.element_type(), layout_tag::row_major, descriptor.shape());
        const auto target = with_buffer(builder, packed.owned.handle);
        if (!target) return std::unexpected(target.error());
        const auto to = AddressMap::make(*target);
        if (!to) return std::unexpected(to.error());
        if (auto copied = copy_dense(map, tensor.buffers[0].data, *to, packed.owned.data, work_.work()); !copied)
            return std::unexpected(copied.error());
        work_.count(count * ((type_.bits + 7) / 8));
        return packed;
    }

    Result<void> put_runs(std::span<const std::byte> from, const RowMajorRegion& region) {
        return region.for_each_run([&](std::uint64_t at, std::uint64_t in_box, std::uint64_t count) -> Result<void> {
            copy_bits(from.data(), in_box * type_.bits, out_.data(), at * type_.bits, count * type_.bits);
            if (!work_.advance((count * type_.bits + 7) / 8)) return work_.cancelled();
            return {};
        });
    }

    Result<void> add_runs(std::span<const std::byte> from, const RowMajorRegion& region) {
        const auto adder = head_adder();
        if (!adder) return std::unexpected(adder.error());
        // Short of an interval between two reports.
        constexpr std::uint64_t most = std::uint64_t{1} << 14;
        return region.for_each_run([&](std::uint64_t at, std::uint64_t in_box, std::uint64_t count) -> Result<void> {
            for (std::uint64_t done = 0; done < count;) {
                const std::uint64_t some = std::min(count - done, most);
                if (auto added = (*adder)->add(from, in_box + done, out_, at + done, some); !added) return added;
                if (!work_.advance(some * ((type_.bits + 7) / 8))) return work_.cancelled();
                done += some;
            }
            return {};
        });
    }

    Result<void> put_sparse(const Tensor& tensor, const RowMajorRegion& region, Numbers low, bool add) {
        const auto view = SparseView::make(tensor);
        if (!view) return std::unexpected(view.error());
        if (auto checked = check_duplicates(tensor); !checked) return checked;
        Packed values{view->values(), {}};
        if (is_quantized(tensor.descriptor) && view->nnz() != 0) {
            auto decoded = decode_values(tensor, view->nnz());
            if (!decoded) return std::unexpected(decoded.error());
            values = std::move(*decoded);
        }
        const ElementAdder* adder = nullptr;
        if (add) {
            const auto made = head_adder();
            if (!made) return std::unexpected(made.error());
            adder = *made;
        }
        const auto strides = region.strides();
        const std::uint64_t bits = type_.bits;
        const std::uint64_t width = bits / 8;
        Result<void> outcome;
        auto walked = view->for_each([&](Numbers index, std::uint64_t position) {
            std::uint64_t at = 0;
            for (std::size_t k = 0; k < index.size(); ++k) at += (low[k] + index[k]) * strides[k];
            if (adder != nullptr) {
                outcome = adder->add(values.bytes, position, out_, at, 1);
            } else if (bits % 8 == 0) {
                std::memcpy(out_.data() + at * width, values.bytes.data() + position * width, width);
            } else {
                copy_bits(values.bytes.data(), position * bits, out_.data(), at * bits, bits);
            }
            if (outcome && !work_.advance(width + (width == 0))) outcome = work_.cancelled();
            return outcome.has_value();
        });
        work_.give_back(values);
        return outcome ? walked : outcome;
    }

    Result<Descriptor> with_buffer(DescriptorBuilder& builder, const BufferHandle& handle) const {
        if (const auto fields = extension_type_fields(head_)) builder.set_extension_type(*fields);
        if (auto added = builder.add_buffer(handle); !added) return std::unexpected(added.error());
        return builder.build();
    }

    Result<const NumberFormat*> head_format() {
        if (!format_) {
            auto made = element_format(head_);
            if (!made) return std::unexpected(made.error());
            format_ = *made;
        }
        return &*format_;
    }
    Result<const ElementAdder*> head_adder() {
        if (!adder_) {
            const auto format = head_format();
            if (!format) return std::unexpected(format.error());
            auto made = ElementAdder::make(**format);
            if (!made) return std::unexpected(made.error());
            adder_ = *made;
        }
        return &*adder_;
    }

    const Descriptor& head_;
    ElementTypeInfo type_;
    MergeWork work_;
    std::span<std::byte> out_;
    BufferHandle out_handle_;
    std::optional<NumberFormat> format_;
    std::optional<ElementAdder> adder_;
};

}  // namespace

Result<Tensor> merged(const Composite& composite, const WorkOptions& options) {
    const Descriptor& head = composite.head();
    if (head.is_opaque()) {
        return fail(Status::unsupported, Error::no_offset, "head: an opaque descriptor, expected a known type");
    }
    MergeSurvey found;
    if (auto done = survey_merge(composite, element_type_info(head).bits, found); !done) return std::unexpected(done.error());
    Merge merge(head, options, found);
    auto buffer = merge.allocate_result(found.has_sparse);
    if (!buffer) return std::unexpected(buffer.error());
    const std::array<std::uint64_t, max_rank> origin{};
    if (auto done = merge.put(composite, Numbers(origin).first(head.rank())); !done)
        return std::unexpected(done.error());

    DescriptorBuilder builder(head.element_type(), layout_tag::row_major, head.shape());
    if (head.has_shard()) builder.set_shard(head.parent_shape(), head.shard_offset());
    if (const auto fields = extension_type_fields(head)) builder.set_extension_type(*fields);
    if (auto added = builder.add_buffer(buffer->handle); !added) return std::unexpected(added.error());
    auto descriptor = builder.build();
    if (!descriptor) return std::unexpected(descriptor.error());
    if (auto finished = merge.finish(); !finished) return std::unexpected(finished.error());
    Tensor result{std::move(*descriptor), {}};
    result.buffers.push_back(std::move(*buffer));
    return result;
}

}  // namespace hurray
