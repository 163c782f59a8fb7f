#include "kernels/absmean.hpp"

#include <cmath>
#include <limits>

#include "kernels/kernel_test_inputs.hpp"
#include "quant/bitnet.hpp"

namespace trilobite::kernels {
namespace {

using quant::TernaryForm;

class AbsmeanOnEveryIsa : public EveryIsa {};
TRILOBITE_FOR_EVERY_ISA(AbsmeanOnEveryIsa);

std::vector<float> normal(size_t count) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = 0.02f * normal_at(9, 0, i);
  return values;
}

/// Codes by the reference's rule with the scales that the kernel found, which must be right to the
/// last place but one.
void expect_as_the_reference(const std::vector<float>& dense, size_t rows,
                             const AbsmeanTilesOptions& options, unsigned threads = 1) {
  const size_t columns = dense.size() / rows;
  const auto view = quant::MatrixView::from(dense, rows, columns).value();
  ThreadPool pool(threads);
  const auto got = quantize_absmean_tiles(view, options, pool).value();
  const auto expected = quant::quantize_absmean(view, {.per_channel = options.per_channel});
  ASSERT_EQ(got.scales.size(), expected.scales.size());
  for (size_t i = 0; i < got.scales.size(); ++i) {
    ASSERT_NEAR(got.scales[i], expected.scales[i], std::abs(expected.scales[i]) * 0x1p-23);
  }
  for (size_t i = 0; i < dense.size(); ++i) {
    const size_t row = i / columns;
    const float gamma = got.scales[got.scales.size() == 1 ? 0 : row];
    const float ratio = dense[i] / (gamma + quant::kBitnetEpsilon);
    ASSERT_EQ(got.tiles.weight_at(row, i % columns), (ratio > 0.5f) - (ratio < -0.5f)) << i;
  }
}

TEST_P(AbsmeanOnEveryIsa, EqualsTheReference) {
  for (const auto form : {TernaryForm::two_bit, TernaryForm::five_trits_a_byte}) {
    for (const bool per_channel : {false, true}) {
      for (const size_t rows : {1u, 17u, 64u, 70u}) {
        for (const size_t columns : {1u, 15u, 16u, 17u, 20u, 41u, 300u}) {
          expect_as_the_reference(normal(rows * columns), rows, {form, per_channel});
        }
      }
    }
  }
}

TEST_P(AbsmeanOnEveryIsa, RoundsTiesToZero) {
  // gamma = 1 and epsilon small: half of the divisor, and its neighbours.
  const float half = 0.5f * (1.0f + quant::kBitnetEpsilon);
  std::vector<float> weights{
      half, -half, std::nextafter(half, 1.0f), -std::nextafter(half, 1.0f), 1.5f, -1.5f,
      1.5f, -1.5f};
  double sum = 0;
  for (const float w : weights) sum += std::abs(static_cast<double>(w));
  weights.push_back(static_cast<float>(9.0 - sum));
  expect_as_the_reference(weights, 1, {});
}

TEST_P(AbsmeanOnEveryIsa, TakesZerosAndNeedsNoThreads) {
  expect_as_the_reference(std::vector<float>(100, 0.0f), 10, {});
  expect_as_the_reference(normal(200 * 33), 200, {}, 3);
  expect_as_the_reference(normal(200 * 33), 200, {.per_channel = true}, 2);
}

TEST_P(AbsmeanOnEveryIsa, RefusesWhatIsNotFinite) {
  ThreadPool pool(1);
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    auto weights = normal(64);
    weights[50] = bad;
    const auto view = quant::MatrixView::from(weights, 4, 16).value();
    EXPECT_EQ(quantize_absmean_tiles(view, {}, pool).error().message(),
              "a weight is NaN or infinite");
  }
}

TEST(Absmean, GivesTheSameScaleOnEveryInstructionSet) {
  const auto weights = normal(77 * 301);
  const auto view = quant::MatrixView::from(weights, 77, 301).value();
  ThreadPool pool(1);
  ASSERT_TRUE(set_isa("scalar"));
  const auto expected = quantize_absmean_tiles(view, {}, pool)->scales;
  for (const auto isa : available_isas()) {
    ASSERT_TRUE(set_isa(isa));
    ThreadPool two(2);
    EXPECT_EQ(quantize_absmean_tiles(view, {}, two)->scales, expected) << isa;
  }
  ASSERT_TRUE(set_isa(""));
}

}  // namespace
}  // namespace trilobite::kernels
