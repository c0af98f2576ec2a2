// What the generated NULL tests (abi/gen/null_test.cpp) call functions with: live handles, plain values, outputs full of
// noise, and callbacks that must not run. A new kind of handle needs a factory in `make`.
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <string_view>
#include <type_traits>
#include <vector>

#include "abi/tests/composites.hpp"
#include "abi/tests/support.hpp"
#include "hurray.h"

namespace hurray_null {

/// An output that is full of noise before the call and must be zero after it; a sized struct keeps its struct_size.
template <class T, bool Sized = false>
class Out {
public:
    T* get() {
        std::memset(static_cast<void*>(const_cast<std::remove_const_t<T>*>(&value_)), 0xA5, sizeof value_);
        if constexpr (Sized) value_.struct_size = sizeof value_;
        return &value_;
    }

    void expect_zeroed(const char* name) const {
        std::array<unsigned char, sizeof(T)> bytes;
        std::memcpy(bytes.data(), static_cast<const void*>(&value_), sizeof value_);
        std::size_t first = 0;
        if constexpr (Sized) {
            EXPECT_EQ(value_.struct_size, sizeof value_) << name << "->struct_size belongs to the caller";
            first = sizeof value_.struct_size;
        }
        for (std::size_t i = first; i < bytes.size(); ++i) {
            ASSERT_EQ(bytes[i], 0) << name << " is not zeroed at byte " << i;
        }
    }

private:
    T value_{};
};

/// The caller's variable of a handle that a failed call must leave as it was.
template <class Handle>
class Variable {
public:
    explicit Variable(Handle* handle) : before_(handle), now_(handle) {}
    Handle** get() { return &now_; }
    void expect_unchanged(const char* name) const { EXPECT_EQ(now_, before_) << name << " was changed by a call that failed"; }

private:
    Handle* before_;
    Handle* now_;
};

/// How often callbacks of any type ran.
inline int& callback_calls() {
    static int calls = 0;
    return calls;
}

template <class Function>
struct Counting;
template <class Result, class... Arguments>
struct Counting<Result (*)(Arguments...)> {
    static Result call(Arguments...) {
        ++callback_calls();
        return Result();
    }
};

class NullPointers : public hurray_test::BaseLineTest {
protected:
    void SetUp() override {
        BaseLineTest::SetUp();
        callback_calls() = 0;
    }

    void TearDown() override {
        while (!endings_.empty()) {
            endings_.back()();
            endings_.pop_back();
        }
        BaseLineTest::TearDown();
    }

    /// No report, and a report full of noise.
    std::array<HurrayError*, 2> reports() {
        std::memset(&report_, 0x5A, sizeof report_);
        return {nullptr, &report_};
    }

    static void expect_reported(const HurrayError* error) {
        if (error == nullptr) return;
        EXPECT_EQ(error->code, HURRAY_ERR_NULL_POINTER);
        ASSERT_NE(std::memchr(error->message, '\0', sizeof error->message), nullptr) << "the message is not terminated";
        EXPECT_NE(error->message[0], '\0') << "the message is empty";
    }

    static void expect_no_callback() { EXPECT_EQ(callback_calls(), 0) << "a callback ran in a call that failed"; }

    template <class Function>
    static Function callback() {
        return &Counting<Function>::call;
    }

    void* context() { return storage_.data(); }
    static const char* text() { return "no-such-file"; }

    /// 64-aligned memory, long enough for every length that `scalar` gives.
    template <class T>
    T* memory() {
        return reinterpret_cast<T*>(storage_.data());
    }

    /// Plain arguments. Lengths are 1, so that the pointer beside them is required; descriptors of files are none.
    template <class T>
    static T scalar(std::string_view name) {
        if (name == "alignment") return static_cast<T>(64);
        if constexpr (std::is_signed_v<T>) {
            if (name == "fd") return static_cast<T>(-1);
        }
        return static_cast<T>(1);
    }

    /// A valid struct that is read by a call. A new one needs an overload of `example`.
    template <class T>
    static const T* value() {
        return example(static_cast<const T*>(nullptr));
    }

