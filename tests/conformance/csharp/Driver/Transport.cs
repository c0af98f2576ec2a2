using System;

namespace Hurray.Conformance;

/// <summary>Where tensors come from, or go to: a socket of a channel, or a stream on standard input or output.</summary>
/// <param name="ChannelIn">The socket that tensors come through; null: a stream.</param>
/// <param name="ChannelOut">The socket that tensors go through; null: a stream.</param>
internal readonly record struct Transport(int? ChannelIn, int? ChannelOut)
{
    // Whoever is next may have to start first; nobody waits for ever.
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(120);

    private static TensorChannel Over(int fd) =>
        TensorChannel.FromFileDescriptor(fd, new TensorChannelOptions { CloseFileDescriptor = true, SendTimeout = Patience });

    /// <summary>What tensors come from.</summary>
    internal sealed class Input : IDisposable
    {
        private const int Standard = 0;
        private readonly TensorChannel? _channel;
        private readonly TensorStreamReader? _reader;

        public Input(Transport transport)
        {
            _channel = transport.ChannelIn is { } fd ? Over(fd) : null;
            _reader = _channel is null ? TensorStreamReader.FromFileDescriptor(Standard) : null;
        }

        /// <summary>Bytes that came through the channel; null for a stream.</summary>
        public ulong? ReceivedBytes => _channel?.Info.ReceivedBytes;

        /// <summary>The next tensor; null at the end.</summary>
        public Tensor? Next() => _channel is not null ? _channel.Receive(Patience) : _reader!.Read();

        public void Dispose()
        {
            _channel?.Dispose();
            _reader?.Dispose();
        }
    }

    /// <summary>What tensors go to.</summary>
    internal sealed class Output : IDisposable
    {
        private const int Standard = 1;
        private readonly TensorChannel? _channel;
        private readonly TensorStreamWriter? _writer;

        public Output(Transport transport)
        {
            _channel = transport.ChannelOut is { } fd ? Over(fd) : null;
            _writer = _channel is null ? TensorStreamWriter.ToFileDescriptor(Standard) : null;
        }

        /// <summary>What the channel has sent; null for a stream.</summary>
        public TensorChannelInfo? Sent => _channel?.Info;

        public void Put(Tensor tensor)
        {
            _channel?.Send(tensor);
            _writer?.Write(tensor);
        }

        /// <summary>Says that no more come.</summary>
        public void Finish() => _channel?.Finish();

        public void Dispose()
        {
            _channel?.Dispose();
            _writer?.Dispose();
        }
    }
}
