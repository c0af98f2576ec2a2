// Where converted tensors go: a file of a format, or a stream.
#pragma once

#include <cstdint>
#include <functional>
#include <hurray.hpp>
#include <memory>
#include <string>

#include "input.hpp"

namespace cli {

/// Makes an item again when it is written; throws as the transformation does.
using MakeAgain = std::function<hurray::Item()>;

class Sink {
  public:
    virtual ~Sink() = default;
    /// `again` makes the same item once more: a sink that writes later does not keep it then. Null: the item costs no memory.
    virtual void add(const std::string& name, const hurray::Item& item, const MakeAgain& again) = 0;
    /// Copies a metadata entry; false when the format cannot hold it.
    virtual bool set_metadata(const Input& input, std::uint64_t index) = 0;
    virtual void finish() = 0;
    /// Bytes that the library copied on their way.
    virtual std::uint64_t copied_bytes() const = 0;
    virtual bool has_names() const = 0;
};

struct SinkOptions {
    std::uint32_t format = HURRAY_FORMAT_AUTO;
    /// 0: the format's own.
    std::uint32_t alignment = 0;
    bool compress = false;
    bool unsorted_index = false;
};

/// `path`: "-" for standard output. Throws a Failure with exit code 4.
std::unique_ptr<Sink> make_sink(const std::string& path, const SinkOptions& options);

}  // namespace cli
