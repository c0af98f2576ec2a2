// Callbacks that misbehave: exactly once, whatever they do. (seed: Buffer Lists, Panic Safety, Buffer Release Callbacks)
// Built twice: with the library's code in the program, and through the shared library with a C++ runtime of its own.
#include <array>
#include <atomic>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "abi/tests/support.hpp"

namespace {

using hurray_test::AlignedBytes;
using hurray_test::ReleaseCounter;

struct Strange {
    int value = 0;
};

enum class Throws { nothing, exception, number, structure, text, bad_alloc };
constexpr Throws every_kind[] = {Throws::exception, Throws::number, Throws::structure, Throws::text, Throws::bad_alloc};

void throw_it(Throws what) {
    switch (what) {
        case Throws::nothing: return;
        case Throws::exception: throw std::runtime_error("the producer is upset");
        case Throws::number: throw 42;
        case Throws::structure: throw Strange{};
        case Throws::text: throw "text";
        case Throws::bad_alloc: throw std::bad_alloc();
    }
}

struct Thrower {
    Throws what = Throws::nothing;
    int calls = 0;

    static void release(void*, void* context) { act(context); }
    static void release_event(void*, void* context) { act(context); }
    static void act(void* context) {
        auto* self = static_cast<Thrower*>(context);
        ++self->calls;
        throw_it(self->what);
    }
};

HurrayBuffer* buffer_over(void* data, HurrayReleaseCallback release, void* context) {
    HurrayBuffer* buffer = nullptr;
    EXPECT_EQ(hurray_buffer_from_ptr(data, 64, 64, HURRAY_DEVICE_CPU, release, context, &buffer), HURRAY_OK);
    return buffer;
}

HurrayBufferList* list_of(const std::vector<HurrayBuffer*>& buffers) {
    HurrayBufferList* list = nullptr;
    EXPECT_EQ(hurray_buffer_list_new(buffers.size(), &list), HURRAY_OK);
    for (HurrayBuffer* buffer : buffers) EXPECT_EQ(hurray_buffer_list_push(list, buffer), HURRAY_OK);
    return list;
}

std::string last_diagnostic() {
    HurrayError last{};
    for (std::uint32_t i = 0;; ++i) {
        HurrayError next{};
        if (hurray_diagnostics_read(i, &next, nullptr) != HURRAY_OK) return last.message;
        last = next;
    }
}

class ThrowingCallback : public hurray_test::BaseLineTest {
protected:
    AlignedBytes<64> memory;
};

TEST_F(ThrowingCallback, BufferEndsOnceAndTheCallIsInternalPanic) {
    for (const Throws what : every_kind) {
        Thrower thrower{what};
        EXPECT_EQ(hurray_buffer_destroy(buffer_over(memory.bytes, &Thrower::release, &thrower)), HURRAY_ERR_INTERNAL_PANIC);
        EXPECT_EQ(thrower.calls, 1);
    }
}

TEST_F(ThrowingCallback, MessageIsKeptAndReadBack) {
    Thrower thrower{Throws::exception};
    EXPECT_EQ(hurray_buffer_destroy(buffer_over(memory.bytes, &Thrower::release, &thrower)), HURRAY_ERR_INTERNAL_PANIC);
    EXPECT_EQ(last_diagnostic(), "release callback: the producer is upset");
    thrower.what = Throws::number;
    EXPECT_EQ(hurray_buffer_destroy(buffer_over(memory.bytes, &Thrower::release, &thrower)), HURRAY_ERR_INTERNAL_PANIC);
    EXPECT_EQ(last_diagnostic(), "release callback: an exception of an unknown type");
}

TEST_F(ThrowingCallback, ListGoesOnWithItsOtherBuffersAndNullsTheVariable) {
    std::array<Thrower, 3> throwers{Thrower{Throws::exception}, Thrower{Throws::nothing}, Thrower{Throws::number}};
    std::vector<HurrayBuffer*> buffers;
    for (Thrower& thrower : throwers) buffers.push_back(buffer_over(memory.bytes, &Thrower::release, &thrower));
    HurrayBufferList* list = list_of(buffers);
    EXPECT_EQ(hurray_buffer_list_destroy(&list), HURRAY_ERR_INTERNAL_PANIC);
    EXPECT_EQ(list, nullptr);
    for (const Thrower& thrower : throwers) EXPECT_EQ(thrower.calls, 1);
    EXPECT_EQ(hurray_buffer_list_destroy(&list), HURRAY_OK) << "a repeated destroy is a no-op";
}

TEST_F(ThrowingCallback, OwnerReleaseOfAContext) {
    Thrower thrower{Throws::exception};
    HurrayTensorContext* context = nullptr;
    ASSERT_EQ(hurray_tensor_context_new(HURRAY_C_ABI_VERSION, nullptr, 0, &thrower, &Thrower::act, &context), HURRAY_OK);
    EXPECT_EQ(hurray_tensor_context_destroy(&context), HURRAY_ERR_INTERNAL_PANIC);
    EXPECT_EQ(context, nullptr);
    EXPECT_EQ(thrower.calls, 1);
    EXPECT_EQ(last_diagnostic(), "owner release callback: the producer is upset");
}

TEST_F(ThrowingCallback, TensorEndsItsBuffersAndItsOwner) {
    for (const Throws what : every_kind) {
        Thrower release{what};
        Thrower owner{what};
        HurrayBufferList* list = list_of({buffer_over(memory.bytes, &Thrower::release, &release)});
        const auto bytes = hurray_test::row_major_descriptor(HURRAY_TYPE_FLOAT32, {16}, 64);
        HurrayTensorContext* context = nullptr;
        ASSERT_EQ(hurray_tensor_context_new(HURRAY_C_ABI_VERSION, bytes.data(), bytes.size(), &owner, &Thrower::act, &context),
                  HURRAY_OK);
        HurrayTensor* tensor = nullptr;
        ASSERT_EQ(hurray_tensor_import(&list, &context, &tensor, nullptr), HURRAY_OK);
        EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_ERR_INTERNAL_PANIC);
        EXPECT_EQ(tensor, nullptr);
        EXPECT_EQ(release.calls, 1);
        EXPECT_EQ(owner.calls, 1);
    }
}

