#include "core/hurray/io/npy/npy_file.hpp"

#include <cstring>
#include <utility>

#include "core/hurray/io/npy/file_range_source.hpp"
#include "core/hurray/io/npy/npy_data.hpp"
#include "core/hurray/types/element_type.hpp"

namespace hurray {
namespace {

using ull = unsigned long long;

Result<void> check_index(std::uint64_t index) {
    if (index == 0) return {};
    return fail(Status::index_out_of_bounds, Error::no_offset, "tensor %llu: the file has 1", static_cast<ull>(index));
}

}  // namespace

bool recognises_npy(std::span<const std::byte> start, std::uint64_t) noexcept {
    return start.size() >= npy_magic.size() && std::memcmp(start.data(), npy_magic.data(), npy_magic.size()) == 0;
}

NpyFile::NpyFile(FileBytes bytes, const NpyHeader& header, AlignmentPolicy alignment) noexcept
    : bytes_(std::move(bytes)), header_(header), alignment_(alignment) {}

Result<std::unique_ptr<NpyFile>> NpyFile::open(FileBytes bytes, const FileOptions& options) {
    FileRangeSource source(bytes, 0, bytes.size());
    const auto header = read_npy_header(source, bytes.size(),
                                        options.header_limit == 0 ? NpyHeader::default_limit : options.header_limit, {});
    if (!header) return std::unexpected(header.error());
    return std::unique_ptr<NpyFile>(new NpyFile(std::move(bytes), *header, options.alignment));
}

Result<std::unique_ptr<ModelFile>> open_npy(FileBytes bytes, const FileOptions& options) {
    return NpyFile::open(std::move(bytes), options);
}

Result<ModelTensorInfo> NpyFile::tensor_info(std::uint64_t index) const {
    if (auto checked = check_index(index); !checked) return std::unexpected(checked.error());
    ModelTensorInfo info;
    info.name = tensor_name;
    info.stored_type = header_.type.name();
    info.type_tag = header_.type.dtype->type_tag;
    info.layout_tag = header_.layout();
    info.shape = header_.shape();
    info.bits = find_element_type(info.type_tag)->bits;
    info.file_offset = header_.data_offset;
    info.byte_size = header_.data_size;
    return info;
}

std::optional<std::uint64_t> NpyFile::find(std::string_view name) const noexcept {
    if (name == tensor_name) return 0;
    return std::nullopt;
}

Result<FileRange> NpyFile::buffer_range(std::uint64_t index, std::uint64_t buffer) const {
    if (auto checked = check_index(index); !checked) return std::unexpected(checked.error());
    if (buffer != 0) {
        return fail(Status::index_out_of_bounds, Error::no_offset, "buffer %llu: the tensor has 1", static_cast<ull>(buffer));
    }
    return FileRange{header_.data_offset, header_.data_size};
}

Result<MetadataEntry> NpyFile::metadata(std::uint64_t index) const {
    return fail(Status::index_out_of_bounds, Error::no_offset, "metadata entry %llu: the file has 0", static_cast<ull>(index));
}

Result<Descriptor> NpyFile::descriptor(std::uint64_t index) const {
    if (auto checked = check_index(index); !checked) return std::unexpected(checked.error());
    if (npy_data_stays(bytes_, header_.data_offset, header_, alignment_)) {
        // Where the data lies is known: the very descriptor that tensor() gives.
        const auto placed =
            place_npy_data(bytes_, header_.data_offset, header_.data_size, tensor_name, AlignmentPolicy::offset);
        if (!placed) return std::unexpected(placed.error());
        return npy_descriptor(header_, *placed);
    }
    Buffer shown;
    shown.handle.byte_size = header_.buffer_size();
    return npy_descriptor(header_, shown);
}

Result<Tensor> NpyFile::tensor(std::uint64_t index) const {
    if (auto checked = check_index(index); !checked) return std::unexpected(checked.error());
    Result<Buffer> buffer{std::in_place};
    if (npy_data_stays(bytes_, header_.data_offset, header_, alignment_)) {
        buffer = place_npy_data(bytes_, header_.data_offset, header_.data_size, tensor_name, alignment_);
    } else {
        FileRangeSource source(bytes_, header_.data_offset, header_.data_size);
        buffer = read_npy_data(source, header_, {}, tensor_name);
        if (buffer) copied_bytes_.fetch_add(buffer->handle.byte_size, std::memory_order_relaxed);
    }
    if (!buffer) return std::unexpected(buffer.error());
    return npy_tensor(header_, *std::move(buffer));
}

}  // namespace hurray
