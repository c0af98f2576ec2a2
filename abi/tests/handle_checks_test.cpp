// The seed: the implementation MUST detect double-free and use-after-free in debug builds. Every kind of handle, with the
// runtime switch on: a destroyed handle answers INVALID_HANDLE, and nothing is ended twice. (seed: Opaque Handles)
#include <sys/socket.h>
#include <unistd.h>

#include <functional>
#include <vector>

#include "abi/tests/composites.hpp"
#include "abi/tests/support.hpp"

namespace {

using hurray_test::AlignedBytes;
using hurray_test::ReleaseCounter;

class HandleChecks : public hurray_test::BaseLineTest {
protected:
    void SetUp() override {
        HurrayRuntimeInfo info{};
        info.struct_size = sizeof info;
        ASSERT_EQ(hurray_runtime_info(&info, nullptr), HURRAY_OK);
        before_ = static_cast<std::uint8_t>(info.handle_checks);
        ASSERT_EQ(hurray_handle_checks_set(1, nullptr), HURRAY_OK);
        BaseLineTest::SetUp();
    }
    void TearDown() override {
        BaseLineTest::TearDown();
        EXPECT_EQ(hurray_handle_checks_set(before_, nullptr), HURRAY_OK);
    }

    // Ends the handle and then asks everything of the stale pointer. The quarantine keeps it readable.
    template <class Handle>
    void expect_detected(const char* kind, Handle* handle, HurrayStatus (*destroy)(Handle**),
                         const std::vector<std::function<HurrayStatus(Handle*)>>& uses) {
        Handle* variable = handle;
        ASSERT_EQ(destroy(&variable), HURRAY_OK) << kind;
        EXPECT_EQ(variable, nullptr) << kind;
        EXPECT_EQ(destroy(&variable), HURRAY_OK) << kind << ": a null variable is a no-op";
        Handle* stale = handle;
        EXPECT_EQ(destroy(&stale), HURRAY_ERR_INVALID_HANDLE) << kind << " destroyed twice";
        EXPECT_EQ(stale, handle) << kind << ": a refused call changes nothing";
        int number = 0;
        for (const auto& use : uses) EXPECT_EQ(use(handle), HURRAY_ERR_INVALID_HANDLE) << kind << ", use " << number++;
    }

    std::string file_name() const { return ::testing::TempDir() + "/hurray_handle_checks.safetensors"; }

