namespace Hurray;

/// <summary>A metadata value, or an array of values, of a type that this build does not know.</summary>
/// <param name="Type">The number of its type.</param>
public sealed record UnknownMetadata(byte Type);
