#include "report.hpp"

#include <bit>
#include <cmath>
#include <cstdio>
#include <stdexcept>

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
    file_ << line.dump() << '\n';
    ++tensors_;
    bytes_ += digest.bytes;
}

void Report::finish(std::uint64_t live_before) {
    nlohmann::ordered_json line = runtime_facts();
    line.erase("library_path");
    line["tensors"] = tensors_;
    line["bytes"] = bytes_;
    line["nanos"] = nanos_since(began_);
    line["live_handles"] = static_cast<std::int64_t>(live_handles() - live_before);
    file_ << line.dump() << '\n';
    file_.close();
    if (!file_) throw std::runtime_error("cannot write the report");
}

}  // namespace driver
