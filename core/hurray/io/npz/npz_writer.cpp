#include "core/hurray/io/npz/npz_writer.hpp"

#include <utility>

#include "core/hurray/io/announced_tensor.hpp"
#include "core/hurray/io/npy/npy_elements.hpp"
#include "core/hurray/io/npz/zip_name.hpp"
#include "core/hurray/io/npz/zip_source.hpp"
#include "core/hurray/io/outgoing_elements.hpp"
#include "core/hurray/io/quoted.hpp"

namespace hurray {
namespace {

constexpr const char* format_words = ".npz";
constexpr std::string_view ending = ".npy";
constexpr std::size_t longest_name = 0xFFFF - ending.size();

std::string member_name(std::string_view name) {
    std::string member(name);
    member += ending;
    return member;
}

}  // namespace

NpzWriter::NpzWriter(std::unique_ptr<ByteSink> sink, bool compress) noexcept
    : sink_(std::move(sink)), output_(*sink_), compress_(compress) {}

Result<std::unique_ptr<NpzWriter>> NpzWriter::create(std::unique_ptr<ByteSink> sink, const FileWriterOptions& options) {
    if (options.data_alignment != 0) {
        return fail(Status::invalid_argument, Error::no_offset, "data_alignment: a .npz file has none to choose, expected 0");
    }
    if (!options.sorted_index) {
        return fail(Status::invalid_argument, Error::no_offset, "sorted_index: a .npz file has no choice of its order");
    }
    return std::unique_ptr<NpzWriter>(new NpzWriter(std::move(sink), options.compress));
}

Result<std::unique_ptr<ModelFileWriter>> write_npz(std::unique_ptr<ByteSink> sink, const FileWriterOptions& options) {
    return NpzWriter::create(std::move(sink), options);
}

Result<void> NpzWriter::check_name(std::string_view name) const {
    if (finished_) return fail(Status::invalid_argument, Error::no_offset, "the writer has finished");
    if (failed_) return fail(Status::invalid_argument, Error::no_offset, "the writer has failed: it can only be destroyed");
    if (name.size() > longest_name) {
        return fail(Status::invalid_argument, Error::no_offset, "tensor name %s: %zu bytes, expected at most %zu",
                    Quoted(name).c_str(), name.size(), longest_name);
    }
    // The ending makes no fault and hides none.
    if (const char* fault = zip::name_fault(member_name(name))) {
        return fail(Status::invalid_argument, Error::no_offset, "tensor name %s: %s, which a .npz file cannot have",
                    Quoted(name).c_str(), fault);
    }
    if (names_.contains(name)) {
        return fail(Status::invalid_argument, Error::no_offset, "tensor name %s: there is one of that name already",
                    Quoted(name).c_str());
    }
    return {};
}

Result<void> NpzWriter::add(std::string_view name, const Tensor& tensor) {
    if (auto checked = check_name(name); !checked) return checked;
    return write(name, tensor);
}

Result<void> NpzWriter::add(std::string_view name, const Descriptor& descriptor, TensorSource source) {
    if (auto checked = check_name(name); !checked) return checked;
    if (const auto plan = plan_npy(format_words, name, descriptor); !plan) return std::unexpected(plan.error());
    // A file must not be finished without a tensor that was announced.
    failed_ = static_cast<bool>(source);
    const auto made = make_announced(name, descriptor, source);
    if (!made) return std::unexpected(made.error());
    failed_ = false;
    return write(name, *made);
}

Result<void> NpzWriter::write(std::string_view name, const Tensor& tensor) {
    auto plan = plan_npy(format_words, name, tensor.descriptor);
    if (!plan) return std::unexpected(plan.error());
    if (auto checked = check_outgoing_buffers(name, tensor); !checked) return checked;
    const auto settled = settle_npy(*plan, tensor, copied_bytes_);
    if (!settled) return std::unexpected(settled.error());
    const std::string header = npy_header(*plan, tensor.descriptor.shape());
    const auto header_bytes = std::as_bytes(std::span(header));
    const std::uint64_t size = header.size() + plan->data_size;  // far below 2^64: the data is below 2^63

    std::uint32_t crc = zip::crc32(0, header_bytes);
    if (!compress_) {
        std::uint64_t gathered = 0;  // counted when it is written
        const auto add_to_crc = [&crc](std::span<const std::byte> piece) {
            crc = zip::crc32(crc, piece);
            return Result<void>{};
        };
        if (auto done = write_npy_data(*plan, *settled, add_to_crc, gathered); !done) return done;
    }
    // In front of the data is a header of whole 64 bytes.
    constexpr std::uint32_t alignment = 64;
    names_.emplace(name);
    failed_ = true;  // until all of it is written
    const std::string member = member_name(name);
    auto done = compress_ ? output_.begin_deflated(member, size) : output_.begin_stored(member, size, crc, alignment);
    if (done) done = output_.write(header_bytes);
    if (done) {
        done = write_npy_data(
            *plan, *settled, [this](std::span<const std::byte> piece) { return output_.write(piece); }, copied_bytes_);
    }
    if (done) done = output_.end_member();
    if (!done) return done;
    failed_ = false;
    return {};
}

Result<void> NpzWriter::set_metadata(std::string_view key, const MetadataValue&) {
    return fail(Status::unsupported, Error::no_offset, "metadata key %s: a .npz file holds no metadata", Quoted(key).c_str());
}

Result<void> NpzWriter::finish() {
    if (finished_) return fail(Status::invalid_argument, Error::no_offset, "the writer has finished");
    if (failed_) return fail(Status::invalid_argument, Error::no_offset, "the writer has failed: it can only be destroyed");
    finished_ = true;
    auto done = output_.finish();
    if (done) done = sink_->commit();
    return done;
}

}  // namespace hurray
