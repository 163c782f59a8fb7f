#include "model/rope_table.hpp"

#include <fmt/format.h>

#include <cmath>
#include <vector>

namespace trilobite::model {
namespace {

Result<std::vector<double>> frequencies_of(const RopeConfig& rope, std::span<const float> factors) {
  std::vector<double> frequencies(rope.dimensions / 2);
  for (size_t i = 0; i < frequencies.size(); ++i) {
    const double exponent = -2.0 * static_cast<double>(i) / static_cast<double>(rope.dimensions);
    const double factor = factors.empty() ? 1.0 : static_cast<double>(factors[i]);
    frequencies[i] = rope.position_factor * std::pow(rope.base, exponent) / factor;
    if (!std::isfinite(frequencies[i])) {
      return fail(fmt::format("frequency {} of RoPE is {}; its factor in the file is {}", i,
                              frequencies[i], factor));
    }
  }
  return frequencies;
}

}  // namespace

Result<RopeTable> RopeTable::create(const RopeConfig& rope, size_t positions,
                                    std::span<const float> factors) {
  const auto frequencies = frequencies_of(rope, factors);
  if (!frequencies) return fail_from(frequencies);
  RopeTable result;
  result.pairs_ = frequencies->size();
  size_t bytes = 0;
  if (__builtin_mul_overflow(positions, 2 * result.pairs_ * sizeof(float), &bytes))
    return fail(fmt::format("a context of {} tokens is impossible", positions));
  auto table = AlignedBuffer::allocate(bytes);
  if (!table) return fail_from(table, "the angles of RoPE");
  result.table_ = *std::move(table);
  float* to = result.table_.as<float>().data();
  for (size_t position = 0; position < positions; ++position, to += 2 * result.pairs_) {
    for (size_t i = 0; i < result.pairs_; ++i) {
      const double angle = static_cast<double>(position) * (*frequencies)[i];
      to[i] = static_cast<float>(std::cos(angle));
      to[result.pairs_ + i] = static_cast<float>(std::sin(angle));
    }
  }
  return result;
}

}  // namespace trilobite::model
