#pragma once
// Ctrl-C and SIGTERM as a question that can be asked, so that a run can end in good order.

namespace trilobite::cli {

/// From now on SIGINT and SIGTERM only set a flag; a second one ends the program at once.
void catch_stop_signals();
bool stop_requested();

}  // namespace trilobite::cli
