using System;
using System.IO;
using System.Text;
using System.Text.Json;

namespace Hurray.Conformance;

/// <summary>Decodes files, reads every field, rebuilds the descriptor from the fields and encodes that.</summary>
internal static class GoldenCommand
{
    public static void Run()
    {
        using Stream output = new BufferedStream(Console.OpenStandardOutput());
        using var input = new StreamReader(Console.OpenStandardInput(), new UTF8Encoding(false));
        while (input.ReadLine() is { } path)
        {
            if (path.Length != 0)
            {
                JsonLines.Write(output, json => WriteFile(json, path));
            }
        }
    }

    private static void WriteFile(Utf8JsonWriter json, string path)
    {
        json.WriteString("path", path);
        byte[] bytes = File.ReadAllBytes(path);
        Descriptor descriptor;
        byte[] encoded;
        try
        {
            descriptor = Descriptor.Decode(bytes);
            encoded = Rebuilt(descriptor).Encode();
        }
        catch (HurrayException e)
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
            return;
        }

        WriteDescriptor(json, descriptor, bytes.Length);
        json.WriteString("reencoded", Convert.ToHexStringLower(encoded));
    }

    // What a later minor version has beyond 1.0 is in no field: such a descriptor encodes itself.
    private static Descriptor Rebuilt(Descriptor descriptor)
    {
        if (descriptor.VersionMinor > 0)
        {
            return descriptor;
        }

        var builder = new DescriptorBuilder(descriptor.ElementType, descriptor.Layout, descriptor.Shape);
        builder.SetByteOffset(descriptor.ByteOffset);
        if (descriptor.Layout == Layout.Strided)
        {
            builder.SetStrides(descriptor.Strides);
        }

        if (descriptor.IsShard)
        {
            builder.SetShard(descriptor.ParentShape, descriptor.ShardOffset);
        }

        foreach (BufferEntry entry in descriptor.Buffers)
        {
            builder.AddBuffer(entry);
        }

        return builder.Build();
    }

    private static void WriteDescriptor(Utf8JsonWriter json, Descriptor descriptor, int fileLength)
    {
        json.WriteStartObject("descriptor");
        json.WriteNumber("version_major", descriptor.VersionMajor);
        json.WriteNumber("version_minor", descriptor.VersionMinor);
        json.WriteNumber("descriptor_length", descriptor.Encoded.Length);
        json.WriteNumber("trailing_bytes", fileLength - descriptor.Encoded.Length);
        json.WriteNumber("flags", descriptor.Flags);
        json.WriteString("type", descriptor.ElementType.FormatName() ?? "private");
        json.WriteNumber("type_tag", (byte)descriptor.ElementType);
        json.WriteString("layout", LayoutName(descriptor.Layout));
        json.WriteNumber("layout_tag", (byte)descriptor.Layout);
        json.WriteNumber("rank", descriptor.Rank);
        JsonLines.WriteArray(json, "shape", descriptor.Shape);
        json.WriteNumber("byte_offset", descriptor.ByteOffset);
        json.WriteStartObject("layout_fields");
        if (descriptor.Layout == Layout.Strided)
        {
            JsonLines.WriteArray(json, "strides", descriptor.Strides);
        }

        json.WriteEndObject();
        WriteBuffers(json, descriptor);
        json.WriteNull("quantization");
        WriteShard(json, descriptor);
        json.WriteNull("statistics");
        json.WriteNull("extension_type");
        json.WriteNull("composite_member");
        json.WriteEndObject();
    }

    private static void WriteBuffers(Utf8JsonWriter json, Descriptor descriptor)
    {
        json.WriteStartArray("buffers");
        foreach (BufferEntry entry in descriptor.Buffers)
        {
            json.WriteStartObject();
            json.WriteNumber("byte_size", entry.ByteSize);
            json.WriteNumber("alignment", entry.Alignment);
            json.WriteNumber("device_tag", (byte)entry.Device);
            json.WriteNumber("sync_mode", (byte)entry.SyncMode);
            json.WriteNumber("memory_class", (byte)entry.MemoryClass);
            json.WriteEndObject();
        }

        json.WriteEndArray();
    }

    private static void WriteShard(Utf8JsonWriter json, Descriptor descriptor)
    {
        if (!descriptor.IsShard)
        {
            json.WriteNull("shard");
            return;
        }

        json.WriteStartObject("shard");
        JsonLines.WriteArray(json, "parent_shape", descriptor.ParentShape);
        JsonLines.WriteArray(json, "shard_offset", descriptor.ShardOffset);
        json.WriteEndObject();
    }

    private static string LayoutName(Layout layout) => layout switch
    {
        Layout.RowMajor => "row_major",
        Layout.ColMajor => "col_major",
        Layout.Strided => "strided",
        Layout.Tiled => "tiled",
        Layout.Morton => "morton",
        Layout.Coo => "coo",
        Layout.Csr => "csr",
        Layout.Csc => "csc",
        Layout.Csf => "csf",
        Layout.BlockPaged => "block_paged",
        Layout.Composite => "composite",
        Layout.Hilbert => "hilbert",
        _ => "private_extension",
    };
}
