// Decode a descriptor, read every field, build it again from the fields, encode it. (design: JSON of a descriptor)
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <vector>

#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "element_types.hpp"
#include "handles.hpp"

namespace driver {
namespace {

using nlohmann::ordered_json;

std::vector<std::uint8_t> read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error("cannot open " + path);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::string hex(const std::vector<std::uint8_t>& bytes) {
    std::string text;
    for (const std::uint8_t byte : bytes) {
        char digits[3];
        std::snprintf(digits, sizeof digits, "%02x", byte);
        text += digits;
    }
    return text;
}

const char* layout_name(std::uint8_t tag) {
    switch (tag) {
        case HURRAY_LAYOUT_ROW_MAJOR: return "row_major";
        case HURRAY_LAYOUT_COL_MAJOR: return "col_major";
        case HURRAY_LAYOUT_STRIDED: return "strided";
        default: return "unknown";
    }
}

template <typename T>
ordered_json list_of(const T* values, std::uint32_t count) {
    ordered_json list = ordered_json::array();
    for (std::uint32_t i = 0; i < count; ++i) list.push_back(values[i]);
    return list;
}

ordered_json buffer_json(const HurrayBufferHandleBytes& handle) {
    const auto number = [&](int at, int width) {
        std::uint64_t value = 0;
        for (int i = 0; i < width; ++i) value |= static_cast<std::uint64_t>(handle.bytes[at + i]) << (8 * i);
        return value;
    };
    ordered_json json;
    json["byte_size"] = number(0, 8);
    json["alignment"] = number(8, 4);
    json["device_tag"] = number(12, 1);
    json["sync_mode"] = number(13, 1);
    json["memory_class"] = number(14, 1);
    return json;
}

std::vector<std::uint8_t> encode(const HurrayDescriptor* descriptor) {
    std::uint64_t length = 0;
    HurrayError error{};
    if (hurray_descriptor_encode(descriptor, nullptr, 0, &length, &error) != HURRAY_ERR_BUFFER_TOO_SMALL) {
        throw std::runtime_error("encode into no memory did not ask for memory");
    }
    std::vector<std::uint8_t> bytes(length);
    call("encode", hurray_descriptor_encode, descriptor, bytes.data(), bytes.size(), &length);
    return bytes;
}

std::vector<std::uint8_t> rebuild(const HurrayDescriptor* descriptor, const HurrayDescriptorInfo& info,
                                  const std::vector<HurrayBufferHandleBytes>& buffers) {
    const auto builder = make<Builder>("builder", hurray_descriptor_builder_new, info.element_type, info.layout, info.shape,
                                       info.rank);
    call("byte_offset", hurray_descriptor_builder_set_byte_offset, builder.get(), info.byte_offset);
    if (info.strides != nullptr) {
        call("strides", hurray_descriptor_builder_set_strides, builder.get(), info.strides, info.rank);
    }
    if (info.parent_shape != nullptr) {
        call("shard", hurray_descriptor_builder_set_shard, builder.get(), info.parent_shape, info.shard_offset, info.rank);
    }
    for (const auto& buffer : buffers) call("buffer", hurray_descriptor_builder_add_buffer, builder.get(), &buffer);
    const auto built = make<Descriptor>("build", hurray_descriptor_builder_build, builder.get());
    // What a later minor version added is kept by the decoded descriptor and unknown to a builder of 1.0.
    return encode(info.version_minor == 0 ? built.get() : descriptor);
}

ordered_json replay(const std::string& path) {
    const auto bytes = read_file(path);
    ordered_json line;
    line["path"] = path;
    HurrayDescriptor* decoded = nullptr;
    HurrayError error{};
    if (hurray_descriptor_decode(bytes.data(), bytes.size(), &decoded, &error) != HURRAY_OK) {
        const std::string message = error.message;
        ordered_json offset = nullptr;
        const auto mark = message.rfind(" [byte ");
        if (mark != std::string::npos && message.ends_with(']')) offset = std::stoull(message.substr(mark + 7));
        line["error"] = {{"code", error.code},
                         {"name", hurray_status_name(error.code)},
                         {"message", message},
                         {"offset", offset}};
        return line;
    }
    const Descriptor descriptor(decoded);
    auto info = sized<HurrayDescriptorInfo>();
    call("info", hurray_descriptor_info, descriptor.get(), &info);
    std::vector<HurrayBufferHandleBytes> buffers(info.buffer_count);
    ordered_json buffer_list = ordered_json::array();
    for (std::uint32_t i = 0; i < info.buffer_count; ++i) {
        call("buffer", hurray_descriptor_buffer, descriptor.get(), i, &buffers[i]);
        buffer_list.push_back(buffer_json(buffers[i]));
    }
    ordered_json json;
    json["version_major"] = info.version_major;
    json["version_minor"] = info.version_minor;
    json["descriptor_length"] = info.descriptor_length;
    json["trailing_bytes"] = bytes.size() - info.descriptor_length;
    json["flags"] = info.flags;
    json["type"] = type_name(info.element_type);
    json["type_tag"] = info.element_type;
    json["layout"] = layout_name(info.layout);
    json["layout_tag"] = info.layout;
    json["rank"] = info.rank;
    json["shape"] = list_of(info.shape, info.rank);
    json["byte_offset"] = info.byte_offset;
    json["layout_fields"] = ordered_json::object();
    if (info.layout == HURRAY_LAYOUT_STRIDED) json["layout_fields"]["strides"] = list_of(info.strides, info.rank);
    json["buffers"] = buffer_list;
    json["quantization"] = nullptr;
    json["shard"] = nullptr;
    if (info.parent_shape != nullptr) {
        json["shard"] = {{"parent_shape", list_of(info.parent_shape, info.rank)},
                         {"shard_offset", list_of(info.shard_offset, info.rank)}};
    }
    json["statistics"] = nullptr;
    json["extension_type"] = nullptr;
    json["composite_member"] = nullptr;
    line["descriptor"] = json;
    line["reencoded"] = hex(rebuild(descriptor.get(), info, buffers));
    return line;
}

}  // namespace

int golden() {
    for (std::string path; std::getline(std::cin, path);) {
        if (!path.empty()) std::cout << replay(path).dump() << '\n';
    }
    return std::cout.flush() ? 0 : 1;
}

}  // namespace driver
