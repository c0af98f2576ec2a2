#include "core/hurray/io/safetensors/safetensors_header_handler.hpp"

// The parser adds to a null pointer before it compares, which is harmless but undefined; clang's UBSan would stop at it.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((no_sanitize("pointer-overflow"))), apply_to = function)
#endif
#include <rapidjson/error/en.h>
#include <rapidjson/reader.h>
#if defined(__clang__)
#pragma clang attribute pop
#endif

#include <cstdlib>
#include <limits>
#include <new>
#include <optional>

#include "core/hurray/base/checked.hpp"
#include "core/hurray/io/quoted.hpp"
#include "core/hurray/base/utf8.hpp"

namespace hurray {
namespace {

using ull = unsigned long long;

constexpr std::string_view metadata_name = "__metadata__";
constexpr std::size_t maximum_rank = 64;

// The parser does not look whether it got the memory that it asked for.
class ThrowingAllocator {
public:
    [[maybe_unused]] static const bool kNeedFree = true;

    void* Malloc(std::size_t size) { return size == 0 ? nullptr : checked(std::malloc(size)); }
    void* Realloc(void* old, std::size_t, std::size_t size) {
        if (size == 0) {
            std::free(old);
            return nullptr;
        }
        return checked(std::realloc(old, size));
    }
    static void Free(void* memory) { std::free(memory); }

private:
    static void* checked(void* memory) {
        if (memory == nullptr) throw std::bad_alloc();
        return memory;
    }
};

// A bounded stream over the header; its end reads as NUL, as the parser expects it.
class HeaderStream {
public:
    using Ch = char;

    explicit HeaderStream(std::string_view text) noexcept
        : start_(text.data()), at_(start_), end_(start_ + text.size()) {}

    [[nodiscard]] Ch Peek() const noexcept { return at_ == end_ ? '\0' : *at_; }
    Ch Take() noexcept { return at_ == end_ ? '\0' : *at_++; }
    [[nodiscard]] std::size_t Tell() const noexcept { return static_cast<std::size_t>(at_ - start_); }

    // In-situ parsing only, which is not used.
    Ch* PutBegin() noexcept { return nullptr; }
    void Put(Ch) noexcept {}
    void Flush() noexcept {}
    std::size_t PutEnd(Ch*) noexcept { return 0; }

private:
    const char* start_;
    const char* at_;
    const char* end_;
};

// The number behind a JSON token; nothing for what is no plain unsigned decimal integer below 2^64. "1e3", "1.0" and
// "-0" are numbers to JSON, but a size is written in digits.
std::optional<std::uint64_t> parse_size(std::string_view digits) {
    std::uint64_t value = 0;
    for (const char c : digits) {
        if (c < '0' || c > '9') return std::nullopt;
        const auto tenfold = checked_mul(value, 10);
        if (!tenfold) return std::nullopt;
        const auto sum = checked_add(*tenfold, static_cast<std::uint64_t>(c - '0'));
        if (!sum) return std::nullopt;
        value = *sum;
    }
    return value;
}

}  // namespace

// Receives the events of the parser. Knows at each moment what may come next, so nesting is bounded by the format
// (three levels) and not by the input.
class SafetensorsHeaderHandler : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, SafetensorsHeaderHandler> {
public:
    SafetensorsHeaderHandler(std::string_view header, std::uint64_t data_size, const HeaderStream& stream,
                             SafetensorsIndex& index) noexcept
        : header_(header), data_size_(data_size), stream_(stream), index_(index) {}

    bool Null() { return unexpected_value("null"); }
    bool Bool(bool value) { return unexpected_value(value ? "true" : "false"); }

    bool RawNumber(const char*, rapidjson::SizeType, bool) {
        const std::string_view token = next_token();
        switch (state_) {
            case State::in_shape: return add_dimension(token);
            case State::in_offsets: return add_data_offset(token);
            default: return unexpected("a number");
        }
    }

    bool String(const char* text, rapidjson::SizeType length, bool) {
        const std::string_view value(text, length);
        switch (state_) {
            case State::dtype: return set_dtype(value);
            case State::metadata_value: return add_metadata(value);
            default: return unexpected_value("a string");
        }
    }

