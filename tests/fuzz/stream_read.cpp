// Any bytes as a stream: refused with a reason, or read, and written again to the same bytes.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "core/hurray/io/stream_reader.hpp"
#include "core/hurray/io/stream_writer.hpp"
#include "tests/fuzz/check.hpp"

namespace hurray {
namespace {

// Does not say how much is left, as a pipe does not, and comes in pieces.
class PieceSource final : public ByteSource {
public:
    explicit PieceSource(std::span<const std::byte> bytes) : source_(bytes) {}

    Result<std::size_t> read_some(std::span<std::byte> into) override {
        return source_.read_some(into.first(std::min<std::size_t>(into.size(), 37)));
    }

private:
    MemorySource source_;
};

}  // namespace
}  // namespace hurray

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace hurray;
    const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
    StreamReader reader(std::make_unique<PieceSource>(bytes));
    auto sink = std::make_unique<MemorySink>();
    const MemorySink& written = *sink;
    StreamWriter writer(std::move(sink));
    bool same = true;
    for (;;) {
        const std::uint64_t start = reader.offset();
        const auto tensor = reader.next();
        if (!tensor) {
            HURRAY_FUZZ_CHECK(tensor.error().message[0] != '\0');
            HURRAY_FUZZ_CHECK(tensor.error().offset == Error::no_offset || tensor.error().offset <= size);
            break;
        }
        if (!*tensor) {
            HURRAY_FUZZ_CHECK(reader.offset() == size);
            break;
        }
        for (const Buffer& buffer : (*tensor)->buffers) {
            HURRAY_FUZZ_CHECK(reinterpret_cast<std::uintptr_t>(buffer.data) % buffer.handle.alignment == 0);
        }
        const std::size_t before = written.bytes().size();
        HURRAY_FUZZ_CHECK(writer.write(**tensor).has_value());
        const auto again = written.bytes().subspan(before);
        HURRAY_FUZZ_CHECK(again.size() == reader.offset() - start);
        // What was pinned or unified memory at the sender is plain memory here; all else is as it came.
        std::size_t different = 0;
        for (std::size_t i = 0; i < again.size(); ++i) different += again[i] != bytes[start + i] ? 1 : 0;
        HURRAY_FUZZ_CHECK(different <= (*tensor)->buffers.size());
        same = same && different == 0;
    }
    HURRAY_FUZZ_CHECK(!same || std::ranges::equal(written.bytes(), bytes.first(written.bytes().size())));
    return 0;
}
