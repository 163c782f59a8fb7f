#include "cli/progress.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/command_line.hpp"

namespace trilobite::cli {
namespace {

constexpr std::chrono::milliseconds kRefresh{100};

}  // namespace

Progress::Progress(bool enabled, size_t steps) : enabled_(enabled), steps_(steps) {}

std::string Progress::time_left() const {
  if (done_ == 0) return "";
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - started_;
  const double seconds = spent.count() / static_cast<double>(done_) *
                         static_cast<double>(steps_ - std::min(done_, steps_));
  return seconds < 90 ? fmt::format("  {:.0f} s left", seconds)
                      : fmt::format("  {:.0f} min left", seconds / 60);
}

void Progress::begin(const std::string& what) {
  const auto now = std::chrono::steady_clock::now();
  if (!enabled_ || now - shown_ < kRefresh) return;
  shown_ = now;
  std::string line = fmt::format("[{}/{}]{}  {}", done_ + 1, steps_, time_left(), what);
  const size_t width = std::max(20u, terminal_width()) - 1;
  if (line.size() > width) line.resize(width);
  fmt::print(stderr, "\r\x1b[K{}", line);
}

void Progress::clear() {
  if (enabled_) fmt::print(stderr, "\r\x1b[K");
}

}  // namespace trilobite::cli
