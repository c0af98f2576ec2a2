// A reference-counted block of memory, and what must happen when the last reference goes.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "core/hurray/memory/shared_backing.hpp"

namespace hurray {

/// Memory with shared ownership. `release` runs exactly once, when the last reference goes, on the thread that
/// drops it. A storage without a release callback is borrowed for ever (static memory).
///
/// Thread rule: references may be taken and dropped on any thread.
class Storage {
public:
    Storage() = default;
    Storage(const Storage&) = delete;
    Storage& operator=(const Storage&) = delete;

    void add_reference() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }

    /// Returns false when foreign code that ran because of it failed; the reference is gone all the same.
    bool drop_reference() noexcept {
        // acq_rel: the thread that releases must see all that the others did to the memory before they let go.
        return references_.fetch_sub(1, std::memory_order_acq_rel) != 1 || dispose();
    }

    /// As drop_reference, for a thread on which callbacks must not run (a garbage collector's): see dispose_deferred.
    bool drop_reference_deferred() noexcept {
        return references_.fetch_sub(1, std::memory_order_acq_rel) != 1 || dispose_deferred();
    }

    [[nodiscard]] std::uint64_t references() const noexcept { return references_.load(std::memory_order_relaxed); }

    /// What another process would have to map to see the same memory; null where there is no such thing. Lives as long as
    /// the storage.
    [[nodiscard]] virtual const SharedBacking* shared_backing() const noexcept { return nullptr; }

protected:
    virtual ~Storage() = default;
    /// As drop_reference, but whoever learns that it was the last one disposes of the object.
    bool give_up_reference() noexcept { return references_.fetch_sub(1, std::memory_order_acq_rel) == 1; }
    /// Gives the memory back and deletes the object. Returns false when foreign code that it ran failed.
    virtual bool dispose() noexcept = 0;
    /// Arranges for dispose to run on a thread that consents to it. Memory whose release runs no foreign code is given
    /// back at once.
    virtual bool dispose_deferred() noexcept { return dispose(); }

private:
    std::atomic<std::uint64_t> references_{1};
};

/// Owning pointer to something with add_reference and drop_reference (starts with the reference it was given).
template <typename T>
class Ref {
public:
    Ref() = default;
    /// Takes over one reference that the caller holds.
    static Ref adopt(T* object) noexcept {
        Ref ref;
        ref.object_ = object;
        return ref;
    }
    /// Takes a further reference.
    static Ref retain(T* object) noexcept {
        if (object != nullptr) object->add_reference();
        return adopt(object);
    }
    Ref(const Ref& other) noexcept : object_(other.object_) {
        if (object_ != nullptr) object_->add_reference();
    }
    Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
    template <typename U>
    Ref(Ref<U>&& other) noexcept : object_(other.detach()) {}  // NOLINT: converting on purpose
    Ref& operator=(Ref other) noexcept {
        std::swap(object_, other.object_);
        return *this;
    }
    ~Ref() {
        if (object_ != nullptr) object_->drop_reference();
    }

    [[nodiscard]] T* get() const noexcept { return object_; }
    [[nodiscard]] T* detach() noexcept { return std::exchange(object_, nullptr); }
    T* operator->() const noexcept { return object_; }
    explicit operator bool() const noexcept { return object_ != nullptr; }

private:
    T* object_ = nullptr;
};

}  // namespace hurray
