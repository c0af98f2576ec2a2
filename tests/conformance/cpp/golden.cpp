// Decode a descriptor, read every field, encode it, build it again from the fields. (design: JSON of a descriptor)
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <sstream>
#include <vector>

#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "descriptor_fields.hpp"
#include "handles.hpp"

namespace driver {
namespace {

using nlohmann::ordered_json;

// A line of the input: a path and options of the reader.
struct Request {
    std::string path;
    std::uint32_t flags = 0;
};

// Nothing when there is an option that is not known.
std::optional<Request> parse(const std::string& line) {
    const auto tab = line.find('\t');
    Request request{.path = line.substr(0, tab)};
    if (tab == std::string::npos) return request;
    std::istringstream options(line.substr(tab + 1));
    for (std::string option; std::getline(options, option, ',');) {
        if (option == "private_tags") {
            request.flags |= HURRAY_DECODE_PRIVATE_TAGS;
        } else if (option == "permissive") {
            request.flags |= HURRAY_DECODE_PERMISSIVE;
        } else {
            return std::nullopt;
        }
    }
    return request;
}

std::vector<std::uint8_t> read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error("cannot open " + path);
    return {std::istreambuf_iterator<char>(file), {}};
}

ordered_json error_json(const HurrayError& error) {
    const std::string message = error.message;
    ordered_json offset = nullptr;
    const auto mark = message.rfind(" [byte ");
    if (mark != std::string::npos && message.ends_with(']')) offset = std::stoull(message.substr(mark + 7));
    return {{"code", error.code}, {"name", hurray_status_name(error.code)}, {"message", message}, {"offset", offset}};
}

std::string encode(const HurrayDescriptor* descriptor) {
    std::uint64_t length = 0;
    HurrayError error{};
    if (hurray_descriptor_encode(descriptor, nullptr, 0, &length, &error) != HURRAY_ERR_BUFFER_TOO_SMALL) {
        throw std::runtime_error("encode into no memory did not ask for memory");
    }
    std::vector<std::uint8_t> bytes(length);
    call("encode", hurray_descriptor_encode, descriptor, bytes.data(), bytes.size(), &length);
    return hex(bytes.data(), bytes.size());
}

ordered_json rebuild(const DescriptorFields& fields, std::uint32_t flags) {
    // What nobody knows cannot be built.
    if (fields.info.reading != 0) return nullptr;
    Descriptor built;
    HurrayError error{};
    if (build(fields, (flags & HURRAY_DECODE_PRIVATE_TAGS) != 0, built, error) != HURRAY_OK) {
        return {{"error", error_json(error)}};
    }
    return encode(built.get());
}

ordered_json replay(const Request& request) {
    const auto bytes = read_file(request.path);
    ordered_json line;
    line["path"] = request.path;
    auto options = sized<HurrayDecodeOptions>();
    options.flags = request.flags;
    HurrayDescriptor* decoded = nullptr;
    HurrayError error{};
    if (hurray_descriptor_decode_options(bytes.data(), bytes.size(), &options, &decoded, &error) != HURRAY_OK) {
        line["error"] = error_json(error);
        return line;
    }
    const Descriptor descriptor(decoded);
    const DescriptorFields fields = fields_of(descriptor.get());
    line["descriptor"] = json_of(fields, bytes.size());
    line["reencoded"] = encode(descriptor.get());
    line["rebuilt"] = rebuild(fields, request.flags);
    return line;
}

}  // namespace

int golden() {
    for (std::string line; std::getline(std::cin, line);) {
        if (line.empty()) continue;
        const auto request = parse(line);
        if (!request) {
            std::cerr << "driver: unknown option in: " << line << '\n';
            return 2;
        }
        std::cout << replay(*request).dump() << '\n';
    }
    return std::cout.flush() ? 0 : 1;
}

}  // namespace driver
