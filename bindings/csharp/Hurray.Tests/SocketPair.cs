using System;
using System.ComponentModel;
using System.IO;
using System.Runtime.InteropServices;

namespace Hurray.Tests;

/// <summary>Two connected Unix sockets of type SOCK_SEQPACKET, which .NET itself does not make.</summary>
internal static unsafe class SocketPair
{
    private const int Unix = 1;
    private const int Stream = 1;
    private const int SeqPacket = 5;
    private const int CloseOnExec = 0x80000;
    private const int SetFlags = 2;

    /// <summary>A name for a socket file: at most 107 bytes, which the folders of a test can be too long for.</summary>
    public static string NewPath() => Path.Combine(
        Path.GetTempPath().Length < 60 ? Path.GetTempPath() : "/tmp", $"hurray-{Guid.NewGuid():N}");

    /// <summary>Who this process is.</summary>
    public static uint User => geteuid();

    public static (int Ours, int Theirs) Make() => Make(SeqPacket);

    public static (int Ours, int Theirs) MakeStreams() => Make(Stream);

    private static (int Ours, int Theirs) Make(int type)
    {
        int* ends = stackalloc int[2];
        return socketpair(Unix, type | CloseOnExec, 0, ends) == 0 ? (ends[0], ends[1]) : throw new Win32Exception();
    }

    /// <summary>Lets processes that are started from now on have it.</summary>
    public static void Inherit(int fd)
    {
        if (fcntl(fd, SetFlags, 0) != 0)
        {
            throw new Win32Exception();
        }
    }

    public static void Close(int fd)
    {
        if (close(fd) != 0)
        {
            throw new Win32Exception();
        }
    }

    [DllImport("libc", SetLastError = true)]
    private static extern int socketpair(int domain, int type, int protocol, int* ends);

    // Its third argument is an int here, which a variadic function gets as any other does on the systems with memfd.
    [DllImport("libc", SetLastError = true)]
    private static extern int fcntl(int fd, int command, int argument);

    [DllImport("libc", SetLastError = true)]
    private static extern int close(int fd);

    [DllImport("libc")]
    private static extern uint geteuid();
}
