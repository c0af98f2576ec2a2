// What all long operations take besides their arguments: a limit on memory, and somebody to report to who may stop them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/hurray/base/checked.hpp"
#include "core/hurray/base/error.hpp"
#include "core/hurray/memory/buffer.hpp"

namespace hurray {

/// Options of a long operation. The default is: no limit, no reports.
struct WorkOptions {
    /// The most bytes of new memory that the operation may hold at one time, its result and scratch memory that grows
    /// with the tensor included; 0 for no limit. Checked before memory is taken.
    std::uint64_t memory_limit = 0;
    /// Told now and then how far the work is, in a unit that the operation names (most often bytes of the result);
    /// null for nobody. Runs on the thread that called the operation, after about each MiB of work, and once at the end
    /// with `done` = `total`; `done` never falls. Returning false, even at the end, stops the operation, which fails
    /// with Status::cancelled and leaves nothing behind.
    bool (*progress)(void* context, std::uint64_t done, std::uint64_t total) = nullptr;
    /// Handed to progress as it is.
    void* context = nullptr;
};

/// The account that an operation keeps of its work and its memory.
///
/// Refers to the options. Thread rule: one thread at a time.
class Work {
  public:
    /// How much work is done between two reports.
    static constexpr std::uint64_t interval = std::uint64_t{1} << 20;

    /// @param total all the work there is, in the unit of advance()
    Work(const WorkOptions& options, std::uint64_t total) noexcept
        : options_(options), total_(total), next_report_(options.progress == nullptr ? never : interval) {}

    /// Counts work, best in pieces well below `interval`, and reports it when it is time. No more than the total is
    /// reported, and all of it by finish() only.
    /// @returns false when the work shall stop: then return cancelled()
    [[nodiscard]] bool advance(std::uint64_t amount) {
        done_ += amount;
        return done_ < next_report_ || report();
    }

    /// Ends the work: reports all of it.
    /// @errors cancelled
    Result<void> finish() {
        if (options_.progress != nullptr && !options_.progress(options_.context, total_, total_)) return cancelled();
        return {};
    }

    /// The error of work that was stopped.
    [[nodiscard]] std::unexpected<Error> cancelled() const {
        return fail(Status::cancelled, Error::no_offset, "progress: asked to stop after %llu of %llu units of work",
                    static_cast<unsigned long long>(std::min(done_, total_)), static_cast<unsigned long long>(total_));
    }

    /// Counts memory that is about to be taken. Nothing is counted when it is refused.
    /// @errors limit_exceeded: together with what is held already it is more than memory_limit
    Result<void> reserve(std::uint64_t bytes) {
        const auto sum = checked_add(held_, bytes);
        if (options_.memory_limit != 0 && (!sum || *sum > options_.memory_limit)) {
            return fail(Status::limit_exceeded, Error::no_offset,
                        "memory_limit: expected at least %llu bytes, %llu of them held already, got %llu",
                        static_cast<unsigned long long>(sum.value_or(~std::uint64_t{0})),
                        static_cast<unsigned long long>(held_), static_cast<unsigned long long>(options_.memory_limit));
        }
        held_ = sum.value_or(~std::uint64_t{0});
        return {};
    }
    /// Takes memory that was given back off the account.
    void release(std::uint64_t bytes) noexcept { held_ -= std::min(bytes, held_); }

    /// reserve(), then a buffer of host memory, see allocate_buffer.
    /// @errors limit_exceeded, out_of_memory, invalid_layout (alignment)
    Result<Buffer> allocate(std::uint64_t byte_size, std::uint32_t alignment = minimum_alignment,
                            Contents contents = Contents::zeroed) {
        if (auto reserved = reserve(byte_size); !reserved) return std::unexpected(reserved.error());
        auto buffer = allocate_buffer(byte_size, alignment, contents);
        if (!buffer) release(byte_size);
        return buffer;
    }

  private:
    static constexpr std::uint64_t never = ~std::uint64_t{0};

    bool report() {
        next_report_ = done_ > never - interval ? never : done_ + interval;
        return done_ >= total_ || options_.progress == nullptr || options_.progress(options_.context, done_, total_);
    }

    const WorkOptions& options_;
    std::uint64_t total_;
    std::uint64_t done_ = 0;
    std::uint64_t next_report_;
    std::uint64_t held_ = 0;
};

}  // namespace hurray
