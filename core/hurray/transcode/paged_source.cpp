#include "core/hurray/transcode/paged_source.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "core/hurray/base/checked.hpp"
#include "core/hurray/descriptor/extension_type_section.hpp"
#include "core/hurray/layout/paged_view.hpp"
#include "core/hurray/quantization/scheme.hpp"
#include "core/hurray/transcode/copy_table.hpp"
#include "core/hurray/transcode/dense_to_dense.hpp"

namespace hurray {
namespace {

using ull = unsigned long long;

struct Sequences {
    std::uint64_t first;
    std::uint64_t end;
    // All of theirs.
    std::uint64_t tokens;
};

Result<Sequences> find_sequences(const PagedView& view, const TranscodeSpec& spec) {
    Sequences wanted{0, view.fields().num_seqs, 0};
    if (spec.sequence) {
        // An error says how many there are.
        if (auto pages = view.pages(*spec.sequence); !pages) return std::unexpected(pages.error());
        wanted.first = *spec.sequence;
        wanted.end = wanted.first + 1;
    }
    for (std::uint64_t sequence = wanted.first; sequence < wanted.end; ++sequence) {
        const auto count = view.token_count(sequence);
        if (!count) return std::unexpected(count.error());
        if (!*count) {
            return fail(Status::unsupported, Error::no_offset,
                        "token_counts: expected one for each sequence, as the tables do not tell how many of the %llu "
                        "tokens are those of sequence %llu",
                        static_cast<ull>(view.shape()[0]), static_cast<ull>(sequence));
        }
        // No more than there are slots, of which each sequence may name all.
        const auto sum = checked_add(wanted.tokens, **count);
        wanted.tokens = sum.value_or(~std::uint64_t{0});
    }
    if (!spec.sequence && wanted.tokens != view.shape()[0]) {
        return fail(Status::invalid_layout, Error::no_offset,
                    "shape[0]: expected the %llu tokens of all sequences, got %llu", static_cast<ull>(wanted.tokens),
                    static_cast<ull>(view.shape()[0]));
    }
    return wanted;
}

// Copies the tokens of sequences to where row-major elements lie that start at a whole byte.
Result<void> gather_tokens(const PagedView& view, const Sequences& wanted, std::uint64_t bits, std::byte* to,
                           Work& work) {
    using namespace transcode_detail;
    const Packing packing = Packing::of_bits(bits);
    const std::uint64_t slot = view.slot_elements();
    std::uint64_t place = 0;
    bool stopped = false;
    for (std::uint64_t sequence = wanted.first; sequence < wanted.end && !stopped; ++sequence) {
        const auto copied = view.for_each_run(sequence, [&](std::uint64_t first, std::uint64_t count) {
            // A page at a time, but no more at once than can be stopped soon.
            std::uint64_t left = count * slot;
            std::uint64_t from = first * slot;
            const std::uint64_t most = std::max<std::uint64_t>(Work::interval / packing.group_bytes, 1)
                                       << packing.group_shift;
            while (left != 0) {
                const std::uint64_t piece = std::min(left, most);
                copy_run(view.pool().data(), from, to, place, piece, packing);
                place += piece;
                from += piece;
                left -= piece;
                if (!work.advance(packing.bytes_of(piece))) stopped = true;
                if (stopped) return false;
            }
            return true;
        });
        if (!copied) return copied;
    }
    if (stopped) return work.cancelled();
    return {};
}

Result<void> check_quantization(const Descriptor& source) {
    const auto fields = quantization_fields(source);
    if (!fields) return {};
    const QuantizationScheme* scheme = find_scheme(fields->scheme);
    if (scheme != nullptr && !scheme->has_blocks()) return {};
    return fail(Status::unsupported, Error::no_offset,
                "quantization: expected a scheme without blocks, since those of %s go by pages, which a dense tensor does "
                "not have",
                scheme == nullptr ? "a private scheme" : scheme->name);
}

}  // namespace

Result<Tensor> dense_from_paged(const Tensor& tensor, const TranscodeSpec& spec, const WorkOptions& options) {
    const Descriptor& source = tensor.descriptor;
    const auto view = PagedView::make(tensor, spec.token_counts);
    if (!view) return std::unexpected(view.error());
    if (auto checked = check_quantization(source); !checked) return std::unexpected(checked.error());
    const auto wanted = find_sequences(*view, spec);
    if (!wanted) return std::unexpected(wanted.error());
    const std::array<std::uint64_t, 3> shape = {wanted->tokens, view->shape()[1], view->shape()[2]};
    const ElementTypeInfo type = element_type_info(source);
    const auto count = checked_mul(wanted->tokens, view->slot_elements());
    const auto bytes = count ? packed_size(type, *count) : std::nullopt;
    if (!bytes) return fail(Status::limit_exceeded, Error::no_offset, "tokens: expected a result within 2^60 bytes");

    const bool plain = spec.layout == layout_tag::row_major;
    Work work(options, plain ? *bytes : checked_add(*bytes, *bytes).value_or(*bytes));
    auto parameters = carry_parameters(tensor, work);
    if (!parameters) return std::unexpected(parameters.error());
    const CarriedParts parts{.parameters = std::move(*parameters),
                             .moved = block_paged_buffer::count - 1,
                             .whole = !spec.sequence};
    auto target = make_dense_target(source, shape, spec, parts);
    if (!target) return std::unexpected(target.error());
    auto rows = plain ? std::optional<DenseTarget>() : [&]() -> std::optional<DenseTarget> {
        auto made = make_dense_target(source, shape, {}, parts);
        return made ? std::optional(std::move(*made)) : std::nullopt;
    }();
    if (!plain && !rows) {
        return fail(Status::limit_exceeded, Error::no_offset, "tokens: expected a row-major copy within 2^60 bytes");
    }
    auto data = allocate_target(plain ? *target : *rows, work);
    if (!data) return std::unexpected(data.error());
    const std::uint64_t bits = (std::uint64_t{type.group_bytes} * 8) >> type.group_shift;
    if (auto gathered = gather_tokens(*view, *wanted, bits, data->data, work); !gathered) {
        return std::unexpected(gathered.error());
    }
    auto result = plain ? Result<Tensor>(finish_target(std::move(*target), std::move(*data), parts))
                        : fill_target(rows->map, data->data, std::move(*target), parts, work);
    if (!result) return result;
    if (auto finished = work.finish(); !finished) return std::unexpected(finished.error());
    return result;
}

}  // namespace hurray
