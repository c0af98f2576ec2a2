#include "core/hurray/io/npy/npy_text.hpp"

#include <array>

#include "core/hurray/base/checked.hpp"
#include "core/hurray/io/quoted.hpp"

namespace hurray {
namespace {

using ull = unsigned long long;

constexpr std::array<std::string_view, 3> keys{"descr", "fortran_order", "shape"};

class Parser {
public:
    Parser(std::string_view text, std::uint64_t position, const NpyOrigin& origin, NpyHeader& header) noexcept
        : text_(text), position_(position), origin_(origin), header_(header) {}

    Result<void> dictionary() {
        if (auto done = expect('{', "header: expected '{'"); !done) return done;
        while (!accept('}')) {
            if (auto done = entry(); !done) return done;
            if (accept(',')) continue;
            if (auto done = expect('}', "header: expected ',' or '}'"); !done) return done;
            break;
        }
        skip_space();
        if (at_ != text_.size()) return unexpected("header: expected nothing but white space behind the dictionary");
        for (std::size_t k = 0; k < keys.size(); ++k) {
            if (!seen_[k]) {
                return fail(Status::invalid_format, place(at_), "header: the key '%s' is missing", keys[k].data());
            }
        }
        return {};
    }

private:
    [[nodiscard]] std::uint64_t place(std::size_t at) const noexcept { return origin_.at(position_ + at); }

    static bool is_space(char c) noexcept { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f'; }
    static bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

    void skip_space() noexcept {
        while (at_ < text_.size() && is_space(text_[at_])) ++at_;
    }

    /// Skips white space; the next character, if it is this one.
    bool accept(char wanted) noexcept {
        skip_space();
        if (at_ == text_.size() || text_[at_] != wanted) return false;
        ++at_;
        return true;
    }

    [[nodiscard]] std::unexpected<Error> unexpected(const char* expectation) const {
        if (at_ == text_.size()) {
            return fail(Status::invalid_format, place(at_), "%s, but the header ends here", expectation);
        }
        return fail(Status::invalid_format, place(at_), "%s, got %s", expectation,
                    Quoted(text_.substr(at_, 16), 16).c_str());
    }

    Result<void> expect(char wanted, const char* expectation) {
        if (accept(wanted)) return {};
        return unexpected(expectation);
    }

    /// A string without escapes; Quoted where it may be anything.
    Result<std::string_view> string(const char* expectation) {
        skip_space();
        if (at_ == text_.size() || (text_[at_] != '\'' && text_[at_] != '"')) return unexpected(expectation);
        const std::size_t start = at_ + 1;
        const std::size_t end = text_.find(text_[at_], start);
        if (end == std::string_view::npos) {
            return fail(Status::invalid_format, place(at_), "header: a string has no end");
        }
        const std::string_view found = text_.substr(start, end - start);
        if (const auto bad = found.find_first_of("\\\n\r"); bad != std::string_view::npos) {
            return fail(Status::invalid_format, place(start + bad), "header: a string with an escape or a line break");
        }
        at_ = end + 1;
        return found;
    }

    Result<void> entry() {
        skip_space();
        const std::size_t start = at_;
        const auto key = string("header: expected a key or '}'");
        if (!key) return std::unexpected(key.error());
        std::size_t k = 0;
        while (k < keys.size() && keys[k] != *key) ++k;
        if (k == keys.size()) {
            return fail(Status::invalid_format, place(start),
                        "header: unknown key %s, expected 'descr', 'fortran_order' and 'shape'", Quoted(*key).c_str());
        }
        if (seen_[k]) return fail(Status::invalid_format, place(start), "header: the key '%s' is there twice", keys[k].data());
        seen_[k] = true;
        if (auto done = expect(':', "header: expected ':'"); !done) return done;
        skip_space();
        switch (k) {
            case 0: return descr();
            case 1: return fortran_order();
            default: return shape();
        }
    }

    Result<void> descr() {
        const std::size_t start = at_;
        if (start < text_.size() && (text_[start] == '[' || text_[start] == '(' || text_[start] == '{')) {
            return fail(Status::unsupported, place(start), "descr: a structured dtype is no element type of a tensor");
        }
        const auto name = string("descr: expected a string");
        if (!name) return std::unexpected(name.error());
        auto type = parse_npy_type(*name, place(start));
        if (!type) return std::unexpected(type.error());
        header_.type = *type;
        return {};
    }

    /// Whether a word ends here: `Falsehood` is none of Python's.
    [[nodiscard]] bool word(std::string_view wanted) const noexcept {
        if (!text_.substr(at_).starts_with(wanted)) return false;
        const std::string_view rest = text_.substr(at_ + wanted.size());
        return rest.empty() || is_space(rest[0]) || rest[0] == ',' || rest[0] == '}';
    }

    Result<void> fortran_order() {
        const bool column_major = word("True");
        if (!column_major && !word("False")) return unexpected("fortran_order: expected True or False");
        at_ += column_major ? 4 : 5;
        header_.fortran_order = column_major;
        return {};
    }

    Result<void> shape() {
        if (auto done = expect('(', "shape: expected a tuple"); !done) return done;
        header_.rank = 0;
        bool comma = false;
        while (!accept(')')) {
            if (header_.rank != 0 && !comma) return unexpected("shape: expected ',' or ')'");
            auto size = dimension();
            if (!size) return std::unexpected(size.error());
            header_.dimensions[header_.rank++] = *size;
            comma = accept(',');
        }
        if (header_.rank == 1 && !comma) {
            return fail(Status::invalid_format, place(at_), "shape: expected a tuple, which a number in parentheses is not");
        }
        return {};
    }

    Result<std::uint64_t> dimension() {
        skip_space();
        const std::size_t start = at_;
        if (start < text_.size() && text_[start] == '-') {
            return fail(Status::invalid_format, place(start), "shape: expected sizes that are not negative, got %s",
                        Quoted(text_.substr(start, 16), 16).c_str());
        }
        std::uint64_t value = 0;
        while (at_ < text_.size() && is_digit(text_[at_])) {
            const auto next = checked_mul(value, 10);
            const auto sum = next ? checked_add(*next, static_cast<std::uint64_t>(text_[at_] - '0')) : std::nullopt;
            if (!sum || *sum == dynamic_dimension) {
                return fail(Status::invalid_format, place(start), "shape[%u]: a size of 2^64-1 or more", header_.rank);
            }
            value = *sum;
            ++at_;
        }
        const std::size_t digits = at_ - start;
        if (digits == 0) return unexpected("shape: expected decimal digits or ')'");
        if (digits > 1 && text_[start] == '0') {
            return fail(Status::invalid_format, place(start), "shape[%u]: expected no leading zeros", header_.rank);
        }
        if (header_.version < 3 && at_ < text_.size() && text_[at_] == 'L') ++at_;
        if (header_.rank == max_rank) {
            return fail(Status::unsupported, place(start), "shape: more than %u dimensions", max_rank);
        }
        return value;
    }

    std::string_view text_;
    std::uint64_t position_;
    const NpyOrigin& origin_;
    NpyHeader& header_;
    std::size_t at_ = 0;
    std::array<bool, keys.size()> seen_{};
};

}  // namespace

Result<void> parse_npy_text(std::string_view text, std::uint64_t position, const NpyOrigin& origin, NpyHeader& header) {
    return Parser(text, position, origin, header).dictionary();
}

}  // namespace hurray
