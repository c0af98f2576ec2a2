using System;
using System.Globalization;
using System.IO;

namespace Hurray.Conformance;

/// <summary>What the kernel says of memory: /proc/self/maps.</summary>
internal static class Mapped
{
    /// <summary>What the first element of a tensor is mapped from.</summary>
    /// <returns>DEVICE:INODE; null for a tensor without bytes and for memory without a file.</returns>
    public static string? From(Tensor tensor)
    {
        if (tensor.ByteSize == 0)
        {
            return null;
        }

        using TensorBuffer buffer = tensor.ShareBuffer(0);
        ulong address = (ulong)buffer.Data + tensor.Descriptor.ByteOffset;
        foreach (string line in File.ReadLines("/proc/self/maps"))
        {
            // Range, rights, offset, device, inode, and perhaps a path.
            string[] fields = line.Split(' ', 6, StringSplitOptions.RemoveEmptyEntries);
            string[] range = fields[0].Split('-');
            if (address >= Parse(range[0]) && address < Parse(range[1]))
            {
                return fields[4] == "0" ? null : $"{fields[3]}:{fields[4]}";
            }
        }

        return null;
    }

    private static ulong Parse(string hex) => ulong.Parse(hex, NumberStyles.HexNumber, CultureInfo.InvariantCulture);
}
