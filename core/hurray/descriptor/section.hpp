// The optional sections behind the buffer table as a table in wire order. A section is added by a file with its codec
// and its line in section.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "core/hurray/base/error.hpp"
#include "core/hurray/descriptor/assembler.hpp"
#include "core/hurray/descriptor/descriptor.hpp"
#include "core/hurray/descriptor/wire_reader.hpp"
#include "core/hurray/descriptor/wire_writer.hpp"

namespace hurray {

/// What differs from section to section.
struct SectionCodec {
    /// Bytes of the section on the wire.
    std::uint32_t (*encoded_size)(std::uint32_t rank, std::span<const std::uint64_t> words);
    /// Reads and checks the section. All that comes before it on the wire is there and checked.
    Result<void> (*decode)(WireReader& in, DescriptorAssembler& out);
    void (*encode)(std::uint32_t rank, std::span<const std::uint64_t> words, WireWriter& out);
};

struct Section {
    /// The bit of the flags field that says that it is there.
    std::uint32_t flag;
    const char* name;
    const SectionCodec* codec;
};

/// All sections, in the order of section_flags.
extern const std::array<Section, section_count> section_table;

}  // namespace hurray
