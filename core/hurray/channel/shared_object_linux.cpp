#ifdef __linux__
#include "core/hurray/channel/shared_object.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <limits>
#include <new>
#include <utility>

#include "core/hurray/io/path.hpp"
#include "core/hurray/io/system_error.hpp"

namespace hurray {
namespace {

using ull = unsigned long long;

// Shrinking would take pages away from under a reader; growing is of no use to anybody.
constexpr int all_seals = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
constexpr int needed_seals = F_SEAL_WRITE | F_SEAL_SHRINK;
constexpr std::uint64_t largest_object = static_cast<std::uint64_t>(std::numeric_limits<off_t>::max()) / 2;

std::uint64_t page_size() { return static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)); }

std::unexpected<Error> refusal(const char* action, int number) {
    // No more room in shared memory is a want of memory, too.
    if (number == ENOSPC || number == ENFILE || number == EMFILE) {
        return fail(number == ENOSPC ? Status::out_of_memory : Status::limit_exceeded, Error::no_offset, "%s: %s", action,
                    system_error(action, number).message);
    }
    return std::unexpected(system_error(action, number));
}

Result<FdHolder> new_memory_file(std::uint64_t byte_size) {
    // Pages are made when they are first written to, as those of any memory are. What the machine cannot have is refused now, for
    // then it would be too late.
    struct sysinfo machine {};
    if (::sysinfo(&machine) != 0) return refusal("ask how much memory there is", errno);
    const std::uint64_t most = (std::uint64_t{machine.totalram} + machine.totalswap) * machine.mem_unit;
    if (byte_size > most) {
        return fail(Status::out_of_memory, Error::no_offset, "byte_size: %llu bytes, this machine has %llu",
                    static_cast<ull>(byte_size), static_cast<ull>(most));
    }
    const int fd = ::memfd_create("hurray", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0) return refusal("make shared memory", errno);
    FdHolder file(fd, FdOwnership::close);
    if (::ftruncate(fd, static_cast<off_t>(byte_size)) != 0) return refusal("size shared memory", errno);
    return file;
}

// Maps `size` bytes so that base + phase is a multiple of the alignment.
Result<void*> map_aligned(int fd, std::uint64_t size, int protection, int flags, std::uint64_t alignment, std::uint64_t phase) {
    const auto map = [&](void* at, int more) { return ::mmap(at, static_cast<std::size_t>(size), protection, flags | more, fd, 0); };
    const std::uint64_t page = page_size();
    if (alignment <= page) {
        void* base = map(nullptr, 0);
        if (base == MAP_FAILED) return refusal("map shared memory", errno);
        return base;
    }
    // A room that is large enough, of which all is given back that the object does not take.
    const std::uint64_t length = (size + page - 1) / page * page;
    const std::uint64_t room = length + alignment;
    void* const reserved = ::mmap(nullptr, static_cast<std::size_t>(room), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reserved == MAP_FAILED) return refusal("reserve addresses", errno);
    auto* const start = static_cast<std::byte*>(reserved);
    const std::uint64_t misfit = (reinterpret_cast<std::uintptr_t>(start) + phase) % alignment;
    const std::uint64_t before = (alignment - misfit) % alignment;
    void* const base = map(start + before, MAP_FIXED);
    const int number = errno;
    if (base == MAP_FAILED) {
        ::munmap(reserved, static_cast<std::size_t>(room));
        return refusal("map shared memory", number);
    }
    if (before != 0) ::munmap(start, static_cast<std::size_t>(before));
    if (room - before > length) ::munmap(start + before + length, static_cast<std::size_t>(room - before - length));
    return base;
}

Result<void> write_at(int fd, std::uint64_t offset, std::span<const std::byte> bytes) {
    constexpr std::size_t largest_transfer = std::size_t{1} << 30;
    while (!bytes.empty()) {
        const ssize_t count = ::pwrite(fd, bytes.data(), std::min(bytes.size(), largest_transfer), static_cast<off_t>(offset));
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return refusal("copy into shared memory", count == 0 ? EIO : errno);
        bytes = bytes.subspan(static_cast<std::size_t>(count));
        offset += static_cast<std::uint64_t>(count);
    }
    return {};
}

// Part of a SharedObject as the memory of a buffer.
class ObjectStorage final : public Storage {
public:
    explicit ObjectStorage(std::shared_ptr<SharedObject> object) noexcept : object_(std::move(object)) {}

    const SharedBacking* shared_backing() const noexcept override { return &object_->backing(); }
    [[nodiscard]] SharedObject& object() const noexcept { return *object_; }

private:
    bool dispose() noexcept override {
        delete this;
        return true;
    }

    std::shared_ptr<SharedObject> object_;
};

}  // namespace

SharedObject::SharedObject(FdHolder file, void* base, std::uint64_t size, bool writable) noexcept
    : file_(std::move(file)), base_(static_cast<std::byte*>(base)) {
    unsealed_ = {.fd = file_.get(), .base = base_, .size = size, .file_offset = 0, .sealed = false, .writable = writable};
    sealed_ = {.fd = file_.get(), .base = base_, .size = size, .file_offset = 0, .sealed = true, .writable = false};
}

SharedObject::~SharedObject() {
    if (size() != 0) ::munmap(base_, static_cast<std::size_t>(size()));
}

