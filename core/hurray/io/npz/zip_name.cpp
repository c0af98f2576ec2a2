#include "core/hurray/io/npz/zip_name.hpp"

#include <algorithm>

#include "core/hurray/base/utf8.hpp"

namespace hurray::zip {
namespace {

bool is_separator(char c) noexcept { return c == '/' || c == '\\'; }

bool has_parent_component(std::string_view name) noexcept {
    std::size_t start = 0;
    for (std::size_t at = 0; at <= name.size(); ++at) {
        if (at != name.size() && !is_separator(name[at])) continue;
        if (name.substr(start, at - start) == "..") return true;
        start = at + 1;
    }
    return false;
}

bool has_drive(std::string_view name) noexcept {
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    return name.size() >= 2 && name[1] == ':' && is_letter(name[0]);
}

}  // namespace

const char* name_fault(std::string_view name) noexcept {
    if (name.empty()) return "an empty name";
    if (name.contains('\0')) return "a name with a NUL";
    if (find_invalid_utf8(name)) return "a name of invalid UTF-8";
    if (is_separator(name[0]) || has_drive(name)) return "an absolute path";
    if (has_parent_component(name)) return "a path with \"..\"";
    return nullptr;
}

bool is_ascii(std::string_view name) noexcept {
    return std::ranges::all_of(name, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

}  // namespace hurray::zip
