// Tensors of any kind from files, streams and channels to files, streams and channels, many times in one process.
#include <fcntl.h>

#include <functional>
#include <iostream>
#include <stdexcept>
#include <string_view>

#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "exchanged.hpp"
#include "handles.hpp"
#include "names.hpp"
#include "transport.hpp"

namespace driver {
namespace {

// An end as the line names it: what it is, and where.
struct End {
    std::string_view kind;
    std::string where;

    explicit End(std::string_view text) {
        const std::size_t colon = text.find(':');
        if (colon == std::string_view::npos) throw std::runtime_error("expected hrry:PATH, stream:PATH or channel:FD");
        kind = text.substr(0, colon);
        where = text.substr(colon + 1);
    }
    [[nodiscard]] std::int32_t fd() const { return std::stoi(where); }
};

std::runtime_error unknown(const End& end) { return std::runtime_error("no such end: " + std::string(end.kind)); }

std::int32_t opened(const std::string& path, int flags) {
    const int fd = open(path.c_str(), flags | O_CLOEXEC, 0600);
    if (fd < 0) throw std::runtime_error("cannot open " + path);
    return fd;
}

HurrayStreamOptions closing() {
    auto options = sized<HurrayStreamOptions>();
    options.flags = HURRAY_STREAM_CLOSE_FD;
    return options;
}

using Taker = std::function<void(const std::string& name, Tensor tensor)>;

// Hands on every tensor that comes; the names are those of the list, or of the file.
void read_all(const End& from, const std::vector<std::string>& names, const Taker& take) {
    if (from.kind == "hrry") {
        const auto file =
            make<File>("open", hurray_file_open, from.where.c_str(), static_cast<const HurrayFileOptions*>(nullptr));
        auto info = sized<HurrayFileInfo>();
        call("file info", hurray_file_info, file.get(), &info);
        for (std::uint64_t i = 0; i < info.tensor_count; ++i) {
            auto entry = sized<HurrayFileTensorInfo>();
            call("tensor info", hurray_file_tensor_info, file.get(), i, &entry);
            const std::string name(entry.name, entry.name_length);
            take(name, make<Tensor>("tensor", hurray_file_tensor, file.get(), i));
        }
        return;
    }
    const auto each = [&](const std::function<Tensor()>& next) {
        for (std::size_t i = 0; auto tensor = next(); ++i) take(names.at(i), std::move(tensor));
    };
    if (from.kind == "stream") {
        const auto options = closing();
        const auto reader = make<Reader>("reader", hurray_reader_from_fd, opened(from.where, O_RDONLY), &options);
        each([&] { return make<Tensor>("read", hurray_reader_next, reader.get()); });
    } else if (from.kind == "channel") {
        Input input(Transport{from.fd(), std::nullopt});
        each([&] { return input.next(); });
    } else {
        throw unknown(from);
    }
}

// Everything that comes from one end to the other; returns how many tensors.
std::uint64_t pass_on(const End& from, const End& to, const std::vector<std::string>& names) {
    std::uint64_t count = 0;
    const auto through = [&](const auto& put) {
        read_all(from, names, [&](const std::string& name, Tensor tensor) {
            put(name, exchanged(std::move(tensor)).get());
            ++count;
        });
    };
    if (to.kind == "hrry") {
        const auto writer =
            make<FileWriter>("create", hurray_file_writer_create, to.where.c_str(), std::uint32_t{HURRAY_FORMAT_HRRY});
        through([&](const std::string& name, const HurrayTensor* tensor) {
            call("add", hurray_file_writer_add, writer.get(), name.data(), std::uint64_t{name.size()}, tensor);
        });
        call("finish", hurray_file_writer_finish, writer.get());
    } else if (to.kind == "stream") {
        const auto options = closing();
        const auto writer =
            make<Writer>("writer", hurray_writer_to_fd, opened(to.where, O_WRONLY | O_CREAT | O_TRUNC), &options);
        through([&](const std::string&, const HurrayTensor* tensor) { call("write", hurray_writer_write, writer.get(), tensor); });
    } else if (to.kind == "channel") {
        Output output(Transport{std::nullopt, to.fd()});
        through([&](const std::string&, const HurrayTensor* tensor) { output.put(tensor); });
        output.finish();
    } else {
        throw unknown(to);
    }
    return count;
}

}  // namespace

int pass(const std::string& names_path) {
    const std::vector<std::string> names = read_names(names_path);
    const std::uint64_t before = live_handles();
    for (std::string line; std::getline(std::cin, line);) {
        const std::size_t tab = line.find('\t');
        if (tab == std::string::npos) throw std::runtime_error("expected two ends with a tab between them");
        const std::uint64_t count = pass_on(End(std::string_view(line).substr(0, tab)), End(std::string_view(line).substr(tab + 1)), names);
        std::cout << nlohmann::json{{"tensors", count}, {"live_handles", live_handles() - before}}.dump() << std::endl;
    }
    return 0;
}

}  // namespace driver
