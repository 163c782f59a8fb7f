#include "kernels/gated.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/kernel_test_inputs.hpp"

namespace trilobite::kernels {
namespace {

class GatedOnEveryIsa : public EveryIsa {};
TRILOBITE_FOR_EVERY_ISA(GatedOnEveryIsa);

double exact(Gate gate, double g) {
  if (gate == Gate::silu) return g / (1 + std::exp(-g));
  return g > 0 ? g * g : 0;
}

TEST_P(GatedOnEveryIsa, agrees_with_the_definition_in_place) {
  for (const Gate gate : {Gate::silu, Gate::relu_squared}) {
    for (const size_t count : awkward_sizes()) {
      std::vector<float> g(count), u(count);
      for (size_t i = 0; i < count; ++i) {
        g[i] = 4 * normal_at(51, 0, i);
        u[i] = normal_at(52, 0, i);
      }
      const auto before = g;
      gated({.gate_op = gate, .gate = g.data(), .up = u.data(), .out = g.data(), .count = count});
      for (size_t i = 0; i < count; ++i) {
        const auto x = static_cast<double>(before[i]);
        const auto up = static_cast<double>(u[i]);
        ASSERT_NEAR(static_cast<double>(g[i]), exact(gate, x) * up,
                    3e-7 * (1 + x * x) * std::abs(up) + 1e-12);
      }
    }
  }
}

TEST_P(GatedOnEveryIsa, nan_stays_nan) {
  for (const Gate gate : {Gate::silu, Gate::relu_squared}) {
    float g = std::numeric_limits<float>::quiet_NaN();
    const float u = 1;
    gated({.gate_op = gate, .gate = &g, .up = &u, .out = &g, .count = 1});
    EXPECT_TRUE(std::isnan(g));
  }
}

}  // namespace
}  // namespace trilobite::kernels
