// Long work on behalf of a caller.
#pragma once

#include <cstdint>

#include "abi/src/api/compute.hpp"
#include "abi/src/internal/objects.hpp"
#include "core/hurray/transcode/options.hpp"

namespace hurray::abi {

/// The options of a call in the core's form. A callback that throws is caught where it is called, so that nothing of the core
/// sees the exception, and ends the work.
class CallersWork {
public:
    /// @param options null: the defaults
    /// @errors invalid_argument
    Result<void> read(const HurrayWorkOptions* options);
    CallersWork() = default;
    CallersWork(const CallersWork&) = delete;
    CallersWork& operator=(const CallersWork&) = delete;

    [[nodiscard]] const WorkOptions& options() const noexcept { return core_; }
    /// The error of work that failed: internal_panic where it was stopped because the callback threw.
    [[nodiscard]] std::unexpected<Error> failure(const Error& error) const noexcept;

private:
    static bool report(void* self, std::uint64_t done, std::uint64_t total);

    HurrayProgressFn progress_ = nullptr;
    void* context_ = nullptr;
    bool threw_ = false;
    WorkOptions core_;
};

/// The core's form of a tensor whose buffers keep all that their memory needs, so that results may share it.
Tensor shared_tensor(const HurrayTensor& tensor);

}  // namespace hurray::abi
