// The C++ header over the shared library: ownership exactly once, errors as values, callbacks that throw.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <hurray.hpp>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

namespace {

using hurray::Result;
using hurray::Span;
using hurray::Tensor;

constexpr std::uint64_t shape_2_3[] = {2, 3};

// Every test ends with the handles that it started with: each was ended once, and none twice, which the checks would
// tell.
class HurrayHpp : public testing::Test {
  protected:
    void SetUp() override {
        ASSERT_TRUE(hurray::set_handle_checks(true));
        before_ = live();
    }
    void TearDown() override { EXPECT_EQ(live(), before_); }
    static std::uint64_t live() { return hurray::live_handles().value_or(hurray::LiveHandles{}).handles; }

  private:
    std::uint64_t before_ = 0;
};

Tensor numbers(std::size_t count = 6, Span<const std::uint64_t> shape = shape_2_3) {
    std::vector<float> values(count);
    std::iota(values.begin(), values.end(), 0.0f);
    auto tensor = Tensor::from_container(std::move(values), shape);
    EXPECT_TRUE(tensor) << tensor.error().message();
    return std::move(*tensor);
}

TEST_F(HurrayHpp, HandlesMoveAndNeverCopy) {
    static_assert(!std::is_copy_constructible_v<Tensor> && !std::is_copy_assignable_v<Tensor>);
    static_assert(std::is_nothrow_move_constructible_v<Tensor> && std::is_nothrow_move_assignable_v<Tensor>);
    static_assert(!std::is_copy_constructible_v<hurray::Buffer> && !std::is_copy_constructible_v<hurray::File>);
    static_assert(sizeof(Tensor) == sizeof(void*));
}

TEST_F(HurrayHpp, AMovedFromHandleIsEmptyAndAnAssignedOneEndsWhatItHeld) {
    int released = 0;
    float data[6] = {};
    hurray::DenseSpec spec;
    spec.element_type = HURRAY_TYPE_FLOAT32;
    spec.shape = shape_2_3;
    auto first = Tensor::from_host(spec, data, sizeof data, [&] { ++released; });
    ASSERT_TRUE(first);
    Tensor second = std::move(*first);
    EXPECT_FALSE(*first);  // NOLINT: what is asked
    EXPECT_EQ(released, 0);
    second = numbers();
    EXPECT_EQ(released, 1);
    Tensor& itself = second;
    second = std::move(itself);
    EXPECT_TRUE(second);
    second.reset();
    EXPECT_FALSE(second);
}

TEST_F(HurrayHpp, AReleaseCallableRunsOnceWhenTheLastShareGoesAndIsDestroyed) {
    const auto token = std::make_shared<int>(0);
    void* got = nullptr;
    alignas(64) static char data[64];
    {
        auto buffer = hurray::Buffer::from_pointer(data, sizeof data, 64, [token, &got](void* memory) {
            ++*token;
            got = memory;
        });
        ASSERT_TRUE(buffer);
        auto share = buffer->share();
        ASSERT_TRUE(share);
        buffer->reset();
        EXPECT_EQ(*token, 0);
    }
    EXPECT_EQ(*token, 1);
    EXPECT_EQ(got, data);
    EXPECT_EQ(token.use_count(), 1);
}

TEST_F(HurrayHpp, AfterAFailureTheReleaseDoesNotRunAndTheCallableIsDestroyed) {
    const auto token = std::make_shared<int>(0);
    alignas(64) static char data[128];
    const auto buffer = hurray::Buffer::from_pointer(data + 1, 64, 64, [token] { ++*token; });
    ASSERT_FALSE(buffer);
    EXPECT_EQ(buffer.error().code(), HURRAY_ERR_MISALIGNED);
    EXPECT_EQ(*token, 0);
    EXPECT_EQ(token.use_count(), 1);
}

TEST_F(HurrayHpp, AReleaseThatThrowsIsCaughtInTheTrampoline) {
    alignas(64) static char data[64];
    auto buffer = hurray::Buffer::from_pointer(data, sizeof data, 64, [] { throw std::runtime_error("release"); });
    ASSERT_TRUE(buffer);
    EXPECT_NO_THROW(buffer->reset());
    HurrayError diagnostic{};
    // The library never saw an exception.
    EXPECT_EQ(hurray_diagnostics_read(0, &diagnostic, nullptr), HURRAY_ERR_INDEX_OUT_OF_BOUNDS);
}

TEST_F(HurrayHpp, AProgressThatThrowsEndsTheWorkWithAnErrorValue) {
    const std::uint64_t shape[] = {512, 512};
    const auto tensor = numbers(512 * 512, shape);
    hurray::WorkOptions options;
    const auto thrower = [](std::uint64_t, std::uint64_t) -> bool { throw std::runtime_error("progress"); };
    options.progress = thrower;
    const auto made = tensor.transcode(HURRAY_LAYOUT_COL_MAJOR, options);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code(), HURRAY_ERR_INTERNAL_PANIC);
}

