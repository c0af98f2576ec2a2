#include "core/hurray/io/npy/npy_writer.hpp"

#include <utility>

#include "core/hurray/base/utf8.hpp"
#include "core/hurray/io/announced_tensor.hpp"
#include "core/hurray/io/outgoing_elements.hpp"
#include "core/hurray/io/quoted.hpp"

namespace hurray {
namespace {

constexpr const char* format_words = ".npy";

}  // namespace

NpyWriter::NpyWriter(std::unique_ptr<ByteSink> sink) noexcept : sink_(std::move(sink)) {}

Result<std::unique_ptr<NpyWriter>> NpyWriter::create(std::unique_ptr<ByteSink> sink, const FileWriterOptions& options) {
    if (options.data_alignment != 0) {
        return fail(Status::invalid_argument, Error::no_offset, "data_alignment: a .npy file has none to choose, expected 0");
    }
    if (!options.sorted_index) {
        return fail(Status::invalid_argument, Error::no_offset, "sorted_index: a .npy file has no index");
    }
    if (options.compress) {
        return fail(Status::invalid_argument, Error::no_offset, "compress: a .npy file is not compressed (.npz can be)");
    }
    return std::unique_ptr<NpyWriter>(new NpyWriter(std::move(sink)));
}

Result<std::unique_ptr<ModelFileWriter>> write_npy(std::unique_ptr<ByteSink> sink, const FileWriterOptions& options) {
    return NpyWriter::create(std::move(sink), options);
}

Result<void> NpyWriter::check_name(std::string_view name) const {
    if (finished_) return fail(Status::invalid_argument, Error::no_offset, "the writer has finished");
    if (find_invalid_utf8(name)) {
        return fail(Status::invalid_argument, Error::no_offset, "tensor name %s: invalid UTF-8", Quoted(name).c_str());
    }
    if (tensor_ || announced_) {
        return fail(Status::invalid_argument, Error::no_offset, "tensor %s: a .npy file holds one tensor, and has it already",
                    Quoted(name).c_str());
    }
    return {};
}

Result<void> NpyWriter::add(std::string_view name, const Tensor& tensor) {
    if (auto checked = check_name(name); !checked) return checked;
    const auto plan = plan_npy(format_words, name, tensor.descriptor);
    if (!plan) return std::unexpected(plan.error());
    if (auto checked = check_outgoing_buffers(name, tensor); !checked) return checked;
    name_ = name;
    plan_ = *plan;
    tensor_ = tensor;
    return {};
}

Result<void> NpyWriter::add(std::string_view name, const Descriptor& descriptor, TensorSource source) {
    if (auto checked = check_name(name); !checked) return checked;
    const auto plan = plan_npy(format_words, name, descriptor);
    if (!plan) return std::unexpected(plan.error());
    if (!source) return fail(Status::invalid_argument, Error::no_offset, "tensor %s: it has no source", Quoted(name).c_str());
    name_ = name;
    plan_ = *plan;
    announced_ = descriptor;
    source_ = std::move(source);
    return {};
}

Result<void> NpyWriter::set_metadata(std::string_view key, const MetadataValue&) {
    return fail(Status::unsupported, Error::no_offset, "metadata key %s: a .npy file holds no metadata", Quoted(key).c_str());
}

Result<void> NpyWriter::write(const Tensor& tensor) {
    const auto settled = settle_npy(plan_, tensor, copied_bytes_);
    if (!settled) return std::unexpected(settled.error());
    const std::string header = npy_header(plan_, tensor.descriptor.shape());
    if (auto done = sink_->write(std::as_bytes(std::span(header))); !done) return done;
    return write_npy_data(
        plan_, *settled, [this](std::span<const std::byte> piece) { return sink_->write(piece); }, copied_bytes_);
}

Result<void> NpyWriter::finish() {
    if (finished_) return fail(Status::invalid_argument, Error::no_offset, "the writer has finished");
    if (!tensor_ && !announced_) {
        return fail(Status::invalid_argument, Error::no_offset, "a .npy file holds one tensor, and none was added");
    }
    finished_ = true;
    if (announced_) {
        auto made = make_announced(name_, *announced_, source_);
        if (!made) return std::unexpected(made.error());
        // Its strides may be others than the announced ones.
        const auto plan = plan_npy(format_words, name_, made->descriptor);
        if (!plan) return std::unexpected(plan.error());
        if (auto checked = check_outgoing_buffers(name_, *made); !checked) return checked;
        plan_ = *plan;
        tensor_ = *std::move(made);
    }
    auto done = write(*tensor_);
    if (done) done = sink_->commit();
    tensor_.reset();  // the share is not needed any more
    announced_.reset();
    source_ = nullptr;
    return done;
}

}  // namespace hurray
