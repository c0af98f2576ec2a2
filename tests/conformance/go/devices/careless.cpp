// Callbacks of a careless C++ program: they throw, which the library must not let any further. Each counts its calls.
#include <stdexcept>

#include "foreign.h"

namespace {

[[noreturn]] void fail(void *calls) {
    ++*static_cast<uint32_t *>(calls);
    throw std::runtime_error("a careless callback");
}

void release(void *, void *calls) { fail(calls); }
void release_event(void *, void *calls) { fail(calls); }
void count(void *counts) { ++static_cast<uint32_t **>(counts)[1][0]; }

HurrayStatus export_tensor(void *counts, void *, uint8_t, HurrayBufferList **, HurrayTensorContext **, HurrayError *) {
    fail(static_cast<uint32_t **>(counts)[0]);
}

template <typename Function>
Function find(const char *name) {
    return reinterpret_cast<Function>(foreign_find(name));
}

HurrayBufferList *list_of(uint8_t device, uint8_t mode, uint32_t *calls) {
    alignas(64) static unsigned char memory[64];
    const HurrayBufferHandleBytes bytes = {{12, 0, 0, 0, 0, 0, 0, 0, 64, 0, 0, 0, device, mode, 0, 0}};
    const HurrayEventPayload event = {memory, device, &release_event, calls};
    HurrayBuffer *buffer = nullptr;
    HurrayBufferList *list = nullptr;
    if (find<decltype(&hurray_buffer_handoff)>("hurray_buffer_handoff")(
            &bytes, memory, &release, calls, mode == HURRAY_SYNC_EVENT ? &event : nullptr, nullptr, &buffer, nullptr) != HURRAY_OK ||
        find<decltype(&hurray_buffer_list_new)>("hurray_buffer_list_new")(1, &list) != HURRAY_OK ||
        find<decltype(&hurray_buffer_list_push)>("hurray_buffer_list_push")(list, buffer) != HURRAY_OK) {
        return nullptr;
    }
    return list;
}

}  // namespace

HurrayBufferList *careless_list(uint32_t *calls) { return list_of(HURRAY_DEVICE_CPU, HURRAY_SYNC_PRODUCER_SYNCED, calls); }
HurrayBufferList *careless_event_list(uint32_t *calls) { return list_of(HURRAY_DEVICE_CUDA, HURRAY_SYNC_EVENT, calls); }

void careless_producer(HurrayProducer *producer, uint32_t *calls, uint32_t *releases) {
    static uint32_t *counts[2];
    counts[0] = calls;
    counts[1] = releases;
    *producer = HurrayProducer{sizeof(HurrayProducer), HURRAY_C_ABI_VERSION, counts, &export_tensor, &count};
}
