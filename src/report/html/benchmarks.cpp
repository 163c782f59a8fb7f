// Every benchmark in one table, the details of each made when they are asked for.
#include <fmt/format.h>

#include <cmath>

#include "base/duration.hpp"
#include "report/html/distribution.hpp"
#include "report/html/markup.hpp"
#include "report/html/sections.hpp"
#include "report/human_units.hpp"
#include "report/xml_text.hpp"
#include "stats/describe.hpp"

namespace trilobite::html {
namespace {

std::string time_cell(double ns) {
  return number_cell(ns, std::isfinite(ns) ? xml_text(human_time(ns)) : "");
}

std::string share_cell(double share) {
  if (!std::isfinite(share)) return number_cell(share, "");
  return fmt::format("<td data-v=\"{:.4g}\">{}</td>", share, xml_text(human_percent(share)));
}

std::string rate_cell(const Rate& rate) {
  if (!(rate.per_second > 0)) return number_cell(NAN, "");
  return fmt::format("<td data-v=\"{:.4g}\">{}</td>", rate.per_second,
                     xml_text(human_rate(rate.per_second, rate.unit)));
}

std::string measured_cells(const BenchmarkResult& result) {
  const auto& s = *result.statistics;
  const double half = (s.median_ci95.high - s.median_ci95.low) / 2 / s.median;
  return time_cell(s.median) + share_cell(half) +
         share_cell(stats::kMadToSigma * s.mad / s.median) + time_cell(s.p95) + time_cell(s.p99) +
         rate_cell(fitting_rate(result)) +
         (result.limit ? number_cell(result.limit->share, xml_text(short_limit(result)))
                       : number_cell(NAN, "")) +
         (result.memory ? number_cell(static_cast<double>(result.memory->peak_bytes),
                                      human_bytes(static_cast<double>(result.memory->peak_bytes)))
                        : number_cell(NAN, ""));
}

std::string row(const ReportData& data, size_t number) {
  const auto& result = data.joined.benchmarks[number];
  const bool measured = result.status == Status::ok && result.statistics.has_value();
  auto text = fmt::format(
      "<tr id=\"b{0}\" data-k=\"{1}\"><td><button type=\"button\" class=\"open\" "
      "aria-expanded=\"false\">{2}</button></td>",
      number, data.facets.of(result), code(result.id));
  if (measured) return text + measured_cells(result) + "</tr>\n";
  const bool wrong = result.status == Status::failed || result.status == Status::timeout;
  text += fmt::format("<td data-v=\"\"><span class=\"{}\">{}</span></td>",
                      wrong ? "bad-text" : "small", outcome_word(result));
  for (int i = 0; i < 7; ++i) text += "<td data-v=\"\"></td>";
  return text + "</tr>\n";
}

/// "name value, name value" of a map.
template <typename Map>
std::string listed(const Map& map) {
  std::string text;
  for (const auto& [name, value] : map)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, value);
  return text;
}

std::string statistics_line(const BenchmarkResult& result) {
  const auto& s = *result.statistics;
  const auto& o = s.outliers;
  const auto origin = result.samples_ns.empty()
                          ? std::string("A summary without its samples")
                          : fmt::format("{} of {}", counted(result.samples_ns.size(), "sample"),
                                        counted(result.iterations_per_sample, "iteration"));
  return fmt::format(
      "{}; median {}, 95 % {} to {}; mean {}, sd {}; least {}, most {}; outliers: {} low, {} high; "
      "disturbed: {} retaken, {} kept",
      origin, human_time(s.median), human_time(s.median_ci95.low), human_time(s.median_ci95.high),
      human_time(s.mean), human_time(s.sd), human_time(s.min), human_time(s.max),
      o.low_mild + o.low_severe, o.high_mild + o.high_severe, result.disturbance.retaken,
      result.disturbance.kept);
}

std::string quiet_line(const QuietTime& quiet) {
  return fmt::format("Quiet: {}, the best of {} with {} taken while nobody else used the core",
                     human_time(quiet.best_ns), counted(quiet.samples_per_round.size(), "round"),
                     counted(quiet.samples_ns.size(), "short sample"));
}

std::string check_line(const CheckOutcome& check) {
  return fmt::format("Output compared with {}: largest error {:.3g}, allowed {:.3g}",
                     check.reference, check.max_error, check.tolerance);
}

std::string detail(const ReportData& data, size_t number) {
  const auto& result = data.joined.benchmarks[number];
  std::string text = distribution_svg(result);
  const auto line = [&](const std::string& what) {
    if (!what.empty()) text += fmt::format("<p>{}</p>", xml_text(what));
  };
  line(result.reason);
  if (result.statistics) line(statistics_line(result));
  if (result.quiet) line(quiet_line(*result.quiet));
  if (result.samples_ns.empty()) line("No samples: there is no distribution to show.");
  if (result.check) line(check_line(*result.check));
  if (!result.figures.empty()) line("Figures: " + listed(result.figures));
  if (!result.kernels.empty()) line("Kernels called: " + listed(result.kernels));
  if (data.sources.size() > 1) line("Run: " + data.sources[data.source_of[number]].name);
  return fmt::format("<template id=\"d{}\">{}</template>\n", number, text);
}

}  // namespace

std::string benchmarks_section(const ReportData& data) {
  if (data.joined.benchmarks.empty()) return "";
  SortableTable table{.label = "All benchmarks",
                      .headers = {{"benchmark"},
                                  {"median"},
                                  {"±95 %"},
                                  {"spread"},
                                  {"p95"},
                                  {"p99"},
                                  {"throughput"},
                                  {"of limit"},
                                  {"peak memory"}}};
  std::string details;
  for (size_t i = 0; i < data.joined.benchmarks.size(); ++i) {
    table.rows.push_back(row(data, i));
    details += detail(data, i);
  }
  return "<p class=\"lead\">Open a benchmark for the distribution of its samples and everything "
         "else "
         "that is known about it.</p>" +
         to_html(table) + details;
}

}  // namespace trilobite::html
