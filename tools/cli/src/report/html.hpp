// Text for the page. Whatever comes from a file goes through shown() or escaped(): nothing of it can be markup or
// script.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cli::report {

/// Text for element content and for attributes in quotes, in HTML as in XML.
std::string escaped(std::string_view text);
/// A text of strangers: printable (see cli::printable), of at most `columns` characters, escaped; "(empty)" where it
/// is.
std::string shown(std::string_view text, std::size_t columns = 400);
/// The same of a text that is printable already.
std::string shown_printable(std::string_view text, std::size_t columns);
/// "12,345,678".
std::string grouped(std::uint64_t number);
/// A number that reads back as itself, for data-value attributes.
std::string exact(double value);
/// A coordinate of a drawing: two decimals at most.
std::string place(double value);
/// Base64 of the SHA-256 of a text, as a content security policy has it.
std::string policy_hash(std::string_view text);

}  // namespace cli::report
