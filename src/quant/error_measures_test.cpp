#include "quant/error_measures.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace trilobite::quant {
namespace {

using Values = std::vector<float>;

TEST(ErrorMeasures, a_pair_worked_by_hand) {
  const auto measures = measure_error(Values{3, 4}, Values{3, 3});
  EXPECT_EQ(measures.max_abs_error, 1);
  EXPECT_DOUBLE_EQ(measures.rmse, std::sqrt(0.5));
  EXPECT_DOUBLE_EQ(measures.snr_db, 10 * std::log10(25.0));
  EXPECT_DOUBLE_EQ(measures.cosine, 21 / (5 * std::sqrt(18.0)));
}

TEST(ErrorMeasures, equal_inputs_have_no_error_even_when_all_zero) {
  for (const Values& values : {Values{1, -2}, Values{0, 0}}) {
    const auto measures = measure_error(values, values);
    EXPECT_EQ(measures.max_abs_error, 0);
    EXPECT_EQ(measures.rmse, 0);
    EXPECT_EQ(measures.snr_db, std::numeric_limits<double>::infinity());
    EXPECT_EQ(measures.cosine, 1);
  }
}

TEST(ErrorMeasures, one_side_all_zero_is_defined) {
  const auto lost = measure_error(Values{3, 4}, Values{0, 0});
  EXPECT_EQ(lost.snr_db, 0);
  EXPECT_EQ(lost.cosine, 0);
  const auto invented = measure_error(Values{0, 0}, Values{3, 4});
  EXPECT_EQ(invented.snr_db, -std::numeric_limits<double>::infinity());
  EXPECT_EQ(invented.cosine, 0);
  EXPECT_EQ(invented.max_abs_error, 4);
}

TEST(ErrorMeasures, values_that_are_not_finite_make_everything_nan) {
  const float bad[] = {std::numeric_limits<float>::quiet_NaN(),
                       std::numeric_limits<float>::infinity()};
  for (const float value : bad) {
    for (const auto& measures :
         {measure_error(Values{value, 1}, Values{1, 1}), measure_error(Values{1}, Values{value}),
          measure_error(Values{value}, Values{value})}) {
      EXPECT_TRUE(std::isnan(measures.max_abs_error));
      EXPECT_TRUE(std::isnan(measures.rmse));
      EXPECT_TRUE(std::isnan(measures.snr_db));
      EXPECT_TRUE(std::isnan(measures.cosine));
    }
  }
}

TEST(ErrorMeasures, opposite_vectors_have_cosine_minus_one) {
  EXPECT_DOUBLE_EQ(measure_error(Values{1, 2}, Values{-1, -2}).cosine, -1);
}

TEST(ErrorMeasures, memory_reduction_counts_scales_and_zero_points) {
  const QuantizedMatrix packed{.rows = 2,
                               .cols = 10,
                               .bytes = std::vector<uint8_t>(20),
                               .scales = {1, 1},
                               .zero_points = {0, 0}};
  EXPECT_DOUBLE_EQ(memory_reduction(packed), 80.0 / 30.0);
}

}  // namespace
}  // namespace trilobite::quant
