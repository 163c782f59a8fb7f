#include "report/prometheus.hpp"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "report/display_text.hpp"

namespace trilobite {
namespace {

using Labels = std::vector<std::pair<std::string_view, std::string_view>>;

std::string label_value(std::string_view text) {
  std::string safe;
  for (const char c : valid_utf8(text)) {
    if (c == '\n') {
      safe += "\\n";
    } else {
      if (c == '\\' || c == '"') safe += '\\';
      safe += c;
    }
  }
  return safe;
}

std::string labels_text(const Labels& labels) {
  std::string text;
  for (const auto& [name, value] : labels)
    text += fmt::format("{}{}=\"{}\"", text.empty() ? "" : ",", name, label_value(value));
  return "{" + text + "}";
}

Labels labels_of(const BenchmarkResult& result) {
  return {{"id", result.id},       {"suite", result.suite},   {"operation", result.operation},
          {"dtype", result.dtype}, {"device", result.device}, {"shape", result.shape}};
}

/// One metric over all benchmarks; NaN: this one has no such figure.
struct Metric {
  const char* name;
  const char* help;
  std::function<double(const BenchmarkResult&)> value;
  Labels more;
};

double seconds(const BenchmarkResult& result, double (*ns)(const TimeStatistics&)) {
  if (result.status != Status::ok || !result.statistics) return NAN;
  return ns(*result.statistics) / 1e9;
}

double rate(double per_second) { return per_second > 0 ? per_second : NAN; }

std::vector<Metric> metrics() {
  const auto time = [](const char* name, const char* help, double (*ns)(const TimeStatistics&)) {
    return Metric{
        name, help, [ns](const BenchmarkResult& result) { return seconds(result, ns); }, {}};
  };
  const auto throughput = [](const char* of, double Throughput::* member) {
    return Metric{
        "trilobite_benchmark_throughput_per_second",
        "Work done per second, from the median.",
        [member](const BenchmarkResult& result) { return rate(result.throughput.*member); },
        {{"of", of}}};
  };
  return {
      {"trilobite_benchmark_ok",
       "1 when it was measured and its output was right.",
       [](const BenchmarkResult& result) { return result.status == Status::ok ? 1.0 : 0.0; },
       {}},
      time("trilobite_benchmark_time_seconds", "Median time of one iteration.",
           [](const TimeStatistics& s) { return s.median; }),
      time("trilobite_benchmark_time_low_seconds", "Lower end of the 95 % interval of the median.",
           [](const TimeStatistics& s) { return s.median_ci95.low; }),
      time("trilobite_benchmark_time_high_seconds", "Upper end of the 95 % interval of the median.",
           [](const TimeStatistics& s) { return s.median_ci95.high; }),
      time("trilobite_benchmark_time_p95_seconds", "95th percentile of the samples.",
           [](const TimeStatistics& s) { return s.p95; }),
      time("trilobite_benchmark_time_p99_seconds", "99th percentile of the samples.",
           [](const TimeStatistics& s) { return s.p99; }),
      throughput("elements", &Throughput::elements),
      throughput("bytes", &Throughput::bytes),
      throughput("items", &Throughput::items),
      throughput("tokens", &Throughput::tokens),
      throughput("flops", &Throughput::flops),
      {"trilobite_benchmark_limit_share",
       "Time at the machine's limit / median time.",
       [](const BenchmarkResult& result) { return result.limit ? result.limit->share : NAN; },
       {}},
      {"trilobite_benchmark_memory_peak_bytes",
       "Most bytes that one iteration held at once.",
       [](const BenchmarkResult& result) {
         return result.memory ? static_cast<double>(result.memory->peak_bytes) : NAN;
       },
       {}}};
}

}  // namespace

std::string to_prometheus(const RunRecord& record) {
  std::string text = fmt::format(
      "# HELP trilobite_run_info The run behind the other metrics.\n# TYPE trilobite_run_info "
      "gauge\ntrilobite_run_info{} 1\n",
      labels_text({{"run", record.id},
                   {"version", record.version},
                   {"commit", record.git.commit},
                   {"platform", record.environment.platform},
                   {"cpu", record.environment.cpu.model}}));
  std::string_view before;
  for (const auto& metric : metrics()) {
    if (metric.name != before)
      text += fmt::format("# HELP {0} {1}\n# TYPE {0} gauge\n", metric.name, metric.help);
    before = metric.name;
    for (const auto& result : record.benchmarks) {
      const double value = metric.value(result);
      if (!std::isfinite(value)) continue;
      auto labels = labels_of(result);
      labels.insert(labels.end(), metric.more.begin(), metric.more.end());
      text += fmt::format("{}{} {}\n", metric.name, labels_text(labels), value);
    }
  }
  return text;
}

}  // namespace trilobite
