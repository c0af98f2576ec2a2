using System;
using Xunit;

// The counters of the library are the process's: a test can only compare them when no other test runs beside it.
[assembly: CollectionBehavior(DisableTestParallelization = true)]

namespace Hurray.Tests;

/// <summary>Every test ends with as many live handles and bytes as it began with, and with nothing that waits.</summary>
public abstract class LeakChecked : IDisposable
{
    private readonly (ulong Handles, ulong Bytes) _before;
    private Exception? _failed;

    protected LeakChecked()
    {
        // Makes the binding's release queue, which stays.
        _ = HurrayRuntime.PendingReleases;
        Collect();
        _before = HurrayRuntime.LiveHandles();
        HurrayRuntime.ReleaseFailed += OnFailed;
    }

    public virtual void Dispose()
    {
        Collect();
        HurrayRuntime.ReleaseFailed -= OnFailed;
        Assert.Null(_failed);
        Assert.Equal(0UL, HurrayRuntime.PendingReleases);
        Assert.Equal(_before, HurrayRuntime.LiveHandles());
        GC.SuppressFinalize(this);
    }

    /// <summary>Takes what a release callback threw; the test expected it.</summary>
    protected Exception? TakeFailure()
    {
        Exception? failed = _failed;
        _failed = null;
        return failed;
    }

    /// <summary>Lets the collector find what nobody closed, and releases it.</summary>
    protected static void Collect()
    {
        for (int i = 0; i < 2; ++i)
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
            HurrayRuntime.Drain();
        }
    }

    protected static HurrayException Refused(HurrayStatus code, Action action)
    {
        HurrayException e = Assert.ThrowsAny<HurrayException>(action);
        Assert.True(code == e.Code, $"expected {code}, got {e.Code}: {e.Message}");
        Assert.NotEmpty(e.Message);
        return e;
    }

    private void OnFailed(Exception e) => _failed = e;
}
