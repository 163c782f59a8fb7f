#include "quant/group_conversion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "quant/rounding.hpp"

namespace trilobite::quant {
namespace {

bool has_finite_scale(const WeightGroup& group) { return std::isfinite(group.scale.to_float()); }

/// The weight of largest magnitude with its sign. NaN and infinity win.
float extreme_of(std::span<const float> weights) {
  float extreme = 0;
  for (const float w : weights) {
    if (!(std::abs(w) <= std::abs(extreme))) extreme = w;
    if (std::isnan(extreme)) return extreme;
  }
  return extreme;
}

/// Codes are chosen for the scale as it is stored, rounded to f16: that loses less than to divide
/// by a scale that nobody will see. All codes are 0 where the scale is not finite.
WeightGroup quantize_group(std::span<const float> weights, GroupBits bits) {
  const int half = half_range(bits);
  WeightGroup group{.scale = Float16::from(extreme_of(weights) / static_cast<float>(-half))};
  if (!has_finite_scale(group)) return group;
  const float factor = finite_quotient(1.0f, group.scale.to_float());
  for (size_t i = 0; i < weights.size(); ++i) {
    group.codes[i] = static_cast<int8_t>(round_clipped(weights[i] * factor, -half, half - 1));
  }
  return group;
}

}  // namespace

Result<GroupTiles> quantize_groups(MatrixView weights, GroupBits bits) {
  auto tiles = GroupTiles::create(weights.rows(), weights.cols(), bits);
  if (!tiles) return tiles;
  for (size_t row = 0; row < weights.rows(); ++row) {
    for (size_t column = 0; column < weights.cols(); column += kGroupColumns) {
      const auto values =
          weights.row(row).subspan(column, std::min(kGroupColumns, weights.cols() - column));
      const auto group = quantize_group(values, bits);
      if (!has_finite_scale(group)) {
        return fail(
            fmt::format("row {}, columns from {}: no {}-bit group has a scale for the weight {}",
                        row, column, static_cast<int>(bits), extreme_of(values)));
      }
      tiles->set_group(row, column / kGroupColumns, group);
    }
  }
  return tiles;
}

}  // namespace trilobite::quant