TEST_F(ThrowingCallback, EventReleaseCountsAsRun) {
    const HurrayBufferHandleBytes bytes{{64, 0, 0, 0, 0, 0, 0, 0, 64, 0, 0, 0, HURRAY_DEVICE_CUDA, HURRAY_SYNC_EVENT, 0, 0}};
    Thrower event{Throws::exception};
    Thrower release;
    const HurrayEventPayload payload{&event, HURRAY_DEVICE_CUDA, &Thrower::release_event, &event};
    HurrayBuffer* buffer = nullptr;
    ASSERT_EQ(hurray_buffer_handoff(&bytes, memory.bytes, &Thrower::release, &release, &payload, nullptr, &buffer, nullptr), HURRAY_OK);
    EXPECT_EQ(hurray_buffer_event_release(buffer, nullptr), HURRAY_ERR_INTERNAL_PANIC);
    EXPECT_EQ(hurray_buffer_event_release(buffer, nullptr), HURRAY_ERR_INVALID_HANDLE);
    EXPECT_EQ(hurray_buffer_destroy(buffer), HURRAY_OK);
    EXPECT_EQ(event.calls, 1);
    // And when the buffer ends with its event: the memory is released all the same.
    ASSERT_EQ(hurray_buffer_handoff(&bytes, memory.bytes, &Thrower::release, &release, &payload, nullptr, &buffer, nullptr), HURRAY_OK);
    EXPECT_EQ(hurray_buffer_destroy(buffer), HURRAY_ERR_INTERNAL_PANIC);
    EXPECT_EQ(event.calls, 2);
    EXPECT_EQ(release.calls, 2);
}

TEST_F(ThrowingCallback, DrainRunsTheOthersToo) {
    std::array<Thrower, 3> throwers{Thrower{Throws::exception}, Thrower{Throws::nothing}, Thrower{Throws::structure}};
    for (Thrower& thrower : throwers) {
        EXPECT_EQ(hurray_buffer_destroy_deferred(buffer_over(memory.bytes, &Thrower::release, &thrower), nullptr), HURRAY_OK);
        EXPECT_EQ(thrower.calls, 0);
    }
    std::uint64_t drained = 0;
    EXPECT_EQ(hurray_release_queue_drain(nullptr, UINT64_MAX, &drained, nullptr), HURRAY_ERR_INTERNAL_PANIC);
    EXPECT_EQ(drained, 3u);
    for (const Thrower& thrower : throwers) EXPECT_EQ(thrower.calls, 1);
}

TEST_F(ThrowingCallback, ExportOfAProducerIsInternalPanicAndItsReleaseCountsAsRun) {
    static int releases = 0;
    releases = 0;
    HurrayProducer producer{sizeof producer, HURRAY_C_ABI_VERSION, nullptr,
                            [](void*, void*, std::uint8_t, HurrayBufferList**, HurrayTensorContext**, HurrayError*) -> HurrayStatus {
                                throw std::runtime_error("no export today");
                            },
                            [](void*) {
                                ++releases;
                                throw 1;
                            }};
    HurrayTensor* tensor = nullptr;
    HurrayError error{};
    EXPECT_EQ(hurray_producer_request(&producer, nullptr, 0, &tensor, &error), HURRAY_ERR_INTERNAL_PANIC);
    EXPECT_NE(std::string(error.message).find("no export today"), std::string::npos);
    EXPECT_EQ(hurray_producer_release(&producer, &error), HURRAY_ERR_INTERNAL_PANIC);
    EXPECT_EQ(hurray_producer_release(&producer, &error), HURRAY_OK);
    EXPECT_EQ(releases, 1);
}

