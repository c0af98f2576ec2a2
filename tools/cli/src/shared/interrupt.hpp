// Ctrl-C: the handler sets a flag, and long work asks for it.
#pragma once

namespace cli {

/// SIGINT, SIGTERM and SIGHUP set the flag; a second one ends the program at once. SIGPIPE is ignored, so that writes fail.
void catch_interrupts();
bool is_interrupted() noexcept;
/// Throws a Failure (exit code 130) when the flag is set.
void check_interrupt();

}  // namespace cli
