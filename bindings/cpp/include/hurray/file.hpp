// Model files: opened, listed, read, written.
#ifndef HURRAY_FILE_HPP_
#define HURRAY_FILE_HPP_

#include <cstdint>
#include <string_view>

#include "hurray/composite.hpp"

namespace hurray {

struct FileOptions {
    /// HURRAY_FORMAT_ value.
    std::uint32_t format = HURRAY_FORMAT_AUTO;
    /// HURRAY_ALIGN_ value.
    std::uint32_t alignment = HURRAY_ALIGN_OFFSET;
    /// Longest header accepted, in bytes; 0 means 100,000,000.
    std::uint64_t header_limit = 0;
};

namespace detail {
inline HurrayFileOptions raw_of(const FileOptions& options) noexcept {
    auto raw = sized<HurrayFileOptions>();
    raw.format = options.format;
    raw.alignment = options.alignment;
    raw.header_limit = options.header_limit;
    return raw;
}
}  // namespace detail

/// An open file. Strings and arrays in the structs live as long as it; tensors live on after it.
class File : public UniqueHandle<HurrayFile, hurray_file_destroy> {
  public:
    using UniqueHandle::UniqueHandle;

    /// `path` is terminated.
    static Result<File> open(const char* path, const FileOptions& options = {}) noexcept {
        const auto raw = detail::raw_of(options);
        return detail::make<File>(hurray_file_open, path, &raw);
    }
    Result<HurrayFileInfo> info() const noexcept { return detail::fill<HurrayFileInfo>(hurray_file_info, raw()); }
    Result<HurrayFileTensorInfo> tensor_info(std::uint64_t index) const noexcept {
        return detail::fill<HurrayFileTensorInfo>(hurray_file_tensor_info, raw(), index);
    }
    Result<HurrayFileMetadata> metadata(std::uint64_t index) const noexcept {
        return detail::fill<HurrayFileMetadata>(hurray_file_metadata, raw(), index);
    }
    /// Index of the tensor of that name; HURRAY_ERR_NOT_FOUND.
    Result<std::uint64_t> find(std::string_view name) const noexcept {
        return detail::get<std::uint64_t>(hurray_file_find, raw(), name.data(), std::uint64_t{name.size()});
    }
    Result<Tensor> tensor(std::uint64_t index) const noexcept {
        return detail::make<Tensor>(hurray_file_tensor, raw(), index);
    }
    Result<Tensor> tensor(std::string_view name) const noexcept {
        const auto index = find(name);
        if (!index) return index.error();
        return tensor(*index);
    }

  private:
    const HurrayFile* raw() const noexcept { return get(); }
};

inline std::string_view name_of(const HurrayFileTensorInfo& info) noexcept {
    return {info.name, static_cast<std::size_t>(info.name_length)};
}

/// A file that is being written. Until finish() succeeds a file of that name stays as it was.
class FileWriter : public UniqueHandle<HurrayFileWriter, hurray_file_writer_destroy> {
  public:
    using UniqueHandle::UniqueHandle;

    static Result<FileWriter> create(const char* path, std::uint32_t format) noexcept {
        return detail::make<FileWriter>(hurray_file_writer_create, path, format);
    }
    /// The tensor's memory is shared until the file is finished.
    Result<void> add(std::string_view name, const Tensor& tensor) noexcept {
        return detail::call(hurray_file_writer_add, get(), name.data(), std::uint64_t{name.size()},
                            static_cast<const HurrayTensor*>(tensor.get()));
    }
    Result<void> set_metadata(std::string_view key, std::string_view value) noexcept {
        return detail::call(hurray_file_writer_set_metadata, get(), key.data(), std::uint64_t{key.size()}, value.data(),
                            std::uint64_t{value.size()});
    }
    Result<void> finish() noexcept { return detail::call(hurray_file_writer_finish, get()); }
};

}  // namespace hurray

#endif  // HURRAY_FILE_HPP_
