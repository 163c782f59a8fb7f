#include "kernels/absmax.hpp"

#include <limits>

#include "kernels/kernel_test_inputs.hpp"
#include "quant/bitnet.hpp"

namespace trilobite::kernels {
namespace {

class AbsmaxOnEveryIsa : public EveryIsa {};
TRILOBITE_FOR_EVERY_ISA(AbsmaxOnEveryIsa);

struct Quantized {
  explicit Quantized(const std::vector<float>& x, size_t padding = 5)
      : codes(x.size() + padding, int8_t{99}) {
    result = quantize_absmax({.x = x.data(),
                              .columns = x.size(),
                              .padded_columns = codes.size(),
                              .epsilon = quant::kBitnetEpsilon,
                              .codes = codes.data()});
  }
  std::vector<int8_t> codes;
  AbsmaxResult result;
};

void expect_as_the_reference(const std::vector<float>& x) {
  const auto expected =
      quant::quantize_absmax(quant::MatrixView::from(x, 1, x.size()).value()).value();
  const Quantized got(x);
  EXPECT_TRUE(got.result.is_finite);
  EXPECT_EQ(got.result.scale, expected.scales[0]);
  EXPECT_EQ(got.result.sum, expected.sums[0]);
  for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(got.codes[i], expected.codes[i]) << i;
  for (size_t i = x.size(); i < got.codes.size(); ++i) ASSERT_EQ(got.codes[i], 0);
}

TEST_P(AbsmaxOnEveryIsa, EqualsTheReference) {
  for (const size_t size : awkward_sizes()) {
    if (size == 0) continue;
    std::vector<float> x(size);
    for (size_t i = 0; i < size; ++i) x[i] = normal_at(5, 0, i);
    expect_as_the_reference(x);
  }
}

// Halves round to even: 127 maps the largest value to itself, so 0.5, 1.5, ... are exact ties.
TEST_P(AbsmaxOnEveryIsa, RoundsTiesToEven) {
  std::vector<float> x{127.0f, -127.0f};
  for (int i = -126; i < 127; ++i) x.push_back(static_cast<float>(i) + 0.5f);
  expect_as_the_reference(x);
}

TEST_P(AbsmaxOnEveryIsa, TakesZerosAndTinyNumbers) {
  expect_as_the_reference(std::vector<float>(37, 0.0f));
  expect_as_the_reference(std::vector<float>(37, 1e-30f));
  expect_as_the_reference(std::vector<float>(37, std::numeric_limits<float>::max()));
  expect_as_the_reference({-0.0f, 1e-6f, -1e-6f});
}

TEST_P(AbsmaxOnEveryIsa, SeesWhatIsNotFinite) {
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
    for (const size_t at : {0u, 40u, 66u}) {
      std::vector<float> x(67, 1.0f);
      x[at] = bad;
      EXPECT_FALSE(Quantized(x).result.is_finite) << at;
    }
  }
}

}  // namespace
}  // namespace trilobite::kernels
