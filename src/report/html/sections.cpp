#include "report/html/sections.hpp"

#include <fmt/format.h>

#include "report/assets.hpp"
#include "report/figures/figures.hpp"
#include "report/html/markup.hpp"

namespace trilobite::html {
namespace {

/// The charts below a sentence that says what they show; nothing without charts.
std::string with_charts(std::string_view lead, const std::vector<chart::Chart>& charts) {
  return charts.empty() ? "" : fmt::format("<p class=\"lead\">{}</p>", lead) + to_html(charts);
}

}  // namespace

const std::vector<Section>& sections() {
  static const std::vector<Section> all{
      {"summary", "Summary", summary_section, ""},
      {"recommendations", "Recommendations", recommendations_section,
       "No operation was measured on more than one device, so there is nothing to choose between."},
      {"comparison", "Devices side by side", comparison_section,
       "No case was measured on more than one device."},
      {"times", "Times", times_section, "No benchmark has a time."},
      {"scaling", "Scaling", scaling_section,
       "No benchmark was measured at two sizes, batches or numbers of threads."},
      {"roofline", "Roofline", roofline_section,
       "The run did not measure the limits of the machine, or no benchmark states its operations "
       "and bytes."},
      {"accuracy", "Accuracy versus speed", accuracy_section,
       "No benchmark states an accuracy (the figure snr_db)."},
      {"memory", "Memory", memory_section, "No benchmark allocated memory in its iteration."},
      {"latency", "Latency percentiles", latency_section, "No benchmark has a time."},
      {"regression", "Verdicts against the baseline", regression_section,
       "No baseline was given (--baseline)."},
      {"history", "History", history_section,
       "No store was given (--store), or it has none of these benchmarks."},
      {"benchmarks", "All benchmarks", benchmarks_section, "The record holds no benchmarks."},
      {"environment", "Environment and warnings", environment_section, ""},
      {"method", "Method and glossary", method_section, ""}};
  return all;
}

std::string times_section(const ReportData& data) {
  return with_charts(
      "How long one iteration takes. Point at a mark for its figures, click a key to "
      "hide a device.",
      figures::times(data));
}

std::string scaling_section(const ReportData& data) {
  return with_charts("How the time grows with the work, while everything else stays the same.",
                     figures::scaling(data));
}

std::string roofline_section(const ReportData& data) {
  return with_charts(
      "How near each result comes to what this machine's memory and arithmetic allow.",
      figures::rooflines(data));
}

std::string memory_section(const ReportData& data) {
  return with_charts(
      "What one iteration allocates, counted by the allocator outside the timed region.",
      figures::memory(data));
}

std::string latency_section(const ReportData& data) {
  return with_charts("The typical and the slow samples.", figures::latency(data));
}

std::string method_section(const ReportData&) { return std::string(assets::method_html()); }

}  // namespace trilobite::html
