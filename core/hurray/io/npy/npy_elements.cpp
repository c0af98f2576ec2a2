#include "core/hurray/io/npy/npy_elements.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "core/hurray/base/checked.hpp"
#include "core/hurray/io/npy/npy_header.hpp"
#include "core/hurray/io/outgoing_elements.hpp"
#include "core/hurray/io/quoted.hpp"
#include "core/hurray/layout/dense_view.hpp"
#include "core/hurray/transcode/transcode.hpp"
#include "core/hurray/types/element_type.hpp"

namespace hurray {
namespace {

using ull = unsigned long long;

constexpr std::uint64_t largest_size = std::numeric_limits<std::int64_t>::max();
// NumPy leaves room for a first dimension (in column-major order the last one) of so many digits, so that a file can grow
// without being moved.
constexpr std::size_t growing_digits = 21;
constexpr std::size_t header_alignment = 64;

std::unexpected<Error> unsupported(std::string_view name, const char* format, const char* what) {
    return fail(Status::unsupported, Error::no_offset, "tensor %s: a %s file cannot hold %s", Quoted(name).c_str(), format,
                what);
}

// As readers compute it: over the dimensions that are not 0, also when the tensor is empty.
Result<std::uint64_t> size_in_file(const char* format, std::string_view name, const Descriptor& descriptor,
                                   std::uint64_t element_bytes) {
    std::uint64_t size = element_bytes;
    bool empty = false;
    for (const std::uint64_t dimension : descriptor.shape()) {
        if (dimension == 0) {
            empty = true;
            continue;
        }
        const auto next = checked_mul(size, dimension);
        if (!next || *next > largest_size) return unsupported(name, format, "more than 2^63-1 bytes");
        size = *next;
    }
    return empty ? 0 : size;
}

bool is_blocked(std::uint8_t layout) noexcept {
    return layout == layout_tag::tiled || layout == layout_tag::morton || layout == layout_tag::hilbert;
}

/// Shape and strides in the order in which the file steps through them: of a column-major file both the other way round.
struct FileOrder {
    std::vector<std::uint64_t> shape;
    std::vector<std::int64_t> strides;

    /// Stepping through the file is stepping through memory.
    [[nodiscard]] bool contiguous() const noexcept {
        std::uint64_t expected = 1;
        for (std::size_t k = shape.size(); k-- > 0;) {
            if (shape[k] == 1) continue;
            if (strides[k] < 0 || static_cast<std::uint64_t>(strides[k]) != expected) return false;
            expected *= shape[k];
        }
        return true;
    }
};

Result<FileOrder> file_order(const Descriptor& descriptor, bool fortran_order) {
    const auto shape = descriptor.shape();
    FileOrder order{{shape.begin(), shape.end()}, std::vector<std::int64_t>(shape.size())};
    if (auto done = dense_strides(descriptor, order.strides); !done) return std::unexpected(done.error());
    if (fortran_order) {
        std::ranges::reverse(order.shape);
        std::ranges::reverse(order.strides);
    }
    return order;
}

}  // namespace

Result<NpyPlan> plan_npy(const char* format, std::string_view name, const Descriptor& descriptor) {
    NpyPlan plan;
    plan.dtype = find_npy_dtype(descriptor.element_type());
    if (plan.dtype == nullptr) {
        const ElementTypeInfo* type = find_element_type(descriptor.element_type());
        return fail(Status::unsupported, Error::no_offset, "tensor %s: NumPy has no dtype for the element type %s (tag %02x)",
                    Quoted(name).c_str(), type == nullptr ? "of its own" : type->name, descriptor.element_type());
    }
    if (auto checked = check_sections(format, name, descriptor); !checked) return std::unexpected(checked.error());
    if (const auto count = descriptor.element_count(); !count) return of_tensor(name, count.error());
    const auto size = size_in_file(format, name, descriptor, plan.dtype->file_bytes);
    if (!size) return std::unexpected(size.error());
    plan.data_size = *size;
    plan.transcoded = is_blocked(descriptor.layout());
    if (plan.transcoded) return plan;
    // Sparse and paged layouts among what has no dense view.
    if (const auto view = dense_view(descriptor); !view) return of_tensor(name, view.error());
    plan.fortran_order = descriptor.layout() == layout_tag::col_major;
    if (descriptor.layout() == layout_tag::strided && plan.data_size != 0) {
        const auto rows = file_order(descriptor, false);
        const auto columns = file_order(descriptor, true);
        plan.fortran_order = rows && columns && !rows->contiguous() && columns->contiguous();
    }
    return plan;
}

std::string npy_header(const NpyPlan& plan, std::span<const std::uint64_t> shape) {
    std::string text = "{'descr': '";
    text += plan.dtype->little;
    text += "', 'fortran_order': ";
    text += plan.fortran_order ? "True" : "False";
    text += ", 'shape': (";
    for (std::size_t k = 0; k < shape.size(); ++k) {
        if (k != 0) text += ", ";
        text += std::to_string(shape[k]);
    }
    text += shape.size() == 1 ? ",), }" : "), }";
    if (!shape.empty()) {
        const std::size_t digits = std::to_string(plan.fortran_order ? shape.back() : shape.front()).size();
        text.append(growing_digits - digits, ' ');
    }
    std::string header(npy_magic);
    header += '\x01';
    header += '\0';
    // Two bytes of length and the newline belong to it; like NumPy, never without any padding.
    const std::size_t unpadded = header.size() + 2 + text.size() + 1;
    text.append(header_alignment - unpadded % header_alignment, ' ');
    text += '\n';
    header += static_cast<char>(text.size() & 0xFF);
    header += static_cast<char>(text.size() >> 8);
    return header + text;
}

Result<Tensor> settle_npy(NpyPlan& plan, const Tensor& tensor, std::uint64_t& copied_bytes) {
    if (!plan.transcoded || plan.data_size == 0) return tensor;
    auto rows = transcode(tensor, {});
    if (!rows) return rows;
    plan.transcoded = false;
    copied_bytes += plan.data_size;
    return rows;
}

Result<void> write_npy_data(const NpyPlan& plan, const Tensor& tensor, const TakeBytes& take, std::uint64_t& copied_bytes) {
    if (plan.data_size == 0) return {};
    const auto order = file_order(tensor.descriptor, plan.fortran_order);
    if (!order) return std::unexpected(order.error());
    const std::byte* origin = tensor.buffers.front().data + tensor.descriptor.byte_offset();
    const std::uint32_t bits = find_element_type(plan.dtype->type_tag)->bits;
    if (bits != 1 && order->contiguous()) return take({origin, static_cast<std::size_t>(plan.data_size)});
    return gather_outgoing({origin, bits, order->shape, order->strides}, take, copied_bytes);
}

}  // namespace hurray
