// The fields of layouts and of sections, as callers see and set them. Public.
#pragma once

#include <cstdint>

/// @group HurraySectionFlag Sections.
/// Bits of the flags of a descriptor.

/// There is a quantization section.
constexpr uint32_t HURRAY_SECTION_QUANTIZATION = 1;
/// There is a shard section.
constexpr uint32_t HURRAY_SECTION_SHARD = 2;
/// There is an extension type section.
constexpr uint32_t HURRAY_SECTION_EXTENSION_TYPE = 4;
/// There is a statistics section.
constexpr uint32_t HURRAY_SECTION_STATISTICS = 8;
/// There is a composite member section.
constexpr uint32_t HURRAY_SECTION_COMPOSITE_MEMBER = 16;

/// @group HurrayDecodeFlag Flags of reading.
/// Accept tags of element types, layouts and quantization schemes that are not known: the descriptor is opaque then,
/// see HURRAY_DESCRIPTOR_OPAQUE.
constexpr uint32_t HURRAY_DECODE_PERMISSIVE = 1;
/// Accept private layouts, quantization schemes, devices and memory classes, upon which writer and reader have agreed.
constexpr uint32_t HURRAY_DECODE_PRIVATE_TAGS = 2;

/// How to decode a descriptor. All zero but struct_size: the defaults, a strict reader.
/// @since 4
struct HurrayDecodeOptions {
    /// Size of this struct, set by the caller.
    uint32_t struct_size;
    /// HURRAY_DECODE_ flags.
    uint32_t flags;
    /// Longest descriptor accepted, in bytes, below 2^32; 0 means 16 MiB.
    uint64_t max_length;
};

/// @group HurrayCompositionRule Composition rules.
/// The members are the parts of the head: they cover it, and do not overlap.
constexpr uint8_t HURRAY_COMPOSITION_PARTITION = 0x01;
/// The first member is the base, the others are corrections of it.
constexpr uint8_t HURRAY_COMPOSITION_OVERLAY = 0x02;
/// The members belong together, and that is all.
constexpr uint8_t HURRAY_COMPOSITION_GROUP = 0x03;

/// @group HurrayCombineOp How corrections apply to the base.
/// For rules other than overlay.
constexpr uint8_t HURRAY_COMBINE_NONE = 0x00;
/// A value that is there replaces that of earlier members.
constexpr uint8_t HURRAY_COMBINE_REPLACE = 0x01;
/// Values add up.
constexpr uint8_t HURRAY_COMBINE_ADD = 0x02;

/// @group HurrayMemberRole Roles of members of an overlay.
/// A correction.
constexpr uint8_t HURRAY_MEMBER_CORRECTION = 0;
/// The base, which comes first.
constexpr uint8_t HURRAY_MEMBER_BASE = 1;

/// @group HurrayKvRole What a block-paged tensor holds.
/// Keys.
constexpr uint8_t HURRAY_KV_KEY = 0;
/// Values.
constexpr uint8_t HURRAY_KV_VALUE = 1;
/// Something else.
constexpr uint8_t HURRAY_KV_OTHER = 2;

/// @group HurrayTableIndex Types of the entries of block_table and seq_ptr.
/// Unsigned, 32 bits.
constexpr uint8_t HURRAY_TABLE_UINT32 = 0;
/// Unsigned, 64 bits.
constexpr uint8_t HURRAY_TABLE_UINT64 = 1;

/// @group HurrayFieldLimit Values of fields that stand for nothing, and limits.
/// No buffer: there is no array of zero points.
constexpr uint32_t HURRAY_NO_BUFFER = 0xFFFFFFFF;
/// A block-paged tensor that belongs to no layer.
constexpr uint32_t HURRAY_NO_LAYER = 0xFFFFFFFF;
/// How deep tiles of tiles may go.
constexpr uint32_t HURRAY_MAX_TILE_LEVELS = 8;

