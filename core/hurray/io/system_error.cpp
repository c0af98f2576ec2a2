#include "core/hurray/io/system_error.hpp"

#include <cerrno>
#include <string>
#include <system_error>

#include "core/hurray/io/quoted.hpp"

namespace hurray {
namespace {

Status status_of(int number) {
    switch (number) {
        case ENOENT: return Status::not_found;
        case ENOMEM: return Status::out_of_memory;
        default: return Status::io;
    }
}

// strerror is not thread-safe everywhere; the category of the standard library is.
std::string words_of(int number) { return std::generic_category().message(number); }

}  // namespace

Error system_error(const char* action, int number, std::uint64_t offset) {
    return make_error(status_of(number), offset, "%s: %s (errno %d)", action, words_of(number).c_str(), number);
}

Error system_error_at(const char* action, const char* path, int number) {
    return make_error(status_of(number), Error::no_offset, "%s %s: %s (errno %d)", action, Quoted(path, 120).c_str(),
                      words_of(number).c_str(), number);
}

}  // namespace hurray
