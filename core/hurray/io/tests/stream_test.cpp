// Streams of tensors: what is written comes back, and what is wrong is refused.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "core/hurray/descriptor/codec.hpp"
#include "core/hurray/io/stream_reader.hpp"
#include "core/hurray/io/stream_writer.hpp"
#include "core/hurray/io/tests/temporary_folder.hpp"
#include "core/hurray/io/tests/tensors.hpp"

namespace hurray {
namespace {

// Hides how much is left, as a pipe does, and gives at most so many bytes at once.
class SlowSource final : public ByteSource {
public:
    SlowSource(std::span<const std::byte> bytes, std::size_t at_once) : source_(bytes), at_once_(at_once) {}

    Result<std::size_t> read_some(std::span<std::byte> into) override {
        return source_.read_some(into.first(std::min(into.size(), at_once_)));
    }

private:
    MemorySource source_;
    std::size_t at_once_;
};

// Endless zeros, counted.
class EndlessSource final : public ByteSource {
public:
    EndlessSource(std::vector<std::byte> start, std::uint64_t& given) : start_(std::move(start)), source_(start_), given_(given) {}

    Result<std::size_t> read_some(std::span<std::byte> into) override {
        const auto count = source_.read_some(into);
        if (*count != 0) return count;
        std::memset(into.data(), 0, into.size());
        given_ += into.size();
        return into.size();
    }

private:
    std::vector<std::byte> start_;
    MemorySource source_;
    std::uint64_t& given_;
};

class FailingSink final : public ByteSink {
public:
    using ByteSink::write;
    Result<void> write(std::span<const std::span<const std::byte>>) override {
        return fail(Status::io, Error::no_offset, "no more");
    }
};

std::vector<std::byte> encoded(const Descriptor& descriptor) {
    std::vector<std::byte> bytes(descriptor.encoded_length());
    EXPECT_EQ(encode(descriptor, bytes).value(), bytes.size());
    return bytes;
}

std::vector<std::byte> written(std::span<const Tensor> tensors) {
    auto sink = std::make_unique<MemorySink>();
    MemorySink& memory = *sink;
    StreamWriter writer(std::move(sink));
    for (const Tensor& tensor : tensors) {
        const auto result = writer.write(tensor);
        EXPECT_TRUE(result.has_value()) << result.error().message;
    }
    EXPECT_EQ(writer.offset(), memory.bytes().size());
    return memory.take();
}

void expect_same(const Tensor& a, const Tensor& b) {
    EXPECT_EQ(encoded(a.descriptor), encoded(b.descriptor));
    ASSERT_EQ(a.buffers.size(), b.buffers.size());
    for (std::size_t i = 0; i < a.buffers.size(); ++i) {
        EXPECT_EQ(a.buffers[i].handle, b.buffers[i].handle);
        EXPECT_EQ(copy_of(a.buffers[i].bytes()), copy_of(b.buffers[i].bytes()));
    }
}

// The trap list: rank 0, empty, byte_offset, negative and zero strides, packed bits, large alignments.
std::vector<Tensor> samples() {
    std::vector<Tensor> tensors;
    tensors.push_back(make_tensor({.shape = {2, 3}}));
    tensors.push_back(make_tensor({.type = 0x04}));
    tensors.push_back(make_tensor({.shape = {4, 0, 2}}));
    tensors.push_back(make_tensor({.type = 0x20, .shape = {13}}));
    tensors.push_back(make_tensor({.type = 0x44, .shape = {5}}));
    tensors.push_back(make_tensor({.type = 0x01, .shape = {9}, .byte_offset = 6}));
    tensors.push_back(make_tensor({.layout = layout_tag::col_major, .shape = {3, 4}}));
    tensors.push_back(make_tensor({.layout = layout_tag::strided, .shape = {3, 4}, .strides = {-4, -1}, .byte_offset = 44,
                                   .byte_size = 48}));
    tensors.push_back(make_tensor({.layout = layout_tag::strided, .shape = {1000, 4}, .strides = {0, 1}, .byte_size = 16}));
    BufferHandle page;
    page.alignment = 4096;
    tensors.push_back(make_tensor({.shape = {10}, .handle = page}));
    BufferHandle large;
    large.alignment = 2 << 20;
    tensors.push_back(make_tensor({.shape = {700'000}, .handle = large}));
    return tensors;
}

TEST(Stream, IsDescriptorsAndBuffersBackToBack) {
    const std::vector<Tensor> tensors{make_tensor({.shape = {2}}), make_tensor({.type = 0x11, .shape = {3}})};
    std::vector<std::byte> expected;
    for (const Tensor& tensor : tensors) {
        const auto descriptor = encoded(tensor.descriptor);
        expected.insert(expected.end(), descriptor.begin(), descriptor.end());
        expected.insert(expected.end(), tensor.buffers[0].bytes().begin(), tensor.buffers[0].bytes().end());
    }
    EXPECT_EQ(written(tensors), expected);
}

TEST(Stream, EverythingComesBack) {
    const auto tensors = samples();
    const auto bytes = written(tensors);
    for (const std::size_t at_once : {std::size_t{1} << 30, std::size_t{4099}, std::size_t{61}}) {
        StreamReader reader(std::make_unique<SlowSource>(bytes, at_once));
        for (const Tensor& tensor : tensors) {
            const auto got = reader.next();
            ASSERT_TRUE(got.has_value()) << got.error().message;
            ASSERT_TRUE(got->has_value());
            expect_same(**got, tensor);
            for (const Buffer& buffer : (*got)->buffers) {
                EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data) % buffer.handle.alignment, 0U);
                EXPECT_EQ(buffer.prefix, 0U);
            }
        }
        EXPECT_EQ(reader.offset(), bytes.size());
        EXPECT_FALSE(reader.next().value().has_value());
        EXPECT_FALSE(reader.next().value().has_value()) << "the end stays the end";
    }
}

TEST(Stream, OneByteAtATime) {
    const std::vector<Tensor> tensors{make_tensor({.shape = {20}}), make_tensor({.type = 0x11, .shape = {}})};
    const auto bytes = written(tensors);
    StreamReader reader(std::make_unique<SlowSource>(bytes, 1));
    for (const Tensor& tensor : tensors) expect_same(reader.next().value().value(), tensor);
    EXPECT_FALSE(reader.next().value().has_value());
}

TEST(Stream, ThroughAPipeWithASlowWriterWhileItIsWritten) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    const auto tensors = samples();
    std::thread producer([&] {
        StreamWriter writer(std::make_unique<FdSink>(ends[1], FdOwnership::close));
        for (const Tensor& tensor : tensors) {
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
            ASSERT_TRUE(writer.write(tensor).has_value());
        }
    });
    StreamReader reader(std::make_unique<FdSource>(ends[0], FdOwnership::close));
    for (const Tensor& tensor : tensors) {
        const auto got = reader.next();
        ASSERT_TRUE(got.has_value()) << got.error().message;
        expect_same(**got, tensor);
    }
    EXPECT_FALSE(reader.next().value().has_value());
    producer.join();
}

TEST(Stream, ThroughASocketPairBothNonBlocking) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()), 0);
    const auto tensors = samples();
    std::thread producer([&] {
        StreamWriter writer(std::make_unique<FdSink>(ends[1], FdOwnership::close));
        for (const Tensor& tensor : tensors) ASSERT_TRUE(writer.write(tensor).has_value());
    });
    StreamReader reader(std::make_unique<FdSource>(ends[0], FdOwnership::close));
    for (const Tensor& tensor : tensors) expect_same(reader.next().value().value(), tensor);
    EXPECT_FALSE(reader.next().value().has_value());
    producer.join();
}

