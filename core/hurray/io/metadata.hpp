// Metadata of model files: a key and a typed value. The types are those of the .hrry format (format: file, KV section);
// what other formats have beyond them is read into the type that holds it exactly.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hurray {

/// The numbers are the value tags of the KV section.
enum class MetadataType : std::uint8_t {
    string = 1,
    int64 = 2,
    uint64 = 3,
    float64 = 4,
    boolean = 5,
    bytes = 6,
    array = 7,
};

/// A value as a reader hands it out: views into the file object, alive as long as that is.
struct MetadataView {
    MetadataType type = MetadataType::string;
    /// Of an array: the type of its elements, never an array.
    MetadataType element_type = MetadataType::string;
    bool boolean = false;
    std::int64_t int64 = 0;
    std::uint64_t uint64 = 0;
    double float64 = 0;
    /// Of a string (UTF-8, may hold NUL characters) or of bytes.
    std::string_view text;
    /// Of an array: the number of its elements.
    std::uint64_t count = 0;
};

/// A value of its own, as writers take and keep it.
struct MetadataValue {
    MetadataType type = MetadataType::string;
    MetadataType element_type = MetadataType::string;
    bool boolean = false;
    std::int64_t int64 = 0;
    std::uint64_t uint64 = 0;
    double float64 = 0;
    std::string text;
    /// Of an array: elements of the element type.
    std::vector<MetadataValue> elements;
};

}  // namespace hurray
