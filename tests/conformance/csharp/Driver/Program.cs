using System;
using System.IO;
using System.Text.Json;

namespace Hurray.Conformance;

/// <summary>The conformance driver of C#: about, golden, relay. Built on the public API of the binding only.</summary>
internal static class Program
{
    private const string Usage = "usage: driver about | driver golden < PATHS | driver relay NAMES REPORT < STREAM > STREAM";

    private static int Main(string[] arguments)
    {
        try
        {
            switch (arguments)
            {
                case ["about"]:
                    AboutCommand.Run();
                    return 0;
                case ["golden"]:
                    return GoldenCommand.Run();
                case ["relay", string names, string report]:
                    RelayCommand.Run(names, report);
                    return 0;
                default:
                    Console.Error.WriteLine(Usage);
                    return 2;
            }
        }
        catch (Exception e) when (e is HurrayException or IOException or UnauthorizedAccessException or JsonException or InvalidDataException)
        {
            Console.Error.WriteLine($"driver: {Describe(e)}");
            return 1;
        }
    }

    private static string Describe(Exception e) =>
        e is HurrayException failure ? $"{failure.CodeName} ({(int)failure.Code}): {failure.Message}" : e.Message;
}
