// Charts with a row per case and a colour per device: times, speed-ups, memory.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "report/figures/figures.hpp"
#include "report/human_units.hpp"

namespace trilobite::figures {
namespace {

using chart::Chart;
using chart::Mark;
using chart::Quantity;
using chart::Shape;

bool allocates(const BenchmarkResult& result) {
  return result.memory && result.memory->peak_bytes > 0;
}

/// Rows of cases, a series of bars per device, colours that belong to devices all over the report.
class CaseChart {
 public:
  CaseChart(const ReportData& data, std::string title, chart::Axis x) : data_(data) {
    chart_.title = std::move(title);
    chart_.x = std::move(x);
    by_device_.resize(data.facets.devices.size());
  }

  void add(const BenchmarkResult& result, const std::string& name, Mark mark) {
    const auto row = rows_.row_of(name);
    if (row == Rows::npos) return;
    mark.y = static_cast<double>(row);
    mark.facets = data_.facets.of(result);
    mark.text = fmt::format("{}\n{}: {}", name, result.device, mark.text);
    by_device_[data_.facets.device_number(result)].push_back(std::move(mark));
  }

  Chart finished() && {
    for (size_t device = 0; device < by_device_.size(); ++device) {
      if (by_device_[device].empty()) continue;
      chart_.series.push_back({.name = data_.facets.devices[device],
                               .shape = Shape::bars,
                               .color = device,
                               .marks = std::move(by_device_[device])});
    }
    chart_.y.categories = rows_.names();
    chart_.note = rows_.note();
    return std::move(chart_);
  }

 private:
  const ReportData& data_;
  Chart chart_;
  Rows rows_;
  std::vector<std::vector<Mark>> by_device_;
};

}  // namespace

std::vector<Chart> times(const ReportData& data) {
  std::vector<Chart> charts;
  for (const auto& family : families(data, Grouping::type_where_devices_differ, any_result)) {
    CaseChart made(data, family.title,
                   {.title = "median time of one iteration, with 95 % interval",
                    .quantity = Quantity::time_ns,
                    .logarithmic = true,
                    .base = 0.0});
    for (const auto* result : family.results) {
      made.add(*result, case_name(*result, family.of_one_type),
               {.x = result->statistics->median,
                .interval = result->statistics->median_ci95,
                .text = time_text(*result)});
    }
    charts.push_back(std::move(made).finished());
  }
  return first_charts(std::move(charts));
}

std::vector<Chart> speedups(const ReportData& data) {
  std::vector<Chart> charts;
  std::map<std::string, CaseChart> by_family;
  std::vector<std::string> order;
  for (const auto& group : data.comparison.groups) {
    const auto title = fmt::format("{}/{} {}", group.suite, group.operation, group.dtype);
    for (const auto& entry : group.entries) {
      if (!entry.speedup || entry.device == data.comparison.baseline) continue;
      auto found = by_family.find(title);
      if (found == by_family.end()) {
        const chart::Axis axis{
            .title = fmt::format("speed-up over {}, with 95 % interval", data.comparison.baseline),
            .quantity = Quantity::ratio,
            .logarithmic = true,
            .base = 1.0};
        found = by_family.emplace(title, CaseChart(data, title, axis)).first;
        order.push_back(title);
      }
      found->second.add(data.joined.benchmarks[data.index.at(entry.id)], case_of(group),
                        {.x = entry.speedup->value,
                         .interval = entry.speedup->ci95,
                         .text = fmt::format("{} (95 %: {})", human_ratio(entry.speedup->value),
                                             human_ratios(entry.speedup->ci95))});
    }
  }
  for (const auto& title : order) charts.push_back(std::move(by_family.at(title)).finished());
  return first_charts(std::move(charts));
}

std::vector<Chart> memory(const ReportData& data) {
  std::vector<Chart> charts;
  for (const auto& family : families(data, Grouping::type_where_devices_differ, allocates)) {
    CaseChart made(data, family.title,
                   {.title = "most bytes that one iteration held at once",
                    .quantity = Quantity::bytes,
                    .logarithmic = true,
                    .base = 0.0});
    for (const auto* result : family.results) {
      const auto peak = static_cast<double>(result->memory->peak_bytes);
      made.add(
          *result, case_name(*result, family.of_one_type),
          {.x = peak,
           .text = fmt::format("{} at once, {} in {} allocations", human_bytes(peak),
                               human_bytes(static_cast<double>(result->memory->allocated_bytes)),
                               result->memory->allocations)});
    }
    charts.push_back(std::move(made).finished());
  }
  return first_charts(std::move(charts));
}

}  // namespace trilobite::figures
