// Charts over time: verdicts against a baseline, the history of a benchmark.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/figures/figures.hpp"
#include "report/human_units.hpp"

namespace trilobite::figures {
namespace {

using chart::Chart;
using chart::Quantity;
using chart::Rule;
using chart::RuleKind;
using verdict::Answer;
using verdict::Trend;
using verdict::TrendChange;

std::string interval_text(const stats::Interval& interval) {
  return fmt::format("95 %: {} to {}", human_change(interval.low), human_change(interval.high));
}

Rule moment_of(const TrendChange& change) {
  const auto row = static_cast<double>(change.first.index);
  return {change.change.change > 0 ? RuleKind::worse : RuleKind::better,
          {{row, -INFINITY}, {row, INFINITY}},
          human_change(change.change.change),
          fmt::format("row {}, {} {}: {} ({})", change.first.index, change.first.time,
                      change.first.commit, human_change(change.change.change),
                      interval_text(change.change.interval))};
}

Rule level_of(const Trend& trend, size_t begin, size_t end, double level) {
  const auto& points = trend.series.points;
  return {RuleKind::level,
          {{static_cast<double>(points[begin].index), level},
           {static_cast<double>(points[end - 1].index), level}},
          "",
          ""};
}

std::vector<Rule> rules_of(const Trend& trend) {
  std::vector<Rule> rules;
  size_t begin = 0;
  for (const auto& change : trend.changes) {
    rules.push_back(level_of(trend, begin, change.change.index, change.change.before));
    rules.push_back(moment_of(change));
    begin = change.change.index;
  }
  if (!trend.changes.empty()) {
    rules.push_back(
        level_of(trend, begin, trend.series.points.size(), trend.changes.back().change.after));
  }
  return rules;
}

}  // namespace

Chart trend(const Trend& trend) {
  const auto& series = trend.series;
  const bool is_time = series.unit == "ns";
  const auto quantity = is_time ? Quantity::time_ns : Quantity::plain;
  Chart chart{.title = is_time || series.unit.empty()
                           ? series.name
                           : fmt::format("{} ({})", series.name, series.unit),
              .note = trend.note};
  chart.y = {.title = is_time ? "median time of each run" : "", .quantity = quantity};
  if (series.points.empty()) return chart;
  const auto label = [](const verdict::SeriesPoint& point) {
    return point.time.empty() ? fmt::format("{}", point.index) : point.time;
  };
  chart.x.ends = {label(series.points.front()), label(series.points.back())};
  auto& dots = chart.series.emplace_back();
  dots.name = series.name;
  for (const auto& point : series.points) {
    dots.marks.push_back(
        {.x = static_cast<double>(point.index),
         .y = point.value,
         .text = fmt::format("{} {}\n{}", label(point), point.commit.substr(0, 12),
                             chart::value_text(point.value, quantity, series.unit))});
  }
  chart.rules = rules_of(trend);
  return chart;
}

std::vector<Chart> trends(const ReportData& data) {
  std::vector<const Trend*> order;
  for (const auto& one : data.trends) order.push_back(&one);
  std::ranges::stable_sort(order, std::greater(),
                           [](const Trend* one) { return one->changes.size(); });
  std::vector<Chart> charts;
  for (const auto* one : order) charts.push_back(trend(*one));
  return first_charts(std::move(charts));
}

std::vector<Chart> regression(const ReportData& data) {
  if (!data.regression) return {};
  std::vector<const verdict::MetricVerdict*> order;
  for (const auto& one : data.regression->verdicts) order.push_back(&one);
  std::ranges::stable_sort(order, std::greater(),
                           [](const auto* one) { return std::abs(one->change); });
  Chart chart{.title = fmt::format("Change against {}", data.regression->baseline_name)};
  chart.x = {.title = "change for the worse, with 95 % interval", .quantity = Quantity::change};
  constexpr std::array kNames{"regressed", "improved", "equivalent", "undecided"};  // of Answer
  constexpr std::array<size_t, 4> kColors{3, 5, 0, 7};
  for (size_t i = 0; i < kNames.size(); ++i)
    chart.series.push_back({.name = kNames[i], .color = kColors[i]});
  Rows rows;
  for (const auto* one : order) {
    const auto name = one->benchmark + " " + one->metric;
    const auto row = rows.row_of(name);
    if (row == Rows::npos) continue;
    chart.series[static_cast<size_t>(one->answer)].marks.push_back(
        {.x = one->change,
         .y = static_cast<double>(row),
         .interval = Interval{one->interval.low, one->interval.high},
         .text = fmt::format("{}\n{} ({}), {}", name, human_change(one->change),
                             interval_text(one->interval), verdict::name_of(one->answer))});
  }
  std::erase_if(chart.series, [](const auto& series) { return series.marks.empty(); });
  chart.y.categories = rows.names();
  chart.note = rows.note();
  chart.rules = {{RuleKind::limit, {{0, -INFINITY}, {0, INFINITY}}, "", "no change"}};
  return first_charts({std::move(chart)});
}

}  // namespace trilobite::figures
