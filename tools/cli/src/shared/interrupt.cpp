#include "interrupt.hpp"

#include <csignal>

#include "exit.hpp"

namespace cli {
namespace {

volatile std::sig_atomic_t flag = 0;

extern "C" void on_signal(int) { flag = 1; }

}  // namespace

void catch_interrupts() {
    struct sigaction action {};
    action.sa_handler = on_signal;
    sigemptyset(&action.sa_mask);
    // A second signal finds the default: whoever insists is obeyed. Reads and writes go on after the first.
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        struct sigaction old {};
        // nohup and background jobs of some shells ignore them; that stays.
        if (::sigaction(signal, nullptr, &old) == 0 && old.sa_handler == SIG_IGN) continue;
        ::sigaction(signal, &action, nullptr);
    }
    std::signal(SIGPIPE, SIG_IGN);
}

bool is_interrupted() noexcept { return flag != 0; }

void check_interrupt() {
    if (is_interrupted()) throw Failure(interrupted, "", "interrupted");
}

}  // namespace cli