TEST_F(HurrayHpp, AProgressThatReturnsFalseCancels) {
    const std::uint64_t shape[] = {512, 512};
    const auto tensor = numbers(512 * 512, shape);
    int calls = 0;
    const auto stop = [&](std::uint64_t done, std::uint64_t total) {
        EXPECT_LE(done, total);
        ++calls;
        return false;
    };
    hurray::WorkOptions options;
    options.progress = stop;
    const auto made = tensor.transcode(HURRAY_LAYOUT_COL_MAJOR, options);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code(), HURRAY_ERR_CANCELLED);
    EXPECT_EQ(calls, 1);
}

TEST_F(HurrayHpp, ErrorsCarryCodeNameMessageAndOffset) {
    const std::uint8_t bytes[] = "HRRX, which is no descriptor";
    const auto descriptor = hurray::Descriptor::decode(Span<const std::uint8_t>(bytes, sizeof bytes));
    ASSERT_FALSE(descriptor);
    EXPECT_EQ(descriptor.error().code(), HURRAY_ERR_INVALID_MAGIC);
    EXPECT_STREQ(descriptor.error().name(), "INVALID_MAGIC");
    EXPECT_NE(descriptor.error().message()[0], '\0');
    EXPECT_EQ(descriptor.error().offset(), 0U);
    EXPECT_EQ(hurray::Error(-1, "no place").offset(), std::nullopt);
    EXPECT_EQ(hurray::Error(-1, "at [byte 12").offset(), std::nullopt);
    EXPECT_EQ(hurray::Error(-1, "at [byte 1x2]").offset(), std::nullopt);
    EXPECT_EQ(hurray::Error(-1, "at [byte 18446744073709551615]").offset(), UINT64_MAX);
    EXPECT_EQ(std::strlen(hurray::Error(-1, std::string(1000, 'x')).message()), 255U);
}

TEST_F(HurrayHpp, ResultsGoOnOrStop) {
    Result<int> good = 4;
    EXPECT_EQ(std::move(good).and_then([](int value) { return Result<double>(value / 2.0); }).value_or(0.0), 2.0);
    Result<int> bad = hurray::Error(HURRAY_ERR_IO, "x");
    EXPECT_EQ(std::move(bad).and_then([](int) { return Result<int>(1); }).error().code(), HURRAY_ERR_IO);
}

using HurrayHppDeathTest = HurrayHpp;

TEST_F(HurrayHppDeathTest, ToLookAtTheWrongSideOfAResultEndsTheProgram) {
    const Result<int> bad = hurray::Error(HURRAY_ERR_IO, "x");
    EXPECT_DEATH((void)*bad, "");
    const Result<int> good = 1;
    EXPECT_DEATH((void)good.error(), "");
}

