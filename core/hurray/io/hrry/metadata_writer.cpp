#include "core/hurray/io/hrry/metadata_writer.hpp"

#include <bit>
#include <concepts>
#include <limits>
#include <span>

#include "core/hurray/base/endian.hpp"
#include "core/hurray/base/utf8.hpp"
#include "core/hurray/io/quoted.hpp"

namespace hurray::hrry {
namespace {

class Encoder {
  public:
    explicit Encoder(std::string_view key) noexcept : key_(key) {}

    Result<std::vector<std::byte>> encode(const MetadataValue& value) {
        if (key_.empty() || key_.size() > std::numeric_limits<std::uint16_t>::max()) {
            return fail(Status::invalid_argument, Error::no_offset, "metadata key: expected 1 to 65535 bytes, got %zu",
                        key_.size());
        }
        if (find_invalid_utf8(key_)) {
            return fail(Status::invalid_argument, Error::no_offset, "metadata key %s: invalid UTF-8",
                        Quoted(key_).c_str());
        }
        append(static_cast<std::uint16_t>(key_.size()));
        append(std::as_bytes(std::span(key_)));
        append(static_cast<std::uint8_t>(value.type));
        auto done = value.type == MetadataType::array ? append_array(value) : append_payload(value);
        if (!done) return std::unexpected(done.error());
        return std::move(bytes_);
    }

  private:
    template <std::unsigned_integral T>
    void append(T value) {
        const std::size_t at = bytes_.size();
        bytes_.resize(at + sizeof value);
        store_le(&bytes_[at], value);
    }

    void append(std::span<const std::byte> bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }

    Result<void> append_length(std::size_t length, const char* of) {
        if (length > std::numeric_limits<std::uint32_t>::max()) {
            return fail(Status::invalid_argument, Error::no_offset,
                        "metadata key %s: expected less than 2^32 %s, got %zu", Quoted(key_).c_str(), of, length);
        }
        append(static_cast<std::uint32_t>(length));
        return {};
    }

    Result<void> append_payload(const MetadataValue& value) {
        switch (value.type) {
            case MetadataType::string:
                if (const auto invalid = find_invalid_utf8(value.text)) {
                    return fail(Status::invalid_argument, Error::no_offset,
                                "metadata key %s: invalid UTF-8 at byte %zu of its value", Quoted(key_).c_str(),
                                *invalid);
                }
                [[fallthrough]];
            case MetadataType::bytes:
                if (auto done = append_length(value.text.size(), "bytes"); !done) return done;
                append(std::as_bytes(std::span(value.text)));
                return {};
            case MetadataType::int64:
                append(static_cast<std::uint64_t>(value.int64));
                return {};
            case MetadataType::uint64:
                append(value.uint64);
                return {};
            case MetadataType::float64:
                append(std::bit_cast<std::uint64_t>(value.float64));
                return {};
            case MetadataType::boolean:
                append(static_cast<std::uint8_t>(value.boolean ? 1 : 0));
                return {};
            default:
                return fail(Status::invalid_argument, Error::no_offset,
                            "metadata key %s: type: expected 1 to 7, and 1 to 6 in an array, got %u",
                            Quoted(key_).c_str(), static_cast<unsigned>(value.type));
        }
    }

    Result<void> append_array(const MetadataValue& value) {
        const auto tag = static_cast<unsigned>(value.element_type);
        if (tag == 0 || value.element_type >= MetadataType::array) {
            return fail(Status::invalid_argument, Error::no_offset,
                        "metadata key %s: element type: expected 1 to 6, got %u", Quoted(key_).c_str(), tag);
        }
        append(static_cast<std::uint8_t>(tag));
        if (auto done = append_length(value.elements.size(), "elements"); !done) return done;
        for (std::size_t i = 0; i < value.elements.size(); ++i) {
            if (value.elements[i].type != value.element_type) {
                return fail(Status::invalid_argument, Error::no_offset,
                            "metadata key %s: element %zu: expected type %u as the array says, got %u",
                            Quoted(key_).c_str(), i, tag, static_cast<unsigned>(value.elements[i].type));
            }
            if (auto done = append_payload(value.elements[i]); !done) return done;
        }
        return {};
    }

    std::string_view key_;
    std::vector<std::byte> bytes_;
};

}  // namespace

Result<std::vector<std::byte>> encode_metadata(std::string_view key, const MetadataValue& value) {
    return Encoder(key).encode(value);
}

}  // namespace hurray::hrry
