#include "core/hurray/io/path.hpp"

#include "core/hurray/io/quoted.hpp"

namespace hurray {

Result<std::string> terminated_path(std::string_view path) {
    if (path.empty()) return fail(Status::invalid_argument, Error::no_offset, "path: empty");
    if (path.find('\0') != std::string_view::npos) {
        return fail(Status::invalid_argument, Error::no_offset, "path: %s holds a NUL character", Quoted(path).c_str());
    }
    return std::string(path);
}

}  // namespace hurray
