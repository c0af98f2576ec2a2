#include "input.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>

#include "exit.hpp"
#include "formats.hpp"
#include "interrupt.hpp"
#include "text.hpp"

namespace cli {
namespace {

constexpr std::string_view file_magic = "HRRYFILE";
constexpr std::string_view descriptor_magic = "HRRY";
constexpr std::size_t fixed_header = 20;

bool starts_with(std::span<const std::uint8_t> bytes, std::string_view magic) {
    return bytes.size() >= magic.size() && std::memcmp(bytes.data(), magic.data(), magic.size()) == 0;
}

struct Fd {
    explicit Fd(int number) : number(number) {}
    Fd(const Fd&) = delete;
    Fd& operator=(const Fd&) = delete;
    ~Fd() {
        if (number > STDERR_FILENO) ::close(number);
    }
    int number;
};

Failure io_failure(const std::string& path) {
    const auto code = errno == ENOENT || errno == ENOTDIR ? HURRAY_ERR_NOT_FOUND : HURRAY_ERR_IO;
    return {unreadable, path, hurray::Error(code, std::strerror(errno))};
}

// At most `limit` bytes from where the descriptor stands.
std::vector<std::uint8_t> read_up_to(int fd, std::uint64_t limit, const std::string& path) {
    std::vector<std::uint8_t> bytes;
    constexpr std::size_t step = 1 << 20;
    while (bytes.size() < limit) {
        const std::size_t before = bytes.size();
        bytes.resize(before + static_cast<std::size_t>(std::min<std::uint64_t>(step, limit - before)));
        const ssize_t count = ::read(fd, bytes.data() + before, bytes.size() - before);
        check_interrupt();
        if (count < 0 && errno != EINTR) throw io_failure(path);
        bytes.resize(before + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
        if (count == 0) break;
    }
    return bytes;
}

}  // namespace

std::uint32_t InputOptions::decode_flags() const {
    return (private_tags ? std::uint32_t{HURRAY_DECODE_PRIVATE_TAGS} : 0) |
           (permissive ? std::uint32_t{HURRAY_DECODE_PERMISSIVE} : 0);
}

std::uint32_t InputOptions::stream_flags() const {
    return (private_tags ? std::uint32_t{HURRAY_STREAM_PRIVATE_TAGS} : 0) |
           (permissive ? std::uint32_t{HURRAY_STREAM_PERMISSIVE} : 0);
}

InputOptions InputOptions::with_blocks(const std::string& otherwise) const {
    InputOptions result = *this;
    if (result.blocks.empty()) result.blocks = otherwise;
    return result;
}

std::string Entry::label() const { return info ? printable(name) : fmt::format("#{}", index); }

const hurray::Item& Entry::item() const {
    if (!item_) {
        hurray::Item made;
        if (info->layout == HURRAY_LAYOUT_COMPOSITE) made.composite = take(file_->composite(index), subject_);
        else made.tensor = take(file_->tensor(index), subject_);
        item_ = std::make_shared<hurray::Item>(std::move(made));
    }
    return *item_;
}

hurray::DescriptorRef Entry::descriptor() const {
    if (file_ != nullptr) {
        if (!descriptor_) descriptor_ = std::make_shared<hurray::Descriptor>(take(file_->descriptor(index), subject_));
        return *descriptor_;
    }
    const hurray::Item& made = item();
    return take(made.tensor ? made.tensor.descriptor() : made.composite.head(), subject_);
}

namespace {

std::uint64_t bytes_of(const hurray::Item& item, const std::string& subject) {
    std::uint64_t total = 0;
    if (item.tensor) {
        const auto info = take(take(item.tensor.descriptor(), subject).info(), subject);
        for (std::uint32_t i = 0; i < info.buffer_count; ++i) {
            total += take(take(item.tensor.buffer(i), subject).bytes(), subject).size();
        }
    } else if (item.composite) {
        const auto info = take(item.composite.info(), subject);
        for (std::uint32_t i = 0; i < info.member_count; ++i) total += bytes_of(take(item.composite.member(i), subject), subject);
    }
    return total;
}

}  // namespace

std::uint64_t Entry::byte_size() const { return info ? info->byte_size : bytes_of(item(), subject_); }

Input Input::open(const std::string& path, const InputOptions& options) {
    Input input;
    input.path_ = path == "-" ? "standard input" : path;
    input.options_ = options;
    const bool standard = path == "-";
    const Fd fd(standard ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (fd.number < 0) throw io_failure(path);
    struct stat facts {};
    if (::fstat(fd.number, &facts) != 0) throw io_failure(path);

    if (S_ISDIR(facts.st_mode)) {
        errno = EISDIR;
        throw io_failure(path);
    }
    if (!S_ISREG(facts.st_mode)) {
        input.open_pipe(fd.number);
        return input;
    }

    input.size_ = static_cast<std::uint64_t>(facts.st_size);
    std::uint8_t head[fixed_header];
    const ssize_t count = ::pread(fd.number, head, sizeof head, 0);
    if (count < 0) throw io_failure(input.path_);
    const std::span<const std::uint8_t> start(head, static_cast<std::size_t>(count));
    const bool ours = starts_with(start, descriptor_magic) && !starts_with(start, file_magic);
    const bool named_so = path.ends_with(".bin");
    const auto length = hurray::Descriptor::peek_length(start);
    const bool descriptor =
        options.as == "descriptor" ||
        (options.as == "auto" && (named_so || (ours && (!length || *length >= input.size_))));
    if (descriptor) {
        // No more than a descriptor may have, and what says how much follows.
        const std::uint64_t limit = length ? std::min<std::uint64_t>(*length, std::uint64_t{64} << 20) : std::uint64_t{64} << 20;
        input.bytes_ = read_up_to(fd.number, limit, input.path_);
        input.kind_ = InputKind::descriptor;
        return input;
    }
    if (options.as == "stream" || (options.as == "auto" && ours)) {
        input.open_stream(fd.number);
        return input;
    }
    const char* name = standard ? "/proc/self/fd/0" : path.c_str();
    input.opened(take(hurray::File::open(name, input.file_options()), input.path_));
    return input;
}

void Input::open_stream(int fd) {
    kind_ = InputKind::stream;
    hurray::StreamOptions stream;
    stream.flags = HURRAY_STREAM_CLOSE_FD | options_.stream_flags();
    const int own = ::fcntl(fd, F_DUPFD_CLOEXEC, 3);
    if (own < 0) throw io_failure(path_);
    reader_ = take(hurray::Reader::from_fd(own, stream), path_);
}

// A pipe cannot be looked into: what was read of it is kept and comes first.
void Input::open_pipe(int fd) {
    bytes_ = read_up_to(fd, fixed_header, path_);
    const bool ours = starts_with(bytes_, descriptor_magic) && !starts_with(bytes_, file_magic);
    if (options_.as == "file" || (options_.as == "auto" && !ours)) {
        // Files of all formats are found their way around in, so that all of one has to be there.
        const auto rest = read_up_to(fd, std::numeric_limits<std::uint64_t>::max(), path_);
        size_ = bytes_.size() + rest.size();
        const auto memory = take(hurray::Buffer::allocate(size_), path_, failed);
        const auto into = take(memory.mutable_bytes(), path_, failed);
        if (!bytes_.empty()) std::memcpy(into.data(), bytes_.data(), bytes_.size());
        if (!rest.empty()) std::memcpy(into.data() + bytes_.size(), rest.data(), rest.size());
        bytes_ = {};
        opened(take(hurray::File::open(memory.ref(), file_options()), path_));
        return;
    }
    const auto length = hurray::Descriptor::peek_length(bytes_);
    if (options_.as == "auto") {
        // One byte more than the descriptor: where there is none, there are no data either.
        constexpr std::uint64_t most = std::uint64_t{64} << 20;
        const std::uint64_t wanted = length ? std::min(*length, most) + 1 - std::min<std::uint64_t>(*length, bytes_.size()) : 0;
        const auto more = read_up_to(fd, wanted, path_);
        bytes_.insert(bytes_.end(), more.begin(), more.end());
    }
    if (options_.as == "descriptor" || (options_.as == "auto" && (!length || *length >= bytes_.size()))) {
        if (options_.as == "descriptor") {
            const auto more = read_up_to(fd, std::numeric_limits<std::uint64_t>::max(), path_);
            bytes_.insert(bytes_.end(), more.begin(), more.end());
        }
        size_ = bytes_.size();
        kind_ = InputKind::descriptor;
        return;
    }
    kind_ = InputKind::stream;
    hurray::StreamOptions stream;
    stream.flags = options_.stream_flags();
    // Standard input stays as it is; a named pipe is kept by a descriptor of its own.
    if (fd != STDIN_FILENO) {
        fd = ::fcntl(fd, F_DUPFD_CLOEXEC, 3);
        if (fd < 0) throw io_failure(path_);
        pipe_ = std::shared_ptr<void>(nullptr, [fd](void*) { ::close(fd); });
    }
    auto give = [head = std::move(bytes_), at = std::size_t{0}, fd](hurray::Span<std::uint8_t> into) mutable -> hurray::Result<std::size_t> {
        if (at < head.size()) {
            const std::size_t count = std::min(into.size(), head.size() - at);
            std::memcpy(into.data(), head.data() + at, count);
            at += count;
            return count;
        }
        while (true) {
            const ssize_t count = ::read(fd, into.data(), into.size());
            if (is_interrupted()) return hurray::Error(HURRAY_ERR_CANCELLED, "interrupted");
            if (count >= 0) return static_cast<std::size_t>(count);
            if (errno != EINTR) return hurray::Error(HURRAY_ERR_IO, std::strerror(errno));
        }
    };
    bytes_ = {};
    reader_ = take(hurray::Reader::from_callback(std::move(give), stream), path_);
}

hurray::FileOptions Input::file_options() const {
    hurray::FileOptions options;
    options.access = options_.no_map ? HURRAY_ACCESS_READ : HURRAY_ACCESS_MAP;
    options.flags = (options_.private_tags ? std::uint32_t{HURRAY_FILE_PRIVATE_TAGS} : 0) |
                    (options_.permissive ? std::uint32_t{HURRAY_FILE_PERMISSIVE} : 0);
    options.inexact_blocks = options_.blocks == "float32"   ? HURRAY_INEXACT_FLOAT32
                             : options_.blocks == "float16" ? HURRAY_INEXACT_FLOAT16
                                                            : HURRAY_INEXACT_RAW;
    return options;
}

void Input::opened(hurray::File file) {
    kind_ = InputKind::file;
    file_ = std::move(file);
    info_ = take(file_.info(), path_);
}

std::string Input::format() const {
    switch (kind_) {
        case InputKind::stream: return "stream";
        case InputKind::descriptor: return "descriptor";
        case InputKind::file: break;
    }
    return format_name(info_.format);
}

hurray::Result<hurray::Descriptor> Input::decode() const {
    return hurray::Descriptor::decode(bytes_, options_.decode_flags());
}

bool Input::next(Entry& entry) {
    check_interrupt();
    entry = Entry();
    entry.index = position_;
    if (kind_ == InputKind::file) {
        if (position_ >= info_.tensor_count) return false;
        entry.file_ = &file_;
        entry.info = take(file_.tensor_info(position_), path_);
        entry.name = hurray::name_of(*entry.info);
    } else if (kind_ == InputKind::stream) {
        auto item = take(reader_.next_item(), path_);
        if (item.end()) return false;
        entry.item_ = std::make_shared<hurray::Item>(std::move(item));
    } else {
        throw Failure(usage, path_, "is a descriptor alone, without a tensor's data");
    }
    entry.subject_ = path_ + ": " + entry.label();
    ++position_;
    return true;
}

Entry Input::find(const std::string& name) {
    Entry entry;
    std::uint64_t number = 0;
    const bool numbered = name.starts_with('#') && parse_number(std::string_view(name).substr(1), number);
    if (kind_ == InputKind::file) {
        const auto found = file_.find(name);
        if (found) {
            position_ = *found;
        } else if (numbered && number < info_.tensor_count) {
            position_ = number;
        } else {
            throw Failure(usage, path_, fmt::format("there is no tensor \"{}\"", printable(name)))
                .with_hint(fmt::format("hurray ls {} lists them", path_));
        }
        (void)next(entry);
        return entry;
    }
    if (kind_ == InputKind::stream && !numbered) {
        throw Failure(usage, path_, "the tensors of a stream have no names: name one by its place, such as \"#0\"");
    }
    while (next(entry)) {
        if (entry.index == number) return entry;
    }
    throw Failure(usage, path_, fmt::format("there is no tensor {}: the stream has {}", name, entry.index));
}

bool is_wanted(const std::vector<std::string>& patterns, const Entry& entry) {
    return patterns.empty() || std::ranges::any_of(patterns, [&](const std::string& pattern) {
               return (entry.info && matches(pattern, entry.name)) || pattern == fmt::format("#{}", entry.index);
           });
}

}  // namespace cli
