// Buffers: what callers see of them. Public.
#pragma once

#include <cstdint>

/// Frees memory that the library was lent: runs exactly once, when the last handle that shares the memory goes, with
/// the pointer exactly as it was given and the release context. It must not throw. It runs on the thread that
/// destroys the last handle, or on the thread that drains the release queue when that was a deferred destroy.
/// @since 1
typedef void (*HurrayReleaseCallback)(void* buffer, void* context);

/// Releases the owner of a tensor context; runs exactly once. It must not throw.
/// @since 4
typedef void (*HurrayOwnerReleaseFn)(void* owner);

/// A buffer handle as it stands in a descriptor's buffer table, little-endian: byte_size u64, alignment u32,
/// device_tag u8, the sync mode at offset 13, memory_class u8, zero u8. (format: buffer table)
/// @since 2
struct HurrayBufferHandleBytes {
    /// The 16 bytes.
    uint8_t bytes[16];
};

/// @group HurrayBufferFlag Buffer flags.
/// The memory must not be written.
constexpr uint32_t HURRAY_BUFFER_READ_ONLY = 1;
/// The handle is borrowed from a list or tensor: it can be neither destroyed nor pushed.
constexpr uint32_t HURRAY_BUFFER_BORROWED = 2;
/// Shared memory or a mapped file: other processes may have the same memory.
constexpr uint32_t HURRAY_BUFFER_SHARED = 4;
/// Shared memory that is sealed: nobody can write to it or shrink it any more. Shared memory without this flag, files included,
/// may be changed by whoever else has it, and raises SIGBUS where it was cut.
constexpr uint32_t HURRAY_BUFFER_SEALED = 8;

/// What a buffer handle stands for.
/// @since 4
struct HurrayBufferInfo {
    /// Size of this struct, set by the caller.
    uint32_t struct_size;
    /// HURRAY_BUFFER_ flags.
    uint32_t flags;
    /// First byte; null for an empty buffer that was given no memory. Valid as long as any handle shares the memory.
    void* data;
    /// Length in bytes, the prefix included.
    uint64_t byte_size;
    /// Alignment of `data` that the handle declares, a power of two.
    uint32_t alignment;
    /// How many bytes at `data` belong to somebody else and are never read; 0 to 63.
    uint32_t prefix;
    /// How many handles of this copy of the library share the memory; 0 for an empty buffer that has none. Handles of other
    /// copies, and what else its owner does with the memory, are not counted.
    uint64_t share_count;
};

/// @group HurrayHandleKind Handle kinds.
/// All kinds together.
constexpr uint32_t HURRAY_HANDLE_ANY = 0;
/// HurrayDescriptor.
constexpr uint32_t HURRAY_HANDLE_DESCRIPTOR = 1;
/// HurrayDescriptorBuilder.
constexpr uint32_t HURRAY_HANDLE_DESCRIPTOR_BUILDER = 2;
/// HurrayBuffer; bytes are the sizes of the live buffer handles.
constexpr uint32_t HURRAY_HANDLE_BUFFER = 3;
/// HurrayBufferList.
constexpr uint32_t HURRAY_HANDLE_BUFFER_LIST = 4;
/// HurrayTensorContext; bytes are the sizes of the descriptors that they carry.
constexpr uint32_t HURRAY_HANDLE_TENSOR_CONTEXT = 5;
/// HurrayTensor.
constexpr uint32_t HURRAY_HANDLE_TENSOR = 6;
/// HurrayReleaseQueue.
constexpr uint32_t HURRAY_HANDLE_RELEASE_QUEUE = 7;
/// HurrayReader.
constexpr uint32_t HURRAY_HANDLE_READER = 8;
/// HurrayWriter.
constexpr uint32_t HURRAY_HANDLE_WRITER = 9;
/// HurrayFile.
constexpr uint32_t HURRAY_HANDLE_FILE = 10;
/// HurrayFileWriter.
constexpr uint32_t HURRAY_HANDLE_FILE_WRITER = 11;
/// HurrayComposite.
constexpr uint32_t HURRAY_HANDLE_COMPOSITE = 12;
/// HurrayCompositeBuilder.
constexpr uint32_t HURRAY_HANDLE_COMPOSITE_BUILDER = 13;
/// HurrayChannel.
constexpr uint32_t HURRAY_HANDLE_CHANNEL = 14;
/// HurrayChannelListener.
constexpr uint32_t HURRAY_HANDLE_CHANNEL_LISTENER = 15;