Result<void> SharedObject::remember_file() {
    struct stat status {};
    if (::fstat(file_.get(), &status) != 0) return refusal("stat shared memory", errno);
    device_ = status.st_dev;
    inode_ = status.st_ino;
    return {};
}

Result<std::shared_ptr<SharedObject>> SharedObject::create(std::uint64_t byte_size, std::uint32_t alignment) {
    auto file = new_memory_file(byte_size);
    if (!file) return std::unexpected(file.error());
    void* base = nullptr;
    if (byte_size != 0) {
        auto mapped = map_aligned(file->get(), byte_size, PROT_READ | PROT_WRITE, MAP_SHARED, alignment, 0);
        if (!mapped) return std::unexpected(mapped.error());
        base = *mapped;
    }
    std::shared_ptr<SharedObject> object;
    try {
        object.reset(new SharedObject(std::move(*file), base, byte_size, true));
    } catch (...) {
        if (base != nullptr) ::munmap(base, static_cast<std::size_t>(byte_size));
        throw;
    }
    if (auto remembered = object->remember_file(); !remembered) return std::unexpected(remembered.error());
    return object;
}

Result<FdHolder> SharedObject::sealed_copy(std::uint64_t byte_size, std::span<const Piece> pieces) {
    auto file = new_memory_file(byte_size);
    if (!file) return file;
    for (const Piece& piece : pieces) {
        if (auto written = write_at(file->get(), piece.offset, piece.bytes); !written) return std::unexpected(written.error());
    }
    if (::fcntl(file->get(), F_ADD_SEALS, all_seals) != 0) return refusal("seal shared memory", errno);
    return file;
}

Result<std::shared_ptr<SharedObject>> SharedObject::map(FdHolder file, std::uint32_t alignment, std::uint64_t phase) {
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) return refusal("stat what was received", errno);
    if (!S_ISREG(status.st_mode)) {
        return fail(Status::invalid_format, Error::no_offset, "object: is %s, expected shared memory or a regular file",
                    file_kind(status.st_mode));
    }
    const auto size = static_cast<std::uint64_t>(status.st_size);
    if (size == 0 || size > largest_object) {
        return fail(Status::invalid_format, Error::no_offset, "object: expected 1 to %llu bytes, got %llu",
                    static_cast<ull>(largest_object), static_cast<ull>(size));
    }
    const int seals = ::fcntl(file.get(), F_GET_SEALS);
    const bool sealed = seals >= 0 && (seals & needed_seals) == needed_seals;
    auto mapped = map_aligned(file.get(), size, PROT_READ, MAP_SHARED, alignment, phase);
    // Before Linux 6.7 sealed memory could be mapped privately only; of pages that nobody can write that is the same memory.
    if (!mapped && sealed) mapped = map_aligned(file.get(), size, PROT_READ, MAP_PRIVATE, alignment, phase);
    if (!mapped) return std::unexpected(mapped.error());
    std::shared_ptr<SharedObject> object;
    try {
        object.reset(new SharedObject(std::move(file), *mapped, size, false));
    } catch (...) {
        ::munmap(*mapped, static_cast<std::size_t>(size));
        throw;
    }
    object->device_ = status.st_dev;
    object->inode_ = status.st_ino;
    object->is_sealed_.store(sealed, std::memory_order_release);
    return object;
}

Result<bool> SharedObject::seal() {
    const std::lock_guard lock(sealing_);
    if (sealed()) return true;
    if (!unsealed_.writable) return false;
    const auto length = static_cast<std::size_t>(size());
    // In place of the writable mapping, in one step: readers notice nothing. A private mapping is none that could write to the
    // object, which is what the seal asks for.
    if (length != 0 && ::mmap(base_, length, PROT_READ, MAP_PRIVATE | MAP_FIXED, file_.get(), 0) == MAP_FAILED) {
        return refusal("map shared memory read-only", errno);
    }
    if (::fcntl(file_.get(), F_ADD_SEALS, all_seals) == 0) {
        is_sealed_.store(true, std::memory_order_release);
        return true;
    }
    const int number = errno;
    // Somebody else can still write to it. Back to what was.
    if (length != 0 && ::mmap(base_, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file_.get(), 0) == MAP_FAILED) {
        return refusal("map shared memory again", errno);
    }
    if (number == EBUSY) return false;
    return refusal("seal shared memory", number);
}

Result<Buffer> allocate_shared_buffer(std::uint64_t byte_size, std::uint32_t alignment) {
    if (alignment == 0) alignment = minimum_alignment;
    if (!std::has_single_bit(alignment)) {
        return fail(Status::invalid_layout, Error::no_offset, "alignment: expected a power of two, got %u", alignment);
    }
    alignment = std::max(alignment, minimum_alignment);
    Buffer buffer;
    buffer.handle.byte_size = byte_size;
    buffer.handle.alignment = alignment;
    if (byte_size == 0) return buffer;
    auto object = SharedObject::create(byte_size, alignment);
    if (!object) return std::unexpected(object.error());
    buffer.data = (*object)->base();
    buffer.storage = Ref<Storage>::adopt(new ObjectStorage(std::move(*object)));
    return buffer;
}

Result<bool> seal_shared_buffer(const Buffer& buffer) {
    auto* storage = dynamic_cast<ObjectStorage*>(buffer.storage.get());
    if (storage == nullptr) return false;
    return storage->object().seal();
}

}  // namespace hurray
#endif
