namespace Hurray;

/// <summary>The shared library that was found speaks another version of the C ABI and does not vouch for ours; nothing else
/// of it was called.</summary>
public sealed class HurrayVersionException : HurrayException
{
    internal HurrayVersionException(uint expected, uint found, string library)
        : base(
            HurrayStatus.VersionMismatch,
            $"{library}: speaks version {found} of the Hurray C ABI and does not support version {expected}, for which this binding was built")
    {
        Expected = expected;
        Found = found;
        Library = library;
    }

    /// <summary>The version that this binding was built for.</summary>
    public uint Expected { get; }

    /// <summary>The version that the library answered.</summary>
    public uint Found { get; }

    /// <summary>The library as it was asked for: a path, or a name that the system's loader resolved.</summary>
    public string Library { get; }
}