TEST_F(HurrayHpp, DescriptorsAreBuiltReadAndEncoded) {
    const std::int64_t strides[] = {-3, 0};
    auto builder = hurray::DescriptorBuilder::create(HURRAY_TYPE_INT16, HURRAY_LAYOUT_STRIDED, shape_2_3);
    ASSERT_TRUE(builder);
    const auto descriptor = builder->strides(strides).byte_offset(6).add_buffer(8).build();
    ASSERT_TRUE(descriptor) << descriptor.error().message();
    const auto bytes = descriptor->encode();
    ASSERT_TRUE(bytes);
    const auto again = hurray::Descriptor::decode(*bytes);
    ASSERT_TRUE(again);
    const auto info = again->info();
    ASSERT_TRUE(info);
    EXPECT_EQ(info->strides[0], -3);
    EXPECT_EQ(info->byte_offset, 6U);
    EXPECT_EQ(info->element_count, 6U);
    EXPECT_EQ(hurray::Descriptor::peek_length(*bytes).value_or(std::uint64_t{0}), bytes->size());
    EXPECT_EQ(again->quantization()->present, 0);
}

TEST_F(HurrayHpp, ABuilderReportsTheFirstCallThatFailed) {
    const std::uint64_t one[] = {1};
    auto builder = hurray::DescriptorBuilder::create(HURRAY_TYPE_INT16, HURRAY_LAYOUT_ROW_MAJOR, shape_2_3);
    ASSERT_TRUE(builder);
    const auto descriptor = builder->shard(shape_2_3, one).add_buffer(12).build();
    ASSERT_FALSE(descriptor);
    EXPECT_EQ(descriptor.error().code(), HURRAY_ERR_INVALID_ARGUMENT);
}

TEST_F(HurrayHpp, ViewsAreTypedAndRefuseWhatTheyCannotGive) {
    const auto tensor = numbers();
    const auto view = tensor.view();
    ASSERT_TRUE(view);
    const auto floats = view->as<float>();
    ASSERT_TRUE(floats);
    EXPECT_EQ(floats->size(), 6U);
    EXPECT_EQ((*floats)[5], 5.0f);
    EXPECT_EQ(view->as<double>().error().code(), HURRAY_ERR_INVALID_TYPE);
    EXPECT_EQ(view->bytes().size(), 24U);

    alignas(4) static char data[32];
    hurray::DenseSpec spec;
    spec.element_type = HURRAY_TYPE_FLOAT32;
    spec.shape = shape_2_3;
    const auto unaligned = Tensor::from_host(spec, data + 1, 24, [] {});
    ASSERT_TRUE(unaligned);
    EXPECT_EQ(unaligned->view()->as<float>().error().code(), HURRAY_ERR_MISALIGNED);
    const std::int64_t strides[] = {1, 2};
    spec.strides = strides;
    const auto strided = Tensor::from_host(spec, data, 24, [] {});
    ASSERT_TRUE(strided);
    EXPECT_EQ(strided->view()->as<float>().error().code(), HURRAY_ERR_UNSUPPORTED);
    std::uint64_t copied = 0;
    const auto copy = strided->copy(0, &copied);
    ASSERT_TRUE(copy);
    EXPECT_EQ(copied, 24U);
    EXPECT_TRUE(copy->view()->as<float>());
}

TEST_F(HurrayHpp, ScalarsAndEmptyTensorsHaveViews) {
    const auto scalar = Tensor::from_container(std::vector<double>{2.5}, {});
    ASSERT_TRUE(scalar);
    EXPECT_EQ((*scalar->view()->as<double>())[0], 2.5);
    EXPECT_EQ(scalar->element({}).value_or(0.0), 2.5);
    const std::uint64_t nothing[] = {0, 7};
    const auto empty = Tensor::from_container(std::vector<std::int8_t>(), nothing);
    ASSERT_TRUE(empty) << empty.error().message();
    EXPECT_TRUE(empty->view()->as<std::int8_t>()->empty());
}

TEST_F(HurrayHpp, APairMovesIntoTheTensorOnSuccessAndStaysOnFailure) {
    const auto tensor = numbers();
    auto pair = tensor.export_pair();
    ASSERT_TRUE(pair);
    EXPECT_EQ(pair->list.size().value_or(std::uint64_t{0}), 1U);
    EXPECT_EQ(pair->context.abi_version().value_or(0U), static_cast<std::uint32_t>(HURRAY_C_ABI_VERSION));

    auto wrong = hurray::TensorContext::create(Span<const std::uint8_t>());
    ASSERT_TRUE(wrong);
    EXPECT_FALSE(Tensor::import(pair->list, *wrong));
    EXPECT_TRUE(pair->list);
    EXPECT_TRUE(*wrong);

    const auto imported = Tensor::import(pair->list, pair->context);
    ASSERT_TRUE(imported) << imported.error().message();
    EXPECT_FALSE(pair->list);
    EXPECT_FALSE(pair->context);
    const std::uint64_t last[] = {1, 2};
    EXPECT_EQ(imported->element(last).value_or(0.0), 5.0);
}

