namespace Hurray;

/// <summary>A stream (queue) of a device. (ABI: Per-Mode Payloads)</summary>
/// <param name="Handle">The device's own handle (a CUDA stream, say), which this package never looks behind.</param>
/// <param name="Device">The device that it belongs to.</param>
public readonly record struct DeviceStream(nint Handle, Device Device);
