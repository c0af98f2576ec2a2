using System;
using System.Buffers.Binary;

namespace Hurray.Conformance;

/// <summary>CRC-32 of IEEE 802.3, as zlib has it; eight bytes a step.</summary>
internal struct Crc32
{
    private const uint Polynomial = 0xEDB88320;
    private static readonly uint[] Table = MakeTable();

    private uint _inverted;

    /// <summary>The sum over all bytes so far.</summary>
    public readonly uint Value => _inverted;

    public void Add(ReadOnlySpan<byte> bytes)
    {
        uint crc = ~_inverted;
        uint[] table = Table;
        while (bytes.Length >= 8)
        {
            uint low = BinaryPrimitives.ReadUInt32LittleEndian(bytes) ^ crc;
            uint high = BinaryPrimitives.ReadUInt32LittleEndian(bytes[4..]);
            crc = table[(7 * 256) + (int)(low & 0xFF)] ^ table[(6 * 256) + (int)((low >> 8) & 0xFF)]
                ^ table[(5 * 256) + (int)((low >> 16) & 0xFF)] ^ table[(4 * 256) + (int)(low >> 24)]
                ^ table[(3 * 256) + (int)(high & 0xFF)] ^ table[(2 * 256) + (int)((high >> 8) & 0xFF)]
                ^ table[256 + (int)((high >> 16) & 0xFF)] ^ table[(int)(high >> 24)];
            bytes = bytes[8..];
        }

        foreach (byte b in bytes)
        {
            crc = (crc >> 8) ^ table[(int)((crc ^ b) & 0xFF)];
        }

        _inverted = ~crc;
    }

    private static uint[] MakeTable()
    {
        var table = new uint[8 * 256];
        for (uint i = 0; i < 256; ++i)
        {
            uint crc = i;
            for (int bit = 0; bit < 8; ++bit)
            {
                crc = (crc & 1) != 0 ? (crc >> 1) ^ Polynomial : crc >> 1;
            }

            table[i] = crc;
        }

        for (int i = 256; i < table.Length; ++i)
        {
            table[i] = (table[i - 256] >> 8) ^ table[(int)(table[i - 256] & 0xFF)];
        }

        return table;
    }
}
