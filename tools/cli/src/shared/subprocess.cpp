#include "subprocess.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>

#include "text.hpp"

extern char** environ;

namespace cli {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t most = 64 * 1024;

// Reads until the end or the deadline; false at the deadline.
bool drain(int fd, Clock::time_point deadline, std::string& text) {
    char buffer[4096];
    while (true) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
        pollfd wait{fd, POLLIN, 0};
        if (left <= 0 || ::poll(&wait, 1, static_cast<int>(left)) <= 0) return false;
        const ssize_t count = ::read(fd, buffer, sizeof buffer);
        if (count <= 0) return true;
        if (text.size() < most) text.append(buffer, static_cast<std::size_t>(count));
    }
}

}  // namespace

std::optional<std::string> output_of(const std::vector<std::string>& command) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    std::vector<char*> arguments;
    for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    pid_t child = 0;
    const int spawned = ::posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    std::string text;
    const bool ended = spawned == 0 && drain(ends[0], Clock::now() + std::chrono::seconds(10), text);
    ::close(ends[0]);
    if (spawned != 0) return std::nullopt;
    if (!ended) ::kill(child, SIGKILL);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    if (!ended || !WIFEXITED(status) || WEXITSTATUS(status) != 0) return std::nullopt;
    return text;
}

std::string first_line(const std::string& text) {
    for (const std::string& line : split(text, '\n')) {
        if (!trimmed(line).empty()) return std::string(trimmed(line));
    }
    return "";
}

}  // namespace cli
