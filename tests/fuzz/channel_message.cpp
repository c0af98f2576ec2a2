// Any bytes as packets of a channel's peer: refused with a reason, or understood, and said again in the same way. What a tensor
// claims is checked without its file descriptors.
//
// The input is a sequence of packets: length (u16), number of file descriptors (u8), and so many bytes. A first packet of no
// bytes stands for the hello, which is the same in every channel.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>

#include "core/hurray/channel/channel_message.hpp"
#include "core/hurray/channel/incoming_tensor.hpp"
#include "tests/fuzz/check.hpp"

namespace hurray {
namespace {

constexpr MessageReader::Limits limits{.max_descriptor_length = 1 << 20};

void check_error(const Error& error) { HURRAY_FUZZ_CHECK(error.message[0] != '\0'); }

void check_tensor(const TensorMessage& message) {
    HURRAY_FUZZ_CHECK(message.buffers.size() <= 255);
    HURRAY_FUZZ_CHECK(message.object_count <= message.buffers.size());
    HURRAY_FUZZ_CHECK(message.descriptor.size() <= limits.max_descriptor_length);
    for (const Mode mode : {Mode::strict, Mode::permissive}) {
        IncomingLimits incoming;
        incoming.max_tensor_bytes = std::uint64_t{1} << 40;
        incoming.private_tags = mode == Mode::strict ? PrivateTags::refuse : PrivateTags::allow;
        incoming.mode = mode;
        const auto checked = check_tensor_message(message, incoming);
        if (!checked) {
            check_error(checked.error());
            continue;
        }
        HURRAY_FUZZ_CHECK(checked->buffers.size() == checked->descriptor.buffers().size());
        for (std::size_t i = 0; i < checked->buffers.size(); ++i) {
            const BufferPlace& place = checked->buffers[i];
            HURRAY_FUZZ_CHECK(place.size == checked->descriptor.buffers()[i].byte_size);
            HURRAY_FUZZ_CHECK(place.size == 0 || place.object < message.object_count);
            HURRAY_FUZZ_CHECK(place.offset + place.size >= place.offset);
            HURRAY_FUZZ_CHECK(place.prefix == 0 || (i == 0 && place.prefix < 64 && place.prefix <= place.size));
        }
    }
    // What was understood is said again, and understood in the same way.
    MessageReader again(limits);
    HURRAY_FUZZ_CHECK(again.take(hello_packet(), 0).has_value());
    TensorMessage first = message;
    first.id = 1;
    std::optional<Message> complete;
    for (const Packet& packet : tensor_packets(first)) {
        HURRAY_FUZZ_CHECK(!complete && packet.bytes.size() <= max_packet_length && packet.file_count <= max_packet_files);
        auto taken = again.take(packet.bytes, packet.file_count);
        HURRAY_FUZZ_CHECK(taken.has_value());
        complete = std::move(*taken);
    }
    HURRAY_FUZZ_CHECK(complete && std::holds_alternative<TensorMessage>(*complete));
    const auto& same = std::get<TensorMessage>(*complete);
    HURRAY_FUZZ_CHECK(same.buffers == message.buffers && same.object_count == message.object_count &&
                      same.descriptor == message.descriptor);
}

}  // namespace
}  // namespace hurray

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace hurray;
    std::span<const std::byte> rest(reinterpret_cast<const std::byte*>(data), size);
    MessageReader reader(limits);
    bool first = true;
    while (rest.size() >= 3) {
        std::size_t length = std::to_integer<std::size_t>(rest[0]) | std::to_integer<std::size_t>(rest[1]) << 8;
        const auto files = std::to_integer<std::size_t>(rest[2]);
        rest = rest.subspan(3);
        length = std::min(length, rest.size());
        const auto hello = hello_packet();
        const auto packet = first && length == 0 ? std::span<const std::byte>(hello) : rest.first(length);
        rest = rest.subspan(length);
        first = false;
        auto message = reader.take(packet, files);
        if (!message) {
            check_error(message.error());
            HURRAY_FUZZ_CHECK(message.error().offset <= packet.size());
            return 0;
        }
        if (!*message) continue;
        if (const auto* tensor = std::get_if<TensorMessage>(&**message)) check_tensor(*tensor);
        if (const auto* release = std::get_if<ReleaseMessage>(&**message)) {
            HURRAY_FUZZ_CHECK(!release->ids.empty() && release->ids.size() <= max_released);
        }
    }
    return 0;
}