TEST_F(HurrayHpp, DlpackGoesThereAndBackAndEndsOnce) {
    Tensor tensor = numbers();
    const void* const data = tensor.view()->raw().data;
    auto managed = tensor.to_dlpack();
    ASSERT_TRUE(managed);
    EXPECT_EQ((*managed)->dl_tensor.data, data);
    auto back = Tensor::from_dlpack(*managed);
    ASSERT_TRUE(back);
    EXPECT_EQ(*managed, nullptr);
    EXPECT_EQ(back->view()->raw().data, data);

    auto old = back->to_dlpack_unversioned();
    ASSERT_TRUE(old);
    (*old)->dl_tensor.device_type = 2;
    const auto refused = Tensor::from_dlpack(*old);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), HURRAY_ERR_UNSUPPORTED);
    EXPECT_NE(*old, nullptr) << "what was not taken is still the caller's";
    (*old)->dl_tensor.device_type = 1;
    EXPECT_TRUE(Tensor::from_dlpack(*old));
    // What no longer has a consumer ends by itself.
    EXPECT_TRUE(tensor.to_dlpack());
}

TEST_F(HurrayHpp, ListsTakeBuffersOverOnSuccessOnly) {
    auto list = hurray::BufferList::create();
    auto buffer = hurray::Buffer::allocate(100);
    ASSERT_TRUE(list && buffer);
    ASSERT_TRUE(list->push(*buffer));
    EXPECT_FALSE(*buffer);
    const auto borrowed = list->at(0);
    ASSERT_TRUE(borrowed);
    EXPECT_EQ(borrowed->bytes()->size(), 100U);
    hurray::Buffer pretended(borrowed->get());
    EXPECT_FALSE(list->push(pretended));
    EXPECT_TRUE(pretended);
    (void)pretended.release();
    EXPECT_EQ(list->at(1).error().code(), HURRAY_ERR_INDEX_OUT_OF_BOUNDS);
}

TEST_F(HurrayHpp, WorkOnElements) {
    const auto tensor = numbers();
    auto spec = hurray::sized<HurrayQuantizeSpec>();
    spec.scheme = HURRAY_SCHEME_PER_TENSOR_AFFINE;
    spec.storage_type = HURRAY_TYPE_INT8;
    const auto quantized = tensor.quantize(spec);
    ASSERT_TRUE(quantized) << quantized.error().message();
    EXPECT_TRUE(quantized->validate(HURRAY_VALIDATE_DATA));
    const std::uint64_t last[] = {1, 2};
    EXPECT_NEAR(quantized->element_dequantized(last).value_or(0.0), 5.0, 0.02);
    const auto back = quantized->dequantize();
    ASSERT_TRUE(back);
    EXPECT_NEAR(back->element(last).value_or(0.0), 5.0, 0.02);
    const auto statistics = tensor.statistics(HURRAY_STATISTICS_RANGE | HURRAY_STATISTICS_NNZ);
    ASSERT_TRUE(statistics);
    EXPECT_EQ(statistics->value_max, 5.0);
    EXPECT_EQ(statistics->nnz, 5U);
}

TEST_F(HurrayHpp, StreamsGiveWhatWasWrittenAndACleanEnd) {
    auto writer = hurray::Writer::to_memory();
    ASSERT_TRUE(writer);
    ASSERT_TRUE(writer->write(numbers()));
    const auto bytes = writer->take();
    ASSERT_TRUE(bytes);
    auto reader = hurray::Reader::from_memory(*bytes->bytes());
    ASSERT_TRUE(reader);
    const auto item = reader->next_item();
    ASSERT_TRUE(item);
    ASSERT_TRUE(item->tensor);
    EXPECT_FALSE(item->composite);
    EXPECT_TRUE(reader->next_item()->end());
    EXPECT_FALSE(*reader->next());
}

