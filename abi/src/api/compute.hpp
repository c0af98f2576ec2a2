// Work on elements: what callers hand in and get. Public: becomes part of hurray/compute.h.
#pragma once

#include <cstdint>

/// Told now and then how far long work is, on the thread that called: `done` of `total` in a unit that the function names,
/// never less than before, and all of it at the end. Returns 0 to stop the work, which then fails with
/// HURRAY_ERR_CANCELLED and leaves nothing behind; else 1. It must not throw, nor use handles that the call was given.
/// @since 4
typedef uint8_t (*HurrayProgressFn)(void* context, uint64_t done, uint64_t total);

/// What all long work takes. All zero but struct_size: the defaults.
/// @since 4
struct HurrayWorkOptions {
    /// Size of this struct, set by the caller.
    uint32_t struct_size;
    /// 0.
    uint32_t reserved;
    /// The most bytes of new memory that the work may hold at one time, its result included; 0 for no limit.
    uint64_t memory_limit;
    /// May be null.
    HurrayProgressFn progress;
    /// Opaque, handed back to progress.
    void* context;
};

/// @group HurrayValidationLevel Levels of validation.
/// The descriptor alone: everything that a strict reader checks.
constexpr uint32_t HURRAY_VALIDATE_DESCRIPTOR = 1;
/// As before, and the descriptor against its buffers, of which no byte is read.
constexpr uint32_t HURRAY_VALIDATE_BUFFERS = 2;
/// As before, and what is in the buffers: index arrays, scales, zero points, padding, patterns that are no element.
constexpr uint32_t HURRAY_VALIDATE_DATA = 3;

/// How to quantize.
/// @since 4
struct HurrayQuantizeSpec {
    /// Size of this struct, set by the caller.
    uint32_t struct_size;
    /// HURRAY_SCHEME_ tag.
    uint8_t scheme;
    /// HURRAY_TYPE_ tag of the stored elements.
    uint8_t storage_type;
    /// HURRAY_TYPE_ tag of the scales; 0 for what the scheme has.
    uint8_t scale_type;
    /// 1: all zero points are 0, and steps reach as far down as up; else 0. Affine schemes only.
    uint8_t symmetric;
    /// The dimension along which channels or blocks follow one another; 0 for the per-tensor scheme.
    uint32_t axis;
    /// Elements of a block along the axis; 0 for schemes without blocks.
    uint32_t block_size;
};

/// @group HurrayTranscodeFlag Transcode flags.
/// Of a block-paged tensor the one sequence that `sequence` names; else all of them, one after the other.
constexpr uint32_t HURRAY_TRANSCODE_SEQUENCE = 1;

/// The layout that a tensor is wanted in.
/// @since 4
struct HurrayTranscodeSpec {
    /// Size of this struct, set by the caller.
    uint32_t struct_size;
    /// HURRAY_TRANSCODE_ flags.
    uint32_t flags;
    /// HURRAY_LAYOUT_ tag.
    uint8_t layout;
    /// 0.
    uint8_t reserved[3];
    /// Of the new buffers, in bytes, a power of two of at least 64; 0 means 64.
    uint32_t alignment;
    /// Number of a sequence, with HURRAY_TRANSCODE_SEQUENCE; else 0.
    uint32_t sequence;
    /// 0.
    uint32_t reserved2;
    /// Of a block-paged tensor: the tokens of each sequence, no more than its pages have room for, all together those of the
    /// shape. The format stores pages only, so that a tensor of several sequences whose last pages are not full cannot be
    /// transcoded without. Null: not known, and for other layouts. Read during the call only.
    const uint64_t* token_counts;
    /// Values of token_counts: one a sequence, or 0.
    uint64_t token_counts_length;
};

/// Where an element of a tensor is.
/// @since 4
struct HurrayElementAddress {
    /// Size of this struct, set by the caller.
    uint32_t struct_size;
    /// Number of the buffer.
    uint32_t buffer;
    /// The byte of the buffer in which the element starts, counted from the buffer's first.
    uint64_t byte_offset;
    /// The bit of that byte in which it starts, counted from the lowest; 0 for types of whole bytes.
    uint32_t bit_offset;
    /// Bits of the element.
    uint32_t bits;
    /// 1; 0 for an element of a sparse tensor that is not stored, and therefore 0: then the others say nothing.
    uint8_t present;
    /// 0.
    uint8_t reserved[7];
};

/// The bits of an element as an unsigned number of up to 128 bits.
/// @since 4
struct HurrayElementBits {
    /// Size of this struct, set by the caller.
    uint32_t struct_size;
    /// How many bits an element has.
    uint32_t bits;
    /// Bits 0 to 63.
    uint64_t low;
    /// Bits 64 to 127.
    uint64_t high;
};
