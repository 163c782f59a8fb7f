#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/parse_number.hpp"
#include "report/figures/figures.hpp"

namespace trilobite::figures {
namespace {

using chart::Chart;
using chart::Quantity;

constexpr const char* kSize = "size";

/// The product of "64x128": how many elements the shape has; nothing when it is not all numbers.
std::optional<double> elements_of(const std::string& shape) {
  double product = 1;
  for (size_t from = 0; from <= shape.size();) {
    const auto to = std::min(shape.find('x', from), shape.size());
    const auto side = parse_double(std::string_view(shape).substr(from, to - from));
    if (!side || !(*side > 0)) return std::nullopt;
    product *= *side;
    from = to + 1;
  }
  return product;
}

/// What may vary: the size, and every parameter that is a positive number.
std::map<std::string, double> variables_of(const BenchmarkResult& result) {
  std::map<std::string, double> variables;
  if (const auto size = elements_of(result.shape)) variables[kSize] = *size;
  for (const auto& [name, value] : result.parameters) {
    const auto number = parse_double(value);
    if (number && *number > 0) variables[name] = *number;
  }
  return variables;
}

/// Everything but `variable`: results with the same answer lie on one line.
std::string line_name(const BenchmarkResult& result, const std::string& variable) {
  std::string text = result.device;
  if (variable != kSize) text += " " + result.shape;
  for (const auto& [name, value] : result.parameters) {
    if (name != variable) text += fmt::format(" {}={}", name, value);
  }
  return text;
}

/// Device, number of dimensions: lines of matrices and of vectors do not continue each other.
std::string line_key(const BenchmarkResult& result, const std::string& variable) {
  return fmt::format("{}|{}", line_name(result, variable),
                     variable == kSize ? std::ranges::count(result.shape, 'x') : 0);
}

struct Line {
  std::string name;
  size_t color = 0;
  std::map<double, const BenchmarkResult*> points;
};

std::vector<Line> lines_of(const Family& family, const std::string& variable,
                           const ReportData& data) {
  std::map<std::string, Line> lines;
  for (const auto* result : family.results) {
    const auto variables = variables_of(*result);
    const auto found = variables.find(variable);
    if (found == variables.end()) continue;
    auto& line = lines[line_key(*result, variable)];
    line.name = line_name(*result, variable);
    line.color = data.facets.device_number(*result);
    line.points.emplace(found->second, result);
  }
  std::vector<Line> long_enough;
  for (auto& [key, line] : lines) {
    if (line.points.size() >= 2) long_enough.push_back(std::move(line));
  }
  return long_enough;
}

Chart chart_of(const Family& family, const std::string& variable, std::vector<Line> lines,
               const ReportData& data) {
  Chart chart{.title = fmt::format("{} over {}", family.title, variable)};
  chart.x = {.title = variable == kSize ? "elements of the shape" : variable,
             .quantity = Quantity::count,
             .logarithmic = true};
  chart.y = {.title = "median time of one iteration, with 95 % interval",
             .quantity = Quantity::time_ns,
             .logarithmic = true};
  constexpr size_t kMostLines = 12;
  if (lines.size() > kMostLines) {
    chart.note = fmt::format("The first {} of {} lines.", kMostLines, lines.size());
    lines.resize(kMostLines);
  }
  // With one device the lines differ in something else, which then has the colours.
  std::set<size_t> colors;
  for (const auto& line : lines) colors.insert(line.color);
  for (size_t i = 0; i < lines.size(); ++i) {
    auto& series = chart.series.emplace_back();
    series.name = lines[i].name;
    series.shape = chart::Shape::line;
    series.color = colors.size() == lines.size() ? lines[i].color : i;
    for (const auto& [value, result] : lines[i].points) {
      series.marks.push_back(
          {.x = value,
           .y = result->statistics->median,
           .interval = result->statistics->median_ci95,
           .text = fmt::format(
               "{}\n{}: {}", lines[i].name,
               variable == kSize ? result->shape : fmt::format("{} {}", variable, value),
               time_text(*result)),
           .facets = data.facets.of(*result)});
    }
  }
  return chart;
}

}  // namespace

std::vector<Chart> scaling(const ReportData& data) {
  std::vector<Chart> charts;
  for (const auto& family : families(data, Grouping::type, any_result)) {
    std::set<std::string> names;
    for (const auto* result : family.results) {
      for (const auto& [name, value] : variables_of(*result)) names.insert(name);
    }
    for (const auto& name : names) {
      auto lines = lines_of(family, name, data);
      if (!lines.empty()) charts.push_back(chart_of(family, name, std::move(lines), data));
    }
  }
  return first_charts(std::move(charts));
}

}  // namespace trilobite::figures
