#include "cli/stop_signal.hpp"

#include <signal.h>
#include <unistd.h>

#include <csignal>

namespace trilobite::cli {
namespace {

volatile std::sig_atomic_t requested = 0;

void remember(int signal) {
  if (requested != 0) ::_exit(128 + signal);
  requested = 1;
}

}  // namespace

void catch_stop_signals() {
  struct sigaction action{};
  action.sa_handler = remember;
  sigemptyset(&action.sa_mask);
  action.sa_flags = 0;  // no SA_RESTART: waiting calls return and look at the flag
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

bool stop_requested() { return requested != 0; }

}  // namespace trilobite::cli
