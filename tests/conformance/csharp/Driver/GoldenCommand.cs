using System;
using System.IO;
using System.Text;
using System.Text.Json;

namespace Hurray.Conformance;

/// <summary>Decodes files, reads every field, builds the descriptor again from the fields and encodes that.</summary>
internal static class GoldenCommand
{
    /// <summary>The exit code: 2 for options that there are not.</summary>
    public static int Run()
    {
        using Stream output = new BufferedStream(Console.OpenStandardOutput());
        using var input = new StreamReader(Console.OpenStandardInput(), new UTF8Encoding(false));
        while (input.ReadLine() is { } line)
        {
            if (line.Length == 0)
            {
                continue;
            }

            string[] parts = line.Split('\t', 2);
            if (Options(parts.Length == 2 ? parts[1] : string.Empty) is not { } options)
            {
                Console.Error.WriteLine($"driver: unknown options: {parts[1]}");
                return 2;
            }

            JsonLines.Write(output, json => WriteFile(json, parts[0], options));
        }

        return 0;
    }

    private static DecodeOptions? Options(string names)
    {
        var options = new DecodeOptions();
        foreach (string name in names.Split(',', StringSplitOptions.RemoveEmptyEntries))
        {
            switch (name)
            {
                case "private_tags":
                    options = options with { PrivateTags = true };
                    break;
                case "permissive":
                    options = options with { Permissive = true };
                    break;
                default:
                    return null;
            }
        }

        return options;
    }

    private static void WriteFile(Utf8JsonWriter json, string path, DecodeOptions options)
    {
        json.WriteString("path", path);
        byte[] bytes = File.ReadAllBytes(path);
        Descriptor descriptor;
        try
        {
            descriptor = Descriptor.Decode(bytes, options);
        }
        catch (HurrayException e)
        {
            WriteError(json, e);
            return;
        }

        DescriptorJson.Write(json, descriptor, bytes.Length);
        json.WriteString("reencoded", Convert.ToHexStringLower(descriptor.Encode()));
        if (descriptor.IsOpaque)
        {
            json.WriteNull("rebuilt");
            return;
        }

        byte[] rebuilt;
        try
        {
            rebuilt = Rebuilt(descriptor, options).Encode();
        }
        catch (HurrayException e)
        {
            json.WriteStartObject("rebuilt");
            WriteError(json, e);
            json.WriteEndObject();
            return;
        }

        json.WriteString("rebuilt", Convert.ToHexStringLower(rebuilt));
    }

    private static void WriteError(Utf8JsonWriter json, HurrayException e)
    {
        json.WriteStartObject("error");
        json.WriteNumber("code", (int)e.Code);
        json.WriteString("name", e.CodeName);
        json.WriteString("message", e.Message);
        if (e.ByteOffset is { } offset)
        {
            json.WriteNumber("offset", offset);
        }
        else
        {
            json.WriteNull("offset");
        }

        json.WriteEndObject();
    }

    private static Descriptor Rebuilt(Descriptor descriptor, DecodeOptions options)
    {
        var builder = new DescriptorBuilder(descriptor.ElementType, descriptor.Layout, descriptor.Shape);
        builder.SetByteOffset(descriptor.ByteOffset);
        if (options.PrivateTags)
        {
            builder.AllowPrivateTags();
        }

        if (descriptor.LayoutFields is { } fields)
        {
            builder.SetLayoutFields(fields);
        }

        if (descriptor.IsShard)
        {
            builder.SetShard(descriptor.ParentShape, descriptor.ShardOffset);
        }

        if (descriptor.Quantization is { } scheme)
        {
            builder.SetQuantization(scheme);
        }

        if (descriptor.Statistics is { } statistics)
        {
            builder.SetStatistics(statistics);
        }

        if (descriptor.ExtensionType is { } type)
        {
            builder.SetExtensionType(type);
        }

        if (descriptor.MemberRole is { } role)
        {
            builder.SetMemberRole(role);
        }

        foreach (BufferEntry entry in descriptor.Buffers)
        {
            builder.AddBuffer(entry);
        }

        return builder.Build();
    }
}
