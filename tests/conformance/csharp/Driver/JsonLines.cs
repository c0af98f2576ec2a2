using System;
using System.Buffers;
using System.Collections.Generic;
using System.IO;
using System.Text;
using System.Text.Json;

namespace Hurray.Conformance;

/// <summary>One JSON value a line, UTF-8.</summary>
internal static class JsonLines
{
    public static void Write(Stream to, Action<Utf8JsonWriter> members)
    {
        // Written when it is whole: what fails halfway leaves no half of a line.
        var line = new ArrayBufferWriter<byte>();
        using (var json = new Utf8JsonWriter(line))
        {
            json.WriteStartObject();
            members(json);
            json.WriteEndObject();
        }

        line.Write("\n"u8);
        to.Write(line.WrittenSpan);
        to.Flush();
    }

    public static void WriteArray(Utf8JsonWriter json, string name, ReadOnlySpan<ulong> values)
    {
        json.WriteStartArray(name);
        foreach (ulong value in values)
        {
            json.WriteNumberValue(value);
        }

        json.WriteEndArray();
    }

    public static void WriteArray(Utf8JsonWriter json, string name, ReadOnlySpan<long> values)
    {
        json.WriteStartArray(name);
        foreach (long value in values)
        {
            json.WriteNumberValue(value);
        }

        json.WriteEndArray();
    }

    /// <summary>A file of JSON strings, one a line.</summary>
    public static List<string> ReadStrings(string path)
    {
        var strings = new List<string>();
        using var lines = new StreamReader(path, new UTF8Encoding(false, throwOnInvalidBytes: true));
        while (lines.ReadLine() is { } line)
        {
            if (line.Length == 0)
            {
                continue;
            }

            using JsonDocument parsed = JsonDocument.Parse(line);
            strings.Add(
                parsed.RootElement.ValueKind == JsonValueKind.String
                    ? parsed.RootElement.GetString()!
                    : throw new InvalidDataException($"{path}: line {strings.Count + 1}: expected a JSON string"));
        }

        return strings;
    }
}
