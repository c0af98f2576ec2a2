// Model files: opened, listed, read, written.
#ifndef HURRAY_FILE_HPP_
#define HURRAY_FILE_HPP_

#include <cstdint>
#include <memory>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

#include "hurray/composite.hpp"
#include "hurray/stream.hpp"

namespace hurray {

/// How a file is opened.
struct FileOptions {
    /// HURRAY_FORMAT_ value.
    std::uint32_t format = HURRAY_FORMAT_AUTO;
    /// HURRAY_ALIGN_ value.
    std::uint32_t alignment = HURRAY_ALIGN_OFFSET;
    /// HURRAY_ACCESS_ value: mapped, or read with ordinary calls.
    std::uint32_t access = HURRAY_ACCESS_MAP;
    /// HURRAY_INEXACT_ value: what becomes of quantized blocks that are no scheme of the format (GGUF).
    std::uint32_t inexact_blocks = HURRAY_INEXACT_RAW;
    /// HURRAY_FILE_ bits.
    std::uint32_t flags = 0;
    /// Longest header accepted, in bytes; 0 means the format's own limit.
    std::uint64_t header_limit = 0;
};

namespace detail {
inline HurrayFileOptions raw_of(const FileOptions& options) noexcept {
    auto raw = sized<HurrayFileOptions>();
    raw.format = options.format;
    raw.alignment = options.alignment;
    raw.access = options.access;
    raw.inexact_blocks = options.inexact_blocks;
    raw.flags = options.flags;
    raw.header_limit = options.header_limit;
    return raw;
}
}  // namespace detail

/// "safetensors", ".hrry", ...; static.
inline const char* format_name(std::uint32_t format) noexcept {
    return hurray_format_name(format);
}

/// A place in a file.
struct FileRange {
    /// Of the first byte, from the start of the file.
    std::uint64_t offset = 0;
    /// In bytes.
    std::uint64_t size = 0;
};

/// An open file. Strings and arrays in the structs live as long as it; tensors live on after it.
class File : public UniqueHandle<HurrayFile, hurray_file_destroy, hurray_file_destroy_deferred> {
  public:
    using UniqueHandle::UniqueHandle;

    /// `path` is terminated.
    static Result<File> open(const char* path, const FileOptions& options = {}) noexcept {
        const auto raw = detail::raw_of(options);
        return detail::make<File>(hurray_file_open, path, &raw);
    }
    /// A file whose bytes are in memory, which is shared.
    static Result<File> open(BufferRef buffer, const FileOptions& options = {}) noexcept {
        const auto raw = detail::raw_of(options);
        return detail::make<File>(hurray_file_open_buffer, static_cast<const HurrayBuffer*>(buffer.get()), &raw);
    }
    /// Format, version and how much there is of what.
    Result<HurrayFileInfo> info() const noexcept { return detail::fill<HurrayFileInfo>(hurray_file_info, raw()); }
    /// Name, type and shape of a tensor, without touching its data.
    Result<HurrayFileTensorInfo> tensor_info(std::uint64_t index) const noexcept {
        return detail::fill<HurrayFileTensorInfo>(hurray_file_tensor_info, raw(), index);
    }
    /// One entry of the metadata; of an array, its length.
    Result<HurrayFileMetadata> metadata(std::uint64_t index) const noexcept {
        return detail::fill<HurrayFileMetadata>(hurray_file_metadata, raw(), index);
    }
    /// Index of the entry of that key; HURRAY_ERR_NOT_FOUND.
    Result<std::uint64_t> find_metadata(std::string_view key) const noexcept {
        return detail::get<std::uint64_t>(hurray_file_find_metadata, raw(), key.data(), std::uint64_t{key.size()});
    }
    /// One element of an array.
    Result<HurrayFileMetadata> metadata_element(std::uint64_t index, std::uint64_t element) const noexcept {
        return detail::fill<HurrayFileMetadata>(hurray_file_metadata_element, raw(), index, element);
    }
    /// The descriptor of a tensor, without touching its data.
    Result<Descriptor> descriptor(std::uint64_t index) const noexcept {
        return detail::make<Descriptor>(hurray_file_descriptor, raw(), index);
    }
    /// Where the bytes of a tensor's buffer come from.
    Result<FileRange> buffer_range(std::uint64_t index, std::uint64_t buffer) const noexcept {
        FileRange range;
        const auto done = detail::call(hurray_file_buffer_range, raw(), index, buffer, &range.offset, &range.size);
        if (!done) return done.error();
        return range;
    }
    /// Index of the tensor of that name; HURRAY_ERR_NOT_FOUND.
    Result<std::uint64_t> find(std::string_view name) const noexcept {
        return detail::get<std::uint64_t>(hurray_file_find, raw(), name.data(), std::uint64_t{name.size()});
    }
    /// A tensor, by index or by name: mapped or read, as the file was opened. HURRAY_ERR_NOT_FOUND.
    Result<Tensor> tensor(std::uint64_t index) const noexcept {
        return detail::make<Tensor>(hurray_file_tensor, raw(), index);
    }
    /// A composite, by the index of its head.
    Result<Composite> composite(std::uint64_t index) const noexcept {
        return detail::make<Composite>(hurray_file_composite, raw(), index);
    }
    /// A tensor, by index or by name: mapped or read, as the file was opened. HURRAY_ERR_NOT_FOUND.
    Result<Tensor> tensor(std::string_view name) const noexcept {
        const auto index = find(name);
        if (!index) return index.error();
        return tensor(*index);
    }

