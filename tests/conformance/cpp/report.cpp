#include "report.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>

#include <nlohmann/json.hpp>

#include "about.hpp"
#include "element_digest.hpp"
#include "element_types.hpp"
#include "handles.hpp"

namespace driver {
namespace {

std::string hex_digits(std::uint64_t value, int digits) {
    char text[17];
    std::snprintf(text, sizeof text, "%0*llx", digits, static_cast<unsigned long long>(value));
    return text;
}

std::int64_t nanos_since(std::chrono::steady_clock::time_point started) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - started).count();
}

// What an address is mapped from, as the kernel says: "DEVICE:INODE"; nothing for memory without a file.
std::optional<std::string> mapped_file(const void* address) {
    const auto wanted = reinterpret_cast<std::uintptr_t>(address);
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        unsigned long long start = 0;
        unsigned long long end = 0;
        unsigned long long inode = 0;
        char device[32];
        if (std::sscanf(line.c_str(), "%llx-%llx %*s %*s %31s %llu", &start, &end, device, &inode) != 4) continue;
        if (wanted < start || wanted >= end) continue;
        if (inode == 0) return std::nullopt;
        return std::string(device) + ":" + std::to_string(inode);
    }
    return std::nullopt;
}

}  // namespace

Report::Report(const std::string& path) : file_(path) {
    if (!file_) throw std::runtime_error("cannot write the report " + path);
}

void Report::add(const std::string& name, const HurrayTensor* tensor, std::chrono::steady_clock::time_point started) {
    const HurrayView view = view_of(tensor);
    const ElementDigest digest = digest_of(view);
    nlohmann::ordered_json line;
    line["name"] = name;
    line["type"] = type_name(view.element_type);
    line["shape"] = nlohmann::ordered_json::array();
    for (int d = 0; d < view.rank; ++d) line["shape"].push_back(view.shape[d]);
    line["bytes"] = digest.bytes;
    line["crc32"] = hex_digits(digest.crc32, 8);
    line["sum"] = nullptr;
    line["sum_bits"] = nullptr;
    if (digest.sum) {
        if (std::isfinite(*digest.sum)) line["sum"] = *digest.sum;
        const std::uint64_t bits = std::isnan(*digest.sum) ? 0x7FF8000000000000U : std::bit_cast<std::uint64_t>(*digest.sum);
        line["sum_bits"] = hex_digits(bits, 16);
    }
    line["nanos"] = nanos_since(started);
    line["mapped"] = nullptr;
    if (const auto file = view.byte_size == 0 ? std::nullopt : mapped_file(view.data)) line["mapped"] = *file;
    file_ << line.dump() << '\n';
    ++tensors_;
    bytes_ += digest.bytes;
}

void Report::finish(std::uint64_t live_before) {
    nlohmann::ordered_json line = runtime_facts();
    line.erase("library_path");
    line.erase("channels");
    line["tensors"] = tensors_;
    line["bytes"] = bytes_;
    line["nanos"] = nanos_since(began_);
    line["received_bytes"] = nullptr;
    line["passed_bytes"] = nullptr;
    line["copied_bytes"] = nullptr;
    if (received_) line["received_bytes"] = *received_;
    if (sent_) {
        line["passed_bytes"] = sent_->passed;
        line["copied_bytes"] = sent_->copied;
    }
    line["live_handles"] = static_cast<std::int64_t>(live_handles() - live_before);
    file_ << line.dump() << '\n';
    file_.close();
    if (!file_) throw std::runtime_error("cannot write the report");
}

}  // namespace driver
