// Tensors between files and memory, against read and write of the same bytes. The files lie in the folder for temporary
// files and in the system's cache: what is measured is what we add to the system's work, not a disk.
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/hurray/descriptor/builder.hpp"
#include "core/hurray/io/byte_sink.hpp"
#include "core/hurray/io/byte_source.hpp"
#include "core/hurray/io/model_file.hpp"
#include "core/hurray/io/model_file_writer.hpp"
#include "core/hurray/io/stream_reader.hpp"
#include "core/hurray/io/stream_writer.hpp"
#include "tools/bench/measure.hpp"

namespace hurray::bench {
namespace {

constexpr double file_rate = 0.8;
constexpr const char* tensor_name = "tensor";

/// A file that is removed at the end.
class TemporaryFile {
  public:
    TemporaryFile() : path_(std::filesystem::temp_directory_path() / "hurray-bench-XXXXXX") {
        fd_ = ::mkstemp(path_.data());
        if (fd_ < 0) give_up("cannot make a temporary file");
    }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    ~TemporaryFile() {
        ::close(fd_);
        ::unlink(path_.c_str());
    }

    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] int fd() const { return fd_; }
    [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(std::filesystem::file_size(path_)); }
    /// Back to the start; what was in it stays.
    void rewind() const { ::lseek(fd_, 0, SEEK_SET); }