TEST_F(HurrayHpp, CompositesAreBuiltTakenApartAndMerged) {
    auto head = hurray::DescriptorBuilder::create(HURRAY_TYPE_FLOAT32, HURRAY_LAYOUT_COMPOSITE, shape_2_3);
    ASSERT_TRUE(head);
    auto fields = hurray::sized<HurrayLayoutFields>();
    fields.layout = HURRAY_LAYOUT_COMPOSITE;
    fields.composition_rule = HURRAY_COMPOSITION_GROUP;
    fields.member_count = 1;
    const auto descriptor = head->layout_fields(fields).build();
    ASSERT_TRUE(descriptor) << descriptor.error().message();
    auto builder = hurray::CompositeBuilder::create(*descriptor);
    ASSERT_TRUE(builder);
    ASSERT_TRUE(builder->add(numbers()));
    const auto composite = builder->build();
    ASSERT_TRUE(composite) << composite.error().message();
    EXPECT_EQ(composite->info()->member_count, 1U);
    EXPECT_EQ(composite->head()->info()->rank, 2U);
    const auto member = composite->member(0);
    ASSERT_TRUE(member);
    EXPECT_TRUE(member->tensor);
    EXPECT_EQ(composite->merged().error().code(), HURRAY_ERR_UNSUPPORTED);
}

TEST_F(HurrayHpp, ElementsOfAPartitionAreThoseOfItsMembers) {
    const std::uint64_t whole[] = {4};
    const std::uint64_t part[] = {2};
    auto head = hurray::DescriptorBuilder::create(HURRAY_TYPE_FLOAT32, HURRAY_LAYOUT_COMPOSITE, whole);
    ASSERT_TRUE(head);
    auto fields = hurray::sized<HurrayLayoutFields>();
    fields.layout = HURRAY_LAYOUT_COMPOSITE;
    fields.composition_rule = HURRAY_COMPOSITION_PARTITION;
    fields.member_count = 2;
    auto builder = hurray::CompositeBuilder::create(*head->layout_fields(fields).build());
    ASSERT_TRUE(builder);
    for (const std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{2}}) {
        auto buffer = hurray::Buffer::allocate(8);
        ASSERT_TRUE(buffer);
        const float values[] = {static_cast<float>(offset), static_cast<float>(offset) + 1.5F};
        std::memcpy(buffer->mutable_bytes()->data(), values, sizeof values);
        auto list = hurray::BufferList::create();
        ASSERT_TRUE(list);
        ASSERT_TRUE(list->push(std::move(*buffer)));
        auto member = hurray::DescriptorBuilder::create(HURRAY_TYPE_FLOAT32, HURRAY_LAYOUT_ROW_MAJOR, part);
        ASSERT_TRUE(member);
        const auto descriptor = member->shard(whole, {&offset, 1}).add_buffer(8).build();
        ASSERT_TRUE(descriptor) << descriptor.error().message();
        ASSERT_TRUE(builder->add(*Tensor::create(*descriptor, *list)));
    }
    auto composite = builder->build();
    ASSERT_TRUE(composite) << composite.error().message();
    const std::uint64_t index[] = {3};
    EXPECT_EQ(composite->member_at(index).value_or(9U), 1U);
    EXPECT_EQ(composite->element(index).value_or(0.0), 3.5);
    EXPECT_EQ(*composite->element_complex(index), std::complex<double>(3.5, 0));
    const auto bits = composite->element_bits(index);
    ASSERT_TRUE(bits);
    EXPECT_EQ(bits->low, 0x40600000U);
    EXPECT_EQ(composite->merged()->element(index).value_or(0.0), 3.5);
    EXPECT_TRUE(builder->reset_deferred());
    EXPECT_TRUE(composite->reset_deferred());
}