/// The fields of a layout; those that the layout does not have are 0 or null. Tiles are told level by level, see
/// HurrayTileLevel.
/// @since 4
struct HurrayLayoutFields {
    /// Size of this struct, set by the caller.
    uint32_t struct_size;
    /// How many values strides, morton_bits and mode_order have: the rank.
    uint32_t rank;
    /// Strided: strides in elements.
    const int64_t* strides;
    /// Morton: bits of each index in the code, each below 2^32.
    const uint64_t* morton_bits;
    /// CSF: the dimensions in the order of the levels, each below 2^32.
    const uint64_t* mode_order;
    /// COO, CSR, CSC, CSF: number of stored elements.
    uint64_t nnz;
    /// Block-paged: number of pages in the pool.
    uint64_t num_pages;
    /// Block-paged: tokens of a page.
    uint32_t page_size;
    /// Block-paged: the dimension that is cut into pages, 0.
    uint32_t paged_axis;
    /// Block-paged: number of sequences.
    uint32_t num_seqs;
    /// Block-paged: number of the layer; HURRAY_NO_LAYER for none.
    uint32_t layer_index;
    /// Composite: number of members.
    uint32_t member_count;
    /// Hilbert: binary logarithm of every dimension's size.
    uint32_t hilbert_order;
    /// Hilbert: the rank once more, as the wire has it. Setters ignore it.
    uint32_t hilbert_rank;
    /// Tiled: number of levels. Setters ignore it.
    uint32_t tile_level_count;
    /// Private layouts: their number.
    uint64_t private_id;
    /// Private layouts: their own fields.
    const uint8_t* private_data;
    /// Private layouts: length of private_data in bytes.
    uint64_t private_length;
    /// HURRAY_LAYOUT_ tag whose fields these are.
    uint8_t layout;
    /// COO: 1 when the elements are in the order of their indices, else 0.
    uint8_t is_sorted;
    /// Block-paged: HURRAY_KV_ value.
    uint8_t kv_role;
    /// Block-paged: HURRAY_TABLE_ type of all entries of buffer 1, block_table, and of buffer 2, seq_ptr, which has num_seqs + 1.
    uint8_t index_type;
    /// Composite: HURRAY_COMPOSITION_ rule, or a private one.
    uint8_t composition_rule;
    /// Composite: HURRAY_COMBINE_ value.
    uint8_t combine_op;
    /// 0.
    uint8_t reserved[2];
};

/// One level of the tiled layout. Element i lies in tile i / tile_shape of the level's grid, at i mod tile_shape in it.
/// @since 4
struct HurrayTileLevel {
    /// Size of this struct, set by the caller.
    uint32_t struct_size;
    /// How many values the arrays have: the rank.
    uint32_t rank;
    /// Sizes of a tile, in elements.
    const uint64_t* tile_shape;
    /// In tiles, when outer_layout is strided; else null.
    const int64_t* outer_strides;
    /// In elements, when inner_layout is strided; else null.
    const int64_t* inner_strides;
    /// Order of the tiles: HURRAY_LAYOUT_ROW_MAJOR, HURRAY_LAYOUT_COL_MAJOR or HURRAY_LAYOUT_STRIDED.
    uint8_t outer_layout;
    /// Order inside a tile: likewise, or HURRAY_LAYOUT_TILED, then the next level says it.
    uint8_t inner_layout;
    /// 0.
    uint8_t reserved[6];
};

/// @group HurrayScheme Quantization schemes.
/// One scale and one zero point.
constexpr uint8_t HURRAY_SCHEME_PER_TENSOR_AFFINE = 0x01;
/// A scale and a zero point for each index of an axis.
constexpr uint8_t HURRAY_SCHEME_PER_CHANNEL_AFFINE = 0x02;
/// A scale and a zero point for each block along an axis.
constexpr uint8_t HURRAY_SCHEME_PER_BLOCK_AFFINE = 0x03;
/// 4-bit quantiles of the normal distribution, with the largest magnitude of each block.
constexpr uint8_t HURRAY_SCHEME_NF4 = 0x04;
/// OCP microscaling: small elements with a power of two for each block.
constexpr uint8_t HURRAY_SCHEME_MXFP = 0x05;

/// @group HurrayQuantizationFlag Flags of a quantization section.
/// All zero points are 0, and there is no array of them.
constexpr uint16_t HURRAY_QUANTIZATION_SYMMETRIC = 1;

