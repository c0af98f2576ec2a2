namespace Hurray;

/// <summary>A tensor as it travels: its buffers, and the context that describes them. (ABI: Tensor Context)</summary>
/// <param name="Buffers">The buffers in the order of the descriptor's table.</param>
/// <param name="Context">The encoded descriptor, and what keeps the memory alive.</param>
public readonly record struct TensorParts(BufferList Buffers, TensorContext Context);