  private:
    const HurrayFile* raw() const noexcept { return get(); }
};

/// Lives as long as the file.
inline std::string_view name_of(const HurrayFileTensorInfo& info) noexcept {
    return {info.name, static_cast<std::size_t>(info.name_length)};
}

/// How a file is written.
struct FileWriterOptions {
    /// HURRAY_FORMAT_ value.
    std::uint32_t format = HURRAY_FORMAT_AUTO;
    /// Of .hrry and GGUF; 0: the format's own.
    std::uint32_t data_alignment = 0;
    /// HURRAY_FILE_WRITER_ bits.
    std::uint32_t flags = 0;
};

namespace detail {

inline HurrayFileWriterOptions raw_of(const FileWriterOptions& options) noexcept {
    auto raw = sized<HurrayFileWriterOptions>();
    raw.format = options.format;
    raw.data_alignment = options.data_alignment;
    raw.flags = options.flags;
    return raw;
}

/// Callables that a writer calls when it writes; they live as long as it.
struct WriterCalls {
    struct Source {
        std::unique_ptr<OwnedCall<Result<Tensor>()>> call;
        WriterCalls* all = nullptr;

        static HurrayStatus make(void* context, HurrayTensor** out) noexcept {
            auto* self = static_cast<Source*>(context);
            HURRAY_HPP_TRY_ {
                auto tensor = (*self->call)();
                if (!tensor) return self->all->said.say(tensor.error());
                *out = tensor->release();
                return HURRAY_OK;
            }
            HURRAY_HPP_CATCH_ALL_ {
                return self->all->said.say(threw());
            }
        }
    };

