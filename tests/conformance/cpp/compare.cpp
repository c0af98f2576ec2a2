// Two model files, tensor by tensor and byte by byte.
#include <cstdio>
#include <cstring>
#include <map>

#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "handles.hpp"

namespace driver {
namespace {

File open(const std::string& path) {
    return make<File>(path.c_str(), hurray_file_open, path.c_str(), static_cast<const HurrayFileOptions*>(nullptr));
}

std::map<std::string, std::uint64_t> index_of(const HurrayFile* file) {
    auto info = sized<HurrayFileInfo>();
    call("file info", hurray_file_info, file, &info);
    std::map<std::string, std::uint64_t> index;
    for (std::uint64_t i = 0; i < info.tensor_count; ++i) {
        auto entry = sized<HurrayFileTensorInfo>();
        call("tensor info", hurray_file_tensor_info, file, i, &entry);
        index.emplace(std::string(entry.name, entry.name_length), i);
    }
    return index;
}

// What differs between two tensors, or nothing.
std::string difference(const HurrayTensor* first, const HurrayTensor* second) {
    const HurrayView a = view_of(first);
    const HurrayView b = view_of(second);
    if (a.element_type != b.element_type) return "element type";
    if (a.rank != b.rank) return "rank";
    if (a.rank != 0 && std::memcmp(a.shape, b.shape, a.rank * sizeof *a.shape) != 0) return "shape";
    if ((a.flags & b.flags & HURRAY_VIEW_CONTIGUOUS) == 0) return "layout";
    if (a.byte_size != b.byte_size) return "byte size";
    if (a.byte_size != 0 && std::memcmp(a.data, b.data, a.byte_size) != 0) return "element bytes";
    return "";
}

}  // namespace

int compare(const std::string& first_path, const std::string& second_path) {
    const auto first = open(first_path);
    const auto second = open(second_path);
    const auto first_index = index_of(first.get());
    const auto second_index = index_of(second.get());
    nlohmann::ordered_json differences = nlohmann::ordered_json::array();
    const auto differs = [&](const std::string& name, const std::string& what) {
        differences.push_back({{"name", name}, {"what", what}});
    };
    std::uint64_t bytes = 0;
    for (const auto& [name, i] : first_index) {
        const auto found = second_index.find(name);
        if (found == second_index.end()) {
            differs(name, "missing in the second file");
            continue;
        }
        const auto a = make<Tensor>("tensor", hurray_file_tensor, first.get(), i);
        const auto b = make<Tensor>("tensor", hurray_file_tensor, second.get(), found->second);
        const std::string what = difference(a.get(), b.get());
        if (!what.empty()) differs(name, what);
        bytes += view_of(a.get()).byte_size;
    }
    for (const auto& [name, i] : second_index) {
        if (!first_index.contains(name)) differs(name, "missing in the first file");
    }
    nlohmann::ordered_json result;
    result["tensors"] = first_index.size();
    result["bytes"] = bytes;
    result["equal"] = differences.empty();
    result["differences"] = differences;
    std::printf("%s\n", result.dump().c_str());
    return differences.empty() ? 0 : 1;
}

}  // namespace driver