/// A quantization section. Fields that the scheme does not have are 0, buffers HURRAY_NO_BUFFER.
/// @since 4
struct HurrayQuantization {
    /// Size of this struct, set by the caller.
    uint32_t struct_size;
    /// 1 when there is such a section, else 0, and so is all that follows.
    uint8_t present;
    /// HURRAY_SCHEME_ tag.
    uint8_t scheme;
    /// Version of the scheme: 1.
    uint8_t version;
    /// HURRAY_TYPE_ tag of the scales in their buffer, the one that the scheme implies included; 0 when there is none.
    uint8_t scale_type;
    /// HURRAY_QUANTIZATION_ flags.
    uint16_t flags;
    /// 0.
    uint16_t reserved;
    /// Per-tensor: the scale.
    float scale;
    /// Per-tensor: the zero point.
    int32_t zero_point;
    /// The dimension along which channels or blocks follow one another.
    uint32_t axis;
    /// Elements of a block along the axis.
    uint32_t block_size;
    /// Number of the buffer with the scales.
    uint32_t scale_buffer;
    /// Number of the buffer with the zero points; with that of the scales when it is the same, behind them.
    uint32_t zero_point_buffer;
    /// Zero bytes behind the fields.
    uint32_t padding;
    /// Private and unknown schemes: what follows their first 4 bytes.
    const uint8_t* private_data;
    /// Length of private_data in bytes.
    uint64_t private_length;
    /// The whole section behind its length, as the wire has it. Setters ignore it.
    const uint8_t* payload;
    /// Length of the payload in bytes. Setters ignore it.
    uint64_t payload_length;
};

/// @group HurrayStatisticsFlag Statistics.
/// Bits of computed_mask: which fields say something.

/// nnz.
constexpr uint32_t HURRAY_STATISTICS_NNZ = 1;
/// sparsity_ratio.
constexpr uint32_t HURRAY_STATISTICS_SPARSITY = 2;
/// value_min, value_max and value_abs_max.
constexpr uint32_t HURRAY_STATISTICS_RANGE = 4;
/// value_mean and value_stddev.
constexpr uint32_t HURRAY_STATISTICS_MOMENTS = 8;
/// nm_n and nm_m.
constexpr uint32_t HURRAY_STATISTICS_NM_SPARSITY = 16;
/// has_nan and has_inf.
constexpr uint32_t HURRAY_STATISTICS_NAN_INF = 32;

/// Statistics of the elements, dequantized where they are quantized. Fields whose bit of computed_mask is not set have no
/// meaning; getters give them as they were read, but has_nan and has_inf, bytes of the format, as 1 where they were not 0: a
/// section that holds another byte there, which only one without HURRAY_STATISTICS_NAN_INF may, is not set as it was got.
/// @since 4
struct HurrayStatistics {
    /// Size of this struct, set by the caller.
    uint32_t struct_size;
    /// HURRAY_STATISTICS_ bits.
    uint32_t computed_mask;
    /// Elements other than 0.
    uint64_t nnz;
    /// Fraction of elements that are 0, 0 to 1.
    double sparsity_ratio;
    /// Least value.
    double value_min;
    /// Greatest value.
    double value_max;
    /// Greatest magnitude.
    double value_abs_max;
    /// Mean.
    double value_mean;
    /// Standard deviation of the whole population.
    double value_stddev;
    /// 1 when there are statistics, else 0, and so is everything else.
    uint8_t present;
    /// At most nm_n of each nm_m elements that follow one another are not 0; both 0 when there is no such pattern.
    uint8_t nm_n;
    /// See nm_n.
    uint8_t nm_m;
    /// 1 when an element is NaN, else 0.
    uint8_t has_nan;
    /// 1 when an element is infinite, else 0.
    uint8_t has_inf;
    /// 0.
    uint8_t reserved[3];
};

/// The description of a private element type. Fields of floating-point types are 0 for integers.
/// @since 4
struct HurrayExtensionType {
    /// Size of this struct, set by the caller.
    uint32_t struct_size;
    /// Bits of an element: 1, 2, 4, or a multiple of 8.
    uint32_t bit_width;
    /// Bias of the exponent.
    uint32_t exponent_bias;
    /// 1 when there is such a section, else 0, and so is everything else.
    uint8_t present;
    /// Elements in a byte: 8 / bit_width, or 1 for types of whole bytes.
    uint8_t packing_factor;
    /// 1 for floating-point types, 0 for integers.
    uint8_t is_float;
    /// 1 for integers with a sign.
    uint8_t is_signed;
    /// Bits of the sign.
    uint8_t sign_bits;
    /// Bits of the exponent.
    uint8_t exponent_bits;
    /// Bits of the mantissa.
    uint8_t mantissa_bits;
    /// 1 when the type has NaN.
    uint8_t has_nan;
    /// 1 when the type has infinities.
    uint8_t has_inf;
    /// 0.
    uint8_t reserved[3];
};

/// A composite member section.
/// @since 4
struct HurrayCompositeMember {
    /// Size of this struct, set by the caller.
    uint32_t struct_size;
    /// 1 when there is such a section, else 0, and so is everything else.
    uint8_t present;
    /// HURRAY_MEMBER_ role.
    uint8_t member_role;
    /// 0.
    uint8_t reserved[2];
};
