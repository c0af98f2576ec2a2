namespace Hurray.Interop;

/// <summary>Holds a handle over calls that take its bare pointer.</summary>
internal ref struct HandleUse
{
    private readonly HurrayHandle _handle;
    private bool _held;

    public HandleUse(HurrayHandle handle)
    {
        _handle = handle;
        handle.DangerousAddRef(ref _held);
        Pointer = handle.DangerousGetHandle();
    }

    /// <summary>The pointer, alive until this is disposed.</summary>
    public nint Pointer { get; }

    public void Dispose()
    {
        if (_held)
        {
            _held = false;
            _handle.DangerousRelease();
        }
    }
}