TEST(Stream, ThroughAFile) {
    const TemporaryFolder folder;
    const std::string path = folder.path() + "/f";
    const auto tensors = samples();
    {
        StreamWriter writer(std::make_unique<FdSink>(::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600),
                                                     FdOwnership::close));
        for (const Tensor& tensor : tensors) ASSERT_TRUE(writer.write(tensor).has_value());
    }
    StreamReader reader(std::make_unique<FdSource>(::open(path.c_str(), O_RDONLY | O_CLOEXEC), FdOwnership::close));
    for (const Tensor& tensor : tensors) expect_same(reader.next().value().value(), tensor);
    EXPECT_FALSE(reader.next().value().has_value());
}

TEST(Stream, TensorsOutliveTheReader) {
    const std::vector<Tensor> tensors{make_tensor({.shape = {5000}})};
    const auto bytes = written(tensors);
    std::optional<Tensor> kept;
    {
        StreamReader reader(std::make_unique<MemorySource>(bytes));
        kept = reader.next().value();
    }
    expect_same(*kept, tensors[0]);
}

TEST(Stream, ForeignPrefixNeverLeavesTheProcess) {
    for (const std::uint32_t prefix : {1U, 8U, 63U}) {
        const std::vector<Tensor> tensors{make_prefixed_tensor(prefix, "hello")};
        const auto bytes = written(tensors);
        EXPECT_EQ(std::find(bytes.begin(), bytes.end(), std::byte{0xEE}), bytes.end());
        StreamReader reader(std::make_unique<MemorySource>(bytes));
        const Tensor got = reader.next().value().value();
        EXPECT_EQ(got.descriptor.byte_offset(), 0U);
        EXPECT_EQ(got.buffers.at(0).handle.byte_size, 5U);
        EXPECT_EQ(std::memcmp(got.buffers[0].data, "hello", 5), 0);
        EXPECT_FALSE(reader.next().value().has_value());
    }
}

