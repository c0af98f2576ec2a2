#include "core/hurray/io/npz/npz_file.hpp"

#include <algorithm>
#include <utility>

#include "core/hurray/base/endian.hpp"
#include "core/hurray/io/npy/npy_data.hpp"
#include "core/hurray/io/npz/zip_format.hpp"
#include "core/hurray/io/npz/zip_source.hpp"
#include "core/hurray/io/quoted.hpp"
#include "core/hurray/io/text_order.hpp"
#include "core/hurray/types/element_type.hpp"

namespace hurray {
namespace {

using ull = unsigned long long;

constexpr std::string_view ending = ".npy";

NpyOrigin origin_of(const zip::Member& member) { return {member.data_offset, !member.is_compressed()}; }

Error in_member(std::string_view name, const Error& error) {
    return make_error(error.code, error.offset, "member %s: %s", Quoted(name).c_str(), error.message);
}

}  // namespace

bool recognises_npz(std::span<const std::byte> start, std::uint64_t) noexcept {
    if (start.size() < 4) return false;
    const auto signature = load_le<std::uint32_t>(start.data());
    return signature == zip::local_signature || signature == zip::end_signature;
}

NpzFile::NpzFile(FileBytes bytes, zip::Directory directory, AlignmentPolicy alignment) noexcept
    : bytes_(std::move(bytes)), directory_(std::move(directory)), alignment_(alignment) {}

Result<std::unique_ptr<NpzFile>> NpzFile::open(FileBytes bytes, const FileOptions& options) {
    auto directory =
        zip::Directory::read(bytes, options.header_limit == 0 ? default_header_limit : options.header_limit);
    if (!directory) return std::unexpected(directory.error());
    std::unique_ptr<NpzFile> file(new NpzFile(std::move(bytes), *std::move(directory), options.alignment));
    if (auto done = file->read_headers(); !done) return std::unexpected(done.error());
    return file;
}

Result<std::unique_ptr<ModelFile>> open_npz(FileBytes bytes, const FileOptions& options) {
    return NpzFile::open(std::move(bytes), options);
}

Result<void> NpzFile::read_headers() {
    entries_.reserve(directory_.members().size());
    for (const zip::Member& member : directory_.members()) {
        const std::string_view name = directory_.name(member);
        if (!name.ends_with(ending)) {
            return fail(Status::unsupported, member.local_offset, "member %s: expected a .npy file, as all members of a .npz are",
                        Quoted(name).c_str());
        }
        auto source = zip::Source::open(bytes_, member, name);
        if (!source) return std::unexpected(source.error());
        const auto header = read_npy_header(**source, member.size, NpyHeader::default_limit, origin_of(member));
        if (!header) return std::unexpected(in_member(name, header.error()));
        Entry entry;
        entry.type = header->type;
        entry.version = header->version;
        entry.fortran_order = header->fortran_order;
        entry.rank = header->rank;
        entry.shape_at = dimensions_.size();
        entry.data_offset = header->data_offset;
        entry.data_size = header->data_size;
        dimensions_.insert(dimensions_.end(), header->shape().begin(), header->shape().end());
        entries_.push_back(entry);
    }
    by_name_ = order_by_text(entries_.size(), [this](std::uint32_t i) { return tensor_name(i); });
    return {};
}

Result<void> NpzFile::check_index(std::uint64_t index) const {
    if (index < entries_.size()) return {};
    return fail(Status::index_out_of_bounds, Error::no_offset, "tensor %llu: the file has %zu", static_cast<ull>(index),
                entries_.size());
}

std::string_view NpzFile::tensor_name(std::uint64_t index) const noexcept {
    const std::string_view name = directory_.name(member(index));
    return name.substr(0, name.size() - ending.size());
}

NpyHeader NpzFile::header(std::uint64_t index) const noexcept {
    const Entry& entry = entries_[static_cast<std::size_t>(index)];
    NpyHeader header;
    header.version = entry.version;
    header.type = entry.type;
    header.fortran_order = entry.fortran_order;
    header.rank = entry.rank;
    std::copy_n(dimensions_.begin() + static_cast<std::ptrdiff_t>(entry.shape_at), entry.rank, header.dimensions.begin());
    header.data_offset = entry.data_offset;
    header.data_size = entry.data_size;
    return header;
}

bool NpzFile::stays(std::uint64_t index, const NpyHeader& header) const noexcept {
    return !member(index).is_compressed() &&
           npy_data_stays(bytes_, member(index).data_offset + header.data_offset, header, alignment_);
}

Result<ModelTensorInfo> NpzFile::tensor_info(std::uint64_t index) const {
    if (auto checked = check_index(index); !checked) return std::unexpected(checked.error());
    const Entry& entry = entries_[static_cast<std::size_t>(index)];
    ModelTensorInfo info;
    info.name = tensor_name(index);
    info.stored_type = entry.type.name();
    info.type_tag = entry.type.dtype->type_tag;
    info.layout_tag = header(index).layout();
    info.shape = std::span(dimensions_).subspan(static_cast<std::size_t>(entry.shape_at), entry.rank);
    info.bits = find_element_type(info.type_tag)->bits;
    const auto range = buffer_range(index, 0);
    if (!range) return std::unexpected(range.error());
    info.file_offset = range->offset;
    info.byte_size = range->size;
    return info;
}

std::optional<std::uint64_t> NpzFile::find(std::string_view name) const noexcept {
    return find_text(by_name_, name, [this](std::uint32_t i) { return tensor_name(i); });
}

Result<FileRange> NpzFile::buffer_range(std::uint64_t index, std::uint64_t buffer) const {
    if (auto checked = check_index(index); !checked) return std::unexpected(checked.error());
    if (buffer != 0) {
        return fail(Status::index_out_of_bounds, Error::no_offset, "buffer %llu: the tensor has 1", static_cast<ull>(buffer));
    }
    const zip::Member& found = member(index);
    if (found.is_compressed()) return FileRange{found.data_offset, found.compressed_size};
    const Entry& entry = entries_[static_cast<std::size_t>(index)];
    return FileRange{found.data_offset + entry.data_offset, entry.data_size};
}

Result<MetadataEntry> NpzFile::metadata(std::uint64_t index) const {
    return fail(Status::index_out_of_bounds, Error::no_offset, "metadata entry %llu: the file has 0", static_cast<ull>(index));
}

Result<Descriptor> NpzFile::descriptor(std::uint64_t index) const {
    if (auto checked = check_index(index); !checked) return std::unexpected(checked.error());
    const NpyHeader found = header(index);
    if (stays(index, found)) {
        // Where the data lies is known: the very descriptor that tensor() gives.
        const auto placed = place_npy_data(bytes_, member(index).data_offset + found.data_offset, found.data_size,
                                           tensor_name(index), AlignmentPolicy::offset);
        if (!placed) return std::unexpected(placed.error());
        return npy_descriptor(found, *placed);
    }
    Buffer shown;
    shown.handle.byte_size = found.buffer_size();
    return npy_descriptor(found, shown);
}

Result<Buffer> NpzFile::unpacked(std::uint64_t index) const {
    const zip::Member& found = member(index);
    const std::string_view name = directory_.name(found);
    auto source = zip::Source::open(bytes_, found, name);
    if (!source) return std::unexpected(source.error());
    // The header goes through the CRC-32, too; read once more it says the same, or the file has changed.
    const auto read = read_npy_header(**source, found.size, NpyHeader::default_limit, origin_of(found));
    if (!read) return std::unexpected(in_member(name, read.error()));
    const NpyHeader known = header(index);
    if (read->data_offset != known.data_offset || read->data_size != known.data_size ||
        read->type.name() != known.type.name() || read->layout() != known.layout() ||
        !std::ranges::equal(read->shape(), known.shape())) {
        return fail(Status::invalid_format, found.data_offset, "member %s: another header than when the file was opened",
                    Quoted(name).c_str());
    }
    auto buffer = read_npy_data(**source, known, origin_of(found), tensor_name(index));
    if (!buffer) return buffer;
    if (auto finished = (*source)->finish(); !finished) return std::unexpected(finished.error());
    copied_bytes_.fetch_add(buffer->handle.byte_size, std::memory_order_relaxed);
    return buffer;
}

Result<Tensor> NpzFile::tensor(std::uint64_t index) const {
    if (auto checked = check_index(index); !checked) return std::unexpected(checked.error());
    const NpyHeader found = header(index);
    auto buffer = stays(index, found)
                      ? place_npy_data(bytes_, member(index).data_offset + found.data_offset, found.data_size,
                                       tensor_name(index), alignment_)
                      : unpacked(index);
    if (!buffer) return std::unexpected(buffer.error());
    return npy_tensor(found, *std::move(buffer));
}

Result<void> NpzFile::check_member(std::uint64_t index) const {
    if (auto checked = check_index(index); !checked) return checked;
    const zip::Member& found = member(index);
    auto source = zip::Source::open(bytes_, found, directory_.name(found));
    if (!source) return std::unexpected(source.error());
    return (*source)->finish();
}

}  // namespace hurray
