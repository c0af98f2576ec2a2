namespace Hurray;

/// <summary>Where an element of a tensor is. (format: element address computation)</summary>
/// <param name="Buffer">Number of the buffer.</param>
/// <param name="ByteOffset">The byte of the buffer in which it starts.</param>
/// <param name="BitOffset">The bit of that byte in which it starts, counted from the lowest; 0 for types of whole bytes.</param>
/// <param name="Bits">Bits of the element.</param>
public readonly record struct ElementAddress(int Buffer, ulong ByteOffset, int BitOffset, int Bits);