TEST(Stream, PrefixOfAStridedTensorWithNegativeStrides) {
    // Elements at bytes 10 to 13 of the buffer, backwards; 7 bytes in front are not its own.
    Tensor tensor = make_tensor({.type = 0x11, .layout = layout_tag::strided, .shape = {4}, .strides = {-1},
                                 .byte_offset = 13, .byte_size = 20});
    tensor.buffers[0].prefix = 7;
    const auto bytes = written({&tensor, 1});
    StreamReader reader(std::make_unique<MemorySource>(bytes));
    const Tensor got = reader.next().value().value();
    EXPECT_EQ(got.descriptor.byte_offset(), 6U);
    EXPECT_EQ(got.descriptor.strides()[0], -1);
    EXPECT_EQ(copy_of(got.buffers[0].bytes()), copy_of(tensor.buffers[0].bytes().subspan(7)));

    tensor.buffers[0].prefix = 11;  // the last element lies at 10
    StreamWriter writer(std::make_unique<MemorySink>());
    const auto refused = writer.write(tensor);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, Status::invalid_argument);
    EXPECT_FALSE(writer.broken());
}

TEST(Stream, PinnedAndUnifiedMemoryArrivesAsPlainMemory) {
    for (const auto& [device, memory] : {std::pair{device_tag::cpu, memory_class::host_pinned},
                                         std::pair{device_tag::cpu, memory_class::unified},
                                         std::pair{device_tag::cuda, memory_class::unified},
                                         std::pair{device_tag::cuda, memory_class::host_pinned}}) {
        BufferHandle handle;
        handle.device_tag = device;
        handle.memory_class = memory;
        const Tensor tensor = make_tensor({.shape = {3}, .handle = handle});
        const auto bytes = written({&tensor, 1});
        StreamReader reader(std::make_unique<MemorySource>(bytes));
        const Tensor got = reader.next().value().value();
        EXPECT_EQ(got.descriptor.buffers()[0].device_tag, device_tag::cpu);
        EXPECT_EQ(got.descriptor.buffers()[0].memory_class, memory_class::standard);
        EXPECT_EQ(copy_of(got.buffers[0].bytes()), copy_of(tensor.buffers[0].bytes()));
    }
    // The same where another program has written it as it was.
    BufferHandle pinned;
    pinned.memory_class = memory_class::host_pinned;
    const Tensor tensor = make_tensor({.shape = {3}, .handle = pinned});
    auto bytes = encoded(tensor.descriptor);
    bytes.insert(bytes.end(), tensor.buffers[0].bytes().begin(), tensor.buffers[0].bytes().end());
    StreamReader reader(std::make_unique<MemorySource>(bytes));
    EXPECT_EQ(reader.next().value().value().buffers[0].handle.memory_class, memory_class::standard);
}

TEST(StreamReader, EmptyStreamIsACleanEnd) {
    StreamReader reader(std::make_unique<MemorySource>(std::span<const std::byte>{}));
    EXPECT_FALSE(reader.next().value().has_value());
}

TEST(StreamReader, EveryTruncationIsATypedError) {
    const std::vector<Tensor> tensors{make_tensor({.shape = {3}}), make_tensor({.type = 0x12, .shape = {2, 2}})};
    const auto bytes = written(tensors);
    const std::size_t first = written(std::span(tensors).first(1)).size();
    for (std::size_t length = 1; length < bytes.size(); ++length) {
        StreamReader reader(std::make_unique<SlowSource>(std::span(bytes).first(length), 1000));
        if (length >= first) {
            ASSERT_TRUE(reader.next().value().has_value());
        }
        if (length == first) {
            ASSERT_FALSE(reader.next().value().has_value());
            continue;
        }
        const auto result = reader.next();
        ASSERT_FALSE(result.has_value()) << length;
        EXPECT_EQ(result.error().code, Status::invalid_format) << length;
        EXPECT_EQ(result.error().offset, length);
        EXPECT_NE(std::strstr(result.error().message, "ends inside a tensor"), nullptr);
        const auto again = reader.next();
        ASSERT_FALSE(again.has_value());
        EXPECT_STREQ(again.error().message, result.error().message) << "a failed stream stays failed";
    }
}

