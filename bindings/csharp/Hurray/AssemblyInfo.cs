using System.Runtime.CompilerServices;

// What crosses the boundary has the same form on both sides; nothing is converted behind our back.
[assembly: DisableRuntimeMarshalling]
[assembly: InternalsVisibleTo("Hurray.Tests")]
[module: SkipLocalsInit]