// A release that destroys the list that is being destroyed, asks it, and destroys another one.
TEST_F(ThrowingCallback, ProgressOfLongWorkStopsIt) {
    struct Watcher {
        Throws what;
        int calls = 0;
        static std::uint8_t report(void* context, std::uint64_t, std::uint64_t) {
            auto* self = static_cast<Watcher*>(context);
            ++self->calls;
            throw_it(self->what);
            return 1;
        }
    };
    const std::uint64_t shape[] = {4, 4};
    HurrayDenseSpec spec{};
    spec.struct_size = sizeof spec;
    spec.element_type = HURRAY_TYPE_FLOAT32;
    spec.layout = HURRAY_LAYOUT_ROW_MAJOR;
    spec.rank = 2;
    spec.shape = shape;
    HurrayTensor* tensor = nullptr;
    ASSERT_EQ(hurray_tensor_from_host(&spec, memory.bytes, 64, nullptr, nullptr, nullptr, &tensor, nullptr), HURRAY_OK);
    for (const Throws what : every_kind) {
        Watcher watcher{what};
        HurrayWorkOptions options{sizeof options, 0, 0, &Watcher::report, &watcher};
        HurrayTranscodeSpec to{};
        to.struct_size = sizeof to;
        to.layout = HURRAY_LAYOUT_COL_MAJOR;
        HurrayTensor* out = nullptr;
        EXPECT_EQ(hurray_tensor_transcode(tensor, &to, nullptr, &options, &out, nullptr), HURRAY_ERR_INTERNAL_PANIC);
        EXPECT_EQ(out, nullptr);
        EXPECT_EQ(watcher.calls, 1) << "not asked again";
        EXPECT_NE(last_diagnostic().find("progress callback"), std::string::npos);
        EXPECT_EQ(hurray_tensor_validate(tensor, HURRAY_VALIDATE_DATA, &options, nullptr), HURRAY_ERR_INTERNAL_PANIC);
    }
    EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
}

TEST_F(ThrowingCallback, ReleaseMayDestroyTheListThatIsBeingDestroyedAndAnother) {
    struct Meddler {
        HurrayBufferList* list = nullptr;
        HurrayBufferList* another = nullptr;
        int calls = 0;
        HurrayStatus again = HURRAY_OK;
        HurrayStatus push = HURRAY_OK;
        HurrayStatus get = HURRAY_OK;
        static void release(void* data, void* context) {
            auto* self = static_cast<Meddler*>(context);
            ++self->calls;
            HurrayBufferList* copy = self->list;
            self->again = hurray_buffer_list_destroy(&copy);
            HurrayBuffer* late = buffer_over(data, nullptr, nullptr);
            self->push = hurray_buffer_list_push(self->list, late);
            EXPECT_EQ(hurray_buffer_destroy(late), HURRAY_OK) << "what was not taken stays the caller's";
            HurrayBuffer* slot = nullptr;
            self->get = hurray_buffer_list_get(self->list, 0, &slot);
            EXPECT_EQ(slot, nullptr) << "each slot is nulled as its buffer goes";
            EXPECT_EQ(hurray_buffer_list_destroy(&self->another), HURRAY_OK);
            throw std::runtime_error("and throws at the end");
        }
    };
    Meddler meddler;
    ReleaseCounter others;
    meddler.another = list_of({buffer_over(memory.bytes, &ReleaseCounter::release, &others)});
    HurrayBufferList* list = list_of({buffer_over(memory.bytes, &Meddler::release, &meddler),
                                      buffer_over(memory.bytes, &ReleaseCounter::release, &others)});
    meddler.list = list;
    EXPECT_EQ(hurray_buffer_list_destroy(&list), HURRAY_ERR_INTERNAL_PANIC);
    EXPECT_EQ(list, nullptr);
    EXPECT_EQ(meddler.calls, 1);
    EXPECT_EQ(meddler.again, HURRAY_ERR_INVALID_HANDLE);
    EXPECT_EQ(meddler.push, HURRAY_ERR_INVALID_HANDLE);
    EXPECT_EQ(meddler.get, HURRAY_ERR_INVALID_HANDLE);
    EXPECT_EQ(meddler.another, nullptr);
    EXPECT_EQ(others.calls, 2);
}

