#include "core/hurray/io/safetensors/safetensors_writer.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/hurray/io/safetensors/safetensors_file.hpp"
#include "core/hurray/io/safetensors/safetensors_dtype.hpp"
#include "core/hurray/io/safetensors/tests/safetensors_image.hpp"
#include "core/hurray/io/tests/shared_data.hpp"
#include "core/hurray/io/tests/temporary_folder.hpp"
#include "core/hurray/io/tests/tensors.hpp"

namespace hurray {
namespace {

using Writer = std::unique_ptr<ModelFileWriter>;
using File = std::unique_ptr<SafetensorsFile>;

Writer create(const std::string& path) {
    auto writer = create_model_file(path, FileFormat::safetensors);
    if (!writer) throw std::runtime_error(writer.error().message);
    return *std::move(writer);
}

File reopen(const std::string& path) {
    auto file = open_safetensors_file(path);
    if (!file) throw std::runtime_error(file.error().message);
    return *std::move(file);
}

Tensor read(const SafetensorsFile& file, std::string_view name) {
    auto tensor = file.tensor(file.find(name).value());
    if (!tensor) throw std::runtime_error(tensor.error().message);
    return *std::move(tensor);
}

Tensor read(const File& file, std::string_view name) { return read(*file, name); }

MetadataValue text(std::string_view value) {
    MetadataValue result;
    result.text = value;
    return result;
}

TEST(SafetensorsWriter, WritesTheExpectedBytes) {
    const TemporaryFolder folder;
    const std::string path = folder.path() + "/f";
    Writer writer = create(path);
    Tensor tensor = make_tensor({.type = 0x11, .shape = {3}});
    std::memcpy(tensor.buffers[0].data, "abc", 3);
    ASSERT_TRUE(writer->add("t\n", std::move(tensor)).has_value());
    ASSERT_TRUE(writer->set_metadata("k", text("old")).has_value());
    ASSERT_TRUE(writer->set_metadata("k", text("v\"\\")).has_value());
    ASSERT_TRUE(writer->finish().has_value());
    const std::string json =
        "{\"__metadata__\":{\"k\":\"v\\\"\\\\\"},\"t\\u000a\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[0,3]}}";
    const std::string padded = json + std::string((8 - json.size() % 8) % 8, ' ');
    std::string expected(8, '\0');
    expected[0] = static_cast<char>(padded.size());
    EXPECT_EQ(read_file(path), expected + padded + "abc");
}

TEST(SafetensorsWriter, WidestFirstThenByNameAllAligned) {
    const TemporaryFolder folder;
    const std::string path = folder.path() + "/f";
    Writer writer = create(path);
    const std::pair<const char*, std::uint8_t> tensors[] = {{"c", 0x11}, {"b", 0x04}, {"d", 0x01}, {"a", 0x11},
                                                            {"e", 0x50}, {"f", 0x20}, {"g", 0x17}};
    for (const auto& [name, type] : tensors) {
        ASSERT_TRUE(writer->add(name, make_tensor({.type = type, .shape = {3}})).has_value());
    }
    ASSERT_TRUE(writer->finish().has_value());
    const File file = reopen(path);
    std::string order;
    std::uint64_t end = 8 + file->header_length();
    EXPECT_EQ(end % 8, 0U);
    for (std::uint64_t i = 0; i < file->tensor_count(); ++i) {
        const auto info = file->tensor_info(i).value();
        order += info.name;
        EXPECT_EQ(info.file_offset, end);
        end += info.byte_size;
        EXPECT_EQ(info.file_offset % find_element_type(info.type_tag)->alignment, 0U) << info.name;
    }
    EXPECT_EQ(order, "bgedacf");
}

TEST(SafetensorsWriter, EveryDtypeComesBack) {
    const TemporaryFolder folder;
    const std::string path = folder.path() + "/f";
    Writer writer = create(path);
    std::vector<Tensor> originals;
    for (const SafetensorsDtype& dtype : safetensors_dtypes()) {
        originals.push_back(make_tensor({.type = dtype.type_tag, .shape = {5, 8}, .seed = dtype.type_tag}));
        ASSERT_TRUE(writer->add(dtype.name, originals.back()).has_value()) << dtype.name;
    }
    EXPECT_EQ(writer->copied_bytes(), 0U);
    ASSERT_TRUE(writer->finish().has_value());
    EXPECT_EQ(writer->copied_bytes(), 40U) << "the bools, a byte each";
    const File file = reopen(path);
    for (std::size_t i = 0; i < originals.size(); ++i) {
        const auto name = safetensors_dtypes()[i].name;
        const Tensor back = read(file, name);
        EXPECT_EQ(back.descriptor.element_type(), originals[i].descriptor.element_type());
        EXPECT_EQ(shape_of(back), shape_of(originals[i]));
        EXPECT_EQ(copy_of(element_bytes(back)), copy_of(element_bytes(originals[i]))) << name;
    }
}

TEST(SafetensorsWriter, OddNumbersOfBools) {
    const TemporaryFolder folder;
    for (const std::uint64_t count : {0U, 1U, 7U, 9U, 1000U, 65'536U, 65'537U, 200'001U}) {
        const std::string path = folder.path() + "/f";
        Writer writer = create(path);
        const Tensor original = make_tensor({.type = 0x20, .shape = {count}});
        ASSERT_TRUE(writer->add("b", original).has_value());
        ASSERT_TRUE(writer->finish().has_value());
        EXPECT_EQ(copy_of(element_bytes(read(reopen(path), "b"))), copy_of(element_bytes(original))) << count;
    }
}

TEST(SafetensorsWriter, ScalarsAndEmptyTensors) {
    const TemporaryFolder folder;
    const std::string path = folder.path() + "/f";
    Writer writer = create(path);
    const Tensor scalar = make_tensor({.type = 0x04});
    ASSERT_TRUE(writer->add("scalar", scalar).has_value());
    ASSERT_TRUE(writer->add("bool", make_tensor({.type = 0x20})).has_value());
    ASSERT_TRUE(writer->add("none", make_tensor({.shape = {0}})).has_value());
    ASSERT_TRUE(writer->add("none either", make_tensor({.type = 0x20, .shape = {3, 0, 1000}})).has_value());
    ASSERT_TRUE(writer->add("", make_tensor({.layout = layout_tag::col_major, .shape = {0, 4}})).has_value());
    ASSERT_TRUE(writer->finish().has_value());
    const File file = reopen(path);
    EXPECT_EQ(file->tensor_count(), 5U);
    EXPECT_EQ(copy_of(element_bytes(read(file, "scalar"))), copy_of(element_bytes(scalar)));
    EXPECT_EQ(shape_of(read(file, "none either")), (std::vector<std::uint64_t>{3, 0, 1000}));
    EXPECT_EQ(shape_of(read(file, "")), (std::vector<std::uint64_t>{0, 4}));
}

TEST(SafetensorsWriter, NothingAtAll) {
    const TemporaryFolder folder;
    Writer writer = create(folder.path() + "/f");
    ASSERT_TRUE(writer->finish().has_value());
    EXPECT_EQ(reopen(folder.path() + "/f")->tensor_count(), 0U);
}

TEST(SafetensorsWriter, NamesWithNulAndOtherCharacters) {
    const TemporaryFolder folder;
    const std::string path = folder.path() + "/f";
    const std::string names[] = {std::string("a\0b", 3), "\xE5\x90\x8D", "\xF0\x9F\x98\x80", "\"\\/\b\x1F\x7F"};
    Writer writer = create(path);
    for (const auto& name : names) {
        ASSERT_TRUE(writer->add(name, make_tensor({.shape = {1}})).has_value());
        ASSERT_TRUE(writer->set_metadata(name, text(name)).has_value());
    }
    ASSERT_TRUE(writer->finish().has_value());
    const File file = reopen(path);
    for (const auto& name : names) {
        EXPECT_TRUE(file->find(name).has_value());
        EXPECT_EQ(metadata_text(*file, name), name);
    }
}

// Element (i, j) of any layout is where its strides say; in the file it is at i * columns + j.
TEST(SafetensorsWriter, OtherLayoutsAreGathered) {
    const TemporaryFolder folder;
    struct Case {
        const char* name;
        std::uint8_t layout;
        std::vector<std::int64_t> strides;
        std::uint64_t byte_offset;
    };
    const Case cases[] = {
        {"column-major", layout_tag::col_major, {1, 5}, 0},
        {"column-major with an offset", layout_tag::col_major, {1, 5}, 6},
        {"transposed", layout_tag::strided, {1, 5}, 0},
        {"reversed", layout_tag::strided, {-8, -1}, 2 * 39},
        {"broadcast", layout_tag::strided, {0, 1}, 2},
        {"one element for all", layout_tag::strided, {0, 0}, 10},
        {"rows with a gap", layout_tag::strided, {10, 1}, 4},
    };
    for (const Case& test : cases) {
        const std::string path = folder.path() + "/f";
        const Tensor tensor = make_tensor({.type = 0x13,
                                           .layout = test.layout,
                                           .shape = {5, 8},
                                           .strides = test.strides,
                                           .byte_offset = test.byte_offset,
                                           .byte_size = 200});
        Writer writer = create(path);
        ASSERT_TRUE(writer->add("t", tensor).has_value());
        ASSERT_TRUE(writer->finish().has_value());
        EXPECT_EQ(writer->copied_bytes(), 80U) << test.name;
        const File file = reopen(path);
        const Tensor back = read(file, "t");
        EXPECT_EQ(back.descriptor.layout(), layout_tag::row_major);
        for (std::int64_t i = 0; i < 5; ++i) {
            for (std::int64_t j = 0; j < 8; ++j) {
                const auto* expected = tensor.buffers[0].data + test.byte_offset +
                                       2 * (i * test.strides[0] + j * test.strides[1]);
                ASSERT_EQ(std::memcmp(element_bytes(back).data() + 2 * (i * 8 + j), expected, 2), 0)
                    << test.name << " " << i << " " << j;
            }
        }
    }
}

TEST(SafetensorsWriter, ContiguousStridedTensorsAreNotCopied) {
    const TemporaryFolder folder;
    Writer writer = create(folder.path() + "/f");
    const Tensor tensor = make_tensor({.layout = layout_tag::strided, .shape = {3, 4}, .strides = {4, 1}, .byte_offset = 8,
                                       .byte_size = 8 + 48});
    ASSERT_TRUE(writer->add("t", tensor).has_value());
    ASSERT_TRUE(writer->finish().has_value());
    EXPECT_EQ(writer->copied_bytes(), 0U);
    const File file = reopen(folder.path() + "/f");
    EXPECT_EQ(copy_of(element_bytes(read(file, "t"))), copy_of(tensor.buffers[0].bytes().subspan(8, 48)));
}

TEST(SafetensorsWriter, ForeignPrefixNeverReachesTheFile) {
    const TemporaryFolder folder;
    const std::string path = folder.path() + "/f";
    Writer writer = create(path);
    ASSERT_TRUE(writer->add("t", make_prefixed_tensor(37, "hello")).has_value());
    ASSERT_TRUE(writer->finish().has_value());
    EXPECT_EQ(read_file(path).find('\xEE'), std::string::npos);
    EXPECT_EQ(read_file(path).substr(read_file(path).size() - 5), "hello");
}

TEST(SafetensorsWriter, OntoTheFileThatTheTensorsAreMappedFrom) {
    const TemporaryFolder folder;
    const std::string path = folder.path() + "/f";
    const Tensor original = make_tensor({.shape = {1000}});
    Writer first = create(path);
    ASSERT_TRUE(first->add("t", original).has_value());
    ASSERT_TRUE(first->finish().has_value());
    const File file = reopen(path);
    const Tensor mapped = read(file, "t");
    Writer second = create(path);
    ASSERT_TRUE(second->add("other name", mapped).has_value());
    ASSERT_TRUE(second->add("t", mapped).has_value());
    ASSERT_TRUE(second->finish().has_value());
    const File again = reopen(path);
    EXPECT_EQ(copy_of(element_bytes(read(again, "t"))), copy_of(element_bytes(original)));
    EXPECT_EQ(copy_of(element_bytes(read(again, "other name"))), copy_of(element_bytes(original)));
    EXPECT_EQ(copy_of(element_bytes(mapped)), copy_of(element_bytes(original)));
    EXPECT_EQ(folder.names(), std::vector<std::string>{"f"});
}

TEST(SafetensorsWriter, KeepsSharesUntilItFinishes) {
    const TemporaryFolder folder;
    const Tensor tensor = make_tensor({.shape = {4}});
    {
        Writer writer = create(folder.path() + "/f");
        ASSERT_TRUE(writer->add("t", tensor).has_value());
        EXPECT_EQ(tensor.buffers[0].storage->references(), 2U);
        ASSERT_TRUE(writer->finish().has_value());
        EXPECT_EQ(tensor.buffers[0].storage->references(), 1U);
        EXPECT_EQ(writer->finish().error().code, Status::invalid_argument);
        EXPECT_EQ(writer->add("u", tensor).error().code, Status::invalid_argument);
        EXPECT_EQ(writer->set_metadata("k", text("v")).error().code, Status::invalid_argument);
    }
    {
        Writer writer = create(folder.path() + "/g");
        ASSERT_TRUE(writer->add("t", tensor).has_value());
    }
    EXPECT_EQ(tensor.buffers[0].storage->references(), 1U);
    EXPECT_EQ(folder.names(), std::vector<std::string>{"f"}) << "a writer that does not finish leaves nothing";
}

TEST(SafetensorsWriter, AnnouncedTensorsAreMadeWhenTheyAreWritten) {
    const TemporaryFolder folder;
    const Tensor wide = make_tensor({.type = 0x04, .shape = {5}, .seed = 7});
    const Tensor turned = make_tensor({.layout = layout_tag::col_major, .shape = {4, 3}});
    const Tensor bools = make_tensor({.type = 0x20, .shape = {9}});
    std::vector<std::string> made;
    const auto source = [&](std::string name, const Tensor& tensor) {
        return [&made, name, &tensor]() -> Result<Tensor> {
            made.push_back(name);
            return tensor;
        };
    };
    Writer writer = create(folder.path() + "/f");
    ASSERT_TRUE(writer->add("bools", bools.descriptor, source("bools", bools)).has_value());
    ASSERT_TRUE(writer->add("turned", turned.descriptor, source("turned", turned)).has_value());
    ASSERT_TRUE(writer->add("wide", wide.descriptor, source("wide", wide)).has_value());
    EXPECT_EQ(writer->add("wide", wide.descriptor, source("again", wide)).error().code, Status::invalid_argument);
    EXPECT_TRUE(made.empty());
    ASSERT_TRUE(writer->finish().has_value());
    EXPECT_EQ(made, (std::vector<std::string>{"wide", "turned", "bools"})) << "in the order of the file";
    const File file = reopen(folder.path() + "/f");
    EXPECT_EQ(copy_of(element_bytes(read(file, "wide"))), copy_of(element_bytes(wide)));
    EXPECT_EQ(copy_of(element_bytes(read(file, "bools"))), copy_of(element_bytes(bools)));
    EXPECT_EQ(read(file, "turned").descriptor.layout(), layout_tag::row_major);
    EXPECT_EQ(wide.buffers[0].storage->references(), 1U);
}

TEST(SafetensorsWriter, SourcesThatFailOrMakeAnotherTensor) {
    const TemporaryFolder folder;
    const Tensor announced = make_tensor({.shape = {4}});
    const Tensor others[] = {make_tensor({.type = 0x14, .shape = {4}}), make_tensor({.shape = {5}}), make_tensor({.shape = {2, 2}}),
                             make_tensor({.layout = layout_tag::col_major, .shape = {4}}), make_tensor({})};
    const auto status_of = [&](const TensorSource& source) {
        Writer writer = create(folder.path() + "/f");
        EXPECT_TRUE(writer->add("t", announced.descriptor, source).has_value());
        const auto finished = writer->finish();
        return finished ? Status::ok : finished.error().code;
    };
    for (const Tensor& other : others) EXPECT_EQ(status_of([&]() -> Result<Tensor> { return other; }), Status::invalid_argument);
    EXPECT_EQ(status_of([]() -> Result<Tensor> { return fail(Status::cancelled, Error::no_offset, "stop"); }), Status::cancelled);
    EXPECT_EQ(status_of({}), Status::invalid_argument) << "no source";
    EXPECT_TRUE(folder.names().empty());
    // The memory may start elsewhere than the announced one: a prefix is not a difference.
    const Tensor prefixed = make_prefixed_tensor(37, "hello");
    Writer writer = create(folder.path() + "/f");
    ASSERT_TRUE(writer->add("t", make_tensor({.type = 0x11, .shape = {5}}).descriptor, [&]() -> Result<Tensor> { return prefixed; }).has_value());
    ASSERT_TRUE(writer->add("u", prefixed.descriptor, []() -> Result<Tensor> { return make_tensor({.type = 0x11, .shape = {5}}); }).has_value());
    const auto finished = writer->finish();
    ASSERT_TRUE(finished.has_value()) << finished.error().message;
}

TEST(SafetensorsWriter, FullDiskLeavesTheOldFile) {
    const TemporaryFolder folder;
    const std::string path = folder.file("f", "old");
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
    rlimit small = before;
    small.rlim_cur = 4096;
    Writer writer = create(path);
    ASSERT_TRUE(writer->add("t", make_tensor({.shape = {10'000}})).has_value());
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    const auto result = writer->finish();
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code, Status::io);
    EXPECT_EQ(read_file(path), "old");
    EXPECT_EQ(folder.names(), std::vector<std::string>{"f"});
}

TEST(SafetensorsWriter, RefusesWhatTheFormatCannotHold) {
    const TemporaryFolder folder;
    Writer writer = create(folder.path() + "/f");
    struct Refusal {
        const char* what;
        std::string name;
        Tensor tensor;
        Status code;
        const char* fragment;
    };
    Tensor missing = make_tensor({.shape = {2}});
    missing.buffers.clear();
    Tensor shorter = make_tensor({.shape = {2}});
    shorter.buffers[0].handle.byte_size = 4;
    Tensor nowhere = make_tensor({.shape = {2}});
    nowhere.buffers[0].data = nullptr;
    Tensor covered = make_tensor({.shape = {2}});
    covered.buffers[0].prefix = 4;
    Tensor waiting = make_tensor({.shape = {2}});
    waiting.buffers[0].handle.sync_mode = sync_mode::event;
    DescriptorBuilder shard(0x03, layout_tag::row_major, std::vector<std::uint64_t>{2});
    shard.set_shard(std::vector<std::uint64_t>{4}, std::vector<std::uint64_t>{2});
    Tensor part = make_tensor({.shape = {2}});
    ASSERT_TRUE(shard.add_buffer(part.buffers[0].handle).has_value());
    part.descriptor = shard.build().value();
    DescriptorBuilder unknown(0x03, layout_tag::row_major, std::vector<std::uint64_t>{dynamic_dimension});
    Tensor dynamic = make_tensor({.shape = {2}});
    ASSERT_TRUE(unknown.add_buffer(dynamic.buffers[0].handle).has_value());
    dynamic.descriptor = unknown.build().value();
    const BufferHandle cuda{.device_tag = device_tag::cuda};

    const Refusal refusals[] = {
        {"int4", "a", make_tensor({.type = 0x48, .shape = {2}}), Status::unsupported, "element type int4 (tag 48)"},
        {"complex128", "a", make_tensor({.type = 0x51, .shape = {2}}), Status::unsupported, "complex128"},
        {"float128", "a", make_tensor({.type = 0x46, .shape = {2}}), Status::unsupported, "float128"},
        {"half a byte", "a", make_tensor({.type = 0x43, .shape = {3}}), Status::unsupported, "does not end at a byte"},
        {"shard", "a", part, Status::unsupported, "a shard's place"},
        {"dynamic", "a", dynamic, Status::invalid_layout, "dynamic"},
        {"device memory", "a", make_tensor({.shape = {2}, .handle = cuda}), Status::unsupported, "cannot be read by the CPU"},
        {"not complete", "a", waiting, Status::invalid_sync_mode, "PRODUCER_SYNCED"},
        {"no buffer", "a", missing, Status::invalid_argument, "buffers: 0, but the descriptor lists 1"},
        {"other size", "a", shorter, Status::invalid_argument, "byte_size: 4, but the descriptor says 8"},
        {"null", "a", nowhere, Status::null_pointer, "no memory behind 8 bytes"},
        {"elements in the prefix", "a", covered, Status::invalid_argument, "whose first 4 bytes are not its own"},
        {"metadata", "__metadata__", make_tensor({.shape = {2}}), Status::invalid_argument, "reserved"},
        {"invalid UTF-8", "\xFF", make_tensor({.shape = {2}}), Status::invalid_argument, "\"\\xff\": invalid UTF-8"},
    };
    for (const Refusal& refusal : refusals) {
        const auto result = writer->add(refusal.name, refusal.tensor);
        ASSERT_FALSE(result.has_value()) << refusal.what;
        EXPECT_EQ(result.error().code, refusal.code) << refusal.what << ": " << result.error().message;
        EXPECT_NE(std::strstr(result.error().message, refusal.fragment), nullptr)
            << refusal.what << ": " << result.error().message;
    }
    ASSERT_TRUE(writer->add("a", make_tensor({.shape = {2}})).has_value());
    const auto twice = writer->add("a", make_tensor({.shape = {2}}));
    ASSERT_FALSE(twice.has_value());
    EXPECT_EQ(twice.error().code, Status::invalid_argument);
    EXPECT_EQ(writer->set_metadata("\xFF", text("")).error().code, Status::invalid_argument);
    EXPECT_EQ(writer->set_metadata("k", text("\xC3")).error().code, Status::invalid_argument);
    MetadataValue number;
    number.type = MetadataType::int64;
    EXPECT_EQ(writer->set_metadata("k", number).error().code, Status::unsupported);
    ASSERT_TRUE(writer->finish().has_value());
    EXPECT_EQ(reopen(folder.path() + "/f")->tensor_count(), 1U) << "a refusal changes nothing";
    for (const FileWriterOptions& options : {FileWriterOptions{.data_alignment = 64}, FileWriterOptions{.sorted_index = false},
                                             FileWriterOptions{.compress = true}}) {
        const auto refused = create_model_file(folder.path() + "/g", FileFormat::safetensors, options);
        ASSERT_FALSE(refused.has_value());
        EXPECT_EQ(refused.error().code, Status::invalid_argument);
    }
}

TEST(SafetensorsWriter, HeaderLongerThanReadersAccept) {
    const TemporaryFolder folder;
    Writer writer = create(folder.path() + "/f");
    ASSERT_TRUE(writer->set_metadata("k", text(std::string(100'000'000, 'x'))).has_value());
    const auto result = writer->finish();
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code, Status::limit_exceeded);
    EXPECT_TRUE(folder.names().empty());
}

TEST(SafetensorsWriter, FilesOfOtherProgramsComeBack) {
    const auto shared = shared_data("data/safetensors");
    if (!shared) GTEST_SKIP();
    const TemporaryFolder folder;
    for (const auto& entry : std::filesystem::directory_iterator(*shared)) {
        if (entry.path().extension() != ".safetensors") continue;
        const File original = reopen(entry.path());
        const std::string path = folder.path() + "/copy";
        Writer writer = create(path);
        for (std::uint64_t i = 0; i < original->tensor_count(); ++i) {
            ASSERT_TRUE(writer->add(original->tensor_info(i)->name, original->tensor(i).value()).has_value());
        }
        for (std::uint64_t i = 0; i < original->metadata_count(); ++i) {
            ASSERT_TRUE(writer->set_metadata(original->metadata(i)->key, text(original->metadata(i)->value.text)).has_value());
        }
        ASSERT_TRUE(writer->finish().has_value());
        const File copy = reopen(path);
        ASSERT_EQ(copy->tensor_count(), original->tensor_count());
        ASSERT_EQ(copy->metadata_count(), original->metadata_count());
        for (std::uint64_t i = 0; i < original->tensor_count(); ++i) {
            const auto name = original->tensor_info(i)->name;
            EXPECT_EQ(copy_of(element_bytes(read(copy, name))), copy_of(element_bytes(read(original, name)))) << name;
        }
    }
}

}  // namespace
}  // namespace hurray