    /// A struct that may be left out: null, unless there is an overload of `optional_example`.
    template <class T>
    static const T* optional() {
        return optional_example(static_cast<const T*>(nullptr));
    }

    /// A live handle. The test ends it, and fails when that is not possible any more.
    template <class Handle>
    Handle* live() {
        Handle* handle = nullptr;
        make(&handle);
        EXPECT_NE(handle, nullptr) << "the fixture could not make a handle";
        return handle;
    }

private:
    void make(HurrayBuffer** out) {
        EXPECT_EQ(hurray_buffer_allocate(64, 64, out, nullptr), HURRAY_OK);
        endings_.push_back([handle = *out] { EXPECT_EQ(hurray_buffer_destroy(handle), HURRAY_OK); });
    }
    void make(HurrayBufferList** out) {
        EXPECT_EQ(hurray_buffer_list_new(1, out), HURRAY_OK);
        HurrayBuffer* buffer = nullptr;
        EXPECT_EQ(hurray_buffer_allocate(64, 64, &buffer, nullptr), HURRAY_OK);
        EXPECT_EQ(hurray_buffer_list_push(*out, buffer), HURRAY_OK);
        end_with(*out, hurray_buffer_list_destroy);
    }
    void make(HurrayTensorContext** out) {
        const auto bytes = descriptor_bytes();
        EXPECT_EQ(hurray_tensor_context_new(HURRAY_C_ABI_VERSION, bytes.data(), bytes.size(), nullptr, nullptr, out), HURRAY_OK);
        end_with(*out, hurray_tensor_context_destroy);
    }
    void make(HurrayDescriptor** out) {
        const auto bytes = descriptor_bytes();
        EXPECT_EQ(hurray_descriptor_decode(bytes.data(), bytes.size(), out, nullptr), HURRAY_OK);
        end_with(*out, hurray_descriptor_destroy);
    }
    void make(HurrayDescriptorBuilder** out) {
        const std::array<std::uint64_t, 2> shape{4, 4};
        EXPECT_EQ(hurray_descriptor_builder_new(HURRAY_TYPE_FLOAT32, HURRAY_LAYOUT_ROW_MAJOR, shape.data(), 2, out, nullptr),
                  HURRAY_OK);
        end_with(*out, hurray_descriptor_builder_destroy);
    }
    void make(HurrayTensor** out) {
        EXPECT_EQ(hurray_tensor_from_host(value<HurrayDenseSpec>(), storage_.data(), storage_.size(), nullptr, nullptr, nullptr,
                                          out, nullptr),
                  HURRAY_OK);
        end_with(*out, hurray_tensor_destroy);
    }
    /// A tensor of another package, which fails the test when somebody ends it.
    template <class Managed>
    void make_dlpack(Managed** out) {
        auto managed = std::make_shared<Managed>();
        managed->dl_tensor.data = storage_.data();
        managed->dl_tensor.device_type = 1;
        managed->dl_tensor.dtype_bits = 8;
        managed->dl_tensor.dtype_lanes = 1;
        managed->deleter = [](void*) { ADD_FAILURE() << "a tensor of DLPack was ended by a call that failed"; };
        *out = managed.get();
        endings_.push_back([managed] {});
    }
    void make(HurrayDlpackVersioned** out) {
        make_dlpack(out);
        (*out)->version_major = 1;
    }
    void make(HurrayDlpackUnversioned** out) { make_dlpack(out); }
    void make(HurrayReleaseQueue** out) {
        EXPECT_EQ(hurray_release_queue_new(out, nullptr), HURRAY_OK);
        end_with(*out, hurray_release_queue_destroy);
    }
    void make(HurrayReader** out) {
        EXPECT_EQ(hurray_reader_from_memory(storage_.data(), storage_.size(), nullptr, out, nullptr), HURRAY_OK);
        end_with(*out, hurray_reader_destroy);
    }
    void make(HurrayWriter** out) {
        EXPECT_EQ(hurray_writer_to_memory(out, nullptr), HURRAY_OK);
        end_with(*out, hurray_writer_destroy);
    }
    void make(HurrayCompositeBuilder** out) {
        *out = hurray_test::partition_builder(storage_.data());
        end_with(*out, hurray_composite_builder_destroy);
    }
    void make(HurrayComposite** out) {
        *out = hurray_test::partition(storage_.data());
        end_with(*out, hurray_composite_destroy);
    }
    void make(HurrayChannel** out) {
        int ends[2];
        ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
        EXPECT_EQ(hurray_channel_from_fd(ends[0], nullptr, out, nullptr), HURRAY_OK);
        endings_.push_back([ends0 = ends[0], ends1 = ends[1]] {
            close(ends0);
            close(ends1);
        });
        end_with(*out, hurray_channel_destroy);
    }
    void make(HurrayChannelListener** out) {
        // Short, as paths of sockets must be.
        static int number = 0;
        const std::string path = "/tmp/hurray_null_" + std::to_string(getpid()) + "_" + std::to_string(number++);
        EXPECT_EQ(hurray_channel_listen(path.c_str(), nullptr, out, nullptr), HURRAY_OK);
        end_with(*out, hurray_channel_listener_destroy);
    }
    void make(HurrayFileWriter** out) {
        const std::string path = file_name("unfinished.safetensors");
        EXPECT_EQ(hurray_file_writer_create(path.c_str(), HURRAY_FORMAT_SAFETENSORS, out, nullptr), HURRAY_OK);
        end_with(*out, hurray_file_writer_destroy);
    }
    void make(HurrayFile** out) {
        const std::string path = file_name("empty.safetensors");
        HurrayFileWriter* writer = nullptr;
        EXPECT_EQ(hurray_file_writer_create(path.c_str(), HURRAY_FORMAT_SAFETENSORS, &writer, nullptr), HURRAY_OK);
        EXPECT_EQ(hurray_file_writer_finish(writer, nullptr), HURRAY_OK);
        EXPECT_EQ(hurray_file_writer_destroy(&writer), HURRAY_OK);
        EXPECT_EQ(hurray_file_open(path.c_str(), nullptr, out, nullptr), HURRAY_OK);
        end_with(*out, hurray_file_destroy);
    }

