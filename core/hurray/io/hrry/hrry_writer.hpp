// Writing .hrry files (docs/formats/hrry.md). (format: file, writer protocol)
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/hurray/base/error.hpp"
#include "core/hurray/composite/composite_assembler.hpp"
#include "core/hurray/io/byte_sink.hpp"
#include "core/hurray/io/model_file_writer.hpp"
#include "core/hurray/io/outgoing_tensor.hpp"

namespace hurray {

/// Writes one .hrry file front to back, each tensor when it is added, straight from where its buffers lie: any layout,
/// any scheme, any section. Kept in memory are the names with five numbers each, and the metadata.
///
/// Heads of composites may be added like tensors, too: then the next tensors are their members, and must fit.
/// add_composite does that by itself.
class HrryWriter final : public ModelFileWriter {
  public:
    /// As long as readers accept it by default.
    static constexpr std::uint64_t metadata_limit = std::uint64_t{256} << 20;

    /// Errors: invalid_argument: options that are not this format's.
    static Result<std::unique_ptr<HrryWriter>> create(std::unique_ptr<ByteSink> sink, const FileWriterOptions& options);

    [[nodiscard]] FileFormat format() const noexcept override { return FileFormat::hrry; }
    [[nodiscard]] bool keeps_tensors() const noexcept override { return false; }

    /// Errors beside those of ModelFileWriter: invalid_argument: an empty name, or one of more than 65,535 bytes;
    /// invalid_composite: a tensor that does not fit the composite that is open, which ends the writer.
    Result<void> add(std::string_view name, const Tensor& tensor) override;
    Result<void> add(std::string_view name, const Descriptor& descriptor, TensorSource source) override;
    Result<void> add_composite(std::string_view name, const Composite& composite) override;
    Result<void> set_metadata(std::string_view key, const MetadataValue& value) override;
    /// Errors beside those of ModelFileWriter: invalid_composite: the last composite lacks members.
    Result<void> finish() override;
    [[nodiscard]] std::uint64_t copied_bytes() const noexcept override { return 0; }

    /// Bytes written so far.
    [[nodiscard]] std::uint64_t offset() const noexcept { return offset_; }

  private:
    struct Place {
        std::uint64_t descriptor_offset = 0;
        std::uint32_t descriptor_length = 0;
        std::uint64_t data_offset = 0;
        std::uint64_t data_length = 0;
    };
    using Places = std::map<std::string, Place, std::less<>>;
    struct MetadataItem {
        std::string key;
        std::vector<std::byte> encoded;
    };

    HrryWriter(std::unique_ptr<ByteSink> sink, const FileWriterOptions& options);

    [[nodiscard]] Result<void> check_open() const;
    [[nodiscard]] Result<void> check_name(std::string_view name) const;
    Result<void> write_tensor(std::string_view name, const Descriptor& descriptor, const OutgoingTensor& outgoing);
    Result<void> write(std::span<const std::span<const std::byte>> pieces);
    Result<void> write_header();
    Result<void> write_metadata();
    Result<void> write_index();

    std::unique_ptr<ByteSink> sink_;
    FileWriterOptions options_;
    std::uint32_t data_alignment_;
    std::uint64_t offset_ = 0;
    Places places_;
    /// In the order in which they were added.
    std::vector<Places::const_iterator> order_;
    std::vector<MetadataItem> metadata_;
    std::map<std::string, std::size_t, std::less<>> metadata_by_key_;
    std::uint64_t metadata_length_ = 4;
    /// Knows the descriptors only.
    CompositeAssembler composites_;
    bool has_metadata_ = false;
    bool header_written_ = false;
    bool finished_ = false;
    /// An error has left the file with a part of something.
    bool broken_ = false;
    std::uint64_t metadata_offset_ = 0;
};

/// For the table of formats: HrryWriter::create.
Result<std::unique_ptr<ModelFileWriter>> write_hrry(std::unique_ptr<ByteSink> sink, const FileWriterOptions& options);

}  // namespace hurray
