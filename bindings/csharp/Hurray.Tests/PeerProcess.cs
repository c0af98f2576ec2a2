using System;
using System.Diagnostics;
using System.IO;
using Xunit;

namespace Hurray.Tests;

/// <summary>The program Peer: the other end of a channel.</summary>
internal sealed class PeerProcess : IDisposable
{
    private readonly Process _process;

    private PeerProcess(string how, string kind, string where)
    {
        string path = Environment.GetEnvironmentVariable("HURRAY_PEER") ?? throw new InvalidOperationException("HURRAY_PEER is not set");
        _process = Process.Start(new ProcessStartInfo(Path.GetFullPath(path), [how, kind, where])
        {
            RedirectStandardInput = true, RedirectStandardOutput = true,
        })!;
    }

    public int Id => _process.Id;

    /// <summary>A peer that inherits its end of a pair of sockets.</summary>
    public static PeerProcess Inheriting(string how, out TensorChannel channel, TensorChannelOptions? options = null)
    {
        (int ours, int theirs) = SocketPair.Make();
        channel = TensorChannel.FromFileDescriptor(ours, (options ?? new TensorChannelOptions()) with { CloseFileDescriptor = true });
        SocketPair.Inherit(theirs);
        try
        {
            return new PeerProcess(how, "fd", $"{theirs}");
        }
        finally
        {
            SocketPair.Close(theirs);
        }
    }

    /// <summary>A peer that connects to a listener.</summary>
    public static PeerProcess Connecting(string how, string path) => new(how, "path", path);

    public string? ReadLine() => _process.StandardOutput.ReadLine();

    public void WriteLine() => _process.StandardInput.WriteLine();

    public int WaitForExit()
    {
        Assert.True(_process.WaitForExit(TimeSpan.FromSeconds(60)), "the peer does not end");
        return _process.ExitCode;
    }

    public void Dispose()
    {
        if (!_process.HasExited)
        {
            _process.Kill(entireProcessTree: true);
        }

        _process.Dispose();
    }
}