    static const HurrayDenseSpec* example(const HurrayDenseSpec*) {
        static const std::array<std::uint64_t, 2> shape{4, 4};
        static const HurrayDenseSpec spec = [] {
            HurrayDenseSpec made{};
            made.struct_size = sizeof made;
            made.element_type = HURRAY_TYPE_FLOAT32;
            made.layout = HURRAY_LAYOUT_ROW_MAJOR;
            made.rank = 2;
            made.shape = shape.data();
            return made;
        }();
        return &spec;
    }
    static const HurrayBufferHandleBytes* example(const HurrayBufferHandleBytes*) {
        static const HurrayBufferHandleBytes handle = {
            {64, 0, 0, 0, 0, 0, 0, 0, 64, 0, 0, 0, HURRAY_DEVICE_CUDA, HURRAY_SYNC_EVENT, 0, 0}};
        return &handle;
    }
    template <class Struct>
    static Struct present() {
        Struct made{};
        made.struct_size = sizeof made;
        made.present = 1;
        return made;
    }
    static const HurrayLayoutFields* example(const HurrayLayoutFields*) {
        static const HurrayLayoutFields fields = [] {
            HurrayLayoutFields made{};
            made.struct_size = sizeof made;
            made.layout = HURRAY_LAYOUT_ROW_MAJOR;
            return made;
        }();
        return &fields;
    }
    static const HurrayTileLevel* example(const HurrayTileLevel*) {
        static const std::array<std::uint64_t, 2> tile{2, 2};
        static const HurrayTileLevel level = [] {
            HurrayTileLevel made{};
            made.struct_size = sizeof made;
            made.rank = 2;
            made.tile_shape = tile.data();
            made.outer_layout = HURRAY_LAYOUT_ROW_MAJOR;
            made.inner_layout = HURRAY_LAYOUT_ROW_MAJOR;
            return made;
        }();
        return &level;
    }
    static const HurrayQuantization* example(const HurrayQuantization*) {
        static const HurrayQuantization quantization = present<HurrayQuantization>();
        return &quantization;
    }
    static const HurrayStatistics* example(const HurrayStatistics*) {
        static const HurrayStatistics statistics = present<HurrayStatistics>();
        return &statistics;
    }
    static const HurrayExtensionType* example(const HurrayExtensionType*) {
        static const HurrayExtensionType type = present<HurrayExtensionType>();
        return &type;
    }
    static const HurrayCompositeMember* example(const HurrayCompositeMember*) {
        static const HurrayCompositeMember member = present<HurrayCompositeMember>();
        return &member;
    }
    static const HurrayFileWriterOptions* example(const HurrayFileWriterOptions*) {
        static const HurrayFileWriterOptions options = [] {
            HurrayFileWriterOptions made{};
            made.struct_size = sizeof made;
            made.format = HURRAY_FORMAT_SAFETENSORS;
            return made;
        }();
        return &options;
    }
    static const HurrayFileMetadata* example(const HurrayFileMetadata*) {
        static const HurrayFileMetadata text = [] {
            HurrayFileMetadata made{};
            made.struct_size = sizeof made;
            made.type = HURRAY_METADATA_STRING;
            return made;
        }();
        return &text;
    }
    static const HurrayQuantizeSpec* example(const HurrayQuantizeSpec*) {
        static const HurrayQuantizeSpec spec = [] {
            HurrayQuantizeSpec made{};
            made.struct_size = sizeof made;
            made.scheme = HURRAY_SCHEME_PER_TENSOR_AFFINE;
            made.storage_type = HURRAY_TYPE_INT8;
            return made;
        }();
        return &spec;
    }
    static const HurrayTranscodeSpec* example(const HurrayTranscodeSpec*) {
        static const HurrayTranscodeSpec spec = [] {
            HurrayTranscodeSpec made{};
            made.struct_size = sizeof made;
            made.layout = HURRAY_LAYOUT_COL_MAJOR;
            return made;
        }();
        return &spec;
    }
    static const HurrayProducer* example(const HurrayProducer*) {
        static const HurrayProducer producer{sizeof producer, HURRAY_C_ABI_VERSION, nullptr,
                                             &Counting<HurrayExportTensorFn>::call, &Counting<HurrayProducerReleaseFn>::call};
        return &producer;
    }

