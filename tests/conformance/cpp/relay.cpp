// The stages of the relay: source, relay and sink.
#include <chrono>
#include <fstream>
#include <vector>

#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "exchanged.hpp"
#include "handles.hpp"
#include "names.hpp"
#include "report.hpp"
#include "transport.hpp"

namespace driver {
namespace {

using Clock = std::chrono::steady_clock;

const std::string& name_at(const std::vector<std::string>& names, std::size_t index) {
    if (index >= names.size()) throw std::runtime_error("the stream has more tensors than the list of names");
    return names[index];
}

}  // namespace

int source(const std::string& model, const std::string& names, const std::string& report_path, const Transport& transport) {
    const std::uint64_t live_before = live_handles();
    Report report(report_path);
    {
        const auto file =
            make<File>("open", hurray_file_open, model.c_str(), static_cast<const HurrayFileOptions*>(nullptr));
        auto info = sized<HurrayFileInfo>();
        call("file info", hurray_file_info, file.get(), &info);
        std::ofstream name_list(names);
        std::vector<std::string> all;
        for (std::uint64_t i = 0; i < info.tensor_count; ++i) {
            auto entry = sized<HurrayFileTensorInfo>();
            call("tensor info", hurray_file_tensor_info, file.get(), i, &entry);
            all.emplace_back(entry.name, entry.name_length);
            name_list << nlohmann::json(all.back()).dump() << '\n';
        }
        name_list.close();
        if (!name_list) throw std::runtime_error("cannot write the list of names " + names);
        Output output(transport);
        for (std::uint64_t i = 0; i < info.tensor_count; ++i) {
            const auto started = Clock::now();
            const auto tensor = exchanged(make<Tensor>("tensor", hurray_file_tensor, file.get(), i));
            report.add(all[i], tensor.get(), started);
            output.put(tensor.get());
        }
        output.finish();
        report.sent(output.sent_bytes());
    }
    report.finish(live_before);
    return 0;
}

int relay(const std::string& names_path, const std::string& report_path, const Transport& transport) {
    const std::uint64_t live_before = live_handles();
    Report report(report_path);
    {
        Input input(transport);
        Output output(transport);
        std::vector<std::string> names;
        for (std::size_t i = 0;; ++i) {
            auto tensor = input.next();
            // From here on the time is this stage's own: before, it waited for the one in front.
            const auto started = Clock::now();
            // The list is complete before the first tensor is sent, so it is read when that has arrived.
            if (i == 0) names = read_names(names_path);
            if (!tensor) {
                if (i != names.size()) throw std::runtime_error("the stream has fewer tensors than the list of names");
                break;
            }
            tensor = exchanged(std::move(tensor));
            report.add(name_at(names, i), tensor.get(), started);
            output.put(tensor.get());
        }
        output.finish();
        report.received(input.received_bytes());
        report.sent(output.sent_bytes());
    }
    report.finish(live_before);
    return 0;
}

int sink(const std::string& names_path, const std::string& report_path, const std::string& model, const Transport& transport) {
    const std::uint64_t live_before = live_handles();
    Report report(report_path);
    {
        Input input(transport);
        const auto writer =
            make<FileWriter>("create", hurray_file_writer_create, model.c_str(), std::uint32_t{HURRAY_FORMAT_SAFETENSORS});
        std::vector<std::string> names;
        for (std::size_t i = 0;; ++i) {
            auto tensor = input.next();
            // From here on the time is this stage's own: before, it waited for the one in front.
            const auto started = Clock::now();
            if (i == 0) names = read_names(names_path);
            if (!tensor) {
                if (i != names.size()) throw std::runtime_error("the stream has fewer tensors than the list of names");
                break;
            }
            tensor = exchanged(std::move(tensor));
            const std::string& name = name_at(names, i);
            report.add(name, tensor.get(), started);
            call("add", hurray_file_writer_add, writer.get(), name.data(), std::uint64_t{name.size()}, tensor.get());
        }
        call("finish", hurray_file_writer_finish, writer.get());
        report.received(input.received_bytes());
    }
    report.finish(live_before);
    return 0;
}

}  // namespace driver
