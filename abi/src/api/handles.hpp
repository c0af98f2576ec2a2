// The opaque handles. Public. Callers never look behind the pointers.
#pragma once

/// A decoded, validated, immutable tensor descriptor. (format: tensor descriptor)
/// @since 4
struct HurrayDescriptor;
/// Collects the fields of a descriptor that is being made.
/// @since 4
struct HurrayDescriptorBuilder;
/// A buffer: memory with shared ownership and the 16-byte handle that describes it. Exchange handle: it may be
/// passed to another copy of the library in the same process.
/// @since 1
struct HurrayBuffer;
/// Owns the buffers of one tensor in the order of its buffer table. Exchange handle.
/// @since 3
struct HurrayBufferList;
/// Carries the encoded descriptor of a tensor and what keeps its memory alive. Exchange handle.
/// @since 4
struct HurrayTensorContext;
/// A descriptor and its buffers as one handle. Exchange handle.
/// @since 4
struct HurrayTensor;
/// Collects release callbacks that must not run on the thread that dropped the last reference.
/// @since 4
struct HurrayReleaseQueue;
/// Reads a stream of tensors. (format: stream)
/// @since 4
struct HurrayReader;
/// Writes a stream of tensors. (format: stream)
/// @since 4
struct HurrayWriter;
/// An opened model file.
/// @since 4
struct HurrayFile;
/// A model file that is being written.
/// @since 4
struct HurrayFileWriter;
/// A head with all of its members, which fit; immutable. (format: composite)
/// @since 4
struct HurrayComposite;
/// Collects the members of a composite that is being made.
/// @since 4
struct HurrayCompositeBuilder;
/// One end of a channel to another process of this machine.
/// @since 4
struct HurrayChannel;
/// Waits for the other ends of channels at a path.
/// @since 4
struct HurrayChannelListener;
