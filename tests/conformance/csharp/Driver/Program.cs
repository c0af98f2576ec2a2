using System;
using System.Globalization;
using System.IO;
using System.Text.Json;

namespace Hurray.Conformance;

/// <summary>The conformance driver of C#: about, golden, relay. Built on the public API of the binding only.</summary>
internal static class Program
{
    private const string Usage =
        "usage: driver about | driver golden < PATHS | driver pass NAMES < ENDS | "
        + "driver relay NAMES REPORT [--channel-in FD] [--channel-out FD] < STREAM > STREAM";

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
                case ["pass", string names]:
                    PassCommand.Run(names);
                    return 0;
                case ["relay", string names, string report, .. string[] options] when ReadTransport(options) is { } transport:
                    RelayCommand.Run(names, report, transport);
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

    // Null: options that are none.
    private static Transport? ReadTransport(ReadOnlySpan<string> options)
    {
        var transport = default(Transport);
        while (!options.IsEmpty)
        {
            if (options.Length < 2 || !int.TryParse(options[1], NumberStyles.None, CultureInfo.InvariantCulture, out int fd))
            {
                return null;
            }

            switch (options[0])
            {
                case "--channel-in" when transport.ChannelIn is null:
                    transport = transport with { ChannelIn = fd };
                    break;
                case "--channel-out" when transport.ChannelOut is null:
                    transport = transport with { ChannelOut = fd };
                    break;
                default:
                    return null;
            }

            options = options[2..];
        }

        return transport;
    }

    private static string Describe(Exception e) =>
        e is HurrayException failure ? $"{failure.CodeName} ({(int)failure.Code}): {failure.Message}" : e.Message;
}
