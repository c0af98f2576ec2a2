// Writing an archive from front to back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/hurray/base/error.hpp"
#include "core/hurray/io/byte_sink.hpp"

namespace hurray::zip {

/// Writes members one after the other and never seeks: a stored member's size and CRC-32 are known before its data, a
/// compressed one's come behind it (a data descriptor). ZIP64 where a size, an offset or a count asks for it, and nowhere
/// else. Dates are 1980-01-01, so that equal tensors make equal files.
///
/// After an error of the sink nothing more may be written. Thread rule: one thread at a time.
class Output {
public:
    explicit Output(ByteSink& sink) noexcept;
    Output(const Output&) = delete;
    Output& operator=(const Output&) = delete;
    ~Output();

    /// Starts a stored member; exactly `size` bytes of that CRC-32 follow by write(). Its data starts at a multiple of
    /// `alignment` (a power of two up to 4096), for which the local header is padded with an extra field.
    /// @param name fit for an archive (name_fault), with a place in 16 bits of length
    Result<void> begin_stored(std::string_view name, std::uint64_t size, std::uint32_t crc, std::uint32_t alignment);
    /// Starts a compressed member of `size` bytes, unpacked. @errors out_of_memory; those of the sink
    Result<void> begin_deflated(std::string_view name, std::uint64_t size);
    /// The next bytes of the member.
    Result<void> write(std::span<const std::byte> bytes);
    /// Ends the member.
    Result<void> end_member();

    /// Writes the central directory and the records behind it.
    Result<void> finish();

private:
    class Deflater;

    struct Entry {
        std::string name;
        std::uint16_t method = 0;
        std::uint16_t flags = 0;
        std::uint32_t crc = 0;
        std::uint64_t compressed_size = 0;
        std::uint64_t size = 0;
        std::uint64_t local_offset = 0;
        /// Sizes in the local header and behind the data are of 64 bits.
        bool zip64 = false;
    };

    Result<void> put(std::span<const std::byte> bytes);
    Result<void> write_local_header(const Entry& entry, std::uint32_t alignment);
    Result<void> pack(std::span<const std::byte> bytes, bool last);

    ByteSink& sink_;
    std::uint64_t position_ = 0;
    Entry current_;
    std::vector<Entry> entries_;
    std::unique_ptr<Deflater> deflater_;
};

}  // namespace hurray::zip
