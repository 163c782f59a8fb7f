#include "report/trend_report.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/json.hpp"
#include "report/csv_text.hpp"
#include "report/display_text.hpp"
#include "report/human_units.hpp"
#include "report/table.hpp"

namespace trilobite {
namespace {

using verdict::Trend;
using verdict::TrendChange;

Json text_or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(valid_utf8(text));
}

Json json_of(const TrendChange& change) {
  const auto& point = change.change;
  return {
      {"index", change.first.index},
      {"time", text_or_null(change.first.time)},
      {"commit", text_or_null(change.first.commit)},
      {"before", number_or_null(point.before)},
      {"after", number_or_null(point.after)},
      {"change", number_or_null(point.change)},
      {"change_ci95", {number_or_null(point.interval.low), number_or_null(point.interval.high)}},
      {"p_value", number_or_null(point.p_value)},
      {"support", number_or_null(point.support)},
      {"cause", verdict::name_of(change.cause)},
      {"control_change",
       change.control_change ? number_or_null(*change.control_change) : Json(nullptr)}};
}

Json json_of(const Trend& trend) {
  Json changes = Json::array();
  for (const auto& change : trend.changes) changes.push_back(json_of(change));
  return {{"name", valid_utf8(trend.series.name)}, {"unit", text_or_null(trend.series.unit)},
          {"points", trend.series.points.size()},  {"gaps", trend.series.gaps},
          {"change_points", std::move(changes)},   {"note", text_or_null(trend.note)}};
}

std::string pretty(const Json& json) { return json_document(json); }

std::string level(double value, const std::string& unit) {
  return printable(unit.empty() ? fmt::format("{:.4g}", value)
                                : fmt::format("{:.4g} {}", value, unit));
}

Row row_of(const TrendChange& change, const std::string& unit) {
  const auto& point = change.change;
  return {{fmt::format("{}", change.first.index)},
          {printable(change.first.time)},
          {printable(change.first.commit).substr(0, 12)},
          {human_change(point.change), point.change > 0 ? Style::bad : Style::good},
          {fmt::format("{} to {}", human_change(point.interval.low),
                       human_change(point.interval.high))},
          {fmt::format("{} -> {}", level(point.before, unit), level(point.after, unit))},
          {fmt::format("{:.2g}", point.p_value)},
          {change.cause == verdict::Cause::unknown ? std::string()
                                                   : std::string(verdict::name_of(change.cause))}};
}

std::string heading(const Trend& trend) {
  return fmt::format(
      "{}: {} point{}{}, {} change{}\n", printable(trend.series.name), trend.series.points.size(),
      trend.series.points.size() == 1 ? "" : "s",
      trend.series.gaps > 0 ? fmt::format(" ({} without a value)", trend.series.gaps) : "",
      trend.changes.size(), trend.changes.size() == 1 ? "" : "s");
}

}  // namespace

std::string trend_table(std::span<const Trend> trends, size_t width, bool color) {
  std::string text;
  for (const auto& trend : trends) {
    text += styled(heading(trend), Style::heading, color);
    if (!trend.note.empty()) text += "  " + printable(trend.note) + "\n";
    if (trend.changes.empty()) continue;
    Table table{{{"at", false, 9},
                 {"time", true, 8},
                 {"commit", true, 7},
                 {"change", false, 9},
                 {"95 %", true, 6},
                 {"level", true, 5},
                 {"p", false, 2},
                 {"cause", true, 4}},
                {}};
    for (const auto& change : trend.changes)
      table.rows.push_back(row_of(change, trend.series.unit));
    text += render(table, width, color);
  }
  return text;
}

std::string trend_json(const Trend& trend) {
  Json json{{"schema", "trilobite.trend/1"}};
  json.update(json_of(trend));
  return pretty(json);
}

std::string trends_json(std::span<const Trend> trends) {
  Json series = Json::array();
  for (const auto& trend : trends) series.push_back(json_of(trend));
  return pretty({{"schema", "trilobite.trend/1"}, {"series", std::move(series)}});
}

std::string trend_csv(std::span<const Trend> trends) {
  std::string text = csv_line({"name", "index", "time", "commit", "before", "after", "change",
                               "change_low", "change_high", "p_value", "support", "cause"});
  for (const auto& trend : trends) {
    for (const auto& change : trend.changes) {
      const auto& point = change.change;
      text += csv_line({csv_field(trend.series.name), fmt::format("{}", change.first.index),
                        csv_field(change.first.time), csv_field(change.first.commit),
                        csv_number(point.before), csv_number(point.after), csv_number(point.change),
                        csv_number(point.interval.low), csv_number(point.interval.high),
                        csv_number(point.p_value), csv_number(point.support),
                        std::string(verdict::name_of(change.cause))});
    }
  }
  return text;
}

}  // namespace trilobite
