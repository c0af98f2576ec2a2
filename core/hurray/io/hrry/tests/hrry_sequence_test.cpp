// .hrry files from front to back: the same tensors, names and metadata as by random access, whatever the chunks; what
// does not fit the index is refused.
#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

#include "core/hurray/io/hrry/hrry_sequence.hpp"
#include "core/hurray/io/hrry/tests/support.hpp"
#include "core/hurray/io/tests/shared_data.hpp"
#include "core/hurray/io/tests/temporary_folder.hpp"
#include "core/hurray/io/tests/tensors.hpp"

namespace hurray {
namespace {

// Gives so many bytes at a time.
class Chunks final : public ByteSource {
  public:
    Chunks(std::span<const std::byte> bytes, std::size_t chunk) : rest_(bytes), chunk_(chunk) {}
    Result<std::size_t> read_some(std::span<std::byte> into) override {
        const std::size_t count = std::min({into.size(), rest_.size(), chunk_});
        if (count != 0) std::memcpy(into.data(), rest_.data(), count);
        rest_ = rest_.subspan(count);
        return count;
    }

  private:
    std::span<const std::byte> rest_;
    std::size_t chunk_;
};

struct Sequence {
    std::vector<Tensor> tensors;
    std::optional<Error> error;
};

Sequence read_all(HrryStreamReader& reader) {
    Sequence all;
    for (;;) {
        auto next = reader.next();
        if (!next) {
            all.error = next.error();
            return all;
        }
        if (!*next) return all;
        all.tensors.push_back(**std::move(next));
    }
}

std::optional<Error> error_of(const Bytes& image, std::size_t chunk = ~std::size_t{0}) {
    HrryStreamReader reader(std::make_unique<Chunks>(image, chunk));
    return read_all(reader).error;
}

Bytes sample(const FileWriterOptions& options = {}) {
    WrittenFile out(options);
    EXPECT_TRUE(out->add("z", make_tensor({.shape = {3}})).has_value());
    EXPECT_TRUE(out->add("empty", make_tensor({.shape = {0}})).has_value());
    EXPECT_TRUE(out->add("m", make_tensor({.shape = {40, 50}, .seed = 2})).has_value());
    EXPECT_TRUE(out->add("a", make_tensor({.type = 0x20, .shape = {3}, .seed = 3})).has_value());
    EXPECT_TRUE(out->set_metadata("key", string_value("value")).has_value());
    return out.finish();
}

TEST(HrrySequence, GivesWhatRandomAccessGives) {
    for (const bool sorted : {true, false}) {
        const Bytes image = sample({.sorted_index = sorted});
        const auto file = open_image(image).value();
        for (const std::size_t chunk : {std::size_t{1}, std::size_t{7}, std::size_t{4096}, ~std::size_t{0}}) {
            HrryStreamReader reader(std::make_unique<Chunks>(image, chunk));
            EXPECT_FALSE(reader.sequence().name(0).has_value());
            const Sequence all = read_all(reader);
            ASSERT_FALSE(all.error.has_value()) << all.error->message;
            ASSERT_EQ(all.tensors.size(), 4U);
            const HrrySequence& sequence = reader.sequence();
            ASSERT_TRUE(sequence.complete());
            const char* names[] = {"z", "empty", "m", "a"};
            for (std::size_t i = 0; i < 4; ++i) {
                EXPECT_EQ(sequence.name(i), names[i]);
                EXPECT_EQ(sequence.find(names[i]), i);
                EXPECT_TRUE(same_data(all.tensors[i], file->tensor(file->find(names[i]).value()).value()));
            }
            EXPECT_FALSE(sequence.name(4).has_value());
            EXPECT_FALSE(sequence.find("none").has_value());
            ASSERT_EQ(sequence.metadata().count(), 1U);
            EXPECT_EQ(sequence.metadata().value(0).text, "value");
            EXPECT_FALSE(reader.next().value().has_value());
        }
    }
}

TEST(HrrySequence, ReadsAFileOfAnotherWriterWhosePaddingIsShorter) {
    const auto path = shared_data("conformance/files/basic.hrry");
    if (!path) GTEST_SKIP();
    const std::string text = read_file(*path);
    const auto bytes = std::as_bytes(std::span(text));
    for (const std::size_t chunk : {std::size_t{1}, ~std::size_t{0}}) {
        HrryStreamReader reader(std::make_unique<Chunks>(bytes, chunk));
        const Sequence all = read_all(reader);
        ASSERT_FALSE(all.error.has_value()) << all.error->message;
        ASSERT_EQ(all.tensors.size(), 2U);
        EXPECT_EQ(reader.sequence().name(0), "weights");
        EXPECT_EQ(reader.sequence().name(1), "bias");
        EXPECT_EQ(reader.sequence().metadata().count(), 2U);
    }
}

TEST(HrrySequence, ReadsPipesAndDataAsItComes) {
    const Bytes image = sample();
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    std::thread producer([&] {
        FdSink sink(ends[1], FdOwnership::close);
        EXPECT_TRUE(sink.write(image).has_value());
    });
    HrryStreamReader reader(std::make_unique<FdSource>(ends[0], FdOwnership::close));
    EXPECT_TRUE(reader.reader().begin().value().has_value());
    EXPECT_TRUE(reader.reader().skip().has_value());
    EXPECT_TRUE(reader.reader().begin().value().has_value());
    EXPECT_EQ(reader.reader().left(), 0U);
    EXPECT_EQ(reader.reader().begin().value()->shape()[1], 50U);
    Bytes data(8000);
    std::size_t have = 0;
    for (;;) {
        const auto count = reader.reader().read(std::span(data).subspan(have, std::min<std::size_t>(100, 8000 - have)));
        ASSERT_TRUE(count.has_value());
        have += *count;
        if (*count == 0) break;
    }
    EXPECT_EQ(have, 8000U);
    EXPECT_EQ(data, copy_of(element_bytes(make_tensor({.shape = {40, 50}, .seed = 2}))));
    EXPECT_TRUE(reader.next().value().has_value());
    EXPECT_FALSE(reader.next().value().has_value());
    EXPECT_EQ(reader.sequence().name(2), "m");
    producer.join();
}

TEST(HrrySequence, FilesWithoutTensorsEndAtOnce) {
    for (const bool metadata : {false, true}) {
        WrittenFile out;
        if (metadata) {
            ASSERT_TRUE(out->set_metadata("k", {}).has_value());
        }
        const Bytes image = out.finish();
        HrryStreamReader reader(std::make_unique<Chunks>(image, 3));
        const Sequence all = read_all(reader);
        ASSERT_FALSE(all.error.has_value()) << all.error->message;
        EXPECT_TRUE(all.tensors.empty());
        EXPECT_EQ(reader.sequence().metadata().count(), metadata ? 1U : 0U);
    }
}

TEST(HrrySequence, AMetadataSectionWithoutEntriesBehindShortPaddingIsNoPadding) {
    WrittenFile out;
    ASSERT_TRUE(out->add("t", make_tensor({.shape = {3}})).has_value());
    Bytes image = out.finish();
    // The other writer's form: what follows starts at the next multiple of 8.
    const std::size_t from = metadata_at(image);
    const std::size_t to = fields_at(image, "t");
    const std::size_t end = get<std::uint64_t>(image, to + 12) + 16;
    const std::size_t moved = from - end;
    image.erase(image.begin() + static_cast<std::ptrdiff_t>(end), image.begin() + static_cast<std::ptrdiff_t>(from));
    put(image, trailer_at(image), std::uint64_t{get<std::uint64_t>(image, trailer_at(image)) - moved});
    put(image, trailer_at(image) + 16, std::uint64_t{end});
    ASSERT_TRUE(open_image(image).has_value());
    HrryStreamReader reader(std::make_unique<Chunks>(image, 5));
    const Sequence all = read_all(reader);
    ASSERT_FALSE(all.error.has_value()) << all.error->message;
    EXPECT_EQ(reader.sequence().name(0), "t");
}

TEST(HrrySequence, EveryTruncationIsAnError) {
    const Bytes image = sample();
    for (std::size_t length = 0; length < image.size(); length += length < 8192 ? 1 : 7) {
        const auto error = error_of(Bytes(image.begin(), image.begin() + static_cast<std::ptrdiff_t>(length)));
        ASSERT_TRUE(error.has_value()) << length;
        ASSERT_TRUE(error->code == Status::invalid_format || error->code == Status::invalid_magic) << error->message;
    }
    EXPECT_FALSE(error_of(image).has_value());
}

TEST(HrrySequence, EveryByteOfPaddingIsLookedAt) {
    const Bytes image = sample();
    std::size_t padding = 0;
    const auto file = open_image(image).value();
    std::vector<bool> belongs(image.size());
    const auto mark = [&](std::uint64_t from, std::uint64_t length) {
        std::fill_n(belongs.begin() + static_cast<std::ptrdiff_t>(from), length, true);
    };
    for (std::uint64_t i = 0; i < file->tensor_count(); ++i) {
        const auto info = file->tensor_info(i).value();
        const std::size_t fields = fields_at(image, info.name);
        mark(get<std::uint64_t>(image, fields), get<std::uint32_t>(image, fields + 8));
        mark(info.file_offset, info.byte_size);
    }
    for (std::size_t at = 64; at < metadata_at(image); ++at) {
        if (belongs[at]) continue;
        ++padding;
        if (at % 8 != 0 && at % 5 != 0) continue;
        Bytes changed = image;
        changed[at] = std::byte{1};
        const auto error = error_of(changed);
        ASSERT_TRUE(error.has_value()) << at;
        ASSERT_EQ(error->code, Status::invalid_format) << error->message;
    }
    EXPECT_GT(padding, 10'000U);
}

TEST(HrrySequence, AnIndexThatDoesNotFitTheTensorsIsRefused) {
    const Bytes good = sample();
    const auto refused = [&](const char* what, Bytes image) {
        seal(image);
        const auto error = error_of(image);
        ASSERT_TRUE(error.has_value()) << what;
        EXPECT_EQ(error->code, Status::invalid_format) << what;
    };
    // One of two tensors of the same length is left out, though its place is where padding may be.
    {
        Bytes image = good;
        put(image, fields_at(image, "z") + 20, std::uint64_t{8});
        refused("data_length", image);
    }
    {
        Bytes image = good;
        image[fields_at(image, "z") + 28] = std::byte{1};
        refused("flags", image);
    }
    {
        Bytes image = good;
        image[trailer_at(image) + 28] ^= std::byte{1};
        const auto error = error_of(image);
        ASSERT_TRUE(error.has_value());
        EXPECT_EQ(error->offset, trailer_at(image) + 28);
    }
    {
        Bytes image = good;
        put(image, trailer_at(image) + 16, std::uint64_t{metadata_at(image) - 4096});
        refused("kv_offset", image);
    }
}

TEST(HrrySequence, AnEndlessTailIsRefusedAtTheLimit) {
    class Endless final : public ByteSource {
      public:
        explicit Endless(Bytes start) : start_(std::move(start)) {}
        Result<std::size_t> read_some(std::span<std::byte> into) override {
            const std::size_t left = start_.size() - std::min<std::size_t>(start_.size(), given_);
            const std::size_t count = left == 0 ? into.size() : std::min(into.size(), left);
            std::memset(into.data(), 'x', count);
            if (left != 0) std::memcpy(into.data(), start_.data() + given_, count);
            given_ += count;
            return count;
        }
        std::size_t given_ = 0;

      private:
        Bytes start_;
    };
    Bytes start = sample();
    start.resize(metadata_at(start) + 8);
    auto source = std::make_unique<Endless>(start);
    const Endless* endless = source.get();
    HrryStreamReader reader(std::move(source), {}, 1U << 20);
    const Sequence all = read_all(reader);
    ASSERT_TRUE(all.error.has_value());
    EXPECT_EQ(all.error->code, Status::limit_exceeded);
    EXPECT_LT(endless->given_, start.size() + (8U << 20));
}

TEST(HrrySequence, LimitsAndDevicesAreRefusedWithTheOffsetInTheFile) {
    const Bytes image = sample();
    const std::size_t m = get<std::uint64_t>(image, fields_at(image, "m"));
    HrryStreamReader reader(std::make_unique<Chunks>(image, 999), {.max_tensor_bytes = 100});
    const Sequence all = read_all(reader);
    ASSERT_TRUE(all.error.has_value());
    EXPECT_EQ(all.tensors.size(), 2U);
    EXPECT_EQ(all.error->code, Status::limit_exceeded);
    EXPECT_EQ(all.error->offset, m);
    Bytes changed = image;
    changed[m + 16] = std::byte{99};
    const auto error = error_of(changed);
    ASSERT_TRUE(error.has_value());
    EXPECT_GE(error->offset, m);
    EXPECT_LT(error->offset, m + 100);
}

}  // namespace
}  // namespace hurray
