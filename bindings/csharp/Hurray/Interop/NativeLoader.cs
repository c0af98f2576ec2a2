using System;
using System.Reflection;
using System.Runtime.InteropServices;

namespace Hurray.Interop;

/// <summary>Finds the shared library and asks for its version, by name and before anything else of it is called.</summary>
internal static unsafe class NativeLoader
{
    /// <summary>The name in the LibraryImport declarations; only <see cref="Resolve"/> gives it a meaning.</summary>
    public const string Name = "hurray";

    /// <summary>Environment variable that names the library's file; nothing else is then tried.</summary>
    public const string Override = "HURRAY_LIBRARY";

    private static readonly object Gate = new();
    private static nint s_library;

    /// <summary>Makes the declarations of <see cref="NativeMethods"/> find the library through this class.</summary>
    public static void Register() => NativeLibrary.SetDllImportResolver(typeof(NativeLoader).Assembly, Resolve);

    /// <summary>Loads a library and refuses it unless it speaks version <paramref name="builtFor"/>.</summary>
    public static nint Open(string library, uint builtFor)
    {
        nint handle;
        try
        {
            handle = NativeLibrary.Load(library);
        }
        catch (Exception e) when (e is DllNotFoundException or BadImageFormatException)
        {
            throw new HurrayException(HurrayStatus.NotFound, $"{library}: cannot be loaded: {e.Message}", e);
        }

        return Accept(handle, library, builtFor);
    }

    private static nint Resolve(string name, Assembly assembly, DllImportSearchPath? searchPath)
    {
        if (name != Name)
        {
            return 0;
        }

        lock (Gate)
        {
            if (s_library == 0)
            {
                s_library = Find(assembly, searchPath);
            }

            return s_library;
        }
    }

    private static nint Find(Assembly assembly, DllImportSearchPath? searchPath)
    {
        string? named = Environment.GetEnvironmentVariable(Override);
        if (!string.IsNullOrEmpty(named))
        {
            return Open(named, HurrayVersion.CAbiVersion);
        }

        string[] names = OperatingSystem.IsWindows() ? ["hurray.dll"]
            : OperatingSystem.IsMacOS() ? ["libhurray.1.dylib", "libhurray.dylib"]
            : ["libhurray.so.1", "libhurray.so"];
        foreach (string name in names)
        {
            if (NativeLibrary.TryLoad(name, assembly, searchPath, out nint handle))
            {
                return Accept(handle, name, HurrayVersion.CAbiVersion);
            }
        }

        throw new HurrayException(
            HurrayStatus.NotFound,
            $"the Hurray library was not found as {string.Join(" or ", names)}; set {Override} to its path");
    }

    private static nint Accept(nint handle, string library, uint builtFor)
    {
        if (!NativeLibrary.TryGetExport(handle, "hurray_c_abi_version", out nint version))
        {
            throw new HurrayException(
                HurrayStatus.Unsupported,
                $"{library}: has no function hurray_c_abi_version, so it is no Hurray library");
        }

        uint found = ((delegate* unmanaged[Cdecl]<uint>)version)();
        if (found != builtFor && !VouchesFor(handle, builtFor))
        {
            throw new HurrayVersionException(builtFor, found, library);
        }

        return handle;
    }

    private static bool VouchesFor(nint handle, uint builtFor) =>
        NativeLibrary.TryGetExport(handle, "hurray_c_abi_supports", out nint supports)
        && ((delegate* unmanaged[Cdecl]<uint, byte>)supports)(builtFor) == 1;
}
