using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;

namespace Hurray.Conformance;

/// <summary>Tensors of any kind from files, streams and channels to files, streams and channels, many times in one process.</summary>
internal static class PassCommand
{
    public static void Run(string namesPath)
    {
        List<string> names = JsonLines.ReadStrings(namesPath);
        // Makes the queue of releases, which lives as long as the process.
        HurrayRuntime.Drain();
        ulong before = HurrayRuntime.LiveHandles().Handles;
        using Stream answers = Console.OpenStandardOutput();
        while (Console.In.ReadLine() is { } line)
        {
            if (line.Split('\t') is not [string from, string to])
            {
                throw new InvalidDataException($"expected two ends with a tab between them, got {line}");
            }

            int count = PassOn(from, to, names);
            HurrayRuntime.Drain();
            JsonLines.Write(answers, json =>
            {
                json.WriteNumber("tensors", count);
                json.WriteNumber("live_handles", (long)(HurrayRuntime.LiveHandles().Handles - before));
            });
        }
    }

    private static int PassOn(string from, string to, List<string> names)
    {
        (string kind, string where) = Split(to);
        int count = 0;
        void Each(Action<string, Tensor> put)
        {
            foreach ((string name, Tensor arrived) in ReadAll(from, names))
            {
                using (arrived)
                using (Tensor tensor = RelayCommand.Exchange(arrived))
                {
                    put(name, tensor);
                }

                ++count;
            }
        }

        switch (kind)
        {
            case "hrry":
                using (TensorFileWriter writer = TensorFileWriter.Create(where, FileFormat.Hrry))
                {
                    Each(writer.Add);
                    writer.Finish();
                }

                break;
            case "stream":
                using (FileStream stream = File.Create(where))
                using (TensorStreamWriter writer = TensorStreamWriter.ToHandle(stream.SafeFileHandle))
                {
                    Each((_, tensor) => writer.Write(tensor));
                }

                break;
            case "channel":
                using (var output = new Transport.Output(new Transport(null, int.Parse(where, CultureInfo.InvariantCulture))))
                {
                    Each((_, tensor) => output.Put(tensor));
                    output.Finish();
                }

                break;
            default:
                throw new InvalidDataException($"no such end: {to}");
        }

        return count;
    }

    private static IEnumerable<(string Name, Tensor Tensor)> ReadAll(string from, List<string> names)
    {
        (string kind, string where) = Split(from);
        int next = 0;
        switch (kind)
        {
            case "hrry":
                using (TensorFile file = TensorFile.Open(where))
                {
                    for (ulong i = 0; i < file.Count; ++i)
                    {
                        yield return (file.GetEntry(i).Name, file.GetTensor(i));
                    }
                }

                break;
            case "stream":
                using (FileStream stream = File.OpenRead(where))
                using (TensorStreamReader reader = TensorStreamReader.FromHandle(stream.SafeFileHandle))
                {
                    while (reader.Read() is { } tensor)
                    {
                        yield return (names[next++], tensor);
                    }
                }

                break;
            case "channel":
                using (var input = new Transport.Input(new Transport(int.Parse(where, CultureInfo.InvariantCulture), null)))
                {
                    while (input.Next() is { } tensor)
                    {
                        yield return (names[next++], tensor);
                    }
                }

                break;
            default:
                throw new InvalidDataException($"no such end: {from}");
        }
    }

    private static (string Kind, string Where) Split(string end)
    {
        int colon = end.IndexOf(':', StringComparison.Ordinal);
        return colon < 0 ? (end, "") : (end[..colon], end[(colon + 1)..]);
    }
}