// The log callback.

struct Log {
    std::mutex mutex;
    std::vector<std::string> lines;
    std::vector<HurrayStatus> codes;

    static void write(void* context, HurrayStatus code, const char* message) {
        auto* self = static_cast<Log*>(context);
        const std::lock_guard lock(self->mutex);
        self->codes.push_back(code);
        self->lines.emplace_back(message);
    }
};

class LogCallback : public ThrowingCallback {
public:
    void cause_a_message() {
        Thrower thrower{Throws::exception};
        EXPECT_EQ(hurray_buffer_destroy(buffer_over(memory.bytes, &Thrower::release, &thrower)), HURRAY_ERR_INTERNAL_PANIC);
    }

protected:
    void TearDown() override {
        EXPECT_EQ(hurray_log_callback_set(nullptr, nullptr, nullptr), HURRAY_OK);
        ThrowingCallback::TearDown();
    }
};

TEST_F(LogCallback, IsToldOfCaughtExceptionsAndOfNothingElse) {
    Log log;
    ASSERT_EQ(hurray_log_callback_set(&Log::write, &log, nullptr), HURRAY_OK);
    EXPECT_EQ(hurray_buffer_destroy(nullptr), HURRAY_ERR_NULL_POINTER) << "an ordinary error is no message";
    cause_a_message();
    ASSERT_EQ(log.lines.size(), 1u);
    EXPECT_EQ(log.lines[0], "release callback: the producer is upset");
    EXPECT_EQ(log.codes[0], HURRAY_ERR_INTERNAL_PANIC);
    ASSERT_EQ(hurray_log_callback_set(nullptr, nullptr, nullptr), HURRAY_OK);
    cause_a_message();
    EXPECT_EQ(log.lines.size(), 1u) << "removed";
}

TEST_F(LogCallback, MayUseTheLibraryAndThrowButNotReplaceItself) {
    struct Nested {
        LogCallback* test = nullptr;
        int calls = 0;
        HurrayStatus replaced = HURRAY_OK;
        static void write(void* context, HurrayStatus, const char*) {
            auto* self = static_cast<Nested*>(context);
            ++self->calls;
            self->replaced = hurray_log_callback_set(nullptr, nullptr, nullptr);
            self->test->cause_a_message();  // kept, not logged: that would go round for ever
            throw 1;
        }
    };
    Nested nested;
    nested.test = this;
    ASSERT_EQ(hurray_log_callback_set(&Nested::write, &nested, nullptr), HURRAY_OK);
    cause_a_message();
    EXPECT_EQ(nested.calls, 1);
    EXPECT_EQ(nested.replaced, HURRAY_ERR_INVALID_ARGUMENT);
}

TEST_F(LogCallback, IsNotRunningOnceItWasReplacedWhateverOtherThreadsDo) {
    struct Guarded {
        std::atomic<bool> alive{true};
        std::atomic<int> calls{0};
        std::atomic<int> calls_when_dead{0};
        static void write(void* context, HurrayStatus, const char*) {
            auto* self = static_cast<Guarded*>(context);
            ++self->calls;
            std::this_thread::yield();
            if (!self->alive) ++self->calls_when_dead;
        }
    };
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i) {
        threads.emplace_back([&stop] {
            AlignedBytes<64> own;
            while (!stop) {
                Thrower thrower{Throws::number};
                EXPECT_EQ(hurray_buffer_destroy(buffer_over(own.bytes, &Thrower::release, &thrower)), HURRAY_ERR_INTERNAL_PANIC);
            }
        });
    }
    std::array<Guarded, 200> contexts;
    for (Guarded& context : contexts) {
        ASSERT_EQ(hurray_log_callback_set(&Guarded::write, &context, nullptr), HURRAY_OK);
        std::this_thread::yield();
        ASSERT_EQ(hurray_log_callback_set(nullptr, nullptr, nullptr), HURRAY_OK);
        context.alive = false;
    }
    // At least one message must have come, or nothing was shown.
    Guarded last;
    ASSERT_EQ(hurray_log_callback_set(&Guarded::write, &last, nullptr), HURRAY_OK);
    while (last.calls == 0) std::this_thread::yield();
    ASSERT_EQ(hurray_log_callback_set(nullptr, nullptr, nullptr), HURRAY_OK);
    last.alive = false;
    stop = true;
    for (std::thread& thread : threads) thread.join();
    for (const Guarded& context : contexts) EXPECT_EQ(context.calls_when_dead, 0);
    EXPECT_EQ(last.calls_when_dead, 0);
}

}  // namespace
