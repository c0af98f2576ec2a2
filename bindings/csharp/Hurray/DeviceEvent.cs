namespace Hurray;

/// <summary>An event of a device that tells when the bytes of a buffer are there. (ABI: Per-Mode Payloads)</summary>
/// <param name="Handle">The device's own handle (a CUDA event, say), which this package never looks behind.</param>
/// <param name="Device">The device that it belongs to.</param>
/// <remarks>A consumer makes every stream that will touch the memory wait for it, and then releases it through
/// <see cref="BufferSync.ReleaseEvent"/>; it is not to be used after that.</remarks>
public readonly record struct DeviceEvent(nint Handle, Device Device);
