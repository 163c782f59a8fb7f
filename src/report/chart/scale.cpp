#include "report/chart/scale.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace trilobite::chart {
namespace {

constexpr std::array kDecimalSteps{1.0, 2.0, 5.0, 10.0};
constexpr std::array kBinarySteps{1.0, 2.0};

/// The smallest round step that is at least `least`.
double round_step(double least, bool binary) {
  const double base = binary ? 2 : 10;
  const double power = std::pow(base, std::floor(std::log(least) / std::log(base)));
  const std::span<const double> steps =
      binary ? std::span<const double>(kBinarySteps) : std::span<const double>(kDecimalSteps);
  // A rounding error must not push a step that fits to the next one.
  for (const double step : steps) {
    if (step * power >= least * (1 - 1e-9)) return step * power;
  }
  return base * power;
}

/// Values that fit, or something around them: a scale needs a length.
Interval widened(Interval values) {
  if (values.high > values.low) return values;
  const double margin = values.high == 0 ? 1 : std::abs(values.high) * 0.1;
  return {values.low - margin, values.high + margin};
}

}  // namespace

std::vector<double> round_values(const Interval& values, double count, bool binary) {
  const auto [low, high] = widened(values);
  const double step = round_step((high - low) / std::max(1.0, count), binary);
  std::vector<double> ticks;
  const double first = std::floor(low / step + 1e-9);
  const double last = std::ceil(high / step - 1e-9);
  for (double i = first; i <= last; ++i) ticks.push_back(i * step);
  return ticks;
}

std::vector<double> round_log_values(const Interval& values, double count, bool binary) {
  const double low = values.low;
  const double high = values.high > low ? values.high : low * 1.1;
  const double base = binary ? 2 : 10;
  const double powers = std::log(high / low) / std::log(base);
  // Less than a power apart: the steps of a linear scale say more, where they keep clear of zero.
  if (powers < 1) {
    auto ticks = round_values({low, high}, std::min(count, 5.0), binary);
    if (ticks.front() > 0) return ticks;
  }
  const double stride = std::max(1.0, std::ceil(powers / std::max(1.0, count)));
  const bool halves = !binary && stride == 1 && powers * 3 <= count;
  std::vector<double> ticks;
  const double first = std::floor(std::log(low) / std::log(base) / stride + 1e-9) * stride;
  for (double power = first;; power += stride) {
    for (const double step : {1.0, 2.0, 5.0}) {
      if (step > 1 && !halves) continue;
      ticks.push_back(step * std::pow(base, power));
      if (ticks.back() >= high * (1 - 1e-9)) {
        while (ticks.size() > 2 && ticks[1] <= low * (1 + 1e-9)) ticks.erase(ticks.begin());
        return ticks;
      }
    }
  }
}

Scale::Scale(const ScaleSpec& spec)
    : range_(spec.range), logarithmic_(spec.logarithmic && spec.values.low > 0) {
  const double count = std::abs(range_.high - range_.low) / spec.pixels_per_tick;
  const bool binary = counts_in_binary(spec.quantity);
  ticks_ = logarithmic_ ? round_log_values(spec.values, count, binary)
                        : round_values(spec.values, count, binary);
  domain_ = {ticks_.front(), ticks_.back()};
}

double Scale::linear(double value) const {
  return logarithmic_ ? std::log(std::max(value, domain_.low * 1e-3)) : value;
}

double Scale::place(double value) const {
  const double low = linear(domain_.low);
  const double share = (linear(value) - low) / (linear(domain_.high) - low);
  return range_.low + share * (range_.high - range_.low);
}

}  // namespace trilobite::chart
