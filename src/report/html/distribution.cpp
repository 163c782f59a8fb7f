#include "report/html/distribution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/duration.hpp"
#include "report/chart/drawing.hpp"
#include "report/chart/scale.hpp"
#include "report/xml_text.hpp"

namespace trilobite::html {
namespace {

constexpr double kWidth = 420;
constexpr double kLeft = 24;
constexpr double kRight = kWidth - 24;
constexpr double kHillTop = 6;
constexpr double kGround = 56;  // of the hill; samples lie below
constexpr double kDustTop = 62;
constexpr int kDustRows = 5;
constexpr double kDustStep = 5;
constexpr double kAxis = 90;
constexpr int kHillSteps = 31;

int rounded(double value) { return static_cast<int>(std::lround(value)); }

/// "3 5", "3-5": a step to the right and down, without a blank where a sign parts the numbers.
/// A page has half a million of them, so none is worth a call to a formatter.
void append_step(std::string& path, int right, int down) {
  const fmt::format_int x(right);
  const fmt::format_int y(down);
  path.append(x.data(), x.size());
  if (down >= 0) path += ' ';
  path.append(y.data(), y.size());
}

/// Silverman's rule of thumb on the picture's own scale.
double kernel_width(const std::vector<double>& places) {
  const auto n = static_cast<double>(places.size());
  double mean = 0;
  for (const double place : places) mean += place / n;
  double variance = 0;
  for (const double place : places)
    variance += (place - mean) * (place - mean) / std::max(1.0, n - 1);
  return std::max(3.0, 1.06 * std::sqrt(variance) * std::pow(n, -0.2));
}

/// Gaussian kernels, each left out where it is below a thousandth of its height: under a pixel.
std::string hill(const std::vector<double>& sorted_places) {
  const double width = kernel_width(sorted_places);
  const double reach = 3.75 * width;
  std::array<double, kHillSteps + 1> density{};
  for (int i = 0; i <= kHillSteps; ++i) {
    const double at = kLeft + (kRight - kLeft) * i / kHillSteps;
    for (auto place = std::ranges::lower_bound(sorted_places, at - reach);
         place != sorted_places.end() && *place <= at + reach; ++place) {
      const double distance = (at - *place) / width;
      density[static_cast<size_t>(i)] += std::exp(-0.5 * distance * distance);
    }
  }
  const double highest = std::ranges::max(density);
  int x = rounded(kLeft);
  int y = rounded(kGround);
  auto path = fmt::format("M{} {}", x, y);
  for (int i = 0; i <= kHillSteps; ++i) {
    const int next_x = rounded(kLeft + (kRight - kLeft) * i / kHillSteps);
    const int next_y =
        rounded(kGround - (kGround - kHillTop) * density[static_cast<size_t>(i)] / highest);
    path += 'l';
    append_step(path, next_x - x, next_y - y);
    x = next_x;
    y = next_y;
  }
  return fmt::format("<path class=\"hill\" d=\"{}V{}z\"/>", path, kGround);
}

/// Dots of no length with round ends, each relative to the one before: "m3 5z".
std::string dust(const std::vector<double>& places) {
  std::string path = "M";
  int x = 0;
  int y = 0;
  for (size_t i = 0; i < places.size(); ++i) {
    const int next_x = rounded(places[i]);
    const int next_y =
        rounded(kDustTop + kDustStep * static_cast<double>(i % static_cast<size_t>(kDustRows)));
    if (i > 0) path += 'm';
    append_step(path, next_x - x, next_y - y);
    path += 'z';
    x = next_x;
    y = next_y;
  }
  return fmt::format("<path class=\"dust\" d=\"{}\"/>", path);
}

std::string axis(const chart::Scale& scale) {
  std::string path = fmt::format("M{} {}H{}", kLeft, kAxis, kRight);
  std::string labels;
  for (const double tick : scale.ticks()) {
    const int x = rounded(scale.place(tick));
    path += fmt::format("M{} {}v4", x, kAxis);
    labels += fmt::format("<tspan x=\"{}\">{}</tspan>", x, xml_text(human_time(tick)));
  }
  return fmt::format("<path class=\"axis\" d=\"{}\"/><text y=\"{}\">{}</text>", path, kAxis + 17,
                     labels);
}

}  // namespace

std::string distribution_svg(const BenchmarkResult& result) {
  if (result.samples_ns.empty()) return "";
  auto sorted = result.samples_ns;
  std::ranges::sort(sorted);
  const chart::Scale scale({.values = {sorted.front(), sorted.back()},
                            .range = {kLeft, kRight},
                            .quantity = chart::Quantity::time_ns,
                            .pixels_per_tick = 90});
  std::vector<double> places;
  for (const double sample : sorted) places.push_back(scale.place(sample));
  std::string middle;
  if (result.statistics) {
    const auto& interval = result.statistics->median_ci95;
    const double low = scale.place(interval.low);
    middle = fmt::format(
        "<rect class=\"between\" x=\"{}\" y=\"2\" width=\"{}\" height=\"{}\"/><path "
        "class=\"middle\" "
        "d=\"M{} 2V{}\"/>",
        chart::coordinate(low), chart::coordinate(std::max(1.0, scale.place(interval.high) - low)),
        kAxis - 2, chart::coordinate(scale.place(result.statistics->median)), kAxis);
  }
  return fmt::format(
      "<svg class=\"chart dist\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{} "
      "samples\">{}{}{}{}</svg>",
      kWidth, kAxis + 24, sorted.size(), hill(places), middle, dust(places), axis(scale));
}

}  // namespace trilobite::html
