// Where a stage of the relay gets its tensors from and where it hands them: a stream on standard input or output, or a channel on a
// socket that it inherited.
#pragma once

#include <cstdint>
#include <optional>

#include "handles.hpp"

namespace driver {

using Channel = std::unique_ptr<HurrayChannel, Ender<HurrayChannel, hurray_channel_destroy>>;

/// The sockets of the channels; none: a stream.
struct Transport {
    std::optional<std::int32_t> channel_in;
    std::optional<std::int32_t> channel_out;
};

class Input {
public:
    explicit Input(const Transport& transport);

    /// The next tensor; null at the end.
    Tensor next();
    /// Bytes that came through the channel; nothing for a stream.
    [[nodiscard]] std::optional<std::uint64_t> received_bytes() const;

private:
    Reader reader_;
    Channel channel_;
};

class Output {
public:
    explicit Output(const Transport& transport);

    void put(const HurrayTensor* tensor);
    /// Says that no more come.
    void finish();
    /// Bytes that had to be copied to be sent, and bytes that were passed as they lie; nothing for a stream.
    struct Bytes {
        std::uint64_t copied = 0;
        std::uint64_t passed = 0;
    };
    [[nodiscard]] std::optional<Bytes> sent_bytes() const;

private:
    Writer writer_;
    Channel channel_;
};

}  // namespace driver
