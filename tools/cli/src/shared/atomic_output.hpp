// A file that appears under its name when it is complete, and leaves nothing behind otherwise. For streams: files of formats
// are written by the library, which does the same.
#pragma once

#include <string>

namespace cli {

class AtomicOutput {
  public:
    /// Throws a Failure with exit code 4.
    explicit AtomicOutput(std::string path);
    AtomicOutput(const AtomicOutput&) = delete;
    AtomicOutput& operator=(const AtomicOutput&) = delete;
    ~AtomicOutput();

    int fd() const { return fd_; }
    /// Makes it durable and puts it in place.
    void commit();

  private:
    std::string path_;
    std::string temporary_;
    int fd_ = -1;
};

}  // namespace cli