    template <class T>
    static const T* optional_example(const T*) {
        return nullptr;
    }
    /// Progress that nobody must be told of.
    static const HurrayWorkOptions* optional_example(const HurrayWorkOptions*) {
        static const HurrayWorkOptions options{sizeof options, 0, 0, &Counting<HurrayProgressFn>::call, nullptr};
        return &options;
    }
    /// What the handle of `example` is handed off with.
    static const HurrayEventPayload* optional_example(const HurrayEventPayload*) {
        static int the_event = 0;
        static const HurrayEventPayload event{&the_event, HURRAY_DEVICE_CUDA, &Counting<HurrayEventReleaseFn>::call, nullptr};
        return &event;
    }

    template <class Handle>
    void end_with(Handle* handle, HurrayStatus (*destroy)(Handle**)) {
        endings_.push_back([handle, destroy]() mutable { EXPECT_EQ(destroy(&handle), HURRAY_OK); });
    }

    static std::vector<std::uint8_t> descriptor_bytes() {
        return hurray_test::row_major_descriptor(HURRAY_TYPE_FLOAT32, {4, 4}, 64);
    }

    static std::string file_name(const char* name) {
        return ::testing::TempDir() + "/hurray_null_" + ::testing::UnitTest::GetInstance()->current_test_info()->name() + "_" + name;
    }

    alignas(64) std::array<unsigned char, 1024> storage_{};
    HurrayError report_{};
    std::deque<std::function<void()>> endings_;
};

}  // namespace hurray_null
