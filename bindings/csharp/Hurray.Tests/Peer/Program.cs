// The other end of a channel, in a process of its own: peer HOW fd NUMBER, or peer HOW path PATH.
using System;
using System.Diagnostics;
using System.Globalization;
using Hurray;

TimeSpan patience = TimeSpan.FromSeconds(60);
using TensorChannel channel = args[1] == "fd"
    ? TensorChannel.FromFileDescriptor(
        int.Parse(args[2], CultureInfo.InvariantCulture), new TensorChannelOptions { CloseFileDescriptor = true })
    : TensorChannel.Connect(args[2], patience);
switch (args[0])
{
    case "echo":
        // Says what it got and sends it back: the memory that it came in, not a copy.
        while (channel.Receive(patience) is { } tensor)
        {
            using (tensor)
            {
                Console.WriteLine(Describe(tensor));
                channel.Send(tensor);
            }
        }

        channel.Finish();
        Console.WriteLine($"copied {channel.Info.CopiedBytes}, passed {channel.Info.PassedBytes}");
        // The memory is the other end's again once it has all.
        while (channel.Info.Outstanding != 0)
        {
            System.Threading.Thread.Sleep(1);
            channel.Process();
        }

        break;
    case "hold":
        using (Tensor held = channel.Receive(patience)!)
        {
            Console.WriteLine("have");
            Console.ReadLine();
        }

        Console.WriteLine("released");
        Console.ReadLine();
        break;
    case "die":
        Tensor lost = channel.Receive(patience)!;
        Console.WriteLine(lost.Rank);
        Process.GetCurrentProcess().Kill();
        break;
    case "give":
        // Ends at once: what it gave stays with whoever received it.
        using (Tensor given = Tensor.AllocateShared(ElementType.Int32, [3]))
        {
            using (TensorView<int> view = given.Pin<int>())
            {
                for (int i = 0; i < 3; ++i)
                {
                    view[i] = 7 + i;
                }
            }

            channel.Send(given);
            channel.Finish();
            Console.ReadLine();
        }

        break;
}

return 0;

static string Describe(Tensor tensor)
{
    using TensorBuffer buffer = tensor.ShareBuffer(0);
    using TensorView<byte> view = tensor.Pin<byte>();
    ulong sum = 0;
    for (long i = 0; i < view.Length; ++i)
    {
        sum = (sum * 31) + view[i];
    }

    return $"{tensor.ElementType} {string.Join('x', tensor.Shape.ToArray())} {sum} sealed {buffer.IsSealed} read-only {tensor.IsReadOnly}";
}