    bool Key(const char* text, rapidjson::SizeType length, bool) {
        next_token();
        const std::string_view key(text, length);
        // A \u escape can name half of a surrogate pair, which is no character.
        if (find_invalid_utf8(key)) return reject("key %s: invalid Unicode", Quoted(key).c_str());
        switch (state_) {
            case State::top: return begin_member(key);
            case State::in_tensor: return begin_field(key);
            case State::in_metadata:
                metadata_key_ = store(key);
                state_ = State::metadata_value;
                return true;
            default: return unexpected("a key");
        }
    }

    bool StartObject() {
        switch (state_) {
            case State::start:
                bracket();
                state_ = State::top;
                return true;
            case State::tensor_value:
                bracket();
                state_ = State::in_tensor;
                return true;
            case State::metadata_object:
                bracket();
                state_ = State::in_metadata;
                return true;
            default: return unexpected_bracket("an object");
        }
    }

    bool EndObject(rapidjson::SizeType) {
        bracket();
        switch (state_) {
            case State::in_tensor: return finish_tensor();
            case State::in_metadata: state_ = State::top; return true;
            default: state_ = State::end; return true;
        }
    }

    bool StartArray() {
        switch (state_) {
            case State::shape:
                bracket();
                state_ = State::in_shape;
                return true;
            case State::offsets:
                bracket();
                state_ = State::in_offsets;
                return true;
            default: return unexpected_bracket("an array");
        }
    }

    bool EndArray(rapidjson::SizeType) {
        bracket();
        if (state_ == State::in_offsets && offset_count_ != 2) {
            return reject("tensor %s: data_offsets: %zu numbers, expected [begin, end]", name().c_str(), offset_count_);
        }
        state_ = State::in_tensor;
        return true;
    }

    [[nodiscard]] const std::optional<Error>& error() const noexcept { return error_; }

private:
    enum class State : std::uint8_t {
        start,
        top,
        tensor_value,
        in_tensor,
        dtype,
        shape,
        in_shape,
        offsets,
        in_offsets,
        metadata_object,
        in_metadata,
        metadata_value,
        end,
    };

    enum Field : unsigned { dtype_field = 1, shape_field = 2, offsets_field = 4, all_fields = 7 };

    // Between two events stand only white space, commas and colons: the token that was just read starts behind them.
    std::string_view next_token() {
        std::size_t start = token_end_;
        const std::size_t end = stream_.Tell();
        while (start < end && std::string_view(" \t\r\n,:").find(header_[start]) != std::string_view::npos) ++start;
        token_start_ = start;
        token_end_ = end;
        return header_.substr(start, end - start);
    }

    // The parser reports a bracket before it steps over it.
    void bracket() {
        token_start_ = stream_.Tell();
        token_end_ = token_start_ + 1;
    }

    [[nodiscard]] std::uint64_t file_offset(std::size_t in_header) const {
        return SafetensorsIndex::prefix_size + in_header;
    }

    [[nodiscard]] Quoted name() const { return Quoted(index_.text(entry_.name)); }

    template <typename... Arguments>
    bool reject_at(std::size_t in_header, Status code, const char* format, Arguments... arguments) {
        if constexpr (sizeof...(arguments) == 0) {
            error_ = make_error(code, file_offset(in_header), "%s", format);
        } else {
            error_ = make_error(code, file_offset(in_header), format, arguments...);
        }
        return false;
    }
    template <typename... Arguments>
    bool reject(const char* format, Arguments... arguments) {
        return reject_at(token_start_, Status::invalid_format, format, arguments...);
    }

    bool unexpected_value(const char* got) {
        next_token();
        return unexpected(got);
    }

    bool unexpected_bracket(const char* got) {
        bracket();
        return unexpected(got);
    }

    bool unexpected(const char* got) {
        switch (state_) {
            case State::tensor_value: return reject("tensor %s: expected an object, got %s", name().c_str(), got);
            case State::dtype: return reject("tensor %s: dtype: expected a string, got %s", name().c_str(), got);
            case State::shape: return reject("tensor %s: shape: expected an array, got %s", name().c_str(), got);
            case State::in_shape:
                return reject("tensor %s: shape: expected unsigned integers, got %s", name().c_str(), got);
            case State::offsets:
                return reject("tensor %s: data_offsets: expected an array, got %s", name().c_str(), got);
            case State::in_offsets:
                return reject("tensor %s: data_offsets: expected unsigned integers, got %s", name().c_str(), got);
            case State::metadata_object: return reject("__metadata__: expected an object, got %s", got);
            case State::metadata_value:
                return reject("__metadata__: key %s: expected a string, got %s",
                              Quoted(index_.text(metadata_key_)).c_str(), got);
            default: return reject("header: unexpected %s", got);
        }
    }

