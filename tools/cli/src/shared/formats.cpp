#include "formats.hpp"

#include <hurray.hpp>

namespace cli {
namespace {

struct Format {
    std::uint32_t number;
    const char* name;
};

constexpr Format formats[] = {
    {HURRAY_FORMAT_SAFETENSORS, "safetensors"},
    {HURRAY_FORMAT_HRRY, "hrry"},
    {HURRAY_FORMAT_GGUF, "gguf"},
    {HURRAY_FORMAT_NPY, "npy"},
    {HURRAY_FORMAT_NPZ, "npz"},
    {stream_format, "stream"},
};

}  // namespace

const char* format_name(std::uint32_t format) {
    for (const Format& known : formats) {
        if (known.number == format) return known.name;
    }
    return "unknown";
}

std::uint32_t format_named(std::string_view name) {
    for (const Format& known : formats) {
        if (known.name == name) return known.number;
    }
    return HURRAY_FORMAT_AUTO;
}

std::uint32_t format_of_path(std::string_view path) {
    const std::size_t dot = path.rfind('.');
    return dot == std::string_view::npos ? std::uint32_t{HURRAY_FORMAT_AUTO} : format_named(path.substr(dot + 1));
}

}  // namespace cli
