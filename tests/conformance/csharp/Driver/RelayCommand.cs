using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Globalization;
using System.IO;

namespace Hurray.Conformance;

/// <summary>Passes a stream on, and reports what every tensor was.</summary>
internal static class RelayCommand
{
    private const int Input = 0;
    private const int Output = 1;

    public static void Run(string namesPath, string reportPath)
    {
        long started = Stopwatch.GetTimestamp();
        List<string> names = JsonLines.ReadStrings(namesPath);
        using Stream report = new BufferedStream(File.Create(reportPath));
        ulong before = HurrayRuntime.LiveHandles().Handles;
        int count = 0;
        ulong bytes = 0;
        using (TensorStreamReader reader = TensorStreamReader.FromFileDescriptor(Input))
        using (TensorStreamWriter writer = TensorStreamWriter.ToFileDescriptor(Output))
        {
            while (true)
            {
                long begun = Stopwatch.GetTimestamp();
                using Tensor? read = reader.Read();
                if (read is null)
                {
                    break;
                }

                if (count == names.Count)
                {
                    throw new InvalidDataException($"{namesPath}: has {names.Count} names, but the stream has more tensors");
                }

                using Tensor tensor = Exchange(read);
                read.Dispose();
                Reading reading = Reading.Of(tensor);
                writer.Write(tensor);
                Report(report, names[count], tensor, reading, Stopwatch.GetElapsedTime(begun));
                bytes += reading.Bytes;
                ++count;
            }
        }

        if (count != names.Count)
        {
            throw new InvalidDataException($"{namesPath}: has {names.Count} names, but the stream has {count} tensors");
        }

        ulong after = HurrayRuntime.LiveHandles().Handles;
        JsonLines.Write(report, json =>
        {
            AboutCommand.WriteFacts(json);
            json.WriteNumber("tensors", count);
            json.WriteNumber("bytes", bytes);
            json.WriteNumber("nanos", Nanoseconds(Stopwatch.GetElapsedTime(started)));
            json.WriteNumber("live_handles", (long)(after - before));
        });
    }

    // The path of a tensor between two runtimes: out as bare pointers of list and context, and in again.
    private static Tensor Exchange(Tensor tensor)
    {
        tensor.Export(out BufferList buffers, out TensorContext context);
        using (buffers)
        using (context)
        {
            nint list = buffers.Detach();
            nint raw = context.Detach();
            try
            {
                return Tensor.Import(ref list, ref raw);
            }
            catch
            {
                // Not taken over: both are still ours to end.
                BufferList.Adopt(list).Dispose();
                TensorContext.Adopt(raw).Dispose();
                throw;
            }
        }
    }

    private static void Report(Stream report, string name, Tensor tensor, in Reading reading, TimeSpan elapsed)
    {
        uint checksum = reading.Checksum;
        bool hasSum = reading.HasSum;
        double sum = reading.Sum;
        ulong bytes = reading.Bytes;
        JsonLines.Write(report, json =>
        {
            json.WriteString("name", name);
            json.WriteString("type", tensor.ElementType.FormatName());
            JsonLines.WriteArray(json, "shape", tensor.Shape);
            json.WriteNumber("bytes", bytes);
            json.WriteString("crc32", checksum.ToString("x8", CultureInfo.InvariantCulture));
            if (hasSum && double.IsFinite(sum))
            {
                json.WriteNumber("sum", sum);
            }
            else
            {
                json.WriteNull("sum");
            }

            if (hasSum)
            {
                ulong bits = double.IsNaN(sum) ? 0x7FF8000000000000 : BitConverter.DoubleToUInt64Bits(sum);
                json.WriteString("sum_bits", bits.ToString("x16", CultureInfo.InvariantCulture));
            }
            else
            {
                json.WriteNull("sum_bits");
            }

            json.WriteNumber("nanos", Nanoseconds(elapsed));
        });
    }

    private static long Nanoseconds(TimeSpan time) => time.Ticks * (1_000_000_000 / TimeSpan.TicksPerSecond);
}
