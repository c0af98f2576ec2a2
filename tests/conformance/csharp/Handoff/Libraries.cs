using System;
using System.IO;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Hurray.Conformance;

/// <summary>Where the C libraries of ../device are.</summary>
internal static class Libraries
{
    public const string Device = "fake_device";
    public const string Stranger = "stranger";

    [ModuleInitializer]
    public static void Register() => NativeLibrary.SetDllImportResolver(typeof(Libraries).Assembly, Resolve);

    private static nint Resolve(string name, Assembly assembly, DllImportSearchPath? searchPath)
    {
        string? variable = name switch { Device => "HURRAY_FAKE_DEVICE", Stranger => "HURRAY_STRANGER", _ => null };
        return variable is null
            ? 0
            : NativeLibrary.Load(Path.GetFullPath(
                Environment.GetEnvironmentVariable(variable) ?? throw new InvalidOperationException($"{variable} is not set")));
    }
}
