#include "transport.hpp"

#include <unistd.h>

namespace driver {
namespace {

// Whoever is next may have to start first; nobody waits for ever.
constexpr std::int32_t patience_ms = 120'000;

Channel channel_over(std::int32_t fd) {
    auto options = sized<HurrayChannelOptions>();
    options.flags = HURRAY_CHANNEL_CLOSE_FD;
    options.send_timeout_ms = patience_ms;
    return make<Channel>("channel", hurray_channel_from_fd, fd, static_cast<const HurrayChannelOptions*>(&options));
}

HurrayChannelInfo info_of(const HurrayChannel* channel) {
    auto info = sized<HurrayChannelInfo>();
    call("channel info", hurray_channel_info, channel, &info);
    return info;
}

}  // namespace

Input::Input(const Transport& transport) {
    if (transport.channel_in) {
        channel_ = channel_over(*transport.channel_in);
    } else {
        reader_ = make<Reader>("reader", hurray_reader_from_fd, STDIN_FILENO, static_cast<const HurrayStreamOptions*>(nullptr));
    }
}

Tensor Input::next() {
    if (channel_) return make<Tensor>("receive", hurray_channel_receive, channel_.get(), patience_ms);
    return make<Tensor>("read", hurray_reader_next, reader_.get());
}

std::optional<std::uint64_t> Input::received_bytes() const {
    if (!channel_) return std::nullopt;
    return info_of(channel_.get()).received_bytes;
}

Output::Output(const Transport& transport) {
    if (transport.channel_out) {
        channel_ = channel_over(*transport.channel_out);
    } else {
        writer_ = make<Writer>("writer", hurray_writer_to_fd, STDOUT_FILENO, static_cast<const HurrayStreamOptions*>(nullptr));
    }
}

void Output::put(const HurrayTensor* tensor) {
    if (channel_) {
        call("send", hurray_channel_send, channel_.get(), tensor);
    } else {
        call("write", hurray_writer_write, writer_.get(), tensor);
    }
}

void Output::finish() {
    if (channel_) call("finish", hurray_channel_finish, channel_.get());
}

std::optional<Output::Bytes> Output::sent_bytes() const {
    if (!channel_) return std::nullopt;
    const HurrayChannelInfo info = info_of(channel_.get());
    return Bytes{info.copied_bytes, info.passed_bytes};
}

}  // namespace driver