    std::vector<std::unique_ptr<Source>> sources;
    ByteTaker taker;
    Said said;
};

}  // namespace detail

/// A file that is being written. Until finish() succeeds a file of that name stays as it was.
class FileWriter
    : public UniqueHandle<HurrayFileWriter, hurray_file_writer_destroy, hurray_file_writer_destroy_deferred> {
  public:
    using UniqueHandle::UniqueHandle;
    FileWriter() noexcept = default;
    FileWriter(FileWriter&&) noexcept = default;
    FileWriter& operator=(FileWriter&&) noexcept = default;
    // The handle ends before the callables that it calls.
    ~FileWriter() { reset(); }

    /// Beside the target, which it replaces in one step when it is finished. `path` is terminated.
    static Result<FileWriter> create(const char* path, std::uint32_t format) noexcept {
        return detail::make<FileWriter>(hurray_file_writer_create, path, format);
    }
    /// Beside the target, which it replaces in one step when it is finished. `path` is terminated.
    static Result<FileWriter> create(const char* path, const FileWriterOptions& options) noexcept {
        const auto raw = detail::raw_of(options);
        return detail::make<FileWriter>(hurray_file_writer_create_with, path, &raw);
    }
    /// Front to back, to a pipe or socket, too. What was written stays written.
    static Result<FileWriter> to_fd(std::int32_t fd, const FileWriterOptions& options) noexcept {
        const auto raw = detail::raw_of(options);
        return detail::make<FileWriter>(hurray_file_writer_to_fd, fd, &raw);
    }
    /// `take` is given each piece of bytes as a Span<const std::uint8_t> and returns a Result<void>.
    template <typename Take>
    static Result<FileWriter> to_callback(Take&& take, const FileWriterOptions& options) noexcept {
        std::unique_ptr<detail::WriterCalls> calls(new (std::nothrow) detail::WriterCalls());
        if (calls) calls->taker.call = detail::own<Result<void>(Span<const std::uint8_t>)>(std::forward<Take>(take));
        if (!calls || !calls->taker.call) return detail::out_of_memory();
        const auto raw = detail::raw_of(options);
        auto writer = detail::make<FileWriter>(hurray_file_writer_to_callback, &detail::ByteTaker::write,
                                               static_cast<void*>(&calls->taker), &raw);
        if (writer) writer->calls_ = std::move(calls);
        return writer;
    }

    /// .hrry and .npz write the tensor at once; the others share its memory until the file is finished.
    Result<void> add(std::string_view name, const Tensor& tensor) noexcept {
        return told(detail::call(hurray_file_writer_add, get(), name.data(), std::uint64_t{name.size()},
                                 static_cast<const HurrayTensor*>(tensor.get())));
    }
    /// The head under `name`, its members as `name/0`, `name/1`, ...
    Result<void> add(std::string_view name, const Composite& composite) noexcept {
        return told(detail::call(hurray_file_writer_add_composite, get(), name.data(), std::uint64_t{name.size()},
                                 static_cast<const HurrayComposite*>(composite.get())));
    }
    /// Announces a tensor that `make`, which returns a Result<Tensor>, makes when it is written: one of `descriptor`.
    template <typename Make>
    Result<void> add_source(std::string_view name, DescriptorRef descriptor, Make&& make) noexcept {
        HURRAY_HPP_TRY_ {
            if (!calls_) calls_.reset(new detail::WriterCalls());
            std::unique_ptr<detail::WriterCalls::Source> source(new detail::WriterCalls::Source());
            source->call = detail::own<Result<Tensor>()>(std::forward<Make>(make));
            source->all = calls_.get();
            if (!source->call) return detail::out_of_memory();
            calls_->sources.push_back(std::move(source));
        }
        HURRAY_HPP_CATCH_ALL_ {
            return detail::out_of_memory();
        }
        return told(detail::call(hurray_file_writer_add_source, get(), name.data(), std::uint64_t{name.size()},
                                 descriptor.get(), &detail::WriterCalls::Source::make,
                                 static_cast<void*>(calls_->sources.back().get())));
    }

    /// A text.
    Result<void> set_metadata(std::string_view key, std::string_view value) noexcept {
        return told(detail::call(hurray_file_writer_set_metadata, get(), key.data(), std::uint64_t{key.size()},
                                 value.data(), std::uint64_t{value.size()}));
    }
    /// A value of any type but an array.
    Result<void> set_metadata(std::string_view key, const HurrayFileMetadata& value) noexcept {
        return told(detail::call(hurray_file_writer_set_value, get(), key.data(), std::uint64_t{key.size()}, &value));
    }
    /// An array; the elements have the struct_size that sized() and the getters give them.
    Result<void> set_metadata(std::string_view key, std::uint8_t element_type,
                              Span<const HurrayFileMetadata> elements) noexcept {
        return told(detail::call(hurray_file_writer_set_array, get(), key.data(), std::uint64_t{key.size()},
                                 element_type, elements.data(), std::uint64_t{elements.size()}));
    }
    /// Writes what is left, and makes the file appear. Once only.
    Result<void> finish() noexcept { return told(detail::call(hurray_file_writer_finish, get())); }
    /// Bytes that were gathered or converted on their way into the file so far.
    Result<std::uint64_t> copied_bytes() const noexcept {
        return detail::get<std::uint64_t>(hurray_file_writer_copied_bytes, static_cast<const HurrayFileWriter*>(get()));
    }

  private:
    Result<void> told(Result<void> result) const noexcept {
        if (result || !calls_) return result;
        return calls_->taker.said.instead_of(calls_->said.instead_of(result.error()));
    }

    std::unique_ptr<detail::WriterCalls> calls_;
};

}  // namespace hurray

#endif  // HURRAY_FILE_HPP_
