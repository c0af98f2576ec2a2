using System;
using System.Collections.Generic;
using System.Linq;
using Xunit;

namespace Hurray.Tests;

/// <summary>What goes wrong inside the library is kept, and told to whoever listens.</summary>
public class LogTests : LeakChecked
{
    // A producer that reports a broken invariant: the library keeps what is reported with that code.
    private sealed class Broken(string what) : ITensorProducer
    {
        public TensorParts Export(DeviceStream? consumer) => throw new HurrayException(HurrayStatus.Internal, what);

        public void Dispose()
        {
        }
    }

    [Fact]
    public void Broken_invariant_is_kept_and_logged_on_the_thread_where_it_broke()
    {
        var told = new List<(HurrayStatus Code, string Message, int Thread)>();
        void OnLogged(HurrayStatus code, string message) => told.Add((code, message, Environment.CurrentManagedThreadId));
        HurrayRuntime.Logged += OnLogged;
        try
        {
            Break("zähler: expected 0");
        }
        finally
        {
            HurrayRuntime.Logged -= OnLogged;
        }

        (HurrayStatus code, string message, int thread) = Assert.Single(told);
        Assert.Equal((HurrayStatus.Internal, Environment.CurrentManagedThreadId), (code, thread));
        Assert.Contains("zähler: expected 0", message);
        Assert.Equal((code, message), HurrayRuntime.Diagnostics()[^1]);
    }

    [Fact]
    public void Last_32_messages_are_kept()
    {
        for (int i = 0; i < 40; ++i)
        {
            Break($"number {i}.");
        }

        IReadOnlyList<(HurrayStatus Code, string Message)> kept = HurrayRuntime.Diagnostics();
        Assert.Equal(32, kept.Count);
        for (int i = 0; i < kept.Count; ++i)
        {
            Assert.Equal(HurrayStatus.Internal, kept[i].Code);
            Assert.Contains($"number {i + 8}.", kept[i].Message);
        }
    }

    [Fact]
    public void Only_listeners_that_are_still_there_are_told()
    {
        int first = 0;
        int second = 0;
        void OnFirst(HurrayStatus code, string message) => ++first;
        void OnSecond(HurrayStatus code, string message) => ++second;
        HurrayRuntime.Logged += OnFirst;
        HurrayRuntime.Logged += OnSecond;
        HurrayRuntime.Logged += null;
        Break("1");
        Assert.Equal((1, 1), (first, second));
        HurrayRuntime.Logged -= OnFirst;
        Break("2");
        Assert.Equal((1, 2), (first, second));
        HurrayRuntime.Logged -= OnSecond;
        HurrayRuntime.Logged -= OnSecond;
        Break("3");
        Assert.Equal((1, 2), (first, second));
        HurrayRuntime.Logged += OnFirst;
        Break("4");
        HurrayRuntime.Logged -= OnFirst;
        Assert.Equal((2, 2), (first, second));
    }

    [Fact]
    public void Listener_that_throws_or_removes_itself_does_no_harm()
    {
        var failures = new List<Exception>();
        void OnFailed(Exception e) => failures.Add(e);
        HurrayException? refused = null;
        void OnLogged(HurrayStatus code, string message)
        {
            // From within, the last one cannot go: the library would have to wait for itself.
            refused = Refused(HurrayStatus.InvalidArgument, () => HurrayRuntime.Logged -= OnLogged);
            throw new FormatException("mine");
        }

        HurrayRuntime.ReleaseFailed += OnFailed;
        HurrayRuntime.Logged += OnLogged;
        Break("once");
        Break("twice");
        HurrayRuntime.Logged -= OnLogged;
        HurrayRuntime.ReleaseFailed -= OnFailed;
        Assert.NotNull(TakeFailure());
        Assert.NotNull(refused);
        Assert.Equal(["mine", "mine"], failures.Cast<FormatException>().Select(e => e.Message));
    }

    private static void Break(string what)
    {
        using var producer = new TensorProducer(new Broken(what));
        Refused(HurrayStatus.Internal, () => producer.Request());
    }
}
