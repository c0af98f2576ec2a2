#include "core/hurray/descriptor/builder.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "core/hurray/descriptor/codec.hpp"
#include "core/hurray/descriptor/composite_member_section.hpp"
#include "core/hurray/descriptor/extension_type_section.hpp"
#include "core/hurray/descriptor/quantization_section.hpp"
#include "core/hurray/descriptor/section.hpp"
#include "core/hurray/descriptor/statistics_section.hpp"
#include "core/hurray/descriptor/wire_parts.hpp"
#include "core/hurray/layout/block_paged.hpp"
#include "core/hurray/layout/composite.hpp"
#include "core/hurray/layout/coo.hpp"
#include "core/hurray/layout/csf.hpp"
#include "core/hurray/layout/private_layout.hpp"
#include "core/hurray/layout/tiled.hpp"

namespace hurray {
namespace {

constexpr std::size_t word_size = 8;
// Offset of the field in the fixed header.
constexpr std::uint64_t descriptor_length_at = 6;

template <typename Storage>
std::span<const std::uint64_t> words_of(const Storage& storage) {
    return {reinterpret_cast<const std::uint64_t*>(storage.data()), storage.size() / word_size};
}

template <typename Storage, typename T>
void assign(Storage& storage, std::span<const T> values) {
    static_assert(sizeof(T) == word_size);
    storage.resize_discarding(values.size_bytes());
    if (!values.empty()) std::memcpy(storage.data(), values.data(), values.size_bytes());
}

// Fields that were given with a number of values other than the rank. The encoded form has no room for such a
// contradiction, so it is encoded with the right number, and this error takes precedence over what decode finds behind
// it.
class Mismatch {
  public:
    void note(std::size_t got, std::size_t expected, const char* field, std::uint64_t offset) {
        if (got == expected || error_) return;
        error_ = make_error(Status::invalid_layout, offset, "%s: expected %zu values as the rank has, got %zu", field,
                            expected, got);
    }
    [[nodiscard]] Result<Descriptor> merge(Result<Descriptor>&& decoded) const {
        if (!error_ || (!decoded && decoded.error().offset < error_->offset)) return std::move(decoded);
        return std::unexpected(*error_);
    }

  private:
    std::optional<Error> error_;
};

// A field's values, or zeros in their place when there are too few or too many.
class FittedWords {
  public:
    template <typename Storage>
    FittedWords(const Storage& storage, std::size_t count) : words_(words_of(storage)) {
        if (words_.size() == count) return;
        zeros_.resize_discarding(count * word_size);
        std::fill_n(zeros_.data(), zeros_.size(), std::byte{0});
        words_ = words_of(zeros_);
    }
    FittedWords(const FittedWords&) = delete;
    FittedWords& operator=(const FittedWords&) = delete;
    [[nodiscard]] std::span<const std::uint64_t> words() const noexcept { return words_; }