TEST(StreamReader, NoMutationDoesHarm) {
    const std::vector<Tensor> tensors{make_tensor({.shape = {3}}),
                                      make_tensor({.layout = layout_tag::strided, .shape = {2, 2}, .strides = {-2, 1},
                                                   .byte_offset = 8, .byte_size = 16})};
    const auto original = written(tensors);
    StreamLimits limits;
    limits.max_tensor_bytes = 1 << 20;
    for (std::size_t at = 0; at < original.size(); ++at) {
        for (unsigned value = 0; value < 256; value += value < 8 || value > 247 ? 1 : 7) {
            auto bytes = original;
            bytes[at] = static_cast<std::byte>(value);
            StreamReader reader(std::make_unique<SlowSource>(bytes, 1 << 20), limits);
            for (int i = 0; i < 10; ++i) {
                const auto result = reader.next();
                if (!result) {
                    ASSERT_NE(result.error().message[0], '\0');
                    break;
                }
                if (!*result) break;
            }
        }
    }
}

TEST(StreamReader, ErrorsOfADescriptorNameTheirPlaceInTheStream) {
    const std::vector<Tensor> tensors{make_tensor({.shape = {3}})};
    auto bytes = written(tensors);
    const std::size_t first = bytes.size();
    const std::string garbage = "this is no descriptor, but long enough";
    for (const char c : garbage) bytes.push_back(static_cast<std::byte>(c));
    StreamReader reader(std::make_unique<MemorySource>(bytes));
    ASSERT_TRUE(reader.next().value().has_value());
    const auto result = reader.next();
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code, Status::invalid_magic);
    EXPECT_EQ(result.error().offset, first);
}

TEST(StreamReader, BelievesNoLength) {
    // 2^50 bytes are announced, and a few come.
    const std::uint64_t claimed = std::uint64_t{1} << 50;
    const std::uint64_t shape[] = {claimed};
    DescriptorBuilder builder(0x11, layout_tag::row_major, shape);
    BufferHandle handle;
    handle.byte_size = claimed;
    ASSERT_TRUE(builder.add_buffer(handle).has_value());
    auto bytes = encoded(builder.build().value());
    bytes.resize(bytes.size() + 1000);
    StreamReader reader(std::make_unique<SlowSource>(bytes, 1 << 20));
    const auto result = reader.next();
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code, Status::invalid_format);
    EXPECT_NE(std::strstr(result.error().message, "1000 of 1125899906842624 bytes of its buffer 0"), nullptr)
        << result.error().message;
}

TEST(StreamReader, Limits) {
    const Tensor tensor = make_tensor({.shape = {1000}});
    const auto bytes = written({&tensor, 1});
    const auto refusal = [&](const StreamLimits& limits) {
        StreamReader reader(std::make_unique<MemorySource>(bytes), limits);
        const auto result = reader.next();
        EXPECT_TRUE(result.has_value() || result.error().code == Status::limit_exceeded) << result.error().message;
        return result.has_value() ? std::string() : std::string(result.error().message);
    };
    const std::uint64_t length = tensor.descriptor.encoded_length();
    EXPECT_EQ(refusal({.max_descriptor_length = length, .max_tensor_bytes = 4000, .max_alignment = 64}), "");
    EXPECT_NE(refusal({.max_descriptor_length = length - 1}), "");
    EXPECT_NE(refusal({.max_tensor_bytes = 3999}).find("the limit of 3999"), std::string::npos);
    EXPECT_NE(refusal({.max_alignment = 32}).find("alignment: 64 bytes, the limit is 32"), std::string::npos);
}

TEST(StreamReader, RefusesAHugeAlignmentBeforeItAllocates) {
    BufferHandle handle;
    handle.alignment = std::uint32_t{1} << 31;
    handle.byte_size = 12;
    const std::uint64_t shape[] = {3};
    DescriptorBuilder builder(0x03, layout_tag::row_major, shape);
    ASSERT_TRUE(builder.add_buffer(handle).has_value());
    std::uint64_t given = 0;
    StreamReader reader(std::make_unique<EndlessSource>(encoded(builder.build().value()), given));
    const auto result = reader.next();
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code, Status::limit_exceeded);
    EXPECT_EQ(given, 0U) << "refused before a byte of the data was read";
}