    SafetensorsIndex::Text store(std::string_view text) {
        const SafetensorsIndex::Text piece{static_cast<std::uint32_t>(index_.text_.size()),
                                           static_cast<std::uint32_t>(text.size())};
        index_.text_ += text;
        return piece;
    }

    bool begin_member(std::string_view key) {
        if (key == metadata_name) {
            if (metadata_seen_) return reject("header: __metadata__ is there twice");
            metadata_seen_ = true;
            state_ = State::metadata_object;
            return true;
        }
        entry_ = {};
        entry_.name = store(key);
        entry_.first_dimension = static_cast<std::uint32_t>(index_.dimensions_.size());
        entry_start_ = token_start_;
        fields_ = 0;
        offset_count_ = 0;
        state_ = State::tensor_value;
        return true;
    }

    bool begin_field(std::string_view key) {
        unsigned field = 0;
        if (key == "dtype") {
            field = dtype_field;
            state_ = State::dtype;
        } else if (key == "shape") {
            field = shape_field;
            state_ = State::shape;
            shape_start_ = token_start_;
        } else if (key == "data_offsets") {
            field = offsets_field;
            state_ = State::offsets;
            offsets_start_ = token_start_;
        } else {
            return reject("tensor %s: unknown field %s, expected dtype, shape and data_offsets", name().c_str(),
                          Quoted(key).c_str());
        }
        if ((fields_ & field) != 0) {
            return reject("tensor %s: field %s is there twice", name().c_str(), Quoted(key).c_str());
        }
        fields_ |= field;
        return true;
    }

    bool set_dtype(std::string_view value) {
        next_token();
        const SafetensorsDtype* dtype = find_safetensors_dtype(value);
        if (dtype == nullptr) {
            return reject_at(token_start_, Status::unsupported,
                             is_foreign_safetensors_dtype(value)
                                 ? "tensor %s: dtype: %s has no exact Hurray type"
                                 : "tensor %s: dtype: %s is unknown, expected one such as F32, BF16, I64 or BOOL",
                             name().c_str(), Quoted(value).c_str());
        }
        entry_.dtype = static_cast<std::uint8_t>(dtype - safetensors_dtypes().data());
        state_ = State::in_tensor;
        return true;
    }

    bool add_dimension(std::string_view token) {
        const auto value = parse_size(token);
        if (!value) {
            return reject("tensor %s: shape: %s is not an unsigned 64-bit integer in digits", name().c_str(),
                          Quoted(token).c_str());
        }
        if (entry_.rank == maximum_rank) {
            return reject_at(token_start_, Status::unsupported, "tensor %s: shape: more than %zu dimensions",
                             name().c_str(), maximum_rank);
        }
        index_.dimensions_.push_back(*value);
        ++entry_.rank;
        return true;
    }

    bool add_data_offset(std::string_view token) {
        const auto value = parse_size(token);
        if (!value) {
            return reject("tensor %s: data_offsets: %s is not an unsigned 64-bit integer in digits", name().c_str(),
                          Quoted(token).c_str());
        }
        if (offset_count_ == 0) entry_.begin = *value;
        if (offset_count_ == 1) entry_.end = *value;
        if (offset_count_ == 2) {
            return reject("tensor %s: data_offsets: more than two numbers, expected [begin, end]", name().c_str());
        }
        ++offset_count_;
        return true;
    }

    bool add_metadata(std::string_view value) {
        next_token();
        if (find_invalid_utf8(value)) {
            return reject("__metadata__: key %s: invalid Unicode in its value",
                          Quoted(index_.text(metadata_key_)).c_str());
        }
        index_.metadata_.push_back({metadata_key_, store(value)});
        state_ = State::in_metadata;
        return true;
    }

    bool finish_tensor() {
        if (fields_ != all_fields) {
            const char* missing = (fields_ & dtype_field) == 0   ? "dtype"
                                  : (fields_ & shape_field) == 0 ? "shape"
                                                                 : "data_offsets";
            return reject("tensor %s: field %s is missing", name().c_str(), missing);
        }
        if (!check_range()) return false;
        if (index_.entries_.size() == std::numeric_limits<std::uint32_t>::max()) {
            return reject_at(entry_start_, Status::limit_exceeded, "header: more than 2^32-1 tensors");
        }
        index_.entries_.push_back(entry_);
        state_ = State::top;
        return true;
    }