TEST_F(HurrayHpp, FilesAreWrittenAndTensorsOutliveThem) {
    const std::string path = testing::TempDir() + "/hurray_hpp_test.safetensors";
    const std::string name("n\0\xC3\xA9", 4);
    {
        auto writer = hurray::FileWriter::create(path.c_str(), HURRAY_FORMAT_SAFETENSORS);
        ASSERT_TRUE(writer);
        ASSERT_TRUE(writer->add(name, numbers()));
        ASSERT_TRUE(writer->set_metadata("key", "value"));
        ASSERT_TRUE(writer->finish());
    }
    Tensor tensor;
    {
        const auto file = hurray::File::open(path.c_str());
        ASSERT_TRUE(file) << file.error().message();
        EXPECT_EQ(file->info()->tensor_count, 1U);
        EXPECT_EQ(hurray::name_of(*file->tensor_info(0)), name);
        EXPECT_EQ(file->find("other").error().code(), HURRAY_ERR_NOT_FOUND);
        auto made = file->tensor(name);
        ASSERT_TRUE(made);
        tensor = std::move(*made);
    }
    const std::uint64_t last[] = {1, 2};
    EXPECT_EQ(tensor.element(last).value_or(0.0), 5.0);
    ::unlink(path.c_str());
    EXPECT_EQ(hurray::File::open(path.c_str()).error().code(), HURRAY_ERR_NOT_FOUND);
}

TEST_F(HurrayHpp, AnEventIsReleasedExactlyOnce) {
    int released = 0;
    HurrayBufferHandleBytes handle{};
    handle.bytes[0] = 64;
    handle.bytes[8] = 64;
    handle.bytes[12] = HURRAY_DEVICE_CUDA;
    handle.bytes[13] = HURRAY_SYNC_EVENT;
    HurrayEventPayload event{};
    int object = 0;
    event.sync_handle = &object;
    event.sync_handle_device_tag = HURRAY_DEVICE_CUDA;
    event.event_release_fn = [](void*, void* context) { ++*static_cast<int*>(context); };
    event.event_release_context = &released;
    alignas(64) static char data[64];
    const auto buffer = hurray::hand_off(
        handle, data, [] {}, &event);
    ASSERT_TRUE(buffer) << buffer.error().message();
    EXPECT_EQ(hurray::event_of(buffer->ref())->handle, &object);
    EXPECT_TRUE(hurray::release_event(buffer->ref()));
    EXPECT_EQ(hurray::release_event(buffer->ref()).error().code(), HURRAY_ERR_INVALID_HANDLE);
    EXPECT_EQ(released, 1);
    EXPECT_EQ(hurray::hand_off(handle, data, [] {}).error().code(), HURRAY_ERR_SYNC_MODE_MISMATCH);
}

TEST_F(HurrayHpp, SharesMayBeUsedByOtherThreads) {
    const auto tensor = numbers();
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        auto share = tensor.share();
        ASSERT_TRUE(share);
        threads.emplace_back([own = std::move(*share)] {
            const std::uint64_t last[] = {1, 2};
            EXPECT_EQ(own.element(last).value_or(0.0), 5.0);
        });
    }
    for (auto& thread : threads) thread.join();
}

TEST_F(HurrayHpp, NamesAndTagsBelongTogether) {
    for (unsigned tag = 0; tag < 256; ++tag) {
        const auto byte = static_cast<std::uint8_t>(tag);
        const std::string type = hurray::type_name(byte);
        if (type != "private" && type != "unknown") {
            EXPECT_EQ(hurray::type_named(type), byte);
        }
        const std::string layout = hurray::layout_name(byte);
        if (layout != "private_extension" && layout != "unknown") {
            EXPECT_EQ(hurray::layout_named(layout), byte);
        }
    }
    EXPECT_EQ(hurray::type_named("float33"), 0);
    EXPECT_EQ(hurray::type_named("unknown"), 0);
    EXPECT_EQ(hurray::scheme_named("mxfp"), HURRAY_SCHEME_MXFP);
    EXPECT_STREQ(hurray::device_name(HURRAY_DEVICE_CPU), "cpu");
    EXPECT_TRUE(hurray::check_version());
}

}  // namespace