TEST(StreamReader, RefusesMemoryThatIsNotTheCpus) {
    BufferHandle handle;
    handle.device_tag = device_tag::cuda;
    const Tensor tensor = make_tensor({.shape = {3}, .handle = handle});
    const auto bytes = encoded(tensor.descriptor);
    StreamReader reader(std::make_unique<MemorySource>(bytes));
    const auto result = reader.next();
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code, Status::unsupported);

    handle.sync_mode = sync_mode::event;
    const Tensor waiting = make_tensor({.shape = {3}, .handle = handle});
    const auto more = encoded(waiting.descriptor);
    StreamReader second(std::make_unique<MemorySource>(more));
    const auto refused = second.next();
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, Status::invalid_sync_mode);
}

TEST(StreamWriter, RefusesWithoutHarm) {
    struct Refusal {
        const char* what;
        Tensor tensor;
        Status code;
        const char* fragment;
    };
    Tensor missing = make_tensor({.shape = {2}});
    missing.buffers.clear();
    Tensor shorter = make_tensor({.shape = {2}});
    shorter.buffers[0].handle.byte_size = 4;
    Tensor longer = make_tensor({.shape = {2}});
    longer.buffers[0].handle.byte_size = 12;
    Tensor nowhere = make_tensor({.shape = {2}});
    nowhere.buffers[0].data = nullptr;
    Tensor covered = make_tensor({.shape = {2}});
    covered.buffers[0].prefix = 4;
    Tensor waiting = make_tensor({.shape = {2}});
    waiting.buffers[0].handle.sync_mode = sync_mode::consumer_stream;
    BufferHandle cuda;
    cuda.device_tag = device_tag::cuda;
    const Refusal refusals[] = {
        {"no buffer", missing, Status::invalid_argument, "buffers: 0, but the descriptor lists 1"},
        {"too small", shorter, Status::invalid_argument, "byte_size: 4, but the descriptor says 8"},
        {"too large", longer, Status::invalid_argument, "byte_size: 12, but the descriptor says 8"},
        {"null", nowhere, Status::null_pointer, "no memory behind 8 bytes"},
        {"elements in the prefix", covered, Status::invalid_argument, "byte_offset: 0, less than the prefix of 4"},
        {"not complete", waiting, Status::invalid_sync_mode, "PRODUCER_SYNCED"},
        {"device memory", make_tensor({.shape = {2}, .handle = cuda}), Status::unsupported, "cannot be read by the CPU"},
    };
    auto sink = std::make_unique<MemorySink>();
    const MemorySink& memory = *sink;
    StreamWriter writer(std::move(sink));
    for (const Refusal& refusal : refusals) {
        const auto result = writer.write(refusal.tensor);
        ASSERT_FALSE(result.has_value()) << refusal.what;
        EXPECT_EQ(result.error().code, refusal.code) << refusal.what << ": " << result.error().message;
        EXPECT_NE(std::strstr(result.error().message, refusal.fragment), nullptr) << result.error().message;
        EXPECT_TRUE(memory.bytes().empty());
        EXPECT_FALSE(writer.broken());
    }
    EXPECT_TRUE(writer.write(make_tensor({.shape = {2}})).has_value());
}

TEST(StreamWriter, IsBrokenAfterAFailedWrite) {
    StreamWriter writer(std::make_unique<FailingSink>());
    const auto first = writer.write(make_tensor({.shape = {2}}));
    ASSERT_FALSE(first.has_value());
    EXPECT_EQ(first.error().code, Status::io);
    EXPECT_TRUE(writer.broken());
    const auto second = writer.write(make_tensor({.shape = {2}}));
    ASSERT_FALSE(second.has_value());
    EXPECT_EQ(second.error().code, Status::invalid_argument);
    EXPECT_NE(std::strstr(second.error().message, "in the middle of a tensor"), nullptr);
    EXPECT_EQ(writer.offset(), 0U);
}

TEST(StreamWriter, PeerThatGoesAwayIsAnErrorAndNoSignal) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    StreamWriter writer(std::make_unique<FdSink>(ends[1], FdOwnership::close));
    std::thread reader([&] {
        std::array<char, 100> some{};
        EXPECT_GT(::read(ends[0], some.data(), some.size()), 0);
        ::close(ends[0]);
    });
    const auto result = writer.write(make_tensor({.shape = {1'000'000}}));
    reader.join();
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code, Status::io);
    EXPECT_TRUE(writer.broken());
}

}  // namespace
}  // namespace hurray
