namespace Hurray.Interop;

/// <summary>Something that has buffers: a buffer itself, a list, a tensor.</summary>
internal interface IBufferSource
{
    /// <summary>Holds it over calls that use one of its buffers.</summary>
    HandleUse Use(ulong index, out nint buffer);
}
