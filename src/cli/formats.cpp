#include "cli/formats.hpp"

#include <algorithm>

#include "cli/command_line.hpp"
#include "measure/clock.hpp"
#include "record/record_json.hpp"
#include "report/bencher.hpp"
#include "report/console.hpp"
#include "report/csv.hpp"
#include "report/gbench.hpp"
#include "report/html/page.hpp"
#include "report/junit.hpp"
#include "report/markdown.hpp"
#include "report/prometheus.hpp"

namespace trilobite::cli {
namespace {

std::string human(const RunRecord& record) {
  return to_console(record, {.color = stdout_is_terminal(), .width = terminal_width()});
}

ReportData report_of(const RunRecord& record) {
  auto data = report_data({{record.id, record}});
  data.made_at = utc_now();
  return data;
}

}  // namespace

const std::vector<RecordFormat>& record_formats() {
  static const std::vector<RecordFormat> formats{
      {"human", human},
      {"json", to_json_text},
      {"csv", to_csv},
      {"samples-csv", to_samples_csv},
      {"bencher", to_bencher},
      {"gbench", to_gbench},
      {"junit", to_junit},
      {"prometheus", to_prometheus},
      {"markdown", [](const RunRecord& record) { return to_markdown(report_of(record)); }},
      {"html", [](const RunRecord& record) { return to_html(report_of(record)); }}};
  return formats;
}

const RecordFormat* find_format(std::string_view name) {
  const auto found = std::ranges::find(record_formats(), name, &RecordFormat::name);
  return found == record_formats().end() ? nullptr : &*found;
}

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const auto& format : record_formats()) names.emplace_back(format.name);
  return names;
}

}  // namespace trilobite::cli
