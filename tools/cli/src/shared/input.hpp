// Opening whatever is named: a file of any format, a stream, a descriptor; "-" is standard input.
#pragma once

#include <cstdint>
#include <hurray.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

enum class InputKind { file, stream, descriptor };

struct InputOptions {
    /// auto, file, stream or descriptor.
    std::string as = "auto";
    bool private_tags = false;
    bool permissive = false;
    /// Read the file with ordinary calls instead of mapping it.
    bool no_map = false;
    /// What becomes of quantized blocks that no scheme of the format says: raw, float32 or float16; empty: what the command does.
    std::string blocks;

    std::uint32_t decode_flags() const;
    std::uint32_t stream_flags() const;
    /// Chooses for those who said nothing.
    InputOptions with_blocks(const std::string& otherwise) const;
};

/// One tensor or composite of an input. What it says of a file lives as long as the input.
class Entry {
  public:
    /// Place in the file or stream, from 0.
    std::uint64_t index = 0;
    /// Empty in streams.
    std::string name;
    /// What the file's index says; nothing in streams.
    std::optional<HurrayFileTensorInfo> info;
    /// For people: the printable name, or "#3".
    std::string label() const;

    /// Makes it, once. Throws.
    const hurray::Item& item() const;
    /// Of the tensor, or of the composite's head.
    hurray::DescriptorRef descriptor() const;
    /// Bytes of all buffers, those of members included.
    std::uint64_t byte_size() const;

  private:
    friend class Input;
    const hurray::File* file_ = nullptr;
    std::string subject_;
    mutable std::shared_ptr<hurray::Item> item_;
    mutable std::shared_ptr<hurray::Descriptor> descriptor_;
};

class Input {
  public:
    /// Throws a Failure with exit code 3.
    static Input open(const std::string& path, const InputOptions& options);

    InputKind kind() const { return kind_; }
    const std::string& path() const { return path_; }
    /// "safetensors", "stream", "descriptor".
    std::string format() const;
    /// Bytes of the input; 0 where it is not known.
    std::uint64_t size() const { return size_; }
    bool is_file() const { return kind_ == InputKind::file; }

    const hurray::File& file() const { return file_; }
    const HurrayFileInfo& file_info() const { return info_; }
    /// The input's bytes, of a descriptor.
    const std::vector<std::uint8_t>& bytes() const { return bytes_; }
    /// Decodes the descriptor that the input is.
    hurray::Result<hurray::Descriptor> decode() const;

    /// The next tensor or composite; false at the end. Files may be gone through again after rewind().
    bool next(Entry& entry);
    void rewind() { position_ = 0; }
    /// Of files: the entry that next() gives.
    void go_to(std::uint64_t index) { position_ = index; }
    /// The entry of that name, or of "#3". Streams are read up to it. Throws a Failure with exit code 2 when there is none.
    Entry find(const std::string& name);

  private:
    void open_pipe(int fd);
    void open_stream(int fd);
    hurray::FileOptions file_options() const;
    void opened(hurray::File file);

    std::string path_;
    InputOptions options_;
    InputKind kind_ = InputKind::file;
    std::uint64_t size_ = 0;
    std::uint64_t position_ = 0;
    std::vector<std::uint8_t> bytes_;
    hurray::File file_;
    HurrayFileInfo info_{};
    // Before the reader, which reads from it.
    std::shared_ptr<void> pipe_;
    hurray::Reader reader_;
};

/// Whether a name is wanted: all are where `patterns` is empty.
bool is_wanted(const std::vector<std::string>& patterns, const Entry& entry);

}  // namespace cli
