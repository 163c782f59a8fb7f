#pragma once
// The configuration of `monitor`.

#include <chrono>
#include <regex>
#include <string>
#include <vector>

#include "base/file.hpp"
#include "notify/alert.hpp"
#include "verdict/thresholds.hpp"

namespace trilobite::cli {

/// "matmul slower than 100 ms".
struct TimeLimit {
  std::string pattern_text;
  std::regex pattern;
  std::chrono::nanoseconds most;
};

struct MonitorConfig {
  std::vector<std::string> bench;  // arguments of `trilobite bench`: pattern, --suite ...
  std::string store;               // empty: as everywhere
  std::string baseline;            // empty: runs are stored and held against the limits only
  verdict::RegressionSettings regression;
  std::vector<TimeLimit> limits;
  notify::Channels alerts;
  Path state_file = "results/monitor-state.json";
  std::chrono::nanoseconds timeout = std::chrono::hours(1);  // of one set of benchmarks
};

/// Members: bench [words], store, baseline, regression {...}, limits {"<regex>": "100ms"}, alerts
/// {...}, state_file, timeout. docs/verdicts.md explains them.
Result<MonitorConfig> load_monitor_config(const Path& path);

}  // namespace trilobite::cli