    // Empty dimensions do not excuse the others: the product of all that are not 0 must make sense by itself, so that no
    // later computation (strides, a reshape) can overflow.
    [[nodiscard]] std::optional<std::uint64_t> shape_bits(std::uint64_t element_bits) const {
        std::uint64_t product = element_bits;
        bool empty = false;
        for (const std::uint64_t dimension : index_.shape(entry_)) {
            if (dimension == 0) {
                empty = true;
                continue;
            }
            const auto next = checked_mul(product, dimension);
            if (!next) return std::nullopt;
            product = *next;
        }
        return empty ? 0 : product;
    }

    bool check_range() {
        const SafetensorsDtype& dtype = SafetensorsIndex::dtype(entry_);
        const auto bits = shape_bits(dtype.file_bits);
        if (!bits) {
            return reject_at(shape_start_, Status::invalid_format,
                             "tensor %s: shape: the size in bits is more than 2^64-1", name().c_str());
        }
        if (*bits % 8 != 0) {
            return reject_at(shape_start_, Status::invalid_format,
                             "tensor %s: shape: %llu bits of %s do not end at a byte", name().c_str(),
                             static_cast<ull>(*bits), dtype.name.data());
        }
        if (entry_.begin > entry_.end) {
            return reject_at(offsets_start_, Status::invalid_format,
                             "tensor %s: data_offsets: begin %llu is greater than end %llu", name().c_str(),
                             static_cast<ull>(entry_.begin), static_cast<ull>(entry_.end));
        }
        if (entry_.end > data_size_) {
            return reject_at(offsets_start_, Status::invalid_format,
                             "tensor %s: data_offsets: end %llu is beyond the data section of %llu bytes",
                             name().c_str(), static_cast<ull>(entry_.end), static_cast<ull>(data_size_));
        }
        if (entry_.end - entry_.begin != *bits / 8) {
            return reject_at(offsets_start_, Status::invalid_format,
                             "tensor %s: data_offsets: %llu bytes, but dtype and shape make %llu", name().c_str(),
                             static_cast<ull>(entry_.end - entry_.begin), static_cast<ull>(*bits / 8));
        }
        return true;
    }

    std::string_view header_;
    std::uint64_t data_size_;
    const HeaderStream& stream_;
    SafetensorsIndex& index_;

    State state_ = State::start;
    std::size_t token_start_ = 0;
    std::size_t token_end_ = 0;

    SafetensorsIndex::Entry entry_;
    std::size_t entry_start_ = 0;
    std::size_t shape_start_ = 0;
    std::size_t offsets_start_ = 0;
    std::size_t offset_count_ = 0;
    unsigned fields_ = 0;

    SafetensorsIndex::Text metadata_key_;
    bool metadata_seen_ = false;

    std::optional<Error> error_;
};

Result<void> parse_safetensors_header(std::string_view header, std::uint64_t data_size, SafetensorsIndex& index) {
    // Iterative: depth costs heap, not stack. Numbers stay text: what a size may look like is decided here.
    constexpr unsigned flags = rapidjson::kParseIterativeFlag | rapidjson::kParseNumbersAsStringsFlag |
                               rapidjson::kParseStopWhenDoneFlag | rapidjson::kParseValidateEncodingFlag;
    HeaderStream stream(header);
    SafetensorsHeaderHandler handler(header, data_size, stream, index);
    ThrowingAllocator allocator;
    rapidjson::GenericReader<rapidjson::UTF8<>, rapidjson::UTF8<>, ThrowingAllocator> reader(&allocator);
    const rapidjson::ParseResult result = reader.Parse<flags>(stream, handler);
    if (handler.error()) return std::unexpected(*handler.error());
    if (result.IsError()) {
        return fail(Status::invalid_format, SafetensorsIndex::prefix_size + result.Offset(), "header: %s",
                    rapidjson::GetParseError_En(result.Code()));
    }
    const std::size_t end = stream.Tell();
    const std::size_t garbage = header.find_first_not_of(' ', end);
    if (garbage != std::string_view::npos) {
        return fail(Status::invalid_format, SafetensorsIndex::prefix_size + garbage,
                    "header: expected spaces up to its end after the JSON object, got %s",
                    Quoted(header.substr(garbage, 8)).c_str());
    }
    return {};
}

}  // namespace hurray