  private:
    InlineStorage<64> zeros_;
    std::span<const std::uint64_t> words_;
};

}  // namespace

DescriptorBuilder::DescriptorBuilder(std::uint8_t element_type, std::uint8_t layout,
                                     std::span<const std::uint64_t> shape)
    : element_type_(element_type), layout_(layout) {
    assign(shape_, shape);
}

DescriptorBuilder& DescriptorBuilder::set_byte_offset(std::uint64_t byte_offset) noexcept {
    byte_offset_ = byte_offset;
    return *this;
}

std::uint64_t DescriptorBuilder::layout_fields_at() const noexcept {
    return fixed_header_size + shape_.size() + word_size;
}

void DescriptorBuilder::set_layout_words(std::uint8_t layout, std::span<const std::uint64_t> words) {
    assign(layout_words_, words);
    layout_fault_.reset();
    fields_of_ = layout;
}

void DescriptorBuilder::set_layout_fault(std::uint8_t layout, const Error& fault) {
    layout_words_.shrink(0);
    layout_fault_ = fault;
    fields_of_ = layout;
}

void DescriptorBuilder::set_words_of_rank(std::uint8_t layout, std::span<const std::uint64_t> words,
                                          const char* field) {
    const std::size_t rank = shape_.size() / word_size;
    if (words.size() == rank) {
        set_layout_words(layout, words);
        return;
    }
    set_layout_fault(layout, make_error(Status::invalid_layout, layout_fields_at(),
                                        "%s: expected %zu values as the rank has, got %zu", field, rank, words.size()));
}

DescriptorBuilder& DescriptorBuilder::set_strides(std::span<const std::int64_t> strides) {
    set_words_of_rank(layout_tag::strided, {reinterpret_cast<const std::uint64_t*>(strides.data()), strides.size()},
                      "strides");
    return *this;
}

DescriptorBuilder& DescriptorBuilder::set_tiled(std::span<const TiledLevel> levels) {
    const auto words = tiled_words(shape_.size() / word_size, levels, layout_fields_at());
    if (words) {
        set_layout_words(layout_tag::tiled, *words);
    } else {
        set_layout_fault(layout_tag::tiled, words.error());
    }
    return *this;
}

DescriptorBuilder& DescriptorBuilder::set_morton_bits(std::span<const std::uint32_t> bits) {
    const std::vector<std::uint64_t> words(bits.begin(), bits.end());
    set_words_of_rank(layout_tag::morton, words, "morton_bits");
    return *this;
}

DescriptorBuilder& DescriptorBuilder::set_hilbert(std::uint32_t order) {
    const std::uint64_t rank = shape_.size() / word_size;
    const std::uint64_t word = order | rank << 32;
    set_layout_words(layout_tag::hilbert, {&word, 1});
    return *this;
}

DescriptorBuilder& DescriptorBuilder::set_composite(const CompositeFields& fields) {
    const std::uint64_t word = composite_word(fields);
    set_layout_words(layout_tag::composite, {&word, 1});
    return *this;
}

DescriptorBuilder& DescriptorBuilder::set_coo(const CooFields& fields) {
    const std::array<std::uint64_t, 2> words = {fields.nnz, fields.is_sorted ? std::uint64_t{1} : 0};
    set_layout_words(layout_tag::coo, words);
    return *this;
}

DescriptorBuilder& DescriptorBuilder::set_compressed(std::uint64_t nnz) {
    set_layout_words(layout_ == layout_tag::csc ? layout_tag::csc : layout_tag::csr, {&nnz, 1});
    return *this;
}

DescriptorBuilder& DescriptorBuilder::set_csf(std::uint64_t nnz, std::span<const std::uint32_t> mode_order) {
    return set_csf({nnz, std::vector<std::uint64_t>(mode_order.begin(), mode_order.end())});
}

DescriptorBuilder& DescriptorBuilder::set_csf(const CsfFields& fields) {
    const std::size_t rank = shape_.size() / word_size;
    const auto order = fields.mode_order;
    const std::uint64_t order_at = layout_fields_at() + word_size;
    if (order.size() != rank) {
        set_layout_fault(layout_tag::csf,
                         make_error(Status::invalid_layout, order_at,
                                    "mode_order: expected %zu values as the rank has, got %zu", rank, order.size()));
        return *this;
    }
    const auto too_large = std::ranges::find_if(order, [](std::uint64_t mode) { return mode > ~std::uint32_t{0}; });
    if (too_large != order.end()) {
        const auto level = static_cast<std::size_t>(too_large - order.begin());
        set_layout_fault(layout_tag::csf, make_error(Status::invalid_layout, order_at + 4 * level,
                                                     "mode_order[%zu]: expected a dimension, 0 to %zu, got %llu", level,
                                                     rank - 1, static_cast<unsigned long long>(*too_large)));
        return *this;
    }
    std::vector<std::uint64_t> words = {fields.nnz};
    words.insert(words.end(), order.begin(), order.end());
    set_layout_words(layout_tag::csf, words);
    return *this;
}

DescriptorBuilder& DescriptorBuilder::set_block_paged(const BlockPagedFields& fields) {
    set_layout_words(layout_tag::block_paged, block_paged_words(fields));
    return *this;
}

DescriptorBuilder& DescriptorBuilder::set_private_layout(const PrivateLayoutFields& fields) {
    const std::uint8_t layout = is_private_layout(layout_) ? layout_ : layout_tag::private_first;
    if (fields.data.size() <= max_private_layout_data) {
        set_layout_words(layout, private_layout_words(fields));
    } else {
        set_layout_fault(layout, make_error(Status::limit_exceeded, layout_fields_at() + word_size,
                                            "extension_data_length: expected at most %llu bytes, got %zu",
                                            static_cast<unsigned long long>(max_private_layout_data),
                                            fields.data.size()));
    }
    return *this;
}

DescriptorBuilder& DescriptorBuilder::set_layout_of(const Descriptor& descriptor) {
    const Layout* layout = find_layout(descriptor.layout());
    if (layout == nullptr || layout->codec == nullptr || layout->codec->encode == nullptr) return *this;
    if (descriptor.rank() == shape_.size() / word_size) {
        set_layout_words(descriptor.layout(), descriptor.layout_words());
        return *this;
    }
    set_layout_fault(descriptor.layout(),
                     make_error(Status::invalid_layout, layout_fields_at(),
                                "layout fields: expected those of a descriptor of rank %zu, got rank %u",
                                shape_.size() / word_size, descriptor.rank()));
    return *this;
}

DescriptorBuilder& DescriptorBuilder::set_shard(std::span<const std::uint64_t> parent_shape,
                                                std::span<const std::uint64_t> shard_offset) {
    assign(parent_shape_, parent_shape);
    assign(shard_offset_, shard_offset);
    flags_ |= descriptor_flag::shard;
    return *this;
}

DescriptorBuilder& DescriptorBuilder::set_section_words(std::uint32_t flag, std::span<const std::uint64_t> words) {
    const auto row = std::ranges::find(section_flags, flag) - section_flags.begin();
    assign(section_words_[static_cast<std::size_t>(row)], words);
    flags_ |= flag;
    return *this;
}

DescriptorBuilder& DescriptorBuilder::set_quantization(const QuantizationFields& fields) {
    return set_section_words(descriptor_flag::quantization, quantization_words(fields));
}

DescriptorBuilder& DescriptorBuilder::set_statistics(const StatisticsFields& fields) {
    return set_section_words(descriptor_flag::statistics, statistics_words(fields));
}

DescriptorBuilder& DescriptorBuilder::set_extension_type(const ExtensionTypeFields& fields) {
    return set_section_words(descriptor_flag::extension_type, extension_type_words(fields));
}

DescriptorBuilder& DescriptorBuilder::set_composite_member(MemberRole role) {
    const std::array<std::uint64_t, 2> words = {static_cast<std::uint64_t>(role), 0};
    return set_section_words(descriptor_flag::composite_member, words);
}

Result<void> DescriptorBuilder::add_buffer(const BufferHandle& handle) {
    constexpr std::size_t most = 255;
    const std::size_t used = buffers_.size();
    if (used / sizeof handle == most) {
        return fail(Status::invalid_layout, Error::no_offset, "buffer_count: expected at most %zu buffers", most);
    }
    buffers_.resize(used + sizeof handle);
    std::memcpy(buffers_.data() + used, &handle, sizeof handle);
    return {};
}

std::optional<Error> DescriptorBuilder::find_layout_fault(const Layout& layout) const {
    const bool has_fields = layout.codec->encode != nullptr;
    if (fields_of_ != 0 && fields_of_ != layout_) {
        return make_error(Status::invalid_layout, layout_fields_at(),
                          "layout fields: expected %s for layout %s, got those of %s", has_fields ? "its own" : "none",
                          layout.name, find_layout(fields_of_)->name);
    }
    if (has_fields && fields_of_ == 0) {
        return make_error(Status::invalid_layout, layout_fields_at(),
                          "layout fields: expected those of layout %s, which were not set", layout.name);
    }
    return layout_fault_;
}

// Encodes what comes before the fields only, so that decode finds the faults that come before that of the fields.
Result<Descriptor> DescriptorBuilder::refuse_layout_fields(const Error& fault, PrivateTags private_tags) const {
    const auto shape = words_of(shape_);
    InlineStorage<512> bytes(layout_fields_at());
    WireWriter writer(bytes.data());
    write_header({.element_type = element_type_,
                  .layout_tag = layout_,
                  .length = static_cast<std::uint32_t>(bytes.size()),
                  .flags = flags_},
                 static_cast<std::uint32_t>(shape.size()), writer);
    writer.u64s(shape);
    writer.u64(byte_offset_);
    auto decoded = decode({bytes.data(), bytes.size()}, {.max_length = ~std::uint32_t{0}, .private_tags = private_tags});
    if (!decoded && decoded.error().offset < layout_fields_at()) return decoded;
    if (buffers_.size() != 0) {
        BufferHandle first;
        std::memcpy(&first, buffers_.data(), sizeof first);
        if (byte_offset_ > first.byte_size) {
            return fail(Status::invalid_layout, fixed_header_size + shape_.size(),
                        "byte_offset: expected at most the %llu bytes of buffer 0, got %llu",
                        static_cast<unsigned long long>(first.byte_size),
                        static_cast<unsigned long long>(byte_offset_));
        }
    }
    return std::unexpected(fault);
}

Result<Descriptor> DescriptorBuilder::build(PrivateTags private_tags) const {
    const DecodeOptions options{.max_length = ~std::uint32_t{0}, .private_tags = private_tags};
    const auto shape = words_of(shape_);
    if (shape.size() > max_rank) {
        // Refused by its rank, which comes before the shape.
        std::byte header[fixed_header_size];
        WireWriter writer(header);
        write_header(
            {.element_type = element_type_, .layout_tag = layout_, .length = fixed_header_size, .flags = flags_},
            static_cast<std::uint32_t>(std::min<std::size_t>(shape.size(), ~std::uint32_t{0})), writer);
        return decode(header, options);
    }
    const std::size_t rank = shape.size();
    const std::span buffers(reinterpret_cast<const BufferHandle*>(buffers_.data()),
                            buffers_.size() / sizeof(BufferHandle));
    const Layout* layout = find_layout(layout_);

    std::span<const std::uint64_t> layout_words;
    std::size_t sections_at = layout_fields_at();
    if (layout != nullptr && layout->codec != nullptr) {
        if (const auto fault = find_layout_fault(*layout)) return refuse_layout_fields(*fault, private_tags);
        if (layout->codec->encode != nullptr) {
            layout_words = words_of(layout_words_);
            sections_at += layout->codec->encoded_size(static_cast<std::uint32_t>(rank), layout_words);
        }
    }
    sections_at += 1 + buffers.size() * BufferHandle::encoded_size;

    Mismatch mismatch;
    const bool shard = (flags_ & descriptor_flag::shard) != 0;
    const std::size_t shard_words = shard ? rank : 0;
    const FittedWords parent(parent_shape_, shard_words);
    const FittedWords offset(shard_offset_, shard_words);
    std::size_t length = sections_at;
    for (std::size_t row = 0; row < section_count; ++row) {
        if ((flags_ & section_flags[row]) == 0) continue;
        if (section_flags[row] == descriptor_flag::shard) {
            mismatch.note(words_of(parent_shape_).size(), rank, "parent_shape", length);
            mismatch.note(words_of(shard_offset_).size(), rank, "shard_offset", length + rank * word_size);
            length += 2 * rank * word_size;
        } else {
            length +=
                section_table[row].codec->encoded_size(static_cast<std::uint32_t>(rank), words_of(section_words_[row]));
        }
    }

    if (length > ~std::uint32_t{0}) {
        return fail(Status::limit_exceeded, descriptor_length_at,
                    "descriptor_length: expected less than 2^32 bytes, got %zu", length);
    }
    InlineStorage<512> bytes(length);
    WireWriter writer(bytes.data());
    write_up_to_sections({.element_type = element_type_,
                          .layout_tag = layout_,
                          .length = static_cast<std::uint32_t>(bytes.size()),
                          .flags = flags_,
                          .byte_offset = byte_offset_,
                          .shape = shape,
                          .layout = layout == nullptr ? nullptr : layout->codec,
                          .layout_words = layout_words,
                          .buffers = buffers},
                         writer);
    for (std::size_t row = 0; row < section_count; ++row) {
        if ((flags_ & section_flags[row]) == 0) continue;
        if (section_flags[row] == descriptor_flag::shard) {
            writer.u64s(parent.words());
            writer.u64s(offset.words());
        } else {
            section_table[row].codec->encode(static_cast<std::uint32_t>(rank), words_of(section_words_[row]), writer);
        }
    }
    return mismatch.merge(decode({bytes.data(), bytes.size()}, options));
}

}  // namespace hurray
