// When releases run, and on which thread: deferred ends, release queues, owners of contexts, producers, and who hears of what fails.
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "bindings/cpp/tests/live_handles.hpp"

namespace {

using hurray::Tensor;
using hurray_test::numbers;

class Release : public hurray_test::LiveHandles {};

alignas(64) char memory[64];

TEST_F(Release, ADeferredEndWaitsOnTheQueueOfTheBuffer) {
    int released = 0;
    auto queue = hurray::ReleaseQueue::create();
    ASSERT_TRUE(queue);
    auto buffer = hurray::Buffer::from_pointer(memory, sizeof memory, 64, [&] { ++released; });
    ASSERT_TRUE(buffer);
    ASSERT_TRUE(buffer->set_release_queue(*queue));
    std::thread([own = std::move(*buffer)]() mutable { EXPECT_TRUE(own.reset_deferred()); }).join();
    EXPECT_EQ(released, 0);
    EXPECT_EQ(queue->pending().value_or(0U), 1U);
    EXPECT_EQ(queue->drain().value_or(0U), 1U);
    EXPECT_EQ(released, 1);
    EXPECT_TRUE(hurray::Buffer().reset_deferred()) << "an empty one has nothing to end";
}

TEST_F(Release, ATensorsQueueIsNamedWhenItIsMade) {
    int released = 0;
    auto queue = hurray::ReleaseQueue::create();
    ASSERT_TRUE(queue);
    const std::uint64_t shape[] = {16};
    hurray::DenseSpec spec;
    spec.element_type = HURRAY_TYPE_FLOAT32;
    spec.shape = shape;
    spec.queue = &*queue;
    auto tensor = Tensor::from_host(spec, memory, sizeof memory, [&] { ++released; });
    ASSERT_TRUE(tensor);
    ASSERT_TRUE(tensor->reset_deferred());
    EXPECT_FALSE(*tensor);
    EXPECT_EQ(released, 0);
    queue->reset();  // ends what waits
    EXPECT_EQ(released, 1);
}

TEST_F(Release, WithoutAQueueItWaitsOnTheDefaultOne) {
    int released = 0;
    auto buffer = hurray::Buffer::from_pointer(memory, sizeof memory, 64, [&] { ++released; });
    ASSERT_TRUE(buffer);
    const std::uint64_t before = hurray::ReleaseQueue::pending_default().value_or(0U);
    ASSERT_TRUE(buffer->reset_deferred());
    EXPECT_EQ(hurray::ReleaseQueue::pending_default().value_or(0U), before + 1);
    EXPECT_EQ(hurray::ReleaseQueue::drain_default().value_or(0U), before + 1);
    EXPECT_EQ(released, 1);
}

TEST_F(Release, EveryKindOfHandleThatKeepsMemoryCanEndDeferred) {
    auto tensor = numbers();
    auto pair = tensor.export_pair();
    ASSERT_TRUE(pair);
    EXPECT_TRUE(pair->list.reset_deferred());
    EXPECT_TRUE(pair->context.reset_deferred());
    const std::string path = testing::TempDir() + "/release_test.hrry";
    auto writer = hurray::FileWriter::create(path.c_str(), HURRAY_FORMAT_HRRY);
    ASSERT_TRUE(writer);
    ASSERT_TRUE(writer->add("x", tensor));
    EXPECT_TRUE(writer->reset_deferred());
    EXPECT_EQ(hurray::File::open(path.c_str()).error().code(), HURRAY_ERR_NOT_FOUND);
    EXPECT_TRUE(tensor.reset_deferred());
    (void)hurray::ReleaseQueue::drain_default();
}

TEST_F(Release, TheOwnerOfAContextIsReleasedOnce) {
    const auto token = std::make_shared<int>(0);
    const auto model = numbers();
    const auto bytes = model.descriptor()->encode();
    ASSERT_TRUE(bytes);
    {
        auto context = hurray::TensorContext::create(*bytes, [token] { ++*token; });
        ASSERT_TRUE(context);
        EXPECT_EQ(context->abi_version().value_or(0U), std::uint32_t{HURRAY_C_ABI_VERSION});
        EXPECT_TRUE(context->supports().value_or(false));
        EXPECT_FALSE(context->supports(HURRAY_C_ABI_VERSION + 1).value_or(true));
        auto queue = hurray::ReleaseQueue::create();
        ASSERT_TRUE(queue);
        ASSERT_TRUE(context->set_release_queue(*queue));
        ASSERT_TRUE(context->reset_deferred());
        EXPECT_EQ(*token, 0);
        EXPECT_EQ(queue->drain().value_or(0U), 1U);
    }
    EXPECT_EQ(*token, 1);
    EXPECT_EQ(token.use_count(), 1);
}

TEST_F(Release, AProducerMakesATensorForTheConsumersStreamAndIsReleasedOnce) {
    const auto token = std::make_shared<int>(0);
    int stream = 0;
    hurray::DeviceHandle asked;
    auto producer = hurray::Producer::create([token, &asked](hurray::DeviceHandle wanted) {
        asked = wanted;
        return numbers(3).export_pair();
    });
    ASSERT_TRUE(producer);
    hurray::Producer moved = std::move(*producer);
    EXPECT_FALSE(*producer);  // NOLINT: what is asked
    const auto tensor = moved.request({&stream, HURRAY_DEVICE_CUDA});
    ASSERT_TRUE(tensor) << tensor.error().message();
    const std::uint64_t first[] = {0, 0};
    EXPECT_EQ(tensor->element(first).value_or(0.0), 3.0);
    EXPECT_EQ(asked.handle, &stream);
    EXPECT_EQ(asked.device, HURRAY_DEVICE_CUDA);
    EXPECT_EQ(token.use_count(), 2);
    HurrayProducer raw = moved.release();
    EXPECT_EQ(hurray_producer_release(&raw, nullptr), HURRAY_OK);
    EXPECT_EQ(token.use_count(), 1);
    EXPECT_EQ(moved.request().error().code(), HURRAY_ERR_INVALID_ARGUMENT);
}

TEST_F(Release, WhatAProducerSaysOrThrowsArrives) {
    auto refusing = hurray::Producer::create([](hurray::DeviceHandle) -> hurray::Result<hurray::ExportedTensor> {
        return hurray::Error(HURRAY_ERR_OUT_OF_MEMORY, "the device is full");
    });
    ASSERT_TRUE(refusing);
    EXPECT_EQ(refusing->request().error().code(), HURRAY_ERR_OUT_OF_MEMORY);
    EXPECT_STREQ(refusing->request().error().message(), "producer->export_tensor: the device is full");
    auto throwing = hurray::Producer::create(
        [](hurray::DeviceHandle) -> hurray::Result<hurray::ExportedTensor> { throw std::runtime_error("export"); });
    ASSERT_TRUE(throwing);
    EXPECT_EQ(throwing->request().error().code(), HURRAY_ERR_INTERNAL_PANIC);
}

// Of the C API, whose contract forbids what it does: the library keeps and tells it.
void let_a_release_throw() {
    HurrayBuffer* buffer = nullptr;
    ASSERT_EQ(hurray_buffer_from_ptr(
                  memory, sizeof memory, 64, HURRAY_DEVICE_CPU, [](void*, void*) { throw std::runtime_error("heard"); }, nullptr,
                  &buffer),
              HURRAY_OK);
    ASSERT_EQ(hurray_buffer_destroy(buffer), HURRAY_ERR_INTERNAL_PANIC);
}

TEST_F(Release, ALogCallbackHearsUntilItEnds) {
    std::vector<std::string> heard;
    const auto hear = [&heard](HurrayStatus code, std::string_view message) {
        EXPECT_EQ(code, HURRAY_ERR_INTERNAL_PANIC);
        heard.emplace_back(message);
        throw 1;  // goes nowhere
    };
    auto log = hurray::LogCallback::install(hear);
    ASSERT_TRUE(log);
    let_a_release_throw();
    ASSERT_EQ(heard.size(), 1U);
    EXPECT_NE(heard[0].find("heard"), std::string::npos);
    auto second = hurray::LogCallback::install(hear);
    ASSERT_TRUE(second);
    *log = std::move(*second);
    let_a_release_throw();
    EXPECT_EQ(heard.size(), 2U);
    { const hurray::LogCallback ended = std::move(*log); }
    let_a_release_throw();
    EXPECT_EQ(heard.size(), 2U);

    std::uint32_t count = 0;
    HurrayError last{};
    while (const auto entry = hurray::diagnostic(count)) {
        last = *entry;
        ++count;
    }
    EXPECT_GE(count, 3U);
    EXPECT_NE(std::string(last.message).find("heard"), std::string::npos);
    EXPECT_EQ(hurray::diagnostic(count).error().code(), HURRAY_ERR_INDEX_OUT_OF_BOUNDS);
    EXPECT_STREQ(hurray::build_id(), hurray::runtime_info()->build_id);
}

TEST_F(Release, AHostBufferTellsThePrefixThatIsNotItsOwn) {
    auto host = hurray::wrap_host(memory + 8, 16, true, [] {});
    ASSERT_TRUE(host);
    EXPECT_EQ(host->byte_offset, 8U);
    EXPECT_EQ(host->buffer.prefix().value_or(0U), 8U);
    EXPECT_EQ(host->buffer.bytes()->data(), reinterpret_cast<const std::uint8_t*>(memory) + 8);
}

}  // namespace
