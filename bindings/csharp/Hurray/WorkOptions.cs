using System;
using System.Threading;

namespace Hurray;

/// <summary>What long work takes; all members have defaults.</summary>
public sealed record WorkOptions
{
    /// <summary>The most bytes of new memory that the work may hold at one time, its result included; 0: no limit. Where it is not
    /// enough the work fails with <see cref="HurrayStatus.LimitExceeded"/>.</summary>
    public ulong MemoryLimit { get; init; }

    /// <summary>Told now and then, on the calling thread, how much is done of how much (units: see the method), and all of it at the end.
    /// What it throws stops the work and comes out of the call, as the InnerException of a <see cref="HurrayException"/>. It must not use
    /// the tensors that the call was given.</summary>
    public Action<ulong, ulong>? Progress { get; init; }

    /// <summary>Stops the work, which then leaves nothing behind and throws <see cref="OperationCanceledException"/>.</summary>
    public CancellationToken CancellationToken { get; init; }
}