  private:
    std::string path_;
    int fd_ = -1;
};

Tensor tensor_over(Bytes& bytes) {
    const std::uint64_t shape[] = {bytes.size() / sizeof(float)};
    Buffer buffer = wrap_host_memory(bytes.data(), bytes.size(), {});
    DescriptorBuilder builder(0x03, layout_tag::row_major, shape);
    require(builder.add_buffer(buffer.handle));
    auto descriptor = builder.build();
    require(descriptor);
    Tensor tensor{*std::move(descriptor), {}};
    tensor.buffers.push_back(std::move(buffer));
    return tensor;
}

void write_all(int fd, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const auto count = ::write(fd, bytes.data(), bytes.size());
        if (count <= 0) give_up("cannot write");
        bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
}

void read_all(int fd, std::span<std::byte> bytes) {
    while (!bytes.empty()) {
        const auto count = ::read(fd, bytes.data(), bytes.size());
        if (count <= 0) give_up("cannot read");
        bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
}

void write_to(const TemporaryFile& file, FileFormat format, const Tensor& tensor) {
    auto writer = write_model_file(std::make_unique<FdSink>(file.fd()), format);
    require(writer);
    require((*writer)->add(tensor_name, tensor));
    require((*writer)->finish());
}

/// What a program does that reads a file into memory that it takes for it.
void read_into_new_memory(const TemporaryFile& file, std::size_t size) {
    const int fd = ::open(file.path().c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status {};
    if (fd < 0 || ::fstat(fd, &status) != 0) give_up("cannot open");
    auto buffer = allocate_buffer(size, minimum_alignment, Contents::undefined);
    require(buffer);
    read_all(fd, buffer->bytes());
    ::close(fd);
}

struct Format {
    const char* name;
    FileFormat format;
};

constexpr Format formats[] = {
    {"safetensors", FileFormat::safetensors},
    {"npy", FileFormat::npy},
    {"npz", FileFormat::npz},
};

/// Small files cost what opening costs, which no rate says.
double rate_of(std::size_t bytes) { return bytes >= large_output ? file_rate : 0; }

void read(benchmark::State& state, FileFormat format, std::size_t size, double at_least) {
    Bytes bytes(size);
    const TemporaryFile file;
    write_to(file, format, tensor_over(bytes));
    compare(
        state, size, {"read", at_least},
        [&] {
            const auto opened = open_model_file(file.path(), {.access = FileAccess::read});
            require(opened);
            const auto tensor = (*opened)->tensor(0);
            require(tensor);
            benchmark::DoNotOptimize(tensor->buffers[0].data);
        },
        [&] { read_into_new_memory(file, size); });
}

/// Mapped, and copied to where the program wants it, against read to the same place.
void map(benchmark::State& state, FileFormat format, std::size_t size) {
    Bytes bytes(size);
    const TemporaryFile file;
    write_to(file, format, tensor_over(bytes));
    Bytes output(size);
    compare(
        state, size, {"read", rate_of(size)},
        [&] {
            const auto opened = open_model_file(file.path());
            require(opened);
            const auto tensor = (*opened)->tensor(0);
            require(tensor);
            const std::byte* from = tensor->buffers[0].data + tensor->descriptor.byte_offset();
            std::memcpy(output.data(), from, size);
        },
        [&] {
            const int fd = ::open(file.path().c_str(), O_RDONLY | O_CLOEXEC);
            if (fd < 0) give_up("cannot open");
            read_all(fd, output.span());
            ::close(fd);
        });
}

void write(benchmark::State& state, FileFormat format, std::size_t size, double at_least) {
    Bytes bytes(size);
    const Tensor tensor = tensor_over(bytes);
    const TemporaryFile ours;
    const TemporaryFile theirs;
    write_to(ours, format, tensor);
    write_all(theirs.fd(), bytes.span());
    compare(
        state, size, {"write", at_least},
        [&] {
            ours.rewind();
            write_to(ours, format, tensor);
        },
        [&] {
            theirs.rewind();
            write_all(theirs.fd(), bytes.span());
        });
}

void read_stream(benchmark::State& state, std::size_t size) {
    Bytes bytes(size);
    const TemporaryFile file;
    StreamWriter writer(std::make_unique<FdSink>(file.fd()));
    require(writer.write(tensor_over(bytes)));
    compare(
        state, size, {"read", rate_of(size)},
        [&] {
            file.rewind();
            StreamReader reader(std::make_unique<FdSource>(file.fd()));
            const auto tensor = reader.next();
            require(tensor);
            benchmark::DoNotOptimize((*tensor)->buffers[0].data);
        },
        [&] { read_into_new_memory(file, size); });
}

void write_stream(benchmark::State& state, std::size_t size) {
    Bytes bytes(size);
    const Tensor tensor = tensor_over(bytes);
    const TemporaryFile ours;
    const TemporaryFile theirs;
    StreamWriter first(std::make_unique<FdSink>(ours.fd()));
    require(first.write(tensor));
    write_all(theirs.fd(), bytes.span());
    compare(
        state, size, {"write", rate_of(size)},
        [&] {
            ours.rewind();
            StreamWriter writer(std::make_unique<FdSink>(ours.fd()));
            require(writer.write(tensor));
        },
        [&] {
            theirs.rewind();
            write_all(theirs.fd(), bytes.span());
        });
}

/// A stream in memory, against memcpy to new memory.
void stream_from_memory(benchmark::State& state, std::size_t size) {
    Bytes bytes(size);
    auto sink = std::make_unique<MemorySink>();
    MemorySink* written = sink.get();
    StreamWriter writer(std::move(sink));
    require(writer.write(tensor_over(bytes)));
    const std::vector<std::byte> stream = written->take();
    compare(
        state, size, {"memcpy", rate_of(size)},
        [&] {
            StreamReader reader(std::make_unique<MemorySource>(stream));
            const auto tensor = reader.next();
            require(tensor);
            benchmark::DoNotOptimize((*tensor)->buffers[0].data);
        },
        [&] {
            auto buffer = allocate_buffer(size, minimum_alignment, Contents::undefined);
            require(buffer);
            std::memcpy(buffer->data, stream.data() + (stream.size() - size), size);
        });
}

}  // namespace

void add_benchmarks(std::span<const std::size_t> output_sizes) {
    for (const std::size_t size : output_sizes) {
        const std::string suffix = std::string("/") += size_name(size);
        for (const Format& format : formats) {
            // CRC-32 of all bytes is part of .npz, once to read and once to write.
            const double at_least = format.format == FileFormat::npz ? 0 : rate_of(size);
            add(std::string("file/read/") + format.name + suffix,
                [&format, size, at_least](benchmark::State& state) { read(state, format.format, size, at_least); });
            add(std::string("file/map/") + format.name + suffix,
                [&format, size](benchmark::State& state) { map(state, format.format, size); });
            add(std::string("file/write/") + format.name + suffix,
                [&format, size, at_least](benchmark::State& state) { write(state, format.format, size, at_least); });
        }
        add("stream/read" + suffix, [size](benchmark::State& state) { read_stream(state, size); });
        add("stream/write" + suffix, [size](benchmark::State& state) { write_stream(state, size); });
        add("stream/from_memory" + suffix, [size](benchmark::State& state) { stream_from_memory(state, size); });
    }
}

}  // namespace hurray::bench
