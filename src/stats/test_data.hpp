#pragma once
// Random samples for the tests of this folder, the same on every platform: the standard fixes the
// engine but not its distributions, so values come from the uniform by inversion.

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "stats/distributions.hpp"
#include "stats/resample.hpp"
#include "stats/sample.hpp"

namespace trilobite::stats {

/// A uniform number strictly between 0 and 1, from the upper 53 bits.
inline double uniform(Engine& engine) {
  return (static_cast<double>(engine() >> 11) + 0.5) * 0x1p-53;
}

inline double normal(Engine& engine) { return normal_quantile(uniform(engine)); }

inline Sample make_sample(std::vector<double> values) {
  return Sample::from(std::move(values)).value();
}

/// A distribution to draw from, with the truths that intervals are to cover.
struct Population {
  std::string name;
  double mean;
  double median;
  std::function<double(Engine&)> draw;
};

inline Population normal_population() {
  return {"normal", 100, 100, [](Engine& engine) { return 100 + 5 * normal(engine); }};
}

/// Skewness 1.75 at sigma 0.5, 6.2 at sigma 1.
inline Population lognormal_population(double sigma) {
  return {fmt::format("lognormal, sigma {}", sigma), std::exp(sigma * sigma / 2), 1,
          [sigma](Engine& engine) { return std::exp(sigma * normal(engine)); }};
}

inline Population exponential_population() {
  return {"exponential", 1, std::log(2.0),
          [](Engine& engine) { return -std::log(uniform(engine)); }};
}

inline Sample draw_sample(const Population& population, size_t n, Engine& engine) {
  std::vector<double> values(n);
  for (double& value : values) value = population.draw(engine);
  return make_sample(std::move(values));
}

}  // namespace trilobite::stats
