using System;
using System.Text.Json;

namespace Hurray.Conformance;

/// <summary>Says which runtime and which library this is.</summary>
internal static class AboutCommand
{
    public static void Run()
    {
        JsonLines.Write(Console.OpenStandardOutput(), json =>
        {
            WriteFacts(json);
            json.WriteString("library_path", HurrayRuntime.LibraryPath);
            json.WriteBoolean("channels", true);
        });
    }

    public static void WriteFacts(Utf8JsonWriter json)
    {
        json.WriteString("runtime", "csharp");
        json.WriteString("version", Environment.Version.ToString());
        json.WriteNumber("abi_version", HurrayRuntime.AbiVersion);
        json.WriteString("build_id", HurrayRuntime.BuildId);
    }
}
