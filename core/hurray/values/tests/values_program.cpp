// Converts what it reads for the test that works out the answers on its own. Numbers go through as raw little-endian
// bits.
//   values_program to32|to64|toc FORMAT FIRST COUNT      elements on standard input to numbers on standard output
//   values_program from32|from64 FORMAT OVERFLOW         numbers to 17 bytes each: 0 and the element's bits, or 1 if
//   refused values_program put32|put64 FORMAT OVERFLOW FIRST     input: u64 bytes, then so many bytes, then numbers;
//   output: the
//                                                        bytes with the numbers put in
// FORMAT: a tag in hex, or F0:bit_width,is_float,is_signed,sign,exponent,mantissa,bias,nan,inf
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "core/hurray/base/endian.hpp"
#include "core/hurray/values/convert.hpp"

namespace {

using hurray::NumberFormat;
using Bytes = std::vector<std::byte>;

template <typename T>
T must(hurray::Result<T> result) {
    if (result) return std::move(*result);
    std::fprintf(stderr, "%d at %lld: %s\n", static_cast<int>(result.error().code),
                 static_cast<long long>(result.error().offset), result.error().message);
    std::exit(3);
}
void must(hurray::Result<void> result) {
    if (result) return;
    std::fprintf(stderr, "%d at %lld: %s\n", static_cast<int>(result.error().code),
                 static_cast<long long>(result.error().offset), result.error().message);
    std::exit(3);
}

NumberFormat format_of(const std::string& text) {
    const auto tag = static_cast<std::uint8_t>(std::stoul(text.substr(0, 2), nullptr, 16));
    if (text.size() == 2) return must(hurray::number_format(tag));
    std::vector<unsigned long> fields;
    for (std::size_t at = 3; at < text.size();) {
        std::size_t used = 0;
        fields.push_back(std::stoul(text.substr(at), &used));
        at += used + 1;
    }
    return must(
        hurray::number_format(tag, {static_cast<std::uint32_t>(fields.at(0)), fields.at(1) != 0, fields.at(2) != 0,
                                    static_cast<std::uint8_t>(fields.at(3)), static_cast<std::uint8_t>(fields.at(4)),
                                    static_cast<std::uint8_t>(fields.at(5)), static_cast<std::uint32_t>(fields.at(6)),
                                    fields.at(7) != 0, fields.at(8) != 0}));
}

hurray::Overflow overflow_of(const std::string& text) {
    if (text == "saturate") return hurray::Overflow::saturate;
    if (text == "refuse") return hurray::Overflow::refuse;
    return hurray::Overflow::to_infinity;
}

Bytes read_input() {
    Bytes all;
    std::byte piece[65536];
    for (std::size_t got; (got = std::fread(piece, 1, sizeof piece, stdin)) != 0;)
        all.insert(all.end(), piece, piece + got);
    return all;
}

void write_output(std::span<const std::byte> bytes) {
    if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) != bytes.size()) std::exit(4);
}

template <typename Number>
std::vector<Number> numbers_of(std::span<const std::byte> bytes) {
    std::vector<Number> numbers(bytes.size() / sizeof(Number));
    if (!numbers.empty()) std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(Number));
    return numbers;
}

template <typename Number, typename Convert>
void read_elements(Convert convert, const NumberFormat& format, const Bytes& input, std::uint64_t first,
                   std::size_t count) {
    std::vector<Number> out(count);
    must(convert(format, std::span(input), first, std::span(out)));
    write_output(std::as_bytes(std::span(out)));
}

template <typename Number, typename Store>
void write_elements(Store store, const NumberFormat& format, const Bytes& input, hurray::Overflow overflow) {
    Bytes out;
    for (const Number number : numbers_of<Number>(input)) {
        std::byte answer[17] = {};
        const hurray::Result<void> done = store(format, std::span(answer).subspan(1), 0, number, overflow);
        if (!done) {
            if (done.error().code != hurray::Status::invalid_argument) must(done);
            answer[0] = std::byte{1};
        }
        out.insert(out.end(), answer, answer + sizeof answer);
    }
    write_output(out);
}

template <typename Number, typename Convert>
void put_elements(Convert convert, const NumberFormat& format, Bytes input, hurray::Overflow overflow,
                  std::uint64_t first) {
    const auto size = hurray::load_le<std::uint64_t>(input.data());
    const std::span<std::byte> bytes = std::span(input).subspan(8, size);
    const auto numbers = numbers_of<Number>(std::span(input).subspan(8 + size));
    must(convert(format, std::span<const Number>(numbers), bytes, first, overflow));
    write_output(bytes);
}

}  // namespace

int main(int count, char** arguments) {
    const std::vector<std::string> words(arguments, arguments + count);
    if (words.size() < 4) return 2;
    const std::string& command = words[1];
    const NumberFormat format = format_of(words[2]);
    const Bytes input = read_input();
    if (command.starts_with("to")) {
        const std::uint64_t first = std::stoull(words[3]);
        const std::size_t elements = std::stoull(words.at(4));
        if (command == "to32") read_elements<float>(hurray::to_float32, format, input, first, elements);
        if (command == "to64") read_elements<double>(hurray::to_float64, format, input, first, elements);
        if (command == "toc")
            read_elements<std::complex<double>>(hurray::to_complex128, format, input, first, elements);
        return 0;
    }
    const hurray::Overflow overflow = overflow_of(words[3]);
    if (command == "from32") write_elements<float>(hurray::store_float32, format, input, overflow);
    if (command == "from64") write_elements<double>(hurray::store_float64, format, input, overflow);
    if (command == "put32")
        put_elements<float>(hurray::from_float32, format, input, overflow, std::stoull(words.at(4)));
    if (command == "put64")
        put_elements<double>(hurray::from_float64, format, input, overflow, std::stoull(words.at(4)));
    return 0;
}
