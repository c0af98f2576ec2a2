using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Globalization;
using System.IO;
using System.Text.Json;

namespace Hurray.Conformance;

/// <summary>Passes tensors on, from a stream or channel to the next, and reports what every one was.</summary>
internal static class RelayCommand
{
    public static void Run(string namesPath, string reportPath, Transport transport)
    {
        long started = Stopwatch.GetTimestamp();
        using Stream report = new BufferedStream(File.Create(reportPath));
        ulong before = HurrayRuntime.LiveHandles().Handles;
        int count = 0;
        ulong bytes = 0;
        ulong? received;
        TensorChannelInfo? sent;
        using (var input = new Transport.Input(transport))
        using (var output = new Transport.Output(transport))
        {
            List<string>? names = null;
            while (true)
            {
                using Tensor? read = input.Next();
                // From here on the time is this stage's own: before, it waited for the one in front.
                long begun = Stopwatch.GetTimestamp();
                // The list is complete before the first tensor is sent, so it is read when that has arrived.
                names ??= JsonLines.ReadStrings(namesPath);
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
                Report(report, names[count], tensor, reading, Stopwatch.GetElapsedTime(begun));
                output.Put(tensor);
                bytes += reading.Bytes;
                ++count;
            }

            if (count != names.Count)
            {
                throw new InvalidDataException($"{namesPath}: has {names.Count} names, but the stream has {count} tensors");
            }

            output.Finish();
            received = input.ReceivedBytes;
            sent = output.Sent;
        }

        ulong after = HurrayRuntime.LiveHandles().Handles;
        JsonLines.Write(report, json =>
        {
            AboutCommand.WriteFacts(json);
            json.WriteNumber("tensors", count);
            json.WriteNumber("bytes", bytes);
            json.WriteNumber("nanos", Nanoseconds(Stopwatch.GetElapsedTime(started)));
            Write(json, "received_bytes", received);
            Write(json, "passed_bytes", sent?.PassedBytes);
            Write(json, "copied_bytes", sent?.CopiedBytes);
            json.WriteNumber("live_handles", (long)(after - before));
        });
    }

    private static void Write(Utf8JsonWriter json, string name, ulong? value)
    {
        if (value is { } number)
        {
            json.WriteNumber(name, number);
        }
        else
        {
            json.WriteNull(name);
        }
    }

    /// <summary>The path of a tensor between two runtimes: out as bare pointers of list and context, and in again.</summary>
    public static Tensor Exchange(Tensor tensor)
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
        string? mapped = Mapped.From(tensor);
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
            json.WriteString("mapped", mapped);
        });
    }

    private static long Nanoseconds(TimeSpan time) => time.Ticks * (1_000_000_000 / TimeSpan.TicksPerSecond);
}
