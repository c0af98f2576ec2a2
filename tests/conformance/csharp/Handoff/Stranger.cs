using System;
using System.Runtime.InteropServices;

namespace Hurray.Conformance;

/// <summary>A pointer to something that is no handle of hurray's, of ../device/stranger.h. Reading past what every
/// implementation has there ends the process.</summary>
internal sealed partial class Stranger : IDisposable
{
    private Stranger(nint pointer) => Pointer =
        pointer != 0 ? pointer : throw new InvalidOperationException("no stranger");

    public nint Pointer { get; }

    /// <summary>Another implementation's: a wrong magic, and nothing behind it.</summary>
    public static Stranger Foreign() => new(NewForeign());

    /// <summary>The right magic, and a generation that does not exist.</summary>
    public static Stranger OtherGeneration(HandleKind kind) => new(NewGeneration((uint)kind));

    /// <summary>The right magic of another kind of handle.</summary>
    public static Stranger OtherKind(HandleKind kind) => new(New(RightMagic((uint)kind), 1, 4, 8));

    public void Dispose() => Free(Pointer);

    [LibraryImport(Libraries.Stranger, EntryPoint = "stranger_new")]
    private static partial nint New(ulong magic, uint generation, uint version, uint readable);

    [LibraryImport(Libraries.Stranger, EntryPoint = "stranger_right_magic")]
    private static partial ulong RightMagic(uint kind);

    [LibraryImport(Libraries.Stranger, EntryPoint = "stranger_foreign_new")]
    private static partial nint NewForeign();

    [LibraryImport(Libraries.Stranger, EntryPoint = "stranger_generation_new")]
    private static partial nint NewGeneration(uint kind);

    [LibraryImport(Libraries.Stranger, EntryPoint = "stranger_free")]
    private static partial void Free(nint stranger);
}
