// Measures the binding against NuGet's Apache.Arrow in one run, and prints a line of JSON for each comparison. Called as: Bench [--smoke].
using System;
using System.IO;
using System.Text;
using System.Text.Json;
using Hurray.Bench;

bool smoke = args is ["--smoke"];
if (args.Length != 0 && !smoke)
{
    Console.Error.WriteLine("usage: Bench [--smoke]");
    return 2;
}

using var exchange = new Exchange(1024);
(string Name, Action Ours, Action Theirs)[] pairs =
[
    ("csharp/exchange_vs_arrow_with_schema", exchange.Hurray, exchange.ArrowWithSchema),
    ("csharp/exchange_vs_arrow_array_alone", exchange.Hurray, exchange.ArrowArrayAlone),
    ("csharp/exchange_of_pointers_vs_arrow_array_alone", exchange.HurrayPointers, exchange.ArrowArrayAlone),
];
foreach ((string name, Action ours, Action theirs) in pairs)
{
    Result result = smoke ? Measure.Pair(ours, theirs, 1, 10) : Measure.Pair(ours, theirs, 41, 20_000);
    using var line = new MemoryStream();
    using (var json = new Utf8JsonWriter(line))
    {
        json.WriteStartObject();
        json.WriteString("name", name);
        json.WriteNumber("ours_ns", Math.Round(result.Ours, 1));
        json.WriteNumber("theirs_ns", Math.Round(result.Theirs, 1));
        json.WriteNumber("ratio", Math.Round(result.Ratio, 3));
        json.WriteNumber("our_bytes", result.OurBytes);
        json.WriteNumber("their_bytes", result.TheirBytes);
        json.WriteEndObject();
    }

    Console.WriteLine(Encoding.UTF8.GetString(line.ToArray()));
}

return 0;