    AlignedBytes<64> memory;
    ReleaseCounter releases;

private:
    std::uint8_t before_ = 0;
};

template <class Handle>
using Uses = std::vector<std::function<HurrayStatus(Handle*)>>;

TEST_F(HandleChecks, Buffer) {
    HurrayBuffer* buffer = hurray_test::buffer_over(memory.bytes, 64, releases);
    ASSERT_EQ(hurray_buffer_destroy(buffer), HURRAY_OK);
    EXPECT_EQ(hurray_buffer_destroy(buffer), HURRAY_ERR_INVALID_HANDLE);
    EXPECT_EQ(hurray_buffer_destroy_deferred(buffer, nullptr), HURRAY_ERR_INVALID_HANDLE);
    HurrayBuffer* share = nullptr;
    EXPECT_EQ(hurray_buffer_share(buffer, &share, nullptr), HURRAY_ERR_INVALID_HANDLE);
    EXPECT_EQ(hurray_buffer_event_release(buffer, nullptr), HURRAY_ERR_INVALID_HANDLE);
    HurrayBufferList* list = nullptr;
    ASSERT_EQ(hurray_buffer_list_new(1, &list), HURRAY_OK);
    EXPECT_EQ(hurray_buffer_list_push(list, buffer), HURRAY_ERR_INVALID_HANDLE);
    EXPECT_EQ(hurray_buffer_list_destroy(&list), HURRAY_OK);
    EXPECT_EQ(releases.calls, 1);
}

TEST_F(HandleChecks, BufferList) {
    HurrayBufferList* list = nullptr;
    ASSERT_EQ(hurray_buffer_list_new(1, &list), HURRAY_OK);
    ASSERT_EQ(hurray_buffer_list_push(list, hurray_test::buffer_over(memory.bytes, 64, releases)), HURRAY_OK);
    HurrayBuffer* borrowed = nullptr;
    ASSERT_EQ(hurray_buffer_list_get(list, 0, &borrowed), HURRAY_OK);
    expect_detected<HurrayBufferList>("list", list, &hurray_buffer_list_destroy,
                                      Uses<HurrayBufferList>{
                                          [](HurrayBufferList* stale) {
                                              std::uint64_t length = 0;
                                              return hurray_buffer_list_len(stale, &length);
                                          },
                                          [](HurrayBufferList* stale) {
                                              HurrayBuffer* buffer = nullptr;
                                              return hurray_buffer_list_get(stale, 0, &buffer);
                                          },
                                          [](HurrayBufferList* stale) {
                                              return hurray_buffer_list_destroy_deferred(&stale, nullptr);
                                          },
                                      });
    EXPECT_EQ(hurray_buffer_destroy(borrowed), HURRAY_ERR_INVALID_HANDLE) << "what was borrowed ended with the list";
    EXPECT_EQ(releases.calls, 1);
}

TEST_F(HandleChecks, TensorContext) {
    HurrayTensorContext* context = nullptr;
    ASSERT_EQ(hurray_tensor_context_new(HURRAY_C_ABI_VERSION, nullptr, 0, &releases, &ReleaseCounter::release_owner, &context),
              HURRAY_OK);
    expect_detected<HurrayTensorContext>("context", context, &hurray_tensor_context_destroy,
                                         Uses<HurrayTensorContext>{
                                             [](HurrayTensorContext* stale) {
                                                 std::uint32_t version = 0;
                                                 return hurray_tensor_context_abi_version(stale, &version);
                                             },
                                             [](HurrayTensorContext* stale) {
                                                 const std::uint8_t* bytes = nullptr;
                                                 std::uint64_t length = 0;
                                                 return hurray_tensor_context_descriptor(stale, &bytes, &length);
                                             },
                                             [](HurrayTensorContext* stale) {
                                                 return hurray_tensor_context_destroy_deferred(&stale, nullptr);
                                             },
                                         });
    EXPECT_EQ(releases.calls, 1);
}

TEST_F(HandleChecks, Tensor) {
    hurray_test::Pair pair;
    HurrayTensor* tensor = nullptr;
    ASSERT_EQ(hurray_tensor_import(&pair.list, &pair.context, &tensor, nullptr), HURRAY_OK);
    expect_detected<HurrayTensor>("tensor", tensor, &hurray_tensor_destroy,
                                  Uses<HurrayTensor>{
                                      [](HurrayTensor* stale) {
                                          HurrayView view{};
                                          view.struct_size = sizeof view;
                                          return hurray_tensor_view(stale, &view, nullptr);
                                      },
                                      [](HurrayTensor* stale) {
                                          const HurrayDescriptor* descriptor = nullptr;
                                          return hurray_tensor_descriptor(stale, &descriptor, nullptr);
                                      },
                                      [](HurrayTensor* stale) {
                                          HurrayTensor* share = nullptr;
                                          return hurray_tensor_share(stale, &share, nullptr);
                                      },
                                      [](HurrayTensor* stale) { return hurray_tensor_destroy_deferred(&stale, nullptr); },
                                  });
    EXPECT_EQ(pair.releases.calls, 1);
    EXPECT_EQ(pair.owner_releases.calls, 1);
}

TEST_F(HandleChecks, DescriptorAndBuilder) {
    const auto bytes = hurray_test::row_major_descriptor(HURRAY_TYPE_FLOAT32, {3, 4}, 48);
    HurrayDescriptor* descriptor = nullptr;
    ASSERT_EQ(hurray_descriptor_decode(bytes.data(), bytes.size(), &descriptor, nullptr), HURRAY_OK);
    expect_detected<HurrayDescriptor>("descriptor", descriptor, &hurray_descriptor_destroy,
                                      Uses<HurrayDescriptor>{[](HurrayDescriptor* stale) {
                                          HurrayDescriptorInfo info{};
                                          info.struct_size = sizeof info;
                                          return hurray_descriptor_info(stale, &info, nullptr);
                                      }});
    const std::uint64_t shape[] = {3};
    HurrayDescriptorBuilder* builder = nullptr;
    ASSERT_EQ(hurray_descriptor_builder_new(HURRAY_TYPE_FLOAT32, HURRAY_LAYOUT_ROW_MAJOR, shape, 1, &builder, nullptr), HURRAY_OK);
    expect_detected<HurrayDescriptorBuilder>("builder", builder, &hurray_descriptor_builder_destroy,
                                             Uses<HurrayDescriptorBuilder>{[](HurrayDescriptorBuilder* stale) {
                                                 return hurray_descriptor_builder_set_byte_offset(stale, 0, nullptr);
                                             }});
}

TEST_F(HandleChecks, ReleaseQueue) {
    HurrayReleaseQueue* queue = nullptr;
    ASSERT_EQ(hurray_release_queue_new(&queue, nullptr), HURRAY_OK);
    expect_detected<HurrayReleaseQueue>("queue", queue, &hurray_release_queue_destroy,
                                        Uses<HurrayReleaseQueue>{[](HurrayReleaseQueue* stale) {
                                            std::uint64_t count = 0;
                                            return hurray_release_queue_drain(stale, 1, &count, nullptr);
                                        }});
}

TEST_F(HandleChecks, FilesAndStreams) {
    HurrayFileWriter* file_writer = nullptr;
    ASSERT_EQ(hurray_file_writer_create(file_name().c_str(), HURRAY_FORMAT_SAFETENSORS, &file_writer, nullptr), HURRAY_OK);
    ASSERT_EQ(hurray_file_writer_finish(file_writer, nullptr), HURRAY_OK);
    expect_detected<HurrayFileWriter>("file writer", file_writer, &hurray_file_writer_destroy,
                                      Uses<HurrayFileWriter>{
                                          [](HurrayFileWriter* stale) { return hurray_file_writer_finish(stale, nullptr); },
                                          [](HurrayFileWriter* stale) {
                                              std::uint64_t copied = 0;
                                              return hurray_file_writer_copied_bytes(stale, &copied, nullptr);
                                          },
                                          [](HurrayFileWriter* stale) { return hurray_file_writer_destroy_deferred(&stale, nullptr); },
                                      });
    HurrayFile* file = nullptr;
    ASSERT_EQ(hurray_file_open(file_name().c_str(), nullptr, &file, nullptr), HURRAY_OK);
    expect_detected<HurrayFile>("file", file, &hurray_file_destroy,
                                Uses<HurrayFile>{
                                    [](HurrayFile* stale) {
                                        HurrayTensor* tensor = nullptr;
                                        return hurray_file_tensor(stale, 0, &tensor, nullptr);
                                    },
                                    [](HurrayFile* stale) {
                                        std::uint64_t index = 0;
                                        return hurray_file_find_metadata(stale, "k", 1, &index, nullptr);
                                    },
                                    [](HurrayFile* stale) { return hurray_file_destroy_deferred(&stale, nullptr); },
                                });
    HurrayReader* reader = nullptr;
    ASSERT_EQ(hurray_reader_from_memory(memory.bytes, 64, nullptr, &reader, nullptr), HURRAY_OK);
    expect_detected<HurrayReader>("reader", reader, &hurray_reader_destroy, Uses<HurrayReader>{[](HurrayReader* stale) {
                                      HurrayTensor* tensor = nullptr;
                                      return hurray_reader_next(stale, &tensor, nullptr);
                                  }});
    HurrayWriter* writer = nullptr;
    ASSERT_EQ(hurray_writer_to_memory(&writer, nullptr), HURRAY_OK);
    expect_detected<HurrayWriter>("writer", writer, &hurray_writer_destroy, Uses<HurrayWriter>{[](HurrayWriter* stale) {
                                      HurrayBuffer* buffer = nullptr;
                                      return hurray_writer_take(stale, &buffer, nullptr);
                                  }});
}

TEST_F(HandleChecks, CompositeAndBuilder) {
    AlignedBytes<128> members;
    HurrayCompositeBuilder* builder = hurray_test::partition_builder(members.bytes, &ReleaseCounter::release, &releases);
    HurrayComposite* composite = nullptr;
    ASSERT_EQ(hurray_composite_builder_build(builder, &composite, nullptr), HURRAY_OK);
    expect_detected<HurrayCompositeBuilder>(
        "composite builder", builder, &hurray_composite_builder_destroy,
        Uses<HurrayCompositeBuilder>{
            [](HurrayCompositeBuilder* stale) {
                HurrayComposite* made = nullptr;
                return hurray_composite_builder_build(stale, &made, nullptr);
            },
            [](HurrayCompositeBuilder* stale) { return hurray_composite_builder_destroy_deferred(&stale, nullptr); },
        });
    EXPECT_EQ(releases.calls, 0);
    expect_detected<HurrayComposite>("composite", composite, &hurray_composite_destroy,
                                     Uses<HurrayComposite>{
                                         [](HurrayComposite* stale) {
                                             HurrayTensor* merged = nullptr;
                                             return hurray_composite_merged(stale, nullptr, &merged, nullptr);
                                         },
                                         [](HurrayComposite* stale) {
                                             const HurrayDescriptor* head = nullptr;
                                             return hurray_composite_head(stale, &head, nullptr);
                                         },
                                         [](HurrayComposite* stale) { return hurray_composite_destroy_deferred(&stale, nullptr); },
                                     });
    EXPECT_EQ(releases.calls, 2);
}

TEST_F(HandleChecks, ChannelAndListener) {
    int ends[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    HurrayChannel* channel = nullptr;
    ASSERT_EQ(hurray_channel_from_fd(ends[0], nullptr, &channel, nullptr), HURRAY_OK);
    expect_detected<HurrayChannel>("channel", channel, &hurray_channel_destroy,
                                   Uses<HurrayChannel>{
                                       [](HurrayChannel* stale) {
                                           HurrayTensor* tensor = nullptr;
                                           return hurray_channel_receive(stale, 0, &tensor, nullptr);
                                       },
                                       [](HurrayChannel* stale) { return hurray_channel_process(stale, nullptr); },
                                       [](HurrayChannel* stale) { return hurray_channel_destroy_deferred(&stale, nullptr); },
                                   });
    close(ends[0]);
    close(ends[1]);
    const std::string path = "/tmp/hurray_checks_" + std::to_string(getpid());
    HurrayChannelListener* listener = nullptr;
    ASSERT_EQ(hurray_channel_listen(path.c_str(), nullptr, &listener, nullptr), HURRAY_OK);
    expect_detected<HurrayChannelListener>("listener", listener, &hurray_channel_listener_destroy,
                                           Uses<HurrayChannelListener>{[](HurrayChannelListener* stale) {
                                               HurrayChannel* accepted = nullptr;
                                               return hurray_channel_accept(stale, 0, &accepted, nullptr);
                                           }});
}

TEST_F(HandleChecks, EveryKindOfHandleIsTestedHere) {
    // Fifteen kinds: buffer, list, context, tensor, descriptor, builder, queue, file writer, file, reader, writer, composite,
    // composite builder, channel, listener.
    std::uint64_t handles = 0;
    std::uint64_t bytes = 0;
    EXPECT_EQ(hurray_live_handles(15, &handles, &bytes, nullptr), HURRAY_OK);
    EXPECT_EQ(hurray_live_handles(16, &handles, &bytes, nullptr), HURRAY_ERR_INVALID_ARGUMENT)
        << "a new kind of handle needs a test above, and its number here";
}

}  // namespace
