#include "sink.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <vector>

#include "atomic_output.hpp"
#include "exit.hpp"
#include "formats.hpp"
#include "text.hpp"

namespace cli {
namespace {

class StreamSink : public Sink {
  public:
    explicit StreamSink(const std::string& path) : path_(path == "-" ? "standard output" : path) {
        if (path != "-") file_ = std::make_unique<AtomicOutput>(path);
        writer_ = take(hurray::Writer::to_fd(file_ ? file_->fd() : STDOUT_FILENO), path_, failed);
    }
    void add(const std::string&, const hurray::Item& item, const MakeAgain&) override {
        const auto done = item.tensor ? writer_.write(item.tensor) : writer_.write(item.composite);
        take(done, path_, failed);
    }
    bool set_metadata(const Input&, std::uint64_t) override { return false; }
    void finish() override {
        writer_.reset();
        if (file_) file_->commit();
    }
    std::uint64_t copied_bytes() const override { return 0; }
    bool has_names() const override { return false; }

  private:
    std::string path_;
    std::unique_ptr<AtomicOutput> file_;
    hurray::Writer writer_;
};

// Bytes of made tensors that may wait in memory until the file is finished; beyond that they are made again.
constexpr std::uint64_t may_wait = std::uint64_t{64} << 20;

class FileSink : public Sink {
  public:
    FileSink(const std::string& path, const SinkOptions& options) : path_(path == "-" ? "standard output" : path), format_(options.format) {
        hurray::FileWriterOptions writer;
        writer.format = options.format;
        writer.data_alignment = options.alignment;
        writer.flags = (options.compress ? std::uint32_t{HURRAY_FILE_WRITER_COMPRESS} : 0) |
                       (options.unsorted_index ? std::uint32_t{HURRAY_FILE_WRITER_UNSORTED_INDEX} : 0);
        writer_ = take(path == "-" ? hurray::FileWriter::to_fd(STDOUT_FILENO, writer)
                                   : hurray::FileWriter::create(path.c_str(), writer),
                       path_, failed);
    }

    void add(const std::string& name, const hurray::Item& item, const MakeAgain& again) override {
        const std::string subject = fmt::format("{}: {}", path_, printable(name));
        if (item.composite) return take(writer_.add(name, item.composite), subject, failed);
        const bool at_once = format_ == HURRAY_FORMAT_HRRY || format_ == HURRAY_FORMAT_NPZ;
        if (!at_once && again) {
            waiting_ += bytes_of(item.tensor);
            if (waiting_ > may_wait) return announce(name, item.tensor, again, subject);
        }
        take(writer_.add(name, item.tensor), subject, failed);
    }

    bool set_metadata(const Input& input, std::uint64_t index) override {
        const auto entry = take(input.file().metadata(index), input.path());
        const std::string_view key(entry.key, static_cast<std::size_t>(entry.key_length));
        const auto done = entry.type == HURRAY_METADATA_ARRAY ? set_array(input, index, key, entry) : set_value(key, entry);
        if (!done && (done.error().code() == HURRAY_ERR_UNSUPPORTED || done.error().code() == HURRAY_ERR_INVALID_ARGUMENT)) {
            return false;
        }
        take(done, path_, failed);
        return true;
    }

    void finish() override { take(writer_.finish(), path_, failed); }
    std::uint64_t copied_bytes() const override { return take(writer_.copied_bytes(), path_, failed); }
    bool has_names() const override { return format_ != HURRAY_FORMAT_NPY; }

  private:
    static std::uint64_t bytes_of(const hurray::Tensor& tensor) {
        std::uint64_t total = 0;
        for (std::uint32_t i = 0;; ++i) {
            const auto buffer = tensor.buffer(i);
            if (!buffer) return total;
            if (const auto info = buffer->info()) total += info->byte_size;
        }
    }

    void announce(const std::string& name, const hurray::Tensor& tensor, const MakeAgain& again, const std::string& subject) {
        const auto descriptor = take(tensor.descriptor(), subject);
        const auto make = [again]() -> hurray::Result<hurray::Tensor> {
            // What the writer is told is an error; the message stays what it was.
            try {
                hurray::Item item = again();
                return std::move(item.tensor);
            } catch (const Failure& failure) {
                if (failure.code() == interrupted) return hurray::Error(HURRAY_ERR_CANCELLED, "interrupted");
                return failure.error() ? *failure.error() : hurray::Error(HURRAY_ERR_IO, failure.what());
            }
        };
        take(writer_.add_source(name, descriptor, make), subject, failed);
    }

    hurray::Result<void> set_value(std::string_view key, const HurrayFileMetadata& entry) {
        return writer_.set_metadata(key, entry);
    }
    hurray::Result<void> set_array(const Input& input, std::uint64_t index, std::string_view key, const HurrayFileMetadata& entry) {
        std::vector<HurrayFileMetadata> elements;
        for (std::uint64_t i = 0; i < entry.count; ++i) {
            elements.push_back(take(input.file().metadata_element(index, i), input.path()));
        }
        return writer_.set_metadata(key, entry.element_type, elements);
    }

    std::string path_;
    std::uint32_t format_;
    std::uint64_t waiting_ = 0;
    hurray::FileWriter writer_;
};

}  // namespace

std::unique_ptr<Sink> make_sink(const std::string& path, const SinkOptions& options) {
    if (options.format == stream_format) return std::make_unique<StreamSink>(path);
    return std::make_unique<FileSink>(path, options);
}

}  // namespace cli
