//! Hurray for Zig: tensors that travel between languages without being copied.
//!
//! The library is compiled into the program, or opened at run time when it is first needed (the file that the environment
//! variable HURRAY_LIBRARY names, or libhurray.so.1 as the system finds it): the option `library` of build.zig says which. In
//! both, its version is asked for before anything else.
//!
//! Every function that can fail takes an optional `*Diagnostics` as its last argument and returns errors of one set,
//! `Error`. Everything that `init`, `from...`, `open` or `create` made ends with `deinit`; a second `deinit` is a no-op,
//! and in builds with safety checks any use after it, also through a copy of the value or through a view, is
//! error.HurrayClosed.
//!
//! Lengths and offsets are bytes, shapes and strides count elements. All of this is there since version 0.1.0 of the
//! package and version 4 of the C ABI. Words in brackets, such as (format: buffer table), name sections of the
//! specification.

comptime {
    // Elements lie in memory as the format has them.
    if (@import("builtin").cpu.arch.endian() != .little) @compileError("hurray: the format is little-endian, and so must the machine be");
}

const abi = @import("hurray_abi");

/// The C header's own declarations: handles and structs, for exchange with other code in the process.
pub const c = abi.c;

const constants = abi.constants;
pub const c_abi_version = constants.c_abi_version;
pub const dimension_dynamic = constants.dimension_dynamic;
pub const max_rank = constants.max_rank;
pub const max_tile_levels = constants.max_tile_levels;
pub const AlignmentPolicy = constants.AlignmentPolicy;
pub const CombineOp = constants.CombineOp;
pub const CompositionRule = constants.CompositionRule;
pub const Device = constants.Device;
pub const FileAccess = constants.FileAccess;
pub const FileFormat = constants.FileFormat;
pub const HandleKind = constants.HandleKind;
pub const InexactBlocks = constants.InexactBlocks;
pub const KvRole = constants.KvRole;
pub const Layout = constants.Layout;
pub const MemberRole = constants.MemberRole;
pub const MemoryClass = constants.MemoryClass;
pub const MetadataType = constants.MetadataType;
pub const Scheme = constants.Scheme;
pub const StatisticsFlags = constants.StatisticsFlags;
pub const Status = constants.Status;
pub const SyncMode = constants.SyncMode;
pub const TableIndex = constants.TableIndex;
pub const ValidationLevel = constants.ValidationLevel;
pub const ReleaseCallback = abi.callbacks.ReleaseCallback;

const diagnostics = @import("diagnostics.zig");
pub const Diagnostics = diagnostics.Diagnostics;
pub const Error = diagnostics.Error;
pub const Versions = diagnostics.Versions;

const library = @import("library.zig");
pub const LiveHandles = library.LiveHandles;
pub const RuntimeInfo = library.RuntimeInfo;
pub const drainReleases = library.drainReleases;
pub const liveHandles = library.liveHandles;
pub const load = library.load;
pub const pendingReleases = library.pendingReleases;
pub const readDiagnostic = library.readDiagnostic;
pub const runtimeInfo = library.runtimeInfo;
pub const setHandleChecks = library.setHandleChecks;

const log = @import("log.zig");
pub const clearLog = log.clearLog;
pub const setLog = log.setLog;

const element = @import("element.zig");
pub const BFloat16 = element.BFloat16;
pub const Complex128 = element.Complex128;
pub const Complex64 = element.Complex64;
pub const ElementType = element.ElementType;
pub const Float8E4M3 = element.Float8E4M3;
pub const Float8E5M2 = element.Float8E5M2;
pub const Float8E8M0 = element.Float8E8M0;
pub const bitsOf = element.bitsOf;
pub const byteSizeOf = element.byteSizeOf;
pub const elementCountOf = element.elementCountOf;
pub const elementTypeOf = element.elementTypeOf;

const buffer = @import("buffer.zig");
pub const Buffer = buffer.Buffer;
pub const BufferInfo = buffer.BufferInfo;
pub const buffer_alignment = buffer.buffer_alignment;
pub const BufferEntry = @import("buffer_entry.zig").BufferEntry;
pub const BufferList = @import("buffer_list.zig").BufferList;
pub const ReleaseQueue = @import("release_queue.zig").ReleaseQueue;

const handoff = @import("handoff.zig");
pub const DeviceMemory = handoff.DeviceMemory;
pub const Event = handoff.Event;
pub const EventPayload = handoff.EventPayload;
pub const Stream = handoff.Stream;
pub const SyncPayload = handoff.SyncPayload;
pub const Producer = @import("producer.zig").Producer;
pub const EventReleaseFn = abi.callbacks.EventReleaseFn;

const descriptor = @import("descriptor.zig");
pub const DecodeOptions = descriptor.DecodeOptions;
pub const Descriptor = descriptor.Descriptor;
pub const DescriptorInfo = descriptor.DescriptorInfo;
pub const DescriptorBuilder = @import("descriptor_builder.zig").DescriptorBuilder;

const layout_fields = @import("layout_fields.zig");
pub const LayoutFields = layout_fields.LayoutFields;
pub const TileLevel = layout_fields.TileLevel;
pub const Tiles = layout_fields.Tiles;

const sections = @import("sections.zig");
pub const ExtensionType = sections.ExtensionType;
pub const Quantization = sections.Quantization;
pub const Statistics = sections.Statistics;

pub const Tensor = @import("tensor.zig").Tensor;
pub const TensorContext = @import("tensor_context.zig").TensorContext;
pub const View = @import("view.zig").View;
pub const StridedView = @import("strided_view.zig").StridedView;
pub const PackedView = @import("packed_view.zig").PackedView;

const elements = @import("elements.zig");
pub const ElementAddress = elements.ElementAddress;
pub const ElementBits = elements.ElementBits;
pub const Work = @import("work.zig").Work;

pub const Composite = @import("composite.zig").Composite;
pub const MetadataValue = @import("file_metadata.zig").MetadataValue;
pub const TensorFile = @import("tensor_file.zig").TensorFile;
pub const TensorFileWriter = @import("tensor_file_writer.zig").TensorFileWriter;

const tensor_stream = @import("tensor_stream.zig");
pub const FdOwnership = tensor_stream.FdOwnership;
pub const TensorStreamReader = tensor_stream.TensorStreamReader;
pub const TensorStreamWriter = tensor_stream.TensorStreamWriter;

const tensor_channel = @import("tensor_channel.zig");
pub const TensorChannel = tensor_channel.TensorChannel;
pub const TensorChannelListener = tensor_channel.TensorChannelListener;
