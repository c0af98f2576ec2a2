using System;
using Hurray.Interop;

namespace Hurray;

/// <summary>Travels beside a buffer list: the encoded descriptor of the tensor, and what keeps its memory alive. (ABI: Tensor
/// Context)</summary>
/// <remarks>For one thread at a time; closing it releases its owner on the closing thread.</remarks>
public sealed unsafe class TensorContext : IDisposable
{
    private readonly TensorContextHandle _handle;

    internal TensorContext(TensorContextHandle handle) => _handle = handle;

    /// <summary>Makes a context.</summary>
    /// <param name="descriptor">The encoded descriptor, copied and not looked at.</param>
    /// <param name="owner">Kept alive until nothing needs the memory any more.</param>
    /// <param name="released">Called exactly once when nothing needs the memory any more; not when this fails.</param>
    /// <param name="abiVersion">Version of the C ABI of what makes the context.</param>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.VersionMismatch"/>: the version is 0.</exception>
    public TensorContext(
        ReadOnlySpan<byte> descriptor, object? owner = null, Action? released = null,
        uint abiVersion = HurrayVersion.CAbiVersion)
    {
        Releases.Poll();
        var lease = new Lease(default, owner, released);
        bool lent = false;
        try
        {
            Native.Check(
                NativeMethods.TensorContextNew(
                    abiVersion, descriptor, (ulong)descriptor.Length, lease.Token, Lease.OwnerRelease,
                    out TensorContextHandle handle),
                "hurray_tensor_context_new");
            lent = true;
            NativeError error;
            HurrayStatus status = NativeMethods.TensorContextSetReleaseQueue(handle, Releases.Queue, &error);
            if (status != HurrayStatus.Ok)
            {
                lease.Silence();
                handle.Dispose();
                throw Native.Failure(status, &error);
            }

            _handle = handle;
        }
        finally
        {
            if (!lent)
            {
                lease.Abandon();
            }
        }
    }

    /// <summary>Version of the C ABI of the build that made the context.</summary>
    /// <exception cref="ObjectDisposedException">The context is closed.</exception>
    public uint AbiVersion
    {
        get
        {
            Native.Check(
                NativeMethods.TensorContextAbiVersion(Handle, out uint version), "hurray_tensor_context_abi_version");
            return version;
        }
    }

    internal TensorContextHandle Handle
    {
        get
        {
            ObjectDisposedException.ThrowIf(_handle.IsClosedByOwner, this);
            return _handle;
        }
    }

    /// <summary>Whether the copy of the library that made the context vouches for a version of the C ABI and for the context's
    /// own: then a program that was built for that version may go on with it.</summary>
    /// <param name="version">The version, such as <see cref="HurrayVersion.CAbiVersion"/>.</param>
    /// <returns>What that copy says.</returns>
    /// <exception cref="ObjectDisposedException">The context is closed.</exception>
    public bool Supports(uint version)
    {
        NativeError error;
        Native.Check(NativeMethods.TensorContextSupports(Handle, version, out byte supported, &error), &error);
        return supported == 1;
    }

    /// <summary>A copy of the encoded descriptor.</summary>
    /// <returns>The bytes.</returns>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.VersionMismatch"/>: made by a version that this binding does
    /// not know and that nobody vouches for, whose descriptor it may not ask for.</exception>
    /// <exception cref="ObjectDisposedException">The context is closed.</exception>
    public byte[] ReadDescriptor()
    {
        uint version = AbiVersion;
        if (version < HurrayVersion.CAbiVersion
            || (version > HurrayVersion.CAbiVersion && !Supports(HurrayVersion.CAbiVersion)))
        {
            throw new HurrayException(
                HurrayStatus.VersionMismatch,
                $"context: made by C ABI version {version}, expected version {HurrayVersion.CAbiVersion}");
        }

        using var use = new HandleUse(Handle);
        Native.Check(
            NativeMethods.TensorContextDescriptor(Handle, out nint bytes, out ulong length),
            "hurray_tensor_context_descriptor");
        return new ReadOnlySpan<byte>((void*)bytes, Native.Length(length, "context")).ToArray();
    }

    /// <summary>Gives the context away, to another runtime.</summary>
    /// <returns>The HurrayTensorContext, which whoever takes it destroys; this is closed.</returns>
    /// <exception cref="ObjectDisposedException">The context is closed.</exception>
    public nint Detach() => Handle.Detach();

    /// <summary>Takes a HurrayTensorContext over, from another runtime.</summary>
    /// <param name="pointer">The context, now this object's.</param>
    /// <returns>The context.</returns>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.NullPointer"/>.</exception>
    public static TensorContext Adopt(nint pointer) =>
        pointer != 0
            ? new TensorContext(HurrayHandle.Adopt<TensorContextHandle>(pointer))
            : throw new HurrayException(HurrayStatus.NullPointer, "pointer: is null, expected a HurrayTensorContext");

    /// <summary>Closes the context; the second time is a no-op.</summary>
    public void Dispose()
    {
        _handle.Dispose();
        Releases.Poll();
    }
}
