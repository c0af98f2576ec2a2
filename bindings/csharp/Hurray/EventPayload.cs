using System;

namespace Hurray;

/// <summary>What a producer hands off with a buffer of <see cref="SyncMode.Event"/>: an event that it has recorded already on
/// every stream that writes the memory. (ABI: Per-Mode Payloads)</summary>
/// <param name="Handle">The device's own handle of the event; must not be 0.</param>
/// <param name="Device">The device that it belongs to: the buffer's.</param>
/// <param name="Release">Releases the event; gets its handle, exactly once, and not when the handoff fails. Must be there. It runs
/// on whatever thread the consumer releases the event on, or on the one that ends the buffer where no consumer did: the
/// collector's included, so it must be safe on any thread. An exception of it goes to
/// <see cref="HurrayRuntime.ReleaseFailed"/>.</param>
public sealed record EventPayload(nint Handle, Device Device, Action<nint>? Release);
