#include "sink.hpp"

#include <unistd.h>

#include "atomic_output.hpp"
#include "exit.hpp"
#include "formats.hpp"

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

class FileSink : public Sink {
  public:
    FileSink(const std::string& path, const SinkOptions& options) : path_(path), options_(options) {
        writer_ = take(hurray::FileWriter::create(path.c_str(), options.format), path_, failed);
    }
    void add(const std::string& name, const hurray::Item& item, const MakeAgain&) override {
        const std::string subject = path_ + ": " + name;
        if (item.composite) throw Failure(failed, subject, "composites cannot be written yet");
        take(writer_.add(name, item.tensor), subject, failed);
    }
    bool set_metadata(const Input& input, std::uint64_t index) override {
        const auto entry = take(input.file().metadata(index), input.path());
        take(writer_.set_metadata({entry.key, static_cast<std::size_t>(entry.key_length)},
                                  {entry.value, static_cast<std::size_t>(entry.value_length)}),
             path_, failed);
        return true;
    }
    void finish() override { take(writer_.finish(), path_, failed); }
    std::uint64_t copied_bytes() const override { return 0; }
    bool has_names() const override { return true; }

  private:
    std::string path_;
    SinkOptions options_;
    hurray::FileWriter writer_;
};

}  // namespace

std::unique_ptr<Sink> make_sink(const std::string& path, const SinkOptions& options) {
    if (options.format == stream_format) return std::make_unique<StreamSink>(path);
    return std::make_unique<FileSink>(path, options);
}

}  // namespace cli
