#pragma once
// From values to places in a picture, and round values to label them with.

#include <vector>

#include "record/record.hpp"
#include "report/chart/quantity.hpp"

namespace trilobite::chart {

struct ScaleSpec {
  Interval values;           // what must fit
  Interval range;            // pixels; high may be above low (y grows downwards)
  bool logarithmic = false;  // only when values.low > 0
  Quantity quantity = Quantity::plain;
  double pixels_per_tick = 80;  // room that one label needs
};

/// The domain is widened to round values, and never empty.
class Scale {
 public:
  explicit Scale(const ScaleSpec& spec);
  double place(double value) const;
  const std::vector<double>& ticks() const { return ticks_; }
  const Interval& domain() const { return domain_; }
  bool logarithmic() const { return logarithmic_; }

 private:
  double linear(double value) const;  // on the scale where equal distances are equal steps

  Interval domain_;
  Interval range_;
  bool logarithmic_;
  std::vector<double> ticks_;
};

/// About `count` round values that span [low, high], the first at or below low, the last at or
/// above high.
std::vector<double> round_values(const Interval& values, double count, bool binary);
/// The same on a logarithmic scale; low > 0.
std::vector<double> round_log_values(const Interval& values, double count, bool binary);

}  // namespace trilobite::chart
